//! EBE's queue maintainer: keeps a queue long enough that an increase of the capacity drains it and becomes
//! visible.

use crate::Latch;

/// The rule of the maintainer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum Maintenance {
    /// On and off with memory; see [`Latch`] (EBE-J, section III-C).
    #[default]
    Latch,
    /// On only in intervals in which the latch's condition for switching on is true: the queue does not grow
    /// and was below the threshold twice.
    Strict,
    /// On whenever the queue is below the threshold.
    BelowThreshold,
    /// Never on.
    Off,
}

/// Determines the factor by which a protocol probes above the estimated capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueMaintainer {
    maintenance: Maintenance,
    threshold: f64,
    upsilon: f64,
    latch: Latch,
    below: bool,
}

impl QueueMaintainer {
    /// Creates a maintainer with a threshold in the unit of the queue, and Υ ≥ 1.
    ///
    /// EBE-J: threshold 15 % of the buffer (EBE-C: 20 %); Υ 1.40 for XCP, 1.14 for VCP.
    pub const fn new(maintenance: Maintenance, threshold: f64, upsilon: f64) -> Self {
        Self { maintenance, threshold, upsilon, latch: Latch::new(), below: false }
    }

    /// Processes the queue of one interval and returns the new factor.
    pub fn update(&mut self, queue: f64) -> f64 {
        if self.maintenance == Maintenance::Strict {
            self.latch.release();
        }
        self.latch.update(queue, self.threshold);
        self.below = queue < self.threshold;
        self.factor()
    }

    /// Returns Υ while on, else 1. The protocol uses a capacity larger by this factor (multiplying XCP's
    /// feedback itself cannot leave zero).
    pub const fn factor(&self) -> f64 {
        if self.is_on() { self.upsilon } else { 1.0 }
    }

    /// Returns whether the maintainer is on.
    pub const fn is_on(&self) -> bool {
        match self.maintenance {
            Maintenance::Latch | Maintenance::Strict => self.latch.is_on(),
            Maintenance::BelowThreshold => self.below,
            Maintenance::Off => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(maintenance: Maintenance, queues: &[f64]) -> alloc::vec::Vec<bool> {
        let mut maintainer = QueueMaintainer::new(maintenance, 10.0, 1.4);
        queues.iter().map(|queue| maintainer.update(*queue) > 1.0).collect()
    }

    #[test]
    fn the_latch_keeps_its_state_between_its_two_conditions() {
        // First; falls below; still below; rises but not yet twice above; twice above and rising; falls, above.
        let queues = [5.0, 4.0, 9.0, 12.0, 13.0, 11.0];
        assert_eq!(factors(Maintenance::Latch, &queues), [false, true, true, true, false, false]);
    }

    #[test]
    fn the_strict_maintainer_probes_only_if_the_queue_stays_or_falls_below_twice() {
        // First; falls; stays; rises below; rises above; falls, above before; falls below; rises above; falls above.
        let queues = [5.0, 4.0, 4.0, 6.0, 12.0, 9.0, 8.0, 13.0, 11.0];
        let strict = [false, true, true, false, false, false, true, false, false];
        assert_eq!(factors(Maintenance::Strict, &queues), strict);
        assert_eq!(factors(Maintenance::Strict, &[0.0, 0.0]), [false, true]);
    }

    #[test]
    fn an_empty_queue_is_a_ratio_of_one() {
        assert_eq!(factors(Maintenance::Latch, &[0.0, 0.0]), [false, true]);
    }

    #[test]
    fn without_memory_only_the_threshold_counts() {
        assert_eq!(factors(Maintenance::BelowThreshold, &[5.0, 10.0, 9.0]), [true, false, true]);
        assert_eq!(factors(Maintenance::Off, &[5.0, 4.0]), [false, false]);
    }
}
