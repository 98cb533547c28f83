//! `min_rtt`, and the decision when to probe for a smaller RTT.

use airpath_model::{Duration, Timestamp};

/// The smallest round-trip time of the last [`super::BbrConfig::min_rtt_window`], refreshed in `ProbeRTT`
/// (sections 5.5.7 and 5.3.4.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRtt {
    interval: Duration,
    window: Duration,
    /// `probe_rtt_min_delay` and its time stamp: the minimum of the last interval.
    recent: Option<Duration>,
    recent_at: Timestamp,
    minimum: Option<Duration>,
    minimum_at: Timestamp,
    /// `probe_rtt_expired`: no RTT as small was observed for an interval.
    pub(crate) expired: bool,
}

impl MinRtt {
    /// Creates the filter. `interval` is `ProbeRTTInterval`, `window` is `MinRTTFilterLen`; the flow begins
    /// at `now`.
    pub(crate) fn new(interval: Duration, window: Duration, now: Timestamp) -> Self {
        Self {
            interval,
            window,
            recent: None,
            recent_at: now,
            minimum: None,
            minimum_at: now,
            expired: false,
        }
    }

    /// Implements `UpdateMinRTT`. Called on every acknowledgment.
    pub(crate) fn update(&mut self, now: Timestamp, sample: Option<Duration>) {
        self.expired = now > self.recent_at + self.interval;
        if let Some(rtt) = sample
            && (self.expired || self.recent.is_none_or(|recent| rtt < recent))
        {
            self.recent = Some(rtt);
            self.recent_at = now;
        }
        let outdated = now > self.minimum_at + self.window;
        if let Some(recent) = self.recent
            && (outdated || self.minimum.is_none_or(|minimum| recent < minimum))
        {
            self.minimum = Some(recent);
            self.minimum_at = self.recent_at;
        }
    }

    /// Records the end of `ProbeRTT`: the next probe is due after an interval.
    pub(crate) fn probed(&mut self, now: Timestamp) {
        self.recent_at = now;
    }

    /// Returns `min_rtt`, or `None` before the first sample.
    pub(crate) fn get(&self) -> Option<Duration> {
        self.minimum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    const fn rtt(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn filter() -> MinRtt {
        MinRtt::new(Duration::from_secs(5), Duration::from_secs(10), at(0))
    }

    #[test]
    fn a_minimum_is_probed_after_five_seconds_and_replaced_after_ten() {
        let mut filter = filter();
        filter.update(at(100), Some(rtt(50)));
        filter.update(at(5100), Some(rtt(60)));
        assert!(!filter.expired);
        filter.update(at(5101), Some(rtt(60)));
        assert!(filter.expired);
        assert_eq!(filter.get(), Some(rtt(50)), "the older minimum still holds");
        filter.update(at(10_100), Some(rtt(70)));
        assert_eq!(filter.get(), Some(rtt(50)));
        filter.update(at(10_101), Some(rtt(70)));
        assert_eq!(filter.get(), Some(rtt(60)), "the smallest since the last interval began");
    }

    #[test]
    fn a_smaller_sample_postpones_the_next_probe() {
        let mut filter = filter();
        filter.update(at(100), Some(rtt(50)));
        filter.update(at(4000), Some(rtt(40)));
        filter.update(at(9000), Some(rtt(45)));
        assert!(!filter.expired);
        assert_eq!(filter.get(), Some(rtt(40)));
        filter.probed(at(9000));
        filter.update(at(14_000), Some(rtt(45)));
        assert!(!filter.expired);
    }
}
