//! Transitions, gains, targets and the response to losses, compared with values computed by hand.

use airpath_model::NullProbe;

use super::*;

const MSS: Bytes = Bytes::new(1000);
/// 80 packets a second: 8 packets in a round trip of 100 ms.
const BANDWIDTH: Rate = Rate::from_bps(640_000);
const RTT: Duration = Duration::from_millis(100);

/// A flow whose acknowledgments the test creates. Each acknowledgment begins a round unless stated otherwise.
struct Flow {
    bbr: Bbr1,
    now: Timestamp,
    delivered: Bytes,
}

/// One acknowledgment.
#[derive(Clone, Copy)]
struct Ack {
    acked: u64,
    newly_lost: u64,
    rate: Rate,
    rtt: Duration,
    in_flight: u64,
    in_recovery: bool,
    app_limited: bool,
    /// Whether the packet was sent in the previous round.
    same_round: bool,
}

const ACK: Ack = Ack {
    acked: 1,
    newly_lost: 0,
    rate: BANDWIDTH,
    rtt: RTT,
    in_flight: 7,
    in_recovery: false,
    app_limited: false,
    same_round: false,
};

impl Flow {
    fn new() -> Self {
        Self::with(Bbr1Config::default())
    }

    fn with(config: Bbr1Config) -> Self {
        let random = RandomStream::new(1, "flow/test/controller");
        let mut bbr = Bbr1::new(config, random, MSS * 10, MSS).unwrap();
        let mut sent = SendEvent::at(Timestamp::ZERO, MSS);
        sent.in_flight = MSS * 10;
        bbr.on_sent(&sent, &mut NullProbe);
        Self { bbr, now: Timestamp::ZERO, delivered: Bytes::ZERO }
    }

    fn ack(&mut self, after: Duration, ack: Ack) -> Phase {
        self.now += after;
        let prior = self.delivered;
        self.delivered += MSS * ack.acked;
        let mut event = AckEvent::at(self.now);
        (event.acked, event.advance) = (MSS * ack.acked, MSS * ack.acked);
        event.newly_lost = MSS * ack.newly_lost;
        event.mss = MSS;
        event.in_flight = MSS * ack.in_flight;
        event.in_flight_before = MSS * (ack.in_flight + ack.acked + ack.newly_lost);
        event.latest_sent_at = Some(self.now - ack.rtt);
        event.rtt_sample = Some(ack.rtt);
        event.rtt.smoothed = ack.rtt;
        event.in_recovery = ack.in_recovery;
        // The interval of the sample follows from this value, so that the delivery rate is `ack.rate`.
        let prior_delivered = if ack.same_round { Bytes::ZERO } else { prior };
        let delivered = self.delivered - prior_delivered;
        event.rate = Some(RateSample {
            delivered,
            lost: Bytes::ZERO,
            interval: ack.rate.time_for(delivered),
            prior_delivered,
            app_limited: ack.app_limited,
        });
        self.bbr.on_ack(&event, &mut NullProbe);
        self.bbr.phase()
    }

    /// Repeats the acknowledgment `count` times, one round trip apart.
    fn rounds(&mut self, count: u32, ack: Ack) -> Phase {
        for _ in 0..count {
            self.ack(RTT, ack);
        }
        self.bbr.phase()
    }

    /// Returns a flow that has filled the pipe and drained it.
    fn probing_bandwidth() -> Self {
        Self::new().steady()
    }

    fn steady(mut self) -> Self {
        self.rounds(5, ACK);
        assert!(matches!(self.bbr.mode, Mode::ProbeBandwidth(_)), "{:?}", self.bbr.mode);
        self
    }

    /// Moves the cycle to the phase with this gain that follows directly after another gain.
    fn in_phase(mut self, gain: f64) -> Self {
        let Mode::ProbeBandwidth(mut cycle) = self.bbr.mode else { panic!("{:?}", self.bbr.mode) };
        cycle = cycle.next(self.now);
        while !cycle.is_probing() {
            cycle = cycle.next(self.now);
        }
        while Mode::ProbeBandwidth(cycle).pacing_gain().to_bits() != gain.to_bits() {
            cycle = cycle.next(self.now);
        }
        self.bbr.mode = Mode::ProbeBandwidth(cycle);
        self.bbr.set_pacing_rate(gain);
        self
    }

