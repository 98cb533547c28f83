//! The effects of each step of the state machine, as in the pseudo-code of the draft.

use super::super::probe_bandwidth::AckPhase;
use super::*;

#[test]
fn the_requirements_are_pacing_rate_samples_and_a_window_in_recovery() {
    let needs = Flow::new().bbr.requirements();
    assert!(needs.pacing && needs.rate_samples && needs.window_in_recovery);
}

/// `ack_phase` through a cycle (sections 5.3.3.5 and 5.3.3.9).
#[test]
fn the_phase_of_the_acknowledgments_follows_the_cycle() {
    let mut flow = Flow::cruising().until(State::ProbeRefill, ACK);
    assert_eq!(flow.bbr.cycle.ack_phase, AckPhase::Refilling);
    assert!(!flow.bbr.cycle.is_probe_sample);
    assert_eq!(flow.ack(RTT, ACK), State::ProbeUp);
    assert_eq!(flow.bbr.cycle.ack_phase, AckPhase::ProbeStarting);
    assert!(flow.bbr.cycle.is_probe_sample);
    flow.ack(RTT, Ack { same_round: true, ..ACK });
    assert_eq!(flow.bbr.cycle.ack_phase, AckPhase::ProbeStarting);
    flow.ack(RTT, ACK);
    assert_eq!(flow.bbr.cycle.ack_phase, AckPhase::ProbeFeedback);
    flow = flow.until(State::ProbeDown, ACK);
    assert_eq!(flow.bbr.cycle.ack_phase, AckPhase::ProbeStopping);
    flow.ack(RTT, Ack { same_round: true, ..ACK });
    assert_eq!(flow.bbr.cycle.ack_phase, AckPhase::ProbeStopping);
    assert!(flow.bbr.cycle.is_probe_sample, "the last packets of the probe are on their way");
    flow.ack(RTT, ACK);
    assert_eq!(flow.bbr.cycle.ack_phase, AckPhase::Init);
    assert!(!flow.bbr.cycle.is_probe_sample);
}

/// A refill undoes the spurious end of a probe before the last acknowledgments of that probe arrive. These
/// acknowledgments then do not end a phase.
#[test]
fn a_refill_ends_the_previous_phase() {
    let mut flow = Flow::probing();
    flow.signal(CongestionSignal::Timeout, 8);
    assert_eq!(flow.bbr.cycle.ack_phase, AckPhase::ProbeStopping);
    flow.bbr.on_spurious(flow.now, &mut NullProbe);
    assert_eq!(flow.bbr.cycle.ack_phase, AckPhase::Refilling);
}

/// `StartRound`: the round ends with a packet that is sent from now on.
#[test]
fn each_phase_of_the_cycle_starts_a_round() {
    let steps: [fn(&mut Bbr); 3] = [
        |bbr| bbr.start_probe_refill(),
        |bbr| bbr.start_probe_up(None),
        |bbr| bbr.start_probe_down(Timestamp::ZERO),
    ];
    for step in steps {
        let mut bbr = Flow::cruising().bbr;
        bbr.delivered += MSS * 5;
        step(&mut bbr);
        let (before, now) = (bbr.delivered - Bytes::new(1), bbr.delivered);
        bbr.rounds.update(before, now);
        assert!(!bbr.rounds.started, "{:?}", bbr.state);
        bbr.rounds.update(now, now);
        assert!(bbr.rounds.started, "{:?}", bbr.state);
    }
}

/// `StartProbeBW_UP`: the plateau is relative to the rate at the start of the probe, and the long-term limit
/// may grow by one packet in the first round.
#[test]
fn a_probe_starts_with_the_known_rate_and_slow_growth() {
    assert_eq!(Flow::probing().rounds(2, ACK), State::ProbeUp);
    assert_eq!(Flow::probing().rounds(3, ACK), State::ProbeDown);
    let mut bbr = Flow::cruising().bbr;
    (bbr.window, bbr.long_term.inflight) = (MSS * 20, MSS * 10);
    bbr.start_probe_refill();
    bbr.start_probe_up(None);
    bbr.long_term.grow(MSS * 19, MSS);
    assert_eq!(bbr.long_term.inflight, MSS * 10);
    bbr.long_term.grow(MSS, MSS);
    assert_eq!(bbr.long_term.inflight, MSS * 11);
}

