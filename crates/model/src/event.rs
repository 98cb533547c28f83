//! Events that a driver reports to a congestion controller, one struct for each kind. The fields are named,
//! so that a simulator, a kernel that reports per-ACK totals, and a QUIC stack can all fill them, and a new
//! field breaks no driver.

use crate::{Bytes, Duration, PathHeader, Rate, Timestamp};

/// Round-trip times of one flow (RFC 6298, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RttEstimate {
    /// The newest sample. Zero before the first.
    pub latest: Duration,
    /// SRTT: smoothed with gain 1/8. Zero before the first sample.
    pub smoothed: Duration,
    /// RTTVAR: mean deviation, smoothed with gain 1/4.
    pub variation: Duration,
    /// The smallest sample since the flow began; zero before the first.
    pub minimum: Duration,
}

impl RttEstimate {
    /// Updates the estimate with a sample (rules 2.2, for the `first` one, and 2.3).
    #[inline]
    pub fn on_sample(&mut self, sample: Duration, first: bool) {
        self.latest = sample;
        if first {
            self.smoothed = sample;
            self.variation = sample / 2;
            self.minimum = sample;
        } else {
            self.variation = (self.variation * 3 + self.smoothed.abs_diff(sample)) / 4;
            self.smoothed = (self.smoothed * 7 + sample) / 8;
            self.minimum = self.minimum.min(sample);
        }
    }
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr, "delivery rate sampling").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Data newly marked as delivered over the interval.
    pub delivered: Bytes,
    /// Data marked as lost over the interval.
    pub lost: Bytes,
    /// The longer of the sending and the acknowledging interval; never zero.
    pub interval: Duration,
    /// The total delivered when the newest acknowledged packet was sent; delimits rounds.
    pub prior_delivered: Bytes,
    /// Whether the sender ran out of data during the sample, so that the rate may be below what the path can
    /// carry.
    pub app_limited: bool,
}

impl RateSample {
    /// Returns the sampled delivery rate.
    pub fn rate(&self) -> Rate {
        Rate::over(self.delivered, self.interval)
    }
}

/// One arriving acknowledgment, or one report of a datapath that batches them.
///
/// If one acknowledgment also reveals a loss, [`CongestionEvent`] comes first (the order of RFC 9002,
/// appendix A). Create the event with [`AckEvent::at`] and assign the fields that are known.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AckEvent {
    /// When the acknowledgment arrived at the sender.
    pub now: Timestamp,
    /// Payload newly acknowledged, cumulatively or selectively; zero for a pure duplicate.
    pub acked: Bytes,
    /// Payload by which the cumulative acknowledgment advanced, including data that had been acknowledged
    /// selectively.
    pub advance: Bytes,
    /// Whether it advances nothing while data is outstanding (RFC 5681, section 2): one more segment left the
    /// network.
    pub duplicate: bool,
    /// Whether it is a duplicate whose repair an intermediate controller hides; for components that count
    /// only data.
    pub hidden_duplicate: bool,
    /// Payload that this acknowledgment reveals as lost, plus losses since the previous one that a timer
    /// other than the retransmission timer detected (RACK).
    pub newly_lost: Bytes,
    /// Payload in flight before this acknowledgment was processed.
    pub in_flight_before: Bytes,
    /// Payload in flight after it was processed, before anything new is sent.
    pub in_flight: Bytes,
    /// The largest payload of one packet.
    pub mss: Bytes,
    /// When the newest packet that it acknowledges was sent; `None` for a duplicate that acknowledges
    /// nothing.
    pub latest_sent_at: Option<Timestamp>,
    /// Payload in flight when that packet was sent, including the packet (`tx_in_flight` of
    /// draft-ietf-ccwg-bbr); zero if unknown.
    pub in_flight_at_send: Bytes,
    /// The RTT sample of this acknowledgment; `None` under Karn's rule or without new data.
    pub rtt_sample: Option<Duration>,
    /// Round-trip times, including this acknowledgment.
    pub rtt: RttEstimate,
    /// The delivery-rate sample, if one could be taken.
    pub rate: Option<RateSample>,
    /// Packet-timed round trips since the flow began. Increases by one when a packet sent after the end of
    /// the last round is acknowledged.
    pub round: u64,
    /// Whether the window, not the application or the receiver, limited the acknowledged flight. A controller
    /// must not grow a window that is not used (RFC 9438 section 5.8, RFC 7661).
    pub window_limited: bool,
    /// Whether loss recovery is in progress (after this acknowledgment was processed).
    pub in_recovery: bool,
    /// Whether the receiver reports a packet marked CE (RFC 3168 ECE, or a per-packet count if available).
    pub congestion_experienced: bool,
    /// Data that arrived marked CE since the last acknowledgment, if the receiver counts it (accurate ECN);
    /// packets count as full ones.
    pub marked: Bytes,
    /// The receiver's clock when it sent the acknowledgment (TCP timestamp value), if present.
    pub receiver_time: Option<Timestamp>,
    /// The header written by routers on the path, echoed by the receiver.
    pub path: PathHeader,
}