    fn timeout(&mut self, flight: u64, lost: u64) {
        let mut event = CongestionEvent::at(self.now, CongestionSignal::Timeout);
        (event.mss, event.consecutive) = (MSS, 1);
        (event.flight_size, event.lost) = (MSS * flight, MSS * lost);
        self.bbr.on_congestion(&event, &mut NullProbe);
    }

    /// Sends a packet while nothing is in flight.
    fn restart(&mut self, app_limited: bool) {
        let mut sent = SendEvent::at(self.now, MSS);
        (sent.in_flight, sent.app_limited) = (MSS, app_limited);
        self.bbr.on_sent(&sent, &mut NullProbe);
    }

    /// Returns the window in packets.
    fn window(&self) -> u64 {
        let window = self.bbr.control().window;
        assert_eq!(window.get() % MSS.get(), 0, "{window:?}");
        window.get() / MSS.get()
    }

    fn assert_pacing(&self, expected: f64) {
        let error = self.bbr.pacing_rate.as_bps_f64() / expected - 1.0;
        assert!(error.abs() < 1e-4, "{:?} for {expected}", self.bbr.pacing_rate);
    }
}

#[test]
fn startup_paces_at_two_over_ln_2_times_the_bandwidth() {
    let mut flow = Flow::new();
    // Ten packets a millisecond, then per round trip.
    flow.assert_pacing(0.99 * 2.885 * 80e6);
    flow.ack(RTT, Ack { rate: Rate::from_bps(1000), ..ACK });
    flow.assert_pacing(0.99 * 2.885 * 800e3);
    assert_eq!(flow.window(), 11);
    flow.ack(RTT, Ack { rate: Rate::from_bps(2_000_000), ..ACK });
    flow.assert_pacing(0.99 * 2.885 * 2e6);
    flow.ack(RTT, Ack { rate: Rate::from_bps(10), ..ACK });
    flow.assert_pacing(0.99 * 2.885 * 2e6);
}

/// At 160 kbit/s the target is ⌈2.885 · 2⌉ + 3 · 2 = 12 packets. Before ten packets have been delivered, the
/// window grows in any case.
#[test]
fn the_window_of_startup_grows_up_to_the_target() {
    let slow = Ack { rate: Rate::from_bps(160_000), same_round: true, ..ACK };
    let mut flow = Flow::new();
    for packets in 1..=9 {
        flow.ack(RTT, slow);
        assert_eq!(flow.window(), 10 + packets);
    }
    flow.ack(RTT, slow);
    assert_eq!(flow.window(), 19);
    // With 640 kbit/s it is ⌈23.08⌉ + 6 = 30.
    flow.rounds(20, Ack { same_round: true, ..ACK });
    assert_eq!(flow.window(), 30);
}

#[test]
fn startup_ends_after_three_rounds_with_growth_below_a_quarter() {
    let mut flow = Flow::new();
    let at = |bps| Ack { rate: Rate::from_bps(bps), in_flight: 20, ..ACK };
    for bps in [100_000, 120_000, 120_000, 125_000, 140_000, 150_000] {
        assert_eq!(flow.ack(RTT, at(bps)), Phase::SlowStart, "{bps}");
    }
    let limited = Ack { app_limited: true, ..at(150_000) };
    assert_eq!(flow.ack(RTT, limited), Phase::SlowStart, "a limited round is ignored");
    assert_eq!(flow.ack(RTT, Ack { same_round: true, ..at(150_000) }), Phase::SlowStart, "a counted round");
    assert_eq!(flow.ack(RTT, at(155_000)), Phase::Drain);
    flow.assert_pacing(0.99 / 2.885 * 155e3);
}

