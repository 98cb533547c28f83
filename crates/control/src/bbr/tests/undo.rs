//! Spurious losses (section 5.5.11), timeouts, and recovery that begins without a signal.

use super::*;

/// Returns a flow that left startup because of six losses in a round: 6 of 200 packets.
fn out_of_startup() -> Flow {
    let mut flow = Flow::new();
    let revealing =
        Ack { newly_lost: 1, lost: 6, in_flight: 200, in_flight_at_send: 200, in_recovery: true, ..ACK };
    flow.ack(RTT, Ack { newly_lost: 0, rate: Rate::from_bps(200_000), ..revealing });
    for _ in 0..6 {
        flow.ack(Duration::ZERO, Ack { same_round: true, rate: Rate::from_bps(200_000), ..revealing });
    }
    assert_eq!(flow.ack(RTT, Ack { newly_lost: 0, ..revealing }), State::Drain);
    assert!(flow.bbr.long_term.inflight < Bytes::MAX);
    flow
}

/// The flow returns to startup. An estimate of a full pipe that is based on these losses is discarded.
#[test]
fn a_spurious_end_of_startup_is_undone() {
    let growing = Ack { rate: Rate::from_bps(1_000_000), in_flight: 200, ..ACK };
    let mut flow = out_of_startup();
    flow.bbr.on_spurious(flow.now, &mut NullProbe);
    assert_eq!((flow.bbr.state, flow.bbr.long_term.inflight), (State::Startup, Bytes::MAX));
    assert_eq!(flow.ack(RTT, growing), State::Startup);
    // A loss is undone only once.
    let mut flow = flow.until(State::ProbeCruise, ACK);
    flow.bbr.on_spurious(flow.now, &mut NullProbe);
    assert_eq!(flow.bbr.state, State::ProbeCruise);
}

/// `ProbeRTT` continues, but is followed by startup.
#[test]
fn a_spurious_end_of_startup_detected_in_probe_rtt_is_undone_afterwards() {
    let queued = Ack { rtt: RTT * 2, in_flight: 200, in_recovery: true, ..ACK };
    let mut flow = out_of_startup();
    assert_eq!(flow.ack(Duration::from_secs(6), Ack { same_round: true, ..queued }), State::ProbeRtt);
    flow.bbr.on_spurious(flow.now, &mut NullProbe);
    assert_eq!(flow.bbr.state, State::ProbeRtt);
    let little = Ack { in_flight: 1, in_recovery: false, ..queued };
    assert_eq!(flow.rounds(1, little), State::ProbeRtt);
    flow.go(RTT, little, |state| state != State::ProbeRtt);
    assert_eq!(flow.bbr.state, State::Startup);
}

/// The short-term model is at least the one before the round of the losses.
#[test]
fn a_spurious_loss_restores_the_short_term_model() {
    let mut flow = Flow::cruising();
    let slower = Ack { rate: Rate::from_bps(300_000), ..ACK };
    flow.ack(RTT, slower);
    flow.ack(RTT, Ack { newly_lost: 1, lost: 1, ..slower });
    flow.ack(RTT, slower);
    assert!(flow.bbr.short_term.bandwidth < BANDWIDTH && flow.bbr.short_term.inflight < Bytes::MAX);
    flow.bbr.on_spurious(flow.now, &mut NullProbe);
    assert_eq!((flow.bbr.short_term.bandwidth, flow.bbr.short_term.inflight), (Rate::UNLIMITED, Bytes::MAX));
}

fn timeout(flow: &mut Flow, flight: u64, lost: u64) {
    let mut event = CongestionEvent::at(flow.now, CongestionSignal::Timeout);
    (event.mss, event.consecutive) = (MSS, 1);
    (event.flight_size, event.lost) = (MSS * flight, MSS * lost);
    flow.bbr.on_congestion(&event, &mut NullProbe);
}

/// The losses of a timeout count as losses: those of a probe above the threshold end it, and its limit is the
/// point at which the threshold was crossed (`InflightAtLoss`); others do not change the long-term model.
#[test]
fn a_timeout_is_treated_like_other_losses() {
    let mut flow = Flow::probing();
    timeout(&mut flow, 100, 2);
    assert_eq!(
        (flow.bbr.state, flow.bbr.long_term.inflight),
        (State::ProbeUp, Bytes::MAX),
        "2 % are tolerated"
    );
    let mut flow = Flow::probing();
    timeout(&mut flow, 100, 51);
    assert_eq!(flow.bbr.state, State::ProbeDown);
    // None of the 49 packets before was lost: x of x + 49 are 2 % at x = 1.
    assert_eq!(flow.bbr.long_term.inflight, MSS * 50);
    let mut flow = Flow::cruising();
    timeout(&mut flow, 8, 8);
    assert_eq!((flow.bbr.state, flow.bbr.long_term.inflight), (State::ProbeCruise, Bytes::MAX));
}

