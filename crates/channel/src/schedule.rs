//! Rates known in advance.

use alloc::sync::Arc;

use airpath_model::{Duration, Rate, Timestamp};

use crate::{InvalidChannel, RateSegments, Segment};

/// A rate and its start time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Time since the start of the schedule.
    pub start: Duration,
    /// The rate up to the next step; zero is an outage.
    pub rate: Rate,
}

/// The behavior after the last step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleEnd {
    /// The last rate holds forever.
    Hold,
    /// The schedule repeats this long after its start.
    RepeatAfter(Duration),
    /// Nothing is sent any more from this long after the start: a trace that is played once.
    StopAfter(Duration),
}

/// A schedule or a trace of rates.
///
/// Copies share the steps.
#[derive(Clone, Debug)]
pub struct Schedule {
    steps: Arc<[Step]>,
    end: ScheduleEnd,
    /// Start of the current period.
    lap: Timestamp,
    /// The step of the next segment.
    next: usize,
}

impl Schedule {
    /// Creates a schedule of `steps`, whose starts increase strictly from zero.
    pub fn new(steps: Arc<[Step]>, end: ScheduleEnd) -> Result<Self, InvalidChannel> {
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
            return Err(InvalidChannel::Empty);
        };
        if !first.start.is_zero() {
            return Err(InvalidChannel::LateStart);
        }
        if let Some(index) = steps.windows(2).position(|pair| pair[0].start >= pair[1].start) {
            return Err(InvalidChannel::OutOfOrder { index: index + 1 });
        }
        if let ScheduleEnd::RepeatAfter(length) | ScheduleEnd::StopAfter(length) = end
            && length <= last.start
        {
            return Err(InvalidChannel::EarlyEnd);
        }
        if steps.iter().any(|step| step.rate == Rate::UNLIMITED) {
            return Err(InvalidChannel::UnlimitedRate);
        }
        if steps.iter().all(|step| step.rate == Rate::ZERO) {
            return Err(InvalidChannel::NeverSends);
        }
        Ok(Self { steps, end, lap: Timestamp::ZERO, next: 0 })
    }
}

impl RateSegments for Schedule {
    fn next_segment(&mut self) -> Option<Segment> {
        let rate = self.steps.get(self.next)?.rate;
        self.next += 1;
        let until = match (self.steps.get(self.next), self.end) {
            (Some(following), _) => self.lap + following.start,
            (None, ScheduleEnd::Hold) => Timestamp::NEVER,
            (None, ScheduleEnd::StopAfter(length)) => self.lap + length,
            (None, ScheduleEnd::RepeatAfter(period)) => {
                self.next = 0;
                self.lap += period;
                self.lap
            }
        };
        Some(Segment { rate, until })
    }
}