/// `AdvanceMaxBwFilter` once a cycle, at the end of the first round after the probe, unless that sample is
/// limited.
#[test]
fn a_cycle_of_the_bandwidth_filter_ends_with_the_probe_unless_the_application_limits_it() {
    let slow = Rate::from_bps(320_000);
    for (app_limited, kept) in [(false, slow), (true, BANDWIDTH)] {
        let mut flow = Flow::probing().until(State::ProbeDown, ACK);
        // The filter covers two cycles: a sample expires in the second cycle after its own.
        flow.ack(RTT, Ack { app_limited, rate: slow, ..ACK });
        flow.bbr.max_bw.update(slow, false);
        flow.bbr.max_bw.advance();
        assert_eq!(flow.bbr.max_bw.maximum(), kept, "{app_limited}");
    }
}

/// `ProbeInflightLongtermUpward`: only in `ProbeBW` up, limited by the window, and if the window is at the
/// limit.
#[test]
fn only_a_limit_in_effect_grows() {
    let growth = |state, window_limited, window| {
        let mut bbr = Flow::cruising().bbr;
        (bbr.state, bbr.window, bbr.long_term.inflight) = (state, MSS * window, MSS * 10);
        bbr.long_term.raise_slope(MSS * 10, MSS);
        bbr.rounds.started = false;
        let mut event = AckEvent::at(Timestamp::ZERO);
        (event.acked, event.mss, event.window_limited) = (MSS * 10, MSS, window_limited);
        bbr.raise_long_term_model(&event);
        let grown = bbr.long_term.inflight - MSS * 10;
        // Within the round the slope does not change.
        bbr.long_term.grow(MSS * 9, MSS);
        assert_eq!(bbr.long_term.inflight, MSS * 10 + grown);
        grown
    };
    assert_eq!(growth(State::ProbeUp, true, 10), MSS);
    assert_eq!(growth(State::ProbeCruise, true, 10), Bytes::ZERO);
    assert_eq!(growth(State::ProbeUp, false, 10), Bytes::ZERO);
    assert_eq!(growth(State::ProbeUp, true, 9), Bytes::ZERO);
}

/// `AdaptLongTermModel`: an amount in flight with tolerable loss is safe in any state; a limit that is not
/// set stays unset.
#[test]
fn tolerated_flight_is_the_lower_bound_of_the_limit() {
    let mut flow = Flow::cruising();
    flow.ack(Duration::ZERO, Ack { in_flight_at_send: 12, same_round: true, ..ACK });
    assert_eq!(flow.bbr.long_term.inflight, Bytes::MAX);
    flow.bbr.long_term.inflight = MSS * 10;
    flow.ack(Duration::ZERO, Ack { in_flight_at_send: 12, same_round: true, ..ACK });
    assert_eq!(flow.bbr.long_term.inflight, MSS * 12);
    flow.ack(Duration::ZERO, Ack { in_flight_at_send: 20, lost: 1, same_round: true, ..ACK });
    assert_eq!(flow.bbr.long_term.inflight, MSS * 12, "5 % were lost");
}

/// `CheckProbeRTT` and `ExitProbeRTT`.
#[test]
fn probe_rtt_ends_the_probe_and_leads_back_to_startup_while_the_pipe_is_not_full() {
    let mut flow = Flow::probing();
    flow.bbr.delivered += MSS * 5;
    flow.delivered = flow.bbr.delivered;
    let state = flow.ack(Duration::from_secs(6), Ack { same_round: true, rtt: RTT * 2, ..ACK });
    assert_eq!((state, flow.bbr.cycle.ack_phase), (State::ProbeRtt, AckPhase::ProbeStopping));
    let before = flow.bbr.delivered - Bytes::new(1);
    flow.bbr.rounds.update(before, before);
    assert!(!flow.bbr.rounds.started, "a round began with it");

    let mut flow = Flow::new();
    let growing =
        |round: u32| Ack { rate: Rate::from_bps(100_000 << round), rtt: RTT * (1 + u64::from(round)), ..ACK };
    flow.ack(RTT, growing(0));
    assert_eq!(flow.ack(Duration::from_secs(6), growing(1)), State::ProbeRtt);
    flow.go(RTT, Ack { in_flight: 1, ..growing(2) }, |state| state != State::ProbeRtt);
    assert_eq!((flow.bbr.state, flow.bbr.full_pipe.reached), (State::Startup, false));
}

/// Sends a packet over a path with no data in flight.
fn restart(flow: &mut Flow, app_limited: bool) {
    let mut sent = SendEvent::at(flow.now, MSS);
    (sent.in_flight, sent.app_limited) = (MSS, app_limited);
    flow.bbr.on_sent(&sent, &mut NullProbe);
}

