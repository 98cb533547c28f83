//! Delivery-rate samples (draft-ietf-ccwg-bbr, section 4.1), with application-limited marking.

use airpath_model::{Bytes, Duration, RateSample, Timestamp};

/// The connection state stored with a packet when it is sent (P.* of the draft).
#[derive(Clone, Copy, Debug, Default)]
pub struct SendState {
    delivered: u64,
    lost: u64,
    delivered_at: Timestamp,
    first_sent_at: Timestamp,
    app_limited: bool,
    in_flight: u64,
}

impl SendState {
    /// Returns whether the sender had run out of data before it sent this packet.
    pub const fn app_limited(&self) -> bool {
        self.app_limited
    }

    /// Returns the payload in flight, including this packet.
    pub const fn in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight)
    }
}

/// Counts the deliveries of one connection (C.* of the draft) and takes samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryRate {
    delivered: u64,
    lost: u64,
    delivered_at: Timestamp,
    first_sent_at: Timestamp,
    /// Samples are application-limited up to this count of delivered bytes; zero if they are not.
    app_limited_until: u64,
    /// The newest packet delivered by the acknowledgment that is being processed.
    newest: Option<(SendState, Timestamp)>,
}

impl DeliveryRate {
    /// Returns the bytes delivered so far.
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Returns the state to store with a packet sent at `now`, after which `in_flight` is in flight. `idle`
    /// means that nothing else was outstanding.
    pub fn on_sent(&mut self, now: Timestamp, idle: bool, in_flight: Bytes) -> SendState {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SendState {
            delivered: self.delivered,
            lost: self.lost,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.app_limited_until != 0,
            in_flight: in_flight.get(),
        }
    }

    /// Records that the current acknowledgment delivers a packet of `payload` bytes sent at `sent_at`.
    pub fn on_delivered(&mut self, now: Timestamp, payload: u64, sent_at: Timestamp, state: &SendState) {
        self.delivered += payload;
        self.delivered_at = now;
        let newer = self.newest.is_none_or(|(newest, newest_sent_at)| {
            (state.delivered, sent_at) >= (newest.delivered, newest_sent_at)
        });
        if newer {
            self.newest = Some((*state, sent_at));
            self.first_sent_at = sent_at;
        }
    }

    /// Returns the bytes delivered when the newest packet of this acknowledgment was sent. Delimits rounds.
    pub fn prior_delivered(&self) -> Option<u64> {
        self.newest.map(|(state, _)| state.delivered)
    }

    /// Counts `lost` more bytes as lost.
    pub fn on_lost(&mut self, lost: Bytes) {
        self.lost += lost.get();
    }

    /// Finishes the acknowledgment and returns its sample.
    ///
    /// No sample covers less than `minimum_rtt`: a shorter one acknowledges the original of a retransmitted
    /// packet.
    pub fn take_sample(&mut self, minimum_rtt: Duration) -> Option<RateSample> {
        if self.app_limited_until != 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let (state, sent_at) = self.newest.take()?;
        let sending = sent_at.since(state.first_sent_at);
        let acknowledging = self.delivered_at.since(state.delivered_at);
        let interval = sending.max(acknowledging);
        (!interval.is_zero() && interval >= minimum_rtt).then(|| RateSample {
            delivered: Bytes::new(self.delivered - state.delivered),
            lost: Bytes::new(self.lost - state.lost),
            interval,
            prior_delivered: Bytes::new(state.delivered),
            app_limited: state.app_limited,
        })
    }