/// There is no exit of Startup because of losses.
#[test]
fn losses_do_not_end_startup() {
    let mut flow = Flow::new();
    for round in 0..6 {
        let rate = Rate::from_bps(100_000 << round);
        let lossy = Ack { rate, newly_lost: 10, in_recovery: true, in_flight: 50, ..ACK };
        assert_eq!(flow.ack(RTT, lossy), Phase::SlowStart);
    }
}

/// 8 packets and three quanta of one packet, rounded up to an even number: 12. The quantum of the last
/// acknowledgment in Startup is two packets.
#[test]
fn drain_ends_when_the_product_and_the_budget_are_in_flight() {
    let drained = |in_flight| {
        let mut flow = Flow::new();
        assert_eq!(flow.rounds(4, Ack { in_flight: 15, ..ACK }), Phase::Drain);
        flow.ack(RTT, Ack { in_flight, ..ACK })
    };
    assert_eq!(drained(13), Phase::Drain);
    assert_ne!(drained(12), Phase::Drain);
    // 8 + 3 · 2 = 14: both transitions with one acknowledgment.
    let mut flow = Flow::new();
    assert!(!matches!(flow.rounds(4, Ack { in_flight: 14, ..ACK }), Phase::SlowStart | Phase::Drain));
}

/// ⌈1.25 · 8⌉ + 3 · 1 = 13, even: 14, and 2: 16 packets, of which the next quantum is one.
#[test]
fn the_probing_phase_lasts_a_round_trip_and_until_a_quarter_more_is_in_flight() {
    let probing = || Flow::probing_bandwidth().in_phase(1.25);
    probing().assert_pacing(0.99 * 1.25 * 640e3);
    let little = Ack { in_flight: 13, ..ACK };
    assert_eq!(probing().rounds(5, little), Phase::ProbeUp);
    let enough = Ack { in_flight: 14, ..ACK };
    let mut flow = probing();
    assert_eq!(flow.ack(RTT, enough), Phase::ProbeUp, "not longer than a round trip");
    assert_eq!(flow.ack(Duration::from_nanos(1), enough), Phase::ProbeDown);
    // A loss suffices, too.
    let mut flow = probing();
    let lossy = Ack { newly_lost: 1, in_flight: 5, ..ACK };
    assert_eq!(flow.ack(RTT, lossy), Phase::ProbeUp);
    assert_eq!(flow.ack(Duration::from_nanos(1), lossy), Phase::ProbeDown);
}

/// 8 + 3 = 11, even: 12 packets before the acknowledgment.
#[test]
fn the_low_phase_lasts_a_round_trip_or_until_the_queue_is_gone() {
    let draining = || Flow::probing_bandwidth().in_phase(0.75);
    draining().assert_pacing(0.99 * 0.75 * 640e3);
    assert_eq!(draining().ack(Duration::ZERO, Ack { in_flight: 12, ..ACK }), Phase::ProbeDown);
    assert_eq!(draining().ack(Duration::ZERO, Ack { in_flight: 11, ..ACK }), Phase::ProbeCruise);
    let mut flow = draining();
    assert_eq!(flow.ack(RTT, Ack { in_flight: 20, ..ACK }), Phase::ProbeDown);
    assert_eq!(flow.ack(Duration::from_nanos(1), Ack { in_flight: 20, ..ACK }), Phase::ProbeCruise);
}

#[test]
fn six_phases_cruise_for_a_round_trip_each() {
    let mut flow = Flow::probing_bandwidth().in_phase(1.0);
    flow.assert_pacing(0.99 * 640e3);
    let mut acks = 0;
    while flow.ack(Duration::from_millis(51), ACK) == Phase::ProbeCruise {
        acks += 1;
    }
    // Each phase is over at the second acknowledgment, after 102 ms.
    assert_eq!(acks, 6 * 2 - 1);
    assert_eq!(flow.bbr.phase(), Phase::ProbeUp);
}

/// ⌈2 · 8⌉ + 3 · 1 packets, rounded up to an even number, and two more in the probing phase.
#[test]
fn the_window_is_twice_the_product_and_the_budget() {
    let without = Bbr1Config { aggregation: false, ..Bbr1Config::default() };
    let many = Ack { acked: 30, ..ACK };
    for (gain, packets) in [(1.0, 20), (1.25, 22)] {
        let mut flow = Flow::with(without).steady().in_phase(gain);
        flow.ack(Duration::ZERO, many);
        assert_eq!(flow.window(), packets, "{gain}");
    }
}