impl AckEvent {
    /// Creates an event at `now` with nothing else known: zero amounts, no samples, window-limited.
    pub const fn at(now: Timestamp) -> Self {
        Self {
            now,
            acked: Bytes::ZERO,
            advance: Bytes::ZERO,
            duplicate: false,
            hidden_duplicate: false,
            newly_lost: Bytes::ZERO,
            in_flight_before: Bytes::ZERO,
            in_flight: Bytes::ZERO,
            mss: Bytes::new(1460),
            latest_sent_at: None,
            in_flight_at_send: Bytes::ZERO,
            rtt_sample: None,
            rtt: RttEstimate {
                latest: Duration::ZERO,
                smoothed: Duration::ZERO,
                variation: Duration::ZERO,
                minimum: Duration::ZERO,
            },
            rate: None,
            round: 0,
            window_limited: true,
            in_recovery: false,
            congestion_experienced: false,
            marked: Bytes::ZERO,
            receiver_time: None,
            path: PathHeader::None,
        }
    }
}

/// The cause of a congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionSignal {
    /// Acknowledgments revealed a lost packet; occurs once for each loss event (one window of data).
    Loss,
    /// The receiver echoed a CE mark; occurs at most once a round trip (RFC 3168, section 6.1.2).
    EcnCe,
    /// The retransmission timer expired; occurs at each expiry. `consecutive` in the event counts them.
    Timeout,
}

/// One congestion signal.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CongestionEvent {
    /// When the signal reached the sender.
    pub now: Timestamp,
    /// The cause of the signal.
    pub signal: CongestionSignal,
    /// `FlightSize` of RFC 5681: payload sent and not cumulatively acknowledged at the time of the signal.
    pub flight_size: Bytes,
    /// Payload found lost with this signal.
    pub lost: Bytes,
    /// The largest payload of one packet.
    pub mss: Bytes,
    /// Round-trip times at the time of the signal.
    pub rtt: RttEstimate,
    /// For [`CongestionSignal::Timeout`]: expiries since the last new acknowledgment, including this one.
    pub consecutive: u32,
}

impl CongestionEvent {
    /// Creates a signal at `now` with nothing else known.
    pub const fn at(now: Timestamp, signal: CongestionSignal) -> Self {
        Self {
            now,
            signal,
            flight_size: Bytes::ZERO,
            lost: Bytes::ZERO,
            mss: Bytes::new(1460),
            rtt: AckEvent::at(now).rtt,
            consecutive: 0,
        }
    }
}

/// One data packet leaving the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SendEvent {
    /// When the packet leaves.
    pub now: Timestamp,
    /// The payload of the packet.
    pub payload: Bytes,
    /// Payload in flight, including this packet.
    pub in_flight: Bytes,
    /// Whether the packet is a retransmission.
    pub retransmission: bool,
    /// Whether the sender had run out of data before this packet and the data sent until then has not all
    /// been delivered yet (`C.app_limited` of draft-ietf-ccwg-bbr).
    pub app_limited: bool,
    /// The largest payload of one packet.
    pub mss: Bytes,
    /// Round-trip times when the packet leaves.
    pub rtt: RttEstimate,
}

impl SendEvent {
    /// Creates an event for a packet of `payload` at `now` with nothing else known.
    pub const fn at(now: Timestamp, payload: Bytes) -> Self {
        Self {
            now,
            payload,
            in_flight: payload,
            retransmission: false,
            app_limited: false,
            mss: Bytes::new(1460),
            rtt: AckEvent::at(now).rtt,
        }
    }
}
