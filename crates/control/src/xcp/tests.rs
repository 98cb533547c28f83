use airpath_model::{NullProbe, RttEstimate};

use super::*;

const MSS: Bytes = Bytes::new(1000);
const RTT: Duration = Duration::from_millis(100);

fn xcp(halve_on_loss: bool) -> Xcp {
    Xcp::new(XcpConfig { halve_on_loss, ..XcpConfig::default() }, MSS * 10, MSS).unwrap()
}

fn rtt() -> RttEstimate {
    RttEstimate { latest: RTT, smoothed: RTT, variation: Duration::ZERO, minimum: RTT }
}

fn header(delta_throughput: f64) -> PathHeader {
    PathHeader::Xcp(XcpHeader { rtt: RTT, inter_packet: RTT / 10, delta_throughput })
}

fn ack(path: PathHeader) -> AckEvent {
    let mut event = AckEvent::at(Timestamp::ZERO);
    event.acked = MSS;
    event.advance = MSS;
    event.mss = MSS;
    event.rtt = rtt();
    event.path = path;
    event
}

fn signal(signal: CongestionSignal, consecutive: u32) -> CongestionEvent {
    let mut event = CongestionEvent::at(Timestamp::ZERO, signal);
    event.mss = MSS;
    event.rtt = rtt();
    event.consecutive = consecutive;
    event
}

fn window_after(controller: &mut Xcp, event: &AckEvent) -> u64 {
    controller.on_ack(event, &mut NullProbe);
    controller.control().window.get()
}

#[test]
fn feedback_times_the_round_trip_moves_the_window() {
    let mut controller = xcp(true);
    assert_eq!(window_after(&mut controller, &ack(header(25_000.0))), 12_500);
    assert_eq!(window_after(&mut controller, &ack(header(-5_000.0))), 12_000);
    // Never below one segment.
    assert_eq!(window_after(&mut controller, &ack(header(-1e12))), 1000);
    // Fractions of a byte accumulate: 0.4 bytes on each of ten acknowledgments.
    for _ in 0..10 {
        controller.on_ack(&ack(header(4.0001)), &mut NullProbe);
    }
    assert_eq!(controller.control().window.get(), 1004);
}

/// The packet was sent with a round-trip time of 100 ms; the current one is 300 ms.
#[test]
fn the_form_determines_the_round_trip_over_which_feedback_counts() {
    for (form, window) in [(XcpForm::Rate, 10_000 + 7500), (XcpForm::Window, 10_000 + 2500)] {
        let mut controller = Xcp::new(XcpConfig { form, ..XcpConfig::default() }, MSS * 10, MSS).unwrap();
        let mut event = ack(header(25_000.0));
        event.rtt.smoothed = RTT * 3;
        assert_eq!(window_after(&mut controller, &event), window, "{form:?}");
    }
}

/// A window of 1.6 packets, which sends one in a round trip of 100 ms.
#[test]
fn the_time_between_packets_counts_whole_ones_or_the_window() {
    for (by, micros) in [(InterPacket::WholePackets, 100_000), (InterPacket::Window, 62_500)] {
        let mut controller =
            Xcp::new(XcpConfig { inter_packet: by, ..XcpConfig::default() }, MSS * 10, MSS).unwrap();
        assert_eq!(window_after(&mut controller, &ack(header(-84_000.0))), 1600);
        let mut event = SendEvent::at(Timestamp::ZERO, MSS);
        event.mss = MSS;
        event.rtt = rtt();
        let PathHeader::Xcp(sent) = controller.on_sent(&event, &mut NullProbe) else { panic!("{by:?}") };
        assert_eq!(sent.inter_packet, Duration::from_micros(micros), "{by:?}");
    }
}

#[test]
fn invalid_feedback_changes_nothing() {
    let mut controller = xcp(true);
    let mut duplicate = ack(header(25_000.0));
    (duplicate.acked, duplicate.advance) = (Bytes::ZERO, Bytes::ZERO);
    for event in [
        ack(PathHeader::None),
        duplicate,
        ack(header(f64::NAN)),
        ack(header(f64::INFINITY)),
        // No router lowered the request.
        ack(header(DEMAND)),
        ack(header(2.0 * DEMAND)),
    ] {
        assert_eq!(window_after(&mut controller, &event), 10_000, "{event:?}");
    }
}