/// `HandleRestartFromIdle` applies to flows that were application-limited.
#[test]
fn a_flow_restarts_from_idleness_when_the_application_had_nothing_to_send() {
    for (app_limited, gain) in [(true, 1.0), (false, 1.25)] {
        let mut flow = Flow::probing();
        restart(&mut flow, app_limited);
        assert_eq!(flow.bbr.idle_restart, app_limited);
        assert_near(flow.pacing(), 0.99 * gain * 640_000.0);
    }
    // Outside of `ProbeBW` the rate does not change.
    let mut flow = Flow::new().until(State::Drain, Ack { in_flight: 20, ..ACK });
    restart(&mut flow, true);
    assert_near(flow.pacing(), 0.99 * 0.5 * 640_000.0);
}

/// `CheckProbeRTTDone` at a restart: the idle period revealed the round-trip time without a queue.
#[test]
fn idleness_in_probe_rtt_ends_it_when_its_time_is_over() {
    let queued = Ack { rtt: Duration::from_millis(110), ..ACK };
    let mut flow = Flow::cruising();
    flow.go(Duration::from_millis(50), queued, |state| state == State::ProbeRtt);
    assert_eq!(flow.ack(Duration::ZERO, Ack { in_flight: 0, ..queued }), State::ProbeRtt);
    flow.now += Duration::from_millis(200);
    restart(&mut flow, true);
    assert_eq!(flow.bbr.state, State::ProbeRtt, "200 ms are not over");
    flow.now += Duration::from_nanos(1);
    // In `ProbeRTT` a flow counts as application-limited (`MarkConnectionAppLimited`).
    restart(&mut flow, false);
    assert_eq!(flow.bbr.state, State::ProbeCruise);
}

/// Returns a flow after a precautionary probe, which ended when it reached the limit of 9 packets.
fn cautious() -> Flow {
    let mut flow = Flow::probing();
    flow.ack(RTT, Ack { newly_lost: 1, lost: 2, in_flight_at_send: 11, ..ACK });
    let safe = Ack { in_flight: 6, in_flight_at_send: 7, ..ACK };
    let mut flow = flow.until(State::ProbeUp, safe);
    assert_eq!(flow.ack(RTT, Ack { in_flight: 8, ..safe }), State::ProbeDown);
    flow
}

/// The probe directly after a precautionary one is a full probe. Afterwards the flow drains and cruises as
/// after any other.
#[test]
fn a_cautious_probe_is_followed_by_one_early_probe_only_if_successful() {
    let safe = Ack { in_flight: 6, in_flight_at_send: 7, ..ACK };
    let mut flow = cautious();
    assert_eq!(flow.ack(RTT, safe), State::ProbeRefill);
    flow = flow.until(State::ProbeDown, safe);
    assert_eq!(flow.ack(RTT, safe), State::ProbeCruise);
    // The last packets of the precautionary probe are lost.
    let mut flow = cautious();
    flow.ack(Duration::ZERO, Ack { newly_lost: 2, lost: 2, same_round: true, ..safe });
    assert_ne!(flow.ack(RTT, safe), State::ProbeRefill);
}

/// `AdaptLongTermModel`: only cycles of `ProbeBW` are cycles of the bandwidth filter.
#[test]
fn probe_rtt_ends_no_cycle_of_the_bandwidth_filter() {
    let mut flow = Flow::probing();
    let queued = Ack { rtt: RTT * 2, ..ACK };
    assert_eq!(flow.ack(Duration::from_secs(6), Ack { same_round: true, ..queued }), State::ProbeRtt);
    let slow = Rate::from_bps(320_000);
    assert_eq!(flow.ack(RTT, Ack { rate: slow, ..queued }), State::ProbeRtt);
    assert_eq!(flow.bbr.cycle.ack_phase, AckPhase::Init);
    flow.bbr.max_bw.update(slow, false);
    flow.bbr.max_bw.advance();
    assert_eq!(flow.bbr.max_bw.maximum(), BANDWIDTH);
}

/// `extra_acked_interval_start`: ten packets arrive at once before the idle period, and ten arrive a round
/// trip after it, of which eight are expected.
#[test]
fn intervals_after_an_idle_period_start_at_its_end() {
    let mut flow = Flow::probing();
    flow.ack(RTT, Ack { acked: 10, ..ACK });
    flow.now += Duration::from_secs(3);
    restart(&mut flow, true);
    flow.ack(RTT, Ack { acked: 10, ..ACK });
    assert_eq!(flow.bbr.aggregation.extra(), MSS * 12);
}
