//! The time base of a router's computations.

use airpath_model::{Duration, Timestamp};

/// Maximum step of the clock. A longer gap, or a backward step, does not count as elapsed time.
const LONGEST_STEP: Duration = Duration::from_secs(1);

/// Elapsed time for the computations, derived from a clock with gaps. Gaps from stopped processes, suspended
/// machines and clock steps do not count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passage {
    now: Timestamp,
    clock: Option<u64>,
}

/// The result of a clock reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The current time.
    At(Timestamp),
    /// The clock has jumped: traffic since the last reading belongs to no interval.
    Gap(Timestamp),
}

impl Passage {
    /// Processes a reading of `clock` nanoseconds.
    pub fn look(&mut self, clock: u64) -> Look {
        let before = self.clock.replace(clock).unwrap_or(clock);
        match clock.checked_sub(before).map(Duration::from_nanos) {
            Some(passed) if passed <= LONGEST_STEP => {
                self.now += passed;
                Look::At(self.now)
            }
            _ => Look::Gap(self.now),
        }
    }

    /// Returns the time of the last reading.
    pub const fn now(&self) -> Timestamp {
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_the_clock_are_left_out() {
        let at = |millis| Timestamp::ZERO + Duration::from_millis(millis);
        let mut passage = Passage::default();
        let millis = |count: u64| count * 1_000_000;
        assert_eq!(passage.look(millis(5000)), Look::At(at(0)));
        assert_eq!(passage.look(millis(5010)), Look::At(at(10)));
        assert_eq!(passage.look(millis(3_605_010)), Look::Gap(at(10)), "an hour ahead");
        assert_eq!(passage.look(millis(3_605_020)), Look::At(at(20)));
        assert_eq!(passage.look(millis(100)), Look::Gap(at(20)), "and back");
        assert_eq!(passage.look(millis(110)), Look::At(at(30)));
        assert_eq!(passage.now(), at(30));
    }
}
