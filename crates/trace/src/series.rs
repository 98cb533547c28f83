//! Building a rate series from rows.

use crate::line::Line;
use crate::{Trace, TraceError};

/// Upper bound of the times of a trace, in nanoseconds (292 years), so that adding a step cannot overflow.
pub(crate) const LATEST_NS: u64 = u64::MAX / 2;

/// The step of a series with one row, if the format does not state one: one second.
const DEFAULT_STEP_NS: u64 = 1_000_000_000;

/// Rows of a rate log as read, in the file's own time.
#[derive(Debug, Default)]
pub(crate) struct Series {
    points: Vec<(u64, u64)>,
}

impl Series {
    /// Adds a row. Times may not decrease; of several rows with one time the last counts, because the others
    /// have zero duration.
    pub(crate) fn push(&mut self, line: Line<'_>, time: u64, rate: u64) -> Result<(), TraceError> {
        if time > LATEST_NS {
            return Err(line.refuse(line.text, "a time below 292 years"));
        }
        match self.points.last_mut() {
            Some(last) if time < last.0 => {
                return Err(line.refuse(line.text, "a time not before that of the line above"));
            }
            Some(last) if time == last.0 => last.1 = rate,
            _ => self.points.push((time, rate)),
        }
        Ok(())
    }

    /// Returns the median of the steps between rows; `None` for fewer than two rows.
    pub(crate) fn median_step(&self) -> Option<u64> {
        median_step(&self.points)
    }

    /// Returns whether no row was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Returns the trace, which ends one median step after its last row; `None` without rows.
    pub(crate) fn finish(self) -> Option<Trace> {
        let last = self.points.last()?.0;
        self.finish_holding(last)
    }

    /// Returns the trace, whose last rate is known to hold until `last_ns` and holds one median step longer;
    /// `None` without rows.
    pub(crate) fn finish_holding(self, last_ns: u64) -> Option<Trace> {
        let last = self.points.last()?.0.max(last_ns.min(LATEST_NS));
        let end_ns = last + step_after(&self.points);
        self.finish_at(end_ns)
    }

    /// Returns the trace, which ends at `end_ns`; `None` without rows, or if `end_ns` is not after the last
    /// row.
    pub(crate) fn finish_at(mut self, end_ns: u64) -> Option<Trace> {
        let start = self.points.first()?.0;
        if self.points.last()?.0 >= end_ns {
            return None;
        }
        for point in &mut self.points {
            point.0 -= start;
        }
        Some(Trace::Rates { points: self.points, end_ns: end_ns - start })
    }
}

/// Returns how long the last row of a log holds, in nanoseconds: one median step.
pub(crate) fn step_after(points: &[(u64, u64)]) -> u64 {
    median_step(points).unwrap_or(DEFAULT_STEP_NS)
}

/// Returns the median step; for an even number of steps the mean of the two in the middle, rounded down.
fn median_step(points: &[(u64, u64)]) -> Option<u64> {
    let mut steps: Vec<u64> = points.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    steps.sort_unstable();
    let upper = *steps.get(steps.len() / 2)?;
    let lower = steps[(steps.len() - 1) / 2];
    Some(u64::midpoint(lower, upper))
}