/// Two packets at once are two more than expected: ⌈2 · 8⌉ + 2 + 3 = 21, even: 22. The burst counts for at
/// most 100 ms of the bandwidth, 8 packets: 27, even: 28.
#[test]
fn bursts_of_acknowledgments_enlarge_the_window() {
    for (burst, packets) in [(2, 22), (20, 28)] {
        let mut flow = Flow::probing_bandwidth();
        flow.ack(RTT, Ack { acked: burst, ..ACK });
        flow = flow.in_phase(1.0);
        flow.bbr.window = MSS * 40;
        flow.ack(RTT / 2, Ack { same_round: true, ..ACK });
        assert_eq!(flow.window(), packets, "{burst}");
    }
    // Before the pipe is full, they do not count: ⌈23.08⌉ + 6 = 30.
    let mut flow = Flow::new();
    flow.ack(RTT, Ack { acked: 9, ..ACK });
    flow.rounds(20, Ack { same_round: true, ..ACK });
    assert_eq!((flow.bbr.phase(), flow.window()), (Phase::SlowStart, 30));
}

#[test]
fn a_delivery_rate_counts_for_ten_rounds() {
    let mut flow = Flow::probing_bandwidth();
    let slow = Ack { rate: Rate::from_bps(320_000), ..ACK };
    flow.rounds(10, slow);
    assert_eq!(flow.bbr.bandwidth(), BANDWIDTH);
    flow.rounds(1, slow);
    assert_eq!(flow.bbr.bandwidth(), Rate::from_bps(320_000));
    // Limited samples count only if they are as large.
    flow.rounds(20, Ack { rate: Rate::from_bps(160_000), app_limited: true, ..ACK });
    assert_eq!(flow.bbr.bandwidth(), Rate::from_bps(320_000));
    flow.rounds(1, Ack { rate: Rate::from_bps(400_000), app_limited: true, ..ACK });
    assert_eq!(flow.bbr.bandwidth(), Rate::from_bps(400_000));
}

/// The data of 976 562 ns: 12 207 bytes at 100 Mbit/s.
#[test]
fn the_quantum_is_a_millisecond_in_whole_packets() {
    let mut flow = Flow::new();
    for (bps, packets) in
        [(1_199_999, 1), (1_200_000, 2), (20_000_000, 2), (100_000_000, 12), (10_000_000_000, 65)]
    {
        flow.bbr.pacing_rate = Rate::from_bps(bps);
        assert_eq!(flow.bbr.control().quantum, MSS * packets, "{bps}");
    }
    flow.bbr.mss = Bytes::new(500);
    assert_eq!(flow.bbr.control().quantum, Bytes::new(500 * 127));
}

/// The first round of recovery sends what is acknowledged; the window then grows towards the target, and the
/// end restores it.
#[test]
fn a_recovery_conserves_packets_for_a_round() {
    let mut flow = Flow::probing_bandwidth().in_phase(1.0);
    flow.ack(Duration::ZERO, Ack { acked: 30, ..ACK });
    let before = flow.window();
    let repairing = Ack { in_recovery: true, same_round: true, ..ACK };
    flow.ack(Duration::ZERO, Ack { newly_lost: 2, in_flight: 10, ..repairing });
    assert_eq!(flow.window(), 11, "in flight and acknowledged");
    flow.ack(Duration::ZERO, Ack { newly_lost: 1, in_flight: 6, ..repairing });
    assert_eq!(flow.window(), 10, "11 less one loss");
    flow.ack(Duration::ZERO, Ack { acked: 3, in_flight: 9, ..repairing });
    assert_eq!(flow.window(), 12, "in flight and acknowledged");
    flow.ack(Duration::ZERO, Ack { same_round: false, ..repairing });
    assert_eq!(flow.window(), 13, "a round is over");
    flow.ack(Duration::ZERO, Ack { acked: 2, newly_lost: 5, ..repairing });
    assert_eq!(flow.window(), 10, "13 less five losses and two acknowledged");
    flow.ack(Duration::ZERO, Ack { newly_lost: 30, ..repairing });
    assert_eq!(flow.window(), 4);
    flow.ack(Duration::ZERO, Ack { in_recovery: false, ..repairing });
    assert_eq!(flow.window(), before);
}