/// `NoteLoss`: the round of a timeout is one with losses, which lower the short-term model.
#[test]
fn the_round_of_a_timeout_lowers_the_short_term_model() {
    let slower = Ack { rate: Rate::from_bps(300_000), in_flight: 20, ..ACK };
    let mut flow = Flow::new().until(State::Drain, Ack { in_flight: 20, ..ACK });
    flow.ack(RTT, slower);
    timeout(&mut flow, 8, 8);
    flow.ack(RTT, slower);
    // Beta times the estimate of 640 kbit/s.
    assert_near(flow.bbr.short_term.bandwidth, 0.7 * 640_000.0);
}

/// A loss in the window of an ECN echo begins a recovery without a signal, which has the same effects. Its
/// window is saved when it begins, not later, and restored when it ends (section 5.6.4.4). The state for an
/// undo is saved likewise.
#[test]
fn a_recovery_without_a_signal_saves_and_restores_the_window() {
    let mut flow = Flow::cruising();
    let before = flow.bbr.window;
    let repairing = Ack { in_recovery: true, same_round: true, ..ACK };
    flow.ack(Duration::ZERO, repairing);
    assert!(flow.bbr.in_recovery);
    flow.bbr.window = MSS * 4;
    flow.ack(Duration::ZERO, repairing);
    assert!(flow.bbr.in_recovery && flow.bbr.window < before);
    flow.ack(Duration::ZERO, Ack { in_recovery: false, ..repairing });
    assert!(!flow.bbr.in_recovery);
    assert_eq!(flow.bbr.window, before + MSS, "and what was acknowledged last");
    let mut flow = out_of_startup();
    flow.ack(Duration::ZERO, Ack { in_flight: 200, ..repairing });
    flow.bbr.on_spurious(flow.now, &mut NullProbe);
    assert_eq!(flow.bbr.state, State::Startup);
}

/// `ResetFullBW`: rounds whose missing growth is explained by spurious losses do not fill the pipe. The first
/// round afterwards sets the baseline.
#[test]
fn plateau_detection_restarts_after_spurious_losses() {
    let mut flow = Flow::probing();
    assert_eq!(flow.rounds(2, ACK), State::ProbeUp);
    flow.bbr.on_spurious(flow.now, &mut NullProbe);
    assert_eq!(flow.rounds(3, ACK), State::ProbeUp);
    assert_eq!(flow.rounds(1, ACK), State::ProbeDown);
}

/// The draft lets the transport decide when the losses of a timeout are repaired. As documented, they are
/// repaired when the amount that counts as lost has been delivered.
#[test]
fn a_timeout_is_repaired_after_delivery_of_the_data_marked_lost() {
    let mut flow = Flow::cruising();
    let before = flow.bbr.window;
    timeout(&mut flow, 8, 8);
    flow.ack(RTT, Ack { acked: 7, ..ACK });
    assert!(flow.bbr.in_recovery && flow.bbr.window < before.mul_f64(0.7), "{:?}", flow.bbr.window);
    flow.ack(Duration::ZERO, ACK);
    assert!(!flow.bbr.in_recovery && flow.bbr.window >= before.mul_f64(0.7), "{:?}", flow.bbr.window);
}

/// The window saved by a recovery is restored once; later the window grows by the acknowledged amount.
#[test]
fn only_the_end_of_a_recovery_restores_its_window() {
    let mut flow = Flow::cruising();
    (flow.bbr.window, flow.bbr.prior_window) = (MSS * 5, MSS * 14);
    flow.ack(Duration::ZERO, Ack { same_round: true, ..ACK });
    assert_eq!(flow.bbr.window, MSS * 6);
}

#[test]
fn a_spurious_timeout_is_undone() {
    let mut flow = Flow::cruising();
    let before = flow.bbr.window;
    flow.signal(CongestionSignal::Timeout, 8);
    flow.bbr.on_spurious(flow.now, &mut NullProbe);
    assert_eq!(flow.bbr.control().window, before);
    let mut flow = Flow::probing();
    flow.signal(CongestionSignal::Timeout, 8);
    assert_eq!(flow.bbr.state, State::ProbeDown, "the probe lost all");
    flow.bbr.on_spurious(flow.now, &mut NullProbe);
    assert_eq!(flow.bbr.state, State::ProbeRefill, "and restarts");
    assert_eq!(flow.bbr.long_term.inflight, Bytes::MAX);
}
