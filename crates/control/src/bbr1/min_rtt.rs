//! The smallest round-trip time, and the decision when to probe for it.

use airpath_model::{AckEvent, Duration, Timestamp};

/// The smallest round-trip time of the last `window`. Version 3 keeps two minima with different windows;
/// here one expires and thereby requires a probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    window: Duration,
    minimum: Option<Duration>,
    sampled_at: Timestamp,
    /// Whether no round-trip time as small was sampled for `window`.
    pub(super) expired: bool,
}

impl MinRtt {
    /// Creates the filter of a flow that begins at `now`.
    pub(super) fn new(window: Duration, now: Timestamp) -> Self {
        Self { window, minimum: None, sampled_at: now, expired: false }
    }

    /// Takes the sample of an acknowledgment. One that is as small as the minimum renews it.
    pub(super) fn update(&mut self, event: &AckEvent) {
        self.expired = event.now > self.sampled_at + self.window;
        let Some(rtt) = event.rtt_sample else { return };
        // A packet that is not full and is acknowledged alone: the receiver may have delayed it.
        let delayed = event.acked == event.advance && event.acked < event.mss;
        if self.minimum.is_none_or(|minimum| rtt <= minimum) || self.expired && !delayed {
            self.minimum = Some(rtt);
            self.sampled_at = event.now;
        }
    }

    /// Records the end of a probe: the next is due after `window`.
    pub(super) fn probed(&mut self, now: Timestamp) {
        self.sampled_at = now;
    }

    /// Returns the minimum, or `None` before the first sample.
    pub(super) fn get(&self) -> Option<Duration> {
        self.minimum
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::Bytes;

    use super::*;

    const PACKET: Bytes = Bytes::new(1460);

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    fn sample(filter: &mut MinRtt, now: u64, rtt: u64, payload: Bytes) -> Option<Duration> {
        let mut event = AckEvent::at(at(now));
        event.rtt_sample = Some(Duration::from_millis(rtt));
        (event.acked, event.advance) = (payload, payload);
        filter.update(&event);
        filter.get()
    }

    #[test]
    fn an_equal_sample_renews_the_minimum_and_ten_seconds_without_one_expire_it() {
        let mut filter = MinRtt::new(Duration::from_secs(10), at(0));
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(sample(&mut filter, 100, 50, PACKET), ms(50));
        assert_eq!(sample(&mut filter, 4000, 50, PACKET), ms(50));
        assert_eq!(sample(&mut filter, 14_000, 60, PACKET), ms(50));
        assert!(!filter.expired);
        assert_eq!(sample(&mut filter, 14_001, 60, PACKET), ms(60));
        assert!(filter.expired);
        filter.probed(at(15_000));
        assert_eq!(sample(&mut filter, 25_000, 70, PACKET), ms(60));
        assert!(!filter.expired);
    }

    #[test]
    fn a_delayed_acknowledgment_does_not_replace_an_expired_minimum() {
        let mut filter = MinRtt::new(Duration::from_secs(10), at(0));
        sample(&mut filter, 0, 50, PACKET);
        let half = Bytes::new(730);
        assert_eq!(sample(&mut filter, 10_001, 90, half), Some(Duration::from_millis(50)));
        assert_eq!(sample(&mut filter, 10_002, 60, PACKET), Some(Duration::from_millis(60)));
        assert_eq!(
            sample(&mut filter, 10_003, 40, half),
            Some(Duration::from_millis(40)),
            "smaller ones count"
        );
    }
}
