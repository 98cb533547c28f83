//! Events keep all their properties on the way through the interface.

use airpath_plugin::abi::{Ack, Congestion, Sent};
use airpath_plugin::model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Duration, RateSample, RttEstimate, SendEvent,
    Timestamp,
};

const RTT: RttEstimate = RttEstimate {
    latest: Duration::from_nanos(1),
    smoothed: Duration::from_nanos(2),
    variation: Duration::from_nanos(3),
    minimum: Duration::from_nanos(4),
};

/// An acknowledgment of which everything is known, with a different value in each field.
fn full() -> AckEvent {
    let mut event = AckEvent::at(Timestamp::from_nanos(5));
    event.acked = Bytes::new(6);
    event.advance = Bytes::new(7);
    event.newly_lost = Bytes::new(8);
    event.in_flight_before = Bytes::new(9);
    event.in_flight = Bytes::new(10);
    event.mss = Bytes::new(11);
    event.latest_sent_at = Some(Timestamp::from_nanos(12));
    event.in_flight_at_send = Bytes::new(13);
    event.rtt_sample = Some(Duration::from_nanos(14));
    event.rtt = RTT;
    event.rate = Some(RateSample {
        delivered: Bytes::new(15),
        lost: Bytes::new(16),
        interval: Duration::from_nanos(17),
        prior_delivered: Bytes::new(18),
        app_limited: false,
    });
    event.round = 19;
    event.marked = Bytes::new(20);
    event.receiver_time = Some(Timestamp::from_nanos(21));
    event.window_limited = false;
    event
}

fn passed(event: &AckEvent) -> AckEvent {
    AckEvent::from(&Ack::from(event))
}

#[test]
fn acknowledgments() {
    let full = full();
    assert_eq!(passed(&full), full);
    let unknown = AckEvent::at(Timestamp::ZERO);
    assert_eq!(passed(&unknown), unknown);
    let flags: [fn(&mut AckEvent) -> &mut bool; 6] = [
        |event| &mut event.duplicate,
        |event| &mut event.hidden_duplicate,
        |event| &mut event.window_limited,
        |event| &mut event.in_recovery,
        |event| &mut event.congestion_experienced,
        |event| &mut event.rate.as_mut().unwrap().app_limited,
    ];
    for flag in flags {
        let mut event = full;
        *flag(&mut event) = true;
        assert_ne!(event, full);
        assert_eq!(passed(&event), event);
    }
}

#[test]
fn congestion_signals() {
    for signal in [CongestionSignal::Loss, CongestionSignal::EcnCe, CongestionSignal::Timeout] {
        let mut event = CongestionEvent::at(Timestamp::from_nanos(5), signal);
        event.flight_size = Bytes::new(6);
        event.lost = Bytes::new(7);
        event.mss = Bytes::new(8);
        event.rtt = RTT;
        event.consecutive = 9;
        assert_eq!(CongestionEvent::from(&Congestion::from(&event)), event);
    }
}

#[test]
fn send_events() {
    for (retransmission, app_limited) in [(false, true), (true, false)] {
        let mut event = SendEvent::at(Timestamp::from_nanos(5), Bytes::new(6));
        event.in_flight = Bytes::new(7);
        event.retransmission = retransmission;
        event.app_limited = app_limited;
        event.mss = Bytes::new(8);
        event.rtt = RTT;
        assert_eq!(SendEvent::from(&Sent::from(&event)), event);
    }
}