#[test]
fn a_recovery_neither_changes_the_rate_nor_the_mode() {
    let mut flow = Flow::probing_bandwidth().in_phase(1.0);
    let lossy = Ack { newly_lost: 1, in_recovery: true, same_round: true, ..ACK };
    assert_eq!(flow.ack(Duration::ZERO, lossy), Phase::ProbeCruise);
    flow.assert_pacing(0.99 * 640e3);
}

#[test]
fn a_timeout_leaves_one_packet_until_the_flight_is_acknowledged() {
    let mut flow = Flow::probing_bandwidth().in_phase(1.0);
    let before = flow.window();
    assert!(before > 9);
    flow.timeout(8, 8);
    assert_eq!(flow.window(), 1);
    let ack = Ack { same_round: true, ..ACK };
    flow.ack(Duration::ZERO, ack);
    assert_eq!(flow.window(), 4);
    flow.ack(Duration::ZERO, Ack { acked: 2, ..ack });
    assert_eq!(flow.window(), 6);
    flow.ack(Duration::ZERO, Ack { acked: 4, ..ack });
    assert_eq!(flow.window(), 10);
    flow.ack(Duration::ZERO, ack);
    assert!(flow.window() >= before, "{before}");
}

/// A second timeout neither replaces the saved window nor ends the repair earlier, although only one packet is in
/// flight.
#[test]
fn repeated_timeouts_restore_the_first_window() {
    let mut flow = Flow::probing_bandwidth().in_phase(1.0);
    let before = flow.window();
    flow.timeout(8, 8);
    flow.timeout(1, 1);
    flow.ack(Duration::ZERO, Ack { acked: 7, same_round: true, ..ACK });
    assert_eq!(flow.window(), 8);
    flow.ack(Duration::ZERO, Ack { same_round: true, ..ACK });
    assert!(flow.window() >= before, "{before}");
}

/// The first growth after a timeout is measured from zero.
#[test]
fn a_timeout_restarts_the_search_for_a_full_pipe() {
    let mut flow = Flow::new();
    assert_eq!(flow.rounds(3, Ack { in_flight: 20, ..ACK }), Phase::SlowStart);
    flow.timeout(8, 8);
    assert_eq!(flow.rounds(3, Ack { in_flight: 20, ..ACK }), Phase::SlowStart);
    assert_eq!(flow.rounds(1, Ack { in_flight: 20, ..ACK }), Phase::Drain);
}

#[test]
fn a_spurious_timeout_is_undone() {
    let mut flow = Flow::probing_bandwidth().in_phase(1.0);
    let before = flow.window();
    flow.timeout(8, 8);
    flow.bbr.on_spurious(flow.now, &mut NullProbe);
    assert_eq!(flow.window(), before);
    flow.ack(Duration::ZERO, Ack { same_round: true, ..ACK });
    assert!(flow.window() >= before);
}

