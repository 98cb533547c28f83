//! What a driver tells a congestion controller: one struct for each kind of event, with named fields, so that a
//! simulator, a kernel that reports per-ACK totals and a QUIC stack can all fill it, and a new field breaks nobody.

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
    /// A round trip took `sample` (rules 2.2, for the `first` one, and 2.3).
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
    /// The total delivered when the newest acknowledged packet was sent: marks rounds.
    pub prior_delivered: Bytes,
    /// The sender had nothing to send during the sample, so it may be below what the path can carry.
    pub app_limited: bool,
}

impl RateSample {
    /// The sampled delivery rate.
    pub fn rate(&self) -> Rate {
        Rate::over(self.delivered, self.interval)
    }
}

/// One arriving acknowledgment, or one report of a datapath that batches them.
///
/// When one acknowledgment also reveals a loss, [`CongestionEvent`] comes first, then this (the order of RFC 9002,
/// appendix A). Build it with [`AckEvent::at`] and assign the fields that are known.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AckEvent {
    /// When the acknowledgment arrived at the sender.
    pub now: Timestamp,
    /// Payload newly acknowledged by it, cumulatively or selectively. Zero for a pure duplicate.
    pub acked: Bytes,
    /// Payload by which the cumulative acknowledgment advanced, what had been acknowledged selectively included.
    pub advance: Bytes,
    /// It advances nothing while data is outstanding (RFC 5681, section 2): one more segment left the network.
    pub duplicate: bool,
    /// It is a duplicate, of which a controller in between hides the repair: for those who count data only.
    pub hidden_duplicate: bool,
    /// Payload that this acknowledgment reveals as lost, and what a timer other than that of retransmission found lost since the one
    /// before (RACK).
    pub newly_lost: Bytes,
    /// Payload in flight before this acknowledgment was processed.
    pub in_flight_before: Bytes,
    /// Payload in flight after it was processed (before anything new is sent).
    pub in_flight: Bytes,
    /// The largest payload of one packet.
    pub mss: Bytes,
    /// When the newest packet acknowledged by it was sent; `None` for a duplicate that acknowledges nothing.
    pub latest_sent_at: Option<Timestamp>,
    /// Payload in flight when that packet was sent, itself included (`tx_in_flight` of draft-ietf-ccwg-bbr); zero
    /// when not known.
    pub in_flight_at_send: Bytes,
    /// The RTT sample that this acknowledgment gave; `None` under Karn's rule or without new data.
    pub rtt_sample: Option<Duration>,
    /// Round-trip times, this acknowledgment included.
    pub rtt: RttEstimate,
    /// The delivery-rate sample, where one could be taken.
    pub rate: Option<RateSample>,
    /// Packet-timed round trips since the flow began; grows by one when a packet sent after the last round's
    /// end is acknowledged.
    pub round: u64,
    /// The window, not the application or the receiver, limited what was sent in the acknowledged flight. A
    /// controller must not grow a window that is not used (RFC 9438 section 5.8, RFC 7661).
    pub window_limited: bool,
    /// Loss recovery is under way (after this acknowledgment was processed).
    pub in_recovery: bool,
    /// The receiver says that a packet was marked CE (RFC 3168 ECE, or a per-packet count where there is one).
    pub congestion_experienced: bool,
    /// How much arrived marked CE since the last acknowledgment, where the receiver counts it (accurate ECN); packets count as
    /// full ones.
    pub marked: Bytes,
    /// The receiver's clock when it sent the acknowledgment (TCP timestamp value), where carried.
    pub receiver_time: Option<Timestamp>,
    /// What routers wrote on the way, echoed by the receiver.
    pub path: PathHeader,
}

impl AckEvent {
    /// An event at `now` in which nothing else is known: zero amounts, no samples, window-limited.
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

/// What made the driver believe that the path is congested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionSignal {
    /// A packet was found lost by acknowledgments; fires once for each loss event (one window of data).
    Loss,
    /// The receiver echoed a CE mark; fires at most once a round trip (RFC 3168, section 6.1.2).
    EcnCe,
    /// The retransmission timer expired. Fires at each expiry; `consecutive` in the event counts them.
    Timeout,
}

/// One congestion signal.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CongestionEvent {
    /// When the signal reached the sender.
    pub now: Timestamp,
    /// What was seen.
    pub signal: CongestionSignal,
    /// `FlightSize` of RFC 5681: payload sent and not cumulatively acknowledged when the signal came.
    pub flight_size: Bytes,
    /// Payload found lost with this signal.
    pub lost: Bytes,
    /// The largest payload of one packet.
    pub mss: Bytes,
    /// Round-trip times at this moment.
    pub rtt: RttEstimate,
    /// For [`CongestionSignal::Timeout`]: expiries since the last new acknowledgment, this one included.
    pub consecutive: u32,
}

impl CongestionEvent {
    /// A signal at `now` with nothing else known.
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
    /// When it leaves.
    pub now: Timestamp,
    /// Its payload.
    pub payload: Bytes,
    /// Payload in flight, this packet included.
    pub in_flight: Bytes,
    /// It was sent before.
    pub retransmission: bool,
    /// The sender had run out of data before it, and what it had sent then has not all been delivered yet
    /// (`C.app_limited` of draft-ietf-ccwg-bbr).
    pub app_limited: bool,
    /// The largest payload of one packet.
    pub mss: Bytes,
    /// Round-trip times at this moment.
    pub rtt: RttEstimate,
}

impl SendEvent {
    /// A packet of `payload` at `now` with nothing else known.
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
