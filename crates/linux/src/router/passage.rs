//! The time of a router's computations.

use airpath_model::{Duration, Timestamp};

/// A longer silence, or a clock that goes back, is not time that the router has seen pass.
const LONGEST_STEP: Duration = Duration::from_secs(1);

/// Time as it passed for the computations, from a clock that may be wrong: stopped processes, suspended machines and stepped
/// clocks leave gaps, which are left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passage {
    now: Timestamp,
    clock: Option<u64>,
}

/// What a look at the clock says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// It is now that time.
    At(Timestamp),
    /// Time has jumped: what was counted since the last look belongs to no interval.
    Gap(Timestamp),
}

impl Passage {
    /// The clock shows `clock` nanoseconds.
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

    /// The time of the last look.
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
