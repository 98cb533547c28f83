//! Detection of a full path by a plateau of the delivery rate.

use airpath_model::Rate;

/// Minimum relative growth, and the number of rounds that may pass without it (section 5.3.1.2).
const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;

/// The full-pipe estimator (section 5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FullPipe {
    /// `full_bw`: the baseline.
    baseline: Rate,
    /// `full_bw_count`: rounds without growth.
    count: u32,
    /// `full_bw_now`: whether the path was filled in the current attempt.
    pub(crate) now: bool,
    /// `full_bw_reached`: whether the path was filled at least once.
    pub(crate) reached: bool,
}

impl FullPipe {
    /// Implements `ResetFullBW`, with `baseline` as the new baseline. Keeps whether the path was ever filled.
    pub(crate) fn restart(&mut self, baseline: Rate) {
        *self = Self { baseline, count: 0, now: false, reached: self.reached };
    }

    /// Implements `CheckFullBWReached`, once a round, with a delivery rate that is not application-limited.
    pub(crate) fn on_round(&mut self, rate: Rate) {
        if self.now {
            return;
        }
        if rate >= self.baseline.mul_f64(GROWTH) {
            self.restart(rate);
            return;
        }
        self.count += 1;
        self.now = self.count >= ROUNDS;
        self.reached |= self.now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_with_growth_below_a_quarter_fill_the_pipe() {
        let (mut pipe, rate) = (FullPipe::default(), Rate::from_bps);
        for (bps, full) in [(100, false), (125, false), (130, false), (140, false), (157, false)] {
            pipe.on_round(rate(bps));
            assert_eq!(pipe.now, full, "{bps}");
        }
        // 157 is a quarter more than 125: the count restarted.
        for (bps, full) in [(160, false), (190, false), (195, true)] {
            pipe.on_round(rate(bps));
            assert_eq!(pipe.now, full, "{bps}");
        }
        assert!(pipe.reached);
        pipe.restart(rate(100));
        assert!(!pipe.now && pipe.reached);
    }
}