#[test]
fn without_a_smaller_rtt_for_ten_seconds_probe_rtt_starts() {
    let queued = Ack { rtt: Duration::from_millis(110), ..ACK };
    let mut flow = Flow::probing_bandwidth();
    // The first acknowledgment.
    let smallest = Timestamp::ZERO + RTT;
    let mut phase = flow.bbr.phase();
    while phase != Phase::ProbeRtt {
        phase = flow.ack(Duration::from_millis(50), queued);
    }
    let waited = flow.now.since(smallest);
    assert!(waited > Duration::from_secs(10) && waited <= Duration::from_millis(10_050), "{waited:?}");
    assert_eq!(flow.window(), 4);
    flow.assert_pacing(0.99 * 640e3);
    let little = Ack { in_flight: 4, ..queued };
    let began = flow.now;
    // The clock starts when four packets are in flight.
    assert_eq!(flow.ack(RTT * 3, Ack { in_flight: 5, ..queued }), Phase::ProbeRtt);
    assert_eq!(flow.ack(RTT, little), Phase::ProbeRtt);
    let same = Ack { same_round: true, ..little };
    assert_eq!(flow.ack(RTT * 3, same), Phase::ProbeRtt, "a round must pass, too");
    assert_ne!(flow.ack(Duration::ZERO, little), Phase::ProbeRtt);
    assert!(flow.now.since(began) >= Duration::from_millis(200));
    assert!(flow.window() >= 16, "{}", flow.window());
    assert_eq!(flow.bbr.min_rtt.get(), Some(queued.rtt));
}

/// An RTT as small as the minimum does not postpone the probe.
#[test]
fn only_a_smaller_rtt_postpones_the_probe() {
    for (rtt, probes) in [(100, true), (99, false)] {
        let mut flow = Flow::probing_bandwidth();
        let smallest = Timestamp::ZERO + RTT;
        flow.ack(RTT * 30, Ack { rtt: Duration::from_millis(rtt), ..ACK });
        flow.now = smallest + Duration::from_secs(10);
        let phase = flow.ack(Duration::from_nanos(1), Ack { rtt: RTT * 2, ..ACK });
        assert_eq!(phase == Phase::ProbeRtt, probes, "{rtt}");
    }
}

/// The receiver may delay the acknowledgment of less than a packet.
#[test]
fn a_delayed_acknowledgment_does_not_replace_an_expired_minimum() {
    let mut flow = Flow::probing_bandwidth();
    let mut ack = |payload: u64, rtt: u64, ms: u64| {
        let mut event = AckEvent::at(Timestamp::ZERO + Duration::from_millis(ms));
        (event.acked, event.advance, event.mss) = (Bytes::new(payload), Bytes::new(payload), MSS);
        event.rtt_sample = Some(Duration::from_millis(rtt));
        flow.bbr.on_ack(&event, &mut NullProbe);
        flow.bbr.min_rtt.get()
    };
    assert_eq!(ack(500, 90, 1000), Some(Duration::from_millis(90)));
    assert_eq!(ack(500, 130, 12_000), Some(Duration::from_millis(90)));
    assert_eq!(ack(1000, 120, 12_000), Some(Duration::from_millis(120)));
}

#[test]
fn probe_rtt_lasts_longer_than_its_duration() {
    let queued = Ack { rtt: Duration::from_millis(110), in_flight: 4, ..ACK };
    let mut flow = Flow::probing_bandwidth();
    assert_eq!(flow.ack(Duration::from_secs(11), queued), Phase::ProbeRtt);
    assert_eq!(flow.ack(Duration::from_millis(200), queued), Phase::ProbeRtt);
    assert_ne!(flow.ack(Duration::from_nanos(1), queued), Phase::ProbeRtt);
}

#[test]
fn samples_of_probe_rtt_do_not_lower_the_bandwidth() {
    let queued = Ack { rtt: Duration::from_millis(110), ..ACK };
    let mut flow = Flow::probing_bandwidth();
    assert_eq!(flow.ack(Duration::from_secs(11), Ack { in_flight: 5, ..queued }), Phase::ProbeRtt);
    let slow = Ack { in_flight: 5, rate: Rate::from_bps(64_000), rtt: Duration::from_millis(10), ..queued };
    for _ in 0..30 {
        flow.ack(Duration::from_millis(20), slow);
    }
    assert_eq!(flow.bbr.bandwidth(), BANDWIDTH);
}

#[test]
fn a_probe_for_the_rtt_in_startup_returns_to_startup() {
    let mut flow = Flow::new();
    flow.ack(RTT, Ack { rate: Rate::from_bps(100_000), ..ACK });
    let queued = Ack { rtt: RTT * 2, in_flight: 4, ..ACK };
    assert_eq!(flow.ack(Duration::from_secs(11), queued), Phase::ProbeRtt);
    flow.ack(RTT * 3, queued);
    assert_eq!(flow.bbr.phase(), Phase::SlowStart);
}

