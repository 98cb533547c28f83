//! `max_bw`: the largest delivery rate of two probing cycles.

use airpath_model::Rate;

/// The windowed maximum of delivery rates whose clock counts probing cycles (sections 5.5.3 to 5.5.6): the
/// current cycle and the previous one, `MaxBwFilterLen` = 2.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BandwidthFilter {
    before: Rate,
    now: Rate,
}

impl BandwidthFilter {
    /// Implements `UpdateMaxBw`. Application-limited samples count only if they are larger.
    pub(super) fn update(&mut self, rate: Rate, app_limited: bool) {
        if rate >= self.maximum() || !app_limited {
            self.now = self.now.max(rate);
        }
    }

    /// Implements `AdvanceMaxBwFilter`: ends a cycle. A cycle without a sample is not counted, because
    /// otherwise the filter would be empty.
    pub(super) fn advance(&mut self) {
        if self.now > Rate::ZERO {
            self.before = core::mem::take(&mut self.now);
        }
    }

    /// Returns `max_bw`, or zero before the first sample.
    pub(super) fn maximum(&self) -> Rate {
        self.before.max(self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_lasts_for_two_cycles() {
        let (mut filter, rate) = (BandwidthFilter::default(), Rate::from_bps);
        filter.update(rate(10), false);
        filter.update(rate(7), false);
        filter.advance();
        filter.update(rate(4), false);
        assert_eq!(filter.maximum(), rate(10));
        filter.advance();
        assert_eq!(filter.maximum(), rate(4));
        filter.advance();
        assert_eq!(filter.maximum(), rate(4), "a cycle without samples forgets nothing");
    }

    #[test]
    fn limited_samples_only_raise_it() {
        let (mut filter, rate) = (BandwidthFilter::default(), Rate::from_bps);
        filter.update(rate(10), false);
        filter.advance();
        filter.update(rate(3), true);
        filter.advance();
        assert_eq!(filter.maximum(), rate(10));
        filter.update(rate(12), true);
        assert_eq!(filter.maximum(), rate(12));
    }
}