#[test]
fn data_acknowledged_only_by_sack_delivers_feedback() {
    let mut event = ack(header(25_000.0));
    event.advance = Bytes::ZERO;
    assert_eq!(window_after(&mut xcp(true), &event), window_after(&mut xcp(true), &ack(header(25_000.0))));
}

#[test]
fn an_unused_window_does_not_grow_but_shrinks() {
    let mut controller = xcp(true);
    let mut event = ack(header(25_000.0));
    event.window_limited = false;
    assert_eq!(window_after(&mut controller, &event), 10_000);
    event.path = header(-10_000.0);
    assert_eq!(window_after(&mut controller, &event), 9_000);
}

/// As in ns-2.35, whose sender processes the feedback of every acknowledgment of new data.
#[test]
fn feedback_counts_while_losses_are_repaired() {
    let mut controller = xcp(true);
    let mut event = ack(header(25_000.0));
    event.in_recovery = true;
    assert_eq!(window_after(&mut controller, &event), 12_500);
}

#[test]
fn packets_contain_rtt_spacing_and_an_unlimited_request() {
    let mut controller = xcp(true);
    let mut event = SendEvent::at(Timestamp::ZERO, MSS);
    event.mss = MSS;
    let before_the_first_sample =
        XcpHeader { rtt: Duration::ZERO, inter_packet: Duration::ZERO, delta_throughput: 0.0 };
    assert_eq!(controller.on_sent(&event, &mut NullProbe), PathHeader::Xcp(before_the_first_sample));

    event.rtt = rtt();
    let stamped = XcpHeader { rtt: RTT, inter_packet: Duration::from_millis(10), delta_throughput: DEMAND };
    assert_eq!(controller.on_sent(&event, &mut NullProbe), PathHeader::Xcp(stamped));
    // A window of 1.9 packets sends one per round trip.
    controller.on_ack(&ack(header(-81_000.0)), &mut NullProbe);
    assert_eq!(controller.control().window.get(), 1900);
    let stamped = XcpHeader { inter_packet: RTT, ..stamped };
    assert_eq!(controller.on_sent(&event, &mut NullProbe), PathHeader::Xcp(stamped));
}

#[test]
fn a_loss_halves_or_is_only_repaired() {
    for (halve, expected) in [(true, 5000), (false, 10_000)] {
        for kind in [CongestionSignal::Loss, CongestionSignal::EcnCe] {
            let mut controller = xcp(halve);
            controller.on_congestion(&signal(kind, 0), &mut NullProbe);
            assert_eq!(controller.control().window.get(), expected);
        }
    }
}

#[test]
fn after_a_timeout_only_feedback_grows_the_window() {
    for halve in [true, false] {
        let mut controller = xcp(halve);
        controller.on_congestion(&signal(CongestionSignal::Timeout, 1), &mut NullProbe);
        assert_eq!(controller.control().window, MSS);
        assert_eq!(window_after(&mut controller, &ack(header(0.0))), 1000);
        assert_eq!(window_after(&mut controller, &ack(header(1000.0))), 1100);
    }
}

#[test]
fn a_spurious_signal_restores_the_window() {
    let mut controller = xcp(true);
    controller.on_congestion(&signal(CongestionSignal::Timeout, 1), &mut NullProbe);
    controller.on_congestion(&signal(CongestionSignal::Timeout, 2), &mut NullProbe);
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!(controller.control().window, MSS * 10);
    // Undone only once, and only if the window has not exceeded the old size.
    controller.on_congestion(&signal(CongestionSignal::Loss, 0), &mut NullProbe);
    controller.on_ack(&ack(header(100_000.0)), &mut NullProbe);
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!(controller.control().window.get(), 15_000);
}

#[test]
fn xcp_requires_feedback_and_a_window_of_at_least_a_packet() {
    assert!(xcp(true).requirements().path_feedback);
    assert!(Xcp::new(XcpConfig::default(), MSS, Bytes::ZERO).is_err());
    assert!(Xcp::new(XcpConfig::default(), Bytes::new(999), MSS).is_err());
}