#[test]
fn after_an_idle_period_no_probe_is_needed_and_the_rate_is_the_bandwidth() {
    for (app_limited, gain) in [(true, 1.0), (false, 1.25)] {
        let mut flow = Flow::probing_bandwidth().in_phase(1.25);
        flow.now += Duration::from_secs(11);
        flow.restart(app_limited);
        flow.assert_pacing(0.99 * gain * 640e3);
        let phase = flow.ack(RTT, Ack { rtt: Duration::from_millis(150), ..ACK });
        assert_eq!(phase == Phase::ProbeRtt, !app_limited);
    }
}

#[test]
fn idleness_in_probe_rtt_ends_it_when_its_time_is_over() {
    let queued = Ack { rtt: Duration::from_millis(110), ..ACK };
    let mut flow = Flow::probing_bandwidth();
    assert_eq!(flow.ack(Duration::from_secs(11), Ack { in_flight: 0, ..queued }), Phase::ProbeRtt);
    flow.now += Duration::from_millis(200);
    flow.restart(false);
    assert_eq!(flow.bbr.phase(), Phase::ProbeRtt, "200 ms are not over");
    flow.now += Duration::from_nanos(1);
    flow.restart(false);
    assert_ne!(flow.bbr.phase(), Phase::ProbeRtt);
}

/// Rounds of 100 ms in which 4 packets are delivered and 1 is lost: 25 %, 320 kbit/s.
fn policed(config: Bbr1Config) -> Flow {
    let mut flow = Flow::with(config).steady();
    flow.rounds(8, Ack { acked: 4, newly_lost: 1, ..ACK });
    flow
}

#[test]
fn heavy_losses_at_a_constant_rate_are_a_policer_for_48_rounds() {
    let mut flow = policed(Bbr1Config::default());
    assert_eq!(flow.bbr.bandwidth(), Rate::from_bps(320_000));
    for _ in 0..47 {
        assert_eq!(flow.rounds(1, Ack { in_flight: 3, ..ACK }), Phase::ProbeCruise);
        flow.assert_pacing(0.99 * 320e3);
    }
    flow.rounds(1, Ack { in_flight: 3, ..ACK });
    assert_eq!(flow.bbr.bandwidth(), BANDWIDTH);
    // Spurious losses are no policer.
    let mut flow = policed(Bbr1Config::default());
    flow.bbr.on_spurious(flow.now, &mut NullProbe);
    assert_eq!(flow.bbr.bandwidth(), BANDWIDTH);
    let flow = policed(Bbr1Config { policer: false, ..Bbr1Config::default() });
    assert_eq!(flow.bbr.bandwidth(), BANDWIDTH);
}

/// A timeout counts as the end of a round with losses, so that it may end an interval.
#[test]
fn a_timeout_ends_an_interval_of_the_policer() {
    let mut flow = Flow::probing_bandwidth();
    flow.rounds(7, Ack { acked: 4, newly_lost: 1, ..ACK });
    assert_eq!(flow.bbr.bandwidth(), BANDWIDTH);
    flow.timeout(8, 2);
    assert_eq!(flow.bbr.bandwidth(), Rate::from_bps(320_000));
}

#[test]
fn the_requirements_are_pacing_rate_samples_and_a_window_in_recovery() {
    let needs = Flow::new().bbr.requirements();
    assert!(needs.pacing && needs.rate_samples && needs.window_in_recovery);
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let good = Bbr1Config::default();
    let new = |config, window, mss| Bbr1::new(config, RandomStream::new(1, "test"), window, mss);
    for config in [
        Bbr1Config { min_rtt_window: Duration::ZERO, ..good },
        Bbr1Config { probe_rtt_duration: Duration::ZERO, ..good },
    ] {
        assert!(new(config, MSS * 10, MSS).is_err(), "{config:?}");
    }
    assert!(new(good, Bytes::new(999), MSS).is_err());
    assert!(new(good, MSS, Bytes::ZERO).is_err());
}
