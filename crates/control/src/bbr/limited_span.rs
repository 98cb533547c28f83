//! The time span whose samples are limited by the algorithm itself.

use airpath_model::{AckEvent, Bytes, RateSample, Timestamp};

/// `MarkConnectionAppLimited` in `ProbeRTT` (section 5.3.4.3): samples of packets sent while the allowed
/// amount in flight is small count as application-limited. The transport does not mark these samples; the
/// times at which their packets were sent identify them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LimitedSpan {
    /// Start of the span whose samples are limited. The span is open while `until` is set.
    from: Option<Timestamp>,
    to: Timestamp,
    /// The span ends when more than this has been delivered.
    until: Option<Bytes>,
}

impl LimitedSpan {
    /// Marks samples as limited until `delivered` plus the current `in_flight` has been delivered.
    pub(crate) fn mark(&mut self, now: Timestamp, delivered: Bytes, in_flight: Bytes) {
        if self.until.is_none() {
            self.from = Some(now);
        }
        self.until = Some(delivered + in_flight);
    }

    /// Ends the span at `now` if more than `until` has been delivered.
    pub(crate) fn update(&mut self, now: Timestamp, delivered: Bytes) {
        if self.until.is_some_and(|until| delivered > until) {
            self.until = None;
            self.to = now;
        }
    }

    /// Returns the sample of an acknowledgment. If its packet was sent in the span, the sample counts as
    /// application-limited.
    pub(crate) fn sample(&self, event: &AckEvent) -> Option<RateSample> {
        let mut sample = event.rate?;
        sample.app_limited |= event.latest_sent_at.is_some_and(|sent_at| self.covers(sent_at));
        Some(sample)
    }

    /// Returns whether the sample of a packet sent at `sent_at` is limited.
    pub(crate) fn covers(&self, sent_at: Timestamp) -> bool {
        self.from.is_some_and(|from| sent_at >= from) && (self.until.is_some() || sent_at < self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sent_before_the_low_flight_is_delivered_is_limited() {
        let at = Timestamp::from_nanos;
        let mut span = LimitedSpan::default();
        assert!(!span.covers(at(5)));
        span.mark(at(10), Bytes::new(100), Bytes::new(50));
        span.mark(at(20), Bytes::new(120), Bytes::new(40));
        span.update(at(30), Bytes::new(160));
        assert!(!span.covers(at(9)) && span.covers(at(10)) && span.covers(at(29)));
        span.update(at(40), Bytes::new(161));
        assert!(span.covers(at(39)) && !span.covers(at(40)));
    }
}