    /// Marks the sender as application-limited: it has nothing to send although the window has room.
    pub fn mark_app_limited(&mut self, in_flight: Bytes) {
        self.app_limited_until = (self.delivered + in_flight.get()).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_model::Rate;

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn ack_compression_does_not_raise_the_sample_above_the_sending_rate() {
        let mut rate = DeliveryRate::default();
        // Ten packets of 1000 bytes, one per millisecond, all acknowledged at 100 ms.
        let states: alloc::vec::Vec<_> =
            (0..10).map(|k| (at(k), rate.on_sent(at(k), k == 0, Bytes::ZERO))).collect();
        let mut last = None;
        for (sent_at, state) in &states {
            rate.on_delivered(at(100), 1000, *sent_at, state);
            last = rate.take_sample(Duration::ZERO);
        }
        // 10 000 bytes over max(9 ms sending, 100 ms acknowledging).
        assert_eq!(last.map(|sample| sample.rate()), Some(Rate::from_bps(800_000)));
    }

    #[test]
    fn a_connection_without_data_is_application_limited_before_its_first_packet() {
        let mut rate = DeliveryRate::default();
        rate.mark_app_limited(Bytes::ZERO);
        let state = rate.on_sent(at(0), true, Bytes::ZERO);
        rate.on_delivered(at(10), 1000, at(0), &state);
        assert_eq!(rate.take_sample(Duration::ZERO).map(|sample| sample.app_limited), Some(true));
    }

    #[test]
    fn a_sample_counts_the_losses_since_its_packet_left() {
        let mut rate = DeliveryRate::default();
        rate.on_lost(Bytes::new(700));
        let state = rate.on_sent(at(0), true, Bytes::ZERO);
        rate.on_lost(Bytes::new(1000));
        rate.on_lost(Bytes::new(500));
        rate.on_delivered(at(10), 1000, at(0), &state);
        assert_eq!(rate.take_sample(at(10).since(at(0))).map(|sample| sample.lost), Some(Bytes::new(1500)));
    }

    #[test]
    fn no_sample_is_shorter_than_the_shortest_round_trip() {
        let mut rate = DeliveryRate::default();
        let state = rate.on_sent(at(0), true, Bytes::ZERO);
        rate.on_delivered(at(10), 1000, at(0), &state);
        assert!(rate.take_sample(Duration::from_millis(11)).is_none());
    }

    #[test]
    fn samples_are_application_limited_until_the_gap_has_been_delivered() {
        let mut rate = DeliveryRate::default();
        let first = rate.on_sent(at(0), true, Bytes::ZERO);
        rate.mark_app_limited(Bytes::new(1000));
        let second = rate.on_sent(at(5), false, Bytes::ZERO);
        rate.on_delivered(at(10), 1000, at(0), &first);
        assert_eq!(rate.take_sample(Duration::ZERO).map(|sample| sample.app_limited), Some(false));
        rate.on_delivered(at(15), 1000, at(5), &second);
        assert_eq!(rate.take_sample(Duration::ZERO).map(|sample| sample.app_limited), Some(true));
        let third = rate.on_sent(at(16), true, Bytes::ZERO);
        rate.on_delivered(at(26), 1000, at(16), &third);
        assert_eq!(rate.take_sample(Duration::ZERO).map(|sample| sample.app_limited), Some(false));
    }

    /// The bubble is gone if *more* has been delivered than `C.app_limited` (draft-ietf-ccwg-bbr, section
    /// 4.1).
    #[test]
    fn a_packet_sent_right_after_the_gap_is_application_limited_and_the_next_is_not() {
        let mut rate = DeliveryRate::default();
        let first = rate.on_sent(at(0), true, Bytes::ZERO);
        rate.mark_app_limited(Bytes::new(1000));
        rate.on_delivered(at(10), 1000, at(0), &first);
        rate.take_sample(Duration::ZERO);
        let second = rate.on_sent(at(11), true, Bytes::ZERO);
        assert!(second.app_limited());
        rate.on_delivered(at(21), 1, at(11), &second);
        rate.take_sample(Duration::ZERO);
        assert!(!rate.on_sent(at(22), true, Bytes::ZERO).app_limited());
    }

    #[test]
    fn a_sample_after_idleness_does_not_count_the_idleness() {
        let mut rate = DeliveryRate::default();
        for sent in [0, 1000] {
            let state = rate.on_sent(at(sent), true, Bytes::ZERO);
            rate.on_delivered(at(sent + 10), 1000, at(sent), &state);
            let sample = rate.take_sample(Duration::ZERO).map(|sample| sample.interval);
            assert_eq!(sample, Some(Duration::from_millis(10)), "sent at {sent} ms");
        }
    }

    #[test]
    fn the_most_recently_sent_packet_of_an_acknowledgment_counts() {
        let mut rate = DeliveryRate::default();
        let first = rate.on_sent(at(0), true, Bytes::ZERO);
        let second = rate.on_sent(at(1), false, Bytes::ZERO);
        rate.on_delivered(at(10), 1000, at(0), &first);
        rate.take_sample(Duration::ZERO);
        let third = rate.on_sent(at(11), false, Bytes::ZERO);
        rate.on_delivered(at(21), 1000, at(11), &third);
        rate.on_delivered(at(21), 1000, at(1), &second);
        assert_eq!(rate.prior_delivered(), Some(1000));
        let sample = rate.take_sample(Duration::ZERO).map(|sample| (sample.delivered, sample.interval));
        assert_eq!(sample, Some((Bytes::new(2000), Duration::from_millis(11))));
    }
}
