//! Events as the interface has them.

use core::mem::size_of;

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Duration, RateSample, RttEstimate, SendEvent,
    Timestamp,
};

use crate::abi::{Ack, Congestion, Rtt, Sent, code};

/// Returns `flag` if it is set.
pub(crate) const fn flag(is_set: bool, flag: u32) -> u32 {
    if is_set { flag } else { 0 }
}

/// Stands for a sample that is not there.
const NO_RATE: RateSample = RateSample {
    delivered: Bytes::ZERO,
    lost: Bytes::ZERO,
    interval: Duration::ZERO,
    prior_delivered: Bytes::ZERO,
    app_limited: false,
};

impl From<&RttEstimate> for Rtt {
    #[inline]
    fn from(rtt: &RttEstimate) -> Self {
        Self {
            latest: rtt.latest.as_nanos(),
            smoothed: rtt.smoothed.as_nanos(),
            variation: rtt.variation.as_nanos(),
            minimum: rtt.minimum.as_nanos(),
        }
    }
}

impl From<&Rtt> for RttEstimate {
    #[inline]
    fn from(rtt: &Rtt) -> Self {
        Self {
            latest: Duration::from_nanos(rtt.latest),
            smoothed: Duration::from_nanos(rtt.smoothed),
            variation: Duration::from_nanos(rtt.variation),
            minimum: Duration::from_nanos(rtt.minimum),
        }
    }
}

impl From<&AckEvent> for Ack {
    #[inline]
    fn from(event: &AckEvent) -> Self {
        let (rate, rate_flags) = match event.rate {
            Some(rate) => (rate, code::ACK_RATE_SAMPLE | flag(rate.app_limited, code::ACK_APP_LIMITED)),
            None => (NO_RATE, 0),
        };
        let flags = flag(event.duplicate, code::ACK_DUPLICATE)
            | flag(event.window_limited, code::ACK_WINDOW_LIMITED)
            | flag(event.in_recovery, code::ACK_IN_RECOVERY)
            | flag(event.congestion_experienced, code::ACK_CONGESTION_EXPERIENCED)
            | flag(event.hidden_duplicate, code::ACK_HIDDEN_DUPLICATE)
            | flag(event.rtt_sample.is_some(), code::ACK_RTT_SAMPLE)
            | flag(event.latest_sent_at.is_some(), code::ACK_LATEST_SENT)
            | rate_flags
            | flag(event.receiver_time.is_some(), code::ACK_RECEIVER_TIME);
        Self {
            size: size_of::<Self>() as u32,
            flags,
            now: event.now.as_nanos(),
            acked: event.acked.get(),
            advance: event.advance.get(),
            newly_lost: event.newly_lost.get(),
            in_flight_before: event.in_flight_before.get(),
            in_flight: event.in_flight.get(),
            in_flight_at_send: event.in_flight_at_send.get(),
            latest_sent_at: event.latest_sent_at.map_or(0, Timestamp::as_nanos),
            rtt_sample: event.rtt_sample.map_or(0, Duration::as_nanos),
            rtt: Rtt::from(&event.rtt),
            rate_delivered: rate.delivered.get(),
            rate_lost: rate.lost.get(),
            rate_interval: rate.interval.as_nanos(),
            rate_prior_delivered: rate.prior_delivered.get(),
            round: event.round,
            marked: event.marked.get(),
            receiver_time: event.receiver_time.map_or(0, Timestamp::as_nanos),
            mss: event.mss.get() as u32,
            reserved: 0,
        }
    }
}

impl From<&Ack> for AckEvent {
    #[inline]
    fn from(ack: &Ack) -> Self {
        let has = |flag: u32| ack.flags & flag != 0;
        let mut event = Self::at(Timestamp::from_nanos(ack.now));
        event.acked = Bytes::new(ack.acked);
        event.advance = Bytes::new(ack.advance);
        event.duplicate = has(code::ACK_DUPLICATE);
        event.hidden_duplicate = has(code::ACK_HIDDEN_DUPLICATE);
        event.newly_lost = Bytes::new(ack.newly_lost);
        event.in_flight_before = Bytes::new(ack.in_flight_before);
        event.in_flight = Bytes::new(ack.in_flight);
        event.mss = Bytes::new(ack.mss.into());
        event.latest_sent_at = has(code::ACK_LATEST_SENT).then(|| Timestamp::from_nanos(ack.latest_sent_at));
        event.in_flight_at_send = Bytes::new(ack.in_flight_at_send);
        event.rtt_sample = has(code::ACK_RTT_SAMPLE).then(|| Duration::from_nanos(ack.rtt_sample));
        event.rtt = RttEstimate::from(&ack.rtt);
        event.rate = has(code::ACK_RATE_SAMPLE).then(|| RateSample {
            delivered: Bytes::new(ack.rate_delivered),
            lost: Bytes::new(ack.rate_lost),
            interval: Duration::from_nanos(ack.rate_interval),
            prior_delivered: Bytes::new(ack.rate_prior_delivered),
            app_limited: has(code::ACK_APP_LIMITED),
        });
        event.round = ack.round;
        event.window_limited = has(code::ACK_WINDOW_LIMITED);
        event.in_recovery = has(code::ACK_IN_RECOVERY);
        event.congestion_experienced = has(code::ACK_CONGESTION_EXPERIENCED);
        event.marked = Bytes::new(ack.marked);
        event.receiver_time = has(code::ACK_RECEIVER_TIME).then(|| Timestamp::from_nanos(ack.receiver_time));
        event
    }
}

impl From<&CongestionEvent> for Congestion {
    fn from(event: &CongestionEvent) -> Self {
        Self {
            size: size_of::<Self>() as u32,
            flags: 0,
            now: event.now.as_nanos(),
            flight_size: event.flight_size.get(),
            lost: event.lost.get(),
            rtt: Rtt::from(&event.rtt),
            mss: event.mss.get() as u32,
            signal: match event.signal {
                CongestionSignal::Loss => code::LOSS,
                CongestionSignal::EcnCe => code::MARK,
                CongestionSignal::Timeout => code::TIMEOUT,
            },
            consecutive: event.consecutive,
            reserved: 0,
        }
    }
}

impl From<&Congestion> for CongestionEvent {
    fn from(congestion: &Congestion) -> Self {
        let signal = match congestion.signal {
            code::MARK => CongestionSignal::EcnCe,
            code::TIMEOUT => CongestionSignal::Timeout,
            _ => CongestionSignal::Loss,
        };
        let mut event = Self::at(Timestamp::from_nanos(congestion.now), signal);
        event.flight_size = Bytes::new(congestion.flight_size);
        event.lost = Bytes::new(congestion.lost);
        event.mss = Bytes::new(congestion.mss.into());
        event.rtt = RttEstimate::from(&congestion.rtt);
        event.consecutive = congestion.consecutive;
        event
    }
}

impl From<&SendEvent> for Sent {
    #[inline]
    fn from(event: &SendEvent) -> Self {
        Self {
            size: size_of::<Self>() as u32,
            flags: flag(event.retransmission, code::SENT_RETRANSMISSION)
                | flag(event.app_limited, code::SENT_APP_LIMITED),
            now: event.now.as_nanos(),
            payload: event.payload.get(),
            in_flight: event.in_flight.get(),
            rtt: Rtt::from(&event.rtt),
            mss: event.mss.get() as u32,
            reserved: 0,
        }
    }
}

impl From<&Sent> for SendEvent {
    #[inline]
    fn from(sent: &Sent) -> Self {
        let mut event = Self::at(Timestamp::from_nanos(sent.now), Bytes::new(sent.payload));
        event.in_flight = Bytes::new(sent.in_flight);
        event.retransmission = sent.flags & code::SENT_RETRANSMISSION != 0;
        event.app_limited = sent.flags & code::SENT_APP_LIMITED != 0;
        event.mss = Bytes::new(sent.mss.into());
        event.rtt = RttEstimate::from(&sent.rtt);
        event
    }
}
