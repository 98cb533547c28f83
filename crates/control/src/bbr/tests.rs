//! The transitions of the state machine under the conditions of the draft, and the effects of losses.

mod steps;
mod undo;

use airpath_model::NullProbe;

use super::*;

const MSS: Bytes = Bytes::new(1000);
/// 80 packets a second: 8 packets in a round trip of 100 ms.
const BANDWIDTH: Rate = Rate::from_bps(640_000);
const RTT: Duration = Duration::from_millis(100);

/// A flow whose acknowledgments the test creates. Each acknowledgment begins a round unless stated otherwise.
struct Flow {
    bbr: Bbr,
    now: Timestamp,
    delivered: Bytes,
}

/// One acknowledgment.
#[derive(Clone, Copy)]
struct Ack {
    /// Packets acknowledged, and packets delivered and lost in the sample.
    acked: u64,
    lost: u64,
    newly_lost: u64,
    rate: Rate,
    rtt: Duration,
    in_flight: u64,
    in_flight_at_send: u64,
    window_limited: bool,
    in_recovery: bool,
    app_limited: bool,
    /// Whether the packet was sent in the previous round.
    same_round: bool,
}

const ACK: Ack = Ack {
    acked: 1,
    lost: 0,
    newly_lost: 0,
    rate: BANDWIDTH,
    rtt: RTT,
    in_flight: 7,
    in_flight_at_send: 8,
    window_limited: false,
    in_recovery: false,
    app_limited: false,
    same_round: false,
};

impl Flow {
    fn new() -> Self {
        Self::with_seed(1)
    }

    fn with_seed(seed: u64) -> Self {
        Self::with(BbrConfig::default(), seed)
    }

    fn with(config: BbrConfig, seed: u64) -> Self {
        let random = RandomStream::new(seed, "flow/test/controller");
        let mut bbr = Bbr::new(config, random, MSS * 10, MSS).unwrap();
        let mut sent = SendEvent::at(Timestamp::ZERO, MSS);
        sent.in_flight = MSS * 10;
        bbr.on_sent(&sent, &mut NullProbe);
        Self { bbr, now: Timestamp::ZERO, delivered: Bytes::ZERO }
    }

    fn ack(&mut self, after: Duration, ack: Ack) -> State {
        self.now += after;
        let prior = self.delivered;
        self.delivered += MSS * ack.acked;
        let mut event = AckEvent::at(self.now);
        event.acked = MSS * ack.acked;
        event.newly_lost = MSS * ack.newly_lost;
        event.mss = MSS;
        event.in_flight = MSS * ack.in_flight;
        event.in_flight_before = MSS * (ack.in_flight + ack.acked + ack.newly_lost);
        event.in_flight_at_send = MSS * ack.in_flight_at_send;
        event.latest_sent_at = Some(self.now - ack.rtt);
        event.rtt_sample = Some(ack.rtt);
        event.rtt.smoothed = ack.rtt;
        event.window_limited = ack.window_limited;
        event.in_recovery = ack.in_recovery;
        // The interval of the sample follows from this value, so that the delivery rate is `ack.rate`.
        let prior_delivered = if ack.same_round { Bytes::ZERO } else { prior };
        let delivered = self.delivered - prior_delivered;
        event.rate = Some(RateSample {
            delivered,
            lost: MSS * ack.lost,
            interval: ack.rate.time_for(delivered),
            prior_delivered,
            app_limited: ack.app_limited,
        });
        self.bbr.on_ack(&event, &mut NullProbe);
        self.bbr.state
    }

    /// Repeats the acknowledgment until the state satisfies `done`. Returns the number of acknowledgments
    /// before that.
    fn go(&mut self, after: Duration, ack: Ack, done: impl Fn(State) -> bool) -> u64 {
        for count in 0..1000 {
            if done(self.ack(after, ack)) {
                return count;
            }
        }
        panic!("still in {:?}", self.bbr.state);
    }

    /// Repeats the acknowledgment `count` times, one round trip apart.
    fn rounds(&mut self, count: u32, ack: Ack) -> State {
        for _ in 0..count {
            self.ack(RTT, ack);
        }
        self.bbr.state
    }

    /// Repeats the acknowledgment until the flow is in `state`.
    fn until(mut self, state: State, ack: Ack) -> Self {
        self.go(RTT, ack, |now| now == state);
        self
    }

    /// Returns a cruising flow: the path was filled and drained.
    fn cruising() -> Self {
        Self::new().until(State::ProbeCruise, ACK)
    }

    /// Returns a flow that begins to probe, with all of the bandwidth-delay product in flight.
    fn probing() -> Self {
        Self::cruising().until(State::ProbeUp, ACK)
    }

    fn signal(&mut self, signal: CongestionSignal, lost: u64) {
        let mut event = CongestionEvent::at(self.now, signal);
        event.mss = MSS;
        event.lost = MSS * lost;
        event.flight_size = MSS * 8;
        event.consecutive = u32::from(signal == CongestionSignal::Timeout);
        self.bbr.on_congestion(&event, &mut NullProbe);
    }

    fn pacing(&self) -> Rate {
        self.bbr.pacing_rate
    }
}

fn assert_near(found: Rate, expected: f64) {
    let error = found.as_bps_f64() / expected - 1.0;
    assert!(error.abs() < 1e-3, "{found:?} for {expected}");
}

#[test]
fn startup_paces_at_277_percent_of_the_bandwidth() {
    let mut flow = Flow::new();
    assert_near(flow.pacing(), 2.77 * 80_000.0 / 0.001);
    // With the first round-trip time, the rate is the initial window per round trip.
    flow.ack(RTT, Ack { rate: Rate::from_bps(1000), ..ACK });
    assert_near(flow.pacing(), 2.77 * 800_000.0);
    flow.ack(RTT, Ack { rate: Rate::from_bps(2_000_000), ..ACK });
    assert_near(flow.pacing(), 0.99 * 2.77 * 2e6);
    flow.ack(RTT, Ack { rate: Rate::from_bps(10), ..ACK });
    assert_near(flow.pacing(), 0.99 * 2.77 * 2e6);
    assert_eq!(flow.bbr.window, MSS * 13, "and grows by what is acknowledged");
}

#[test]
fn startup_ends_after_three_rounds_on_a_plateau() {
    let mut flow = Flow::new();
    for bps in [100_000, 130_000, 170_000, 250_000, 400_000, 640_000] {
        assert_eq!(flow.ack(RTT, Ack { rate: Rate::from_bps(bps), ..ACK }), State::Startup);
    }
    assert_eq!(flow.rounds(2, Ack { in_flight: 20, ..ACK }), State::Startup);
    assert_eq!(
        flow.rounds(1, Ack { app_limited: true, ..ACK }),
        State::Startup,
        "a limited round is ignored"
    );
    assert_eq!(flow.rounds(1, Ack { same_round: true, ..ACK }), State::Startup, "a counted round is ignored");
    assert_eq!(flow.rounds(1, Ack { in_flight: 20, ..ACK }), State::Drain);
    assert_near(flow.pacing(), 0.99 * 0.5 * 640_000.0);
}

#[test]
fn startup_ends_by_six_losses_of_more_than_two_percent_in_a_round_of_recovery() {
    let growing = |flow: &mut Flow, ack: Ack, round: u64| {
        flow.ack(RTT, Ack { rate: Rate::from_bps(100_000 << round), ..ack })
    };
    for (losses, recovery, too_much, expected) in [
        (6, true, true, State::Drain),
        (5, true, true, State::Startup),
        (6, false, true, State::Startup),
        (6, true, false, State::Startup),
    ] {
        let mut flow = Flow::new();
        growing(&mut flow, ACK, 0);
        let revealing = Ack {
            newly_lost: 1,
            lost: if too_much { 6 } else { 0 },
            in_flight: 200,
            in_flight_at_send: 200,
            in_recovery: recovery,
            ..ACK
        };
        growing(&mut flow, Ack { newly_lost: 0, ..revealing }, 1);
        for _ in 0..losses {
            let state = flow.ack(Duration::ZERO, Ack { same_round: true, ..revealing });
            assert_eq!(state, State::Startup);
        }
        assert_eq!(growing(&mut flow, Ack { newly_lost: 0, ..revealing }, 2), expected, "{losses}");
        assert_eq!(flow.bbr.long_term.inflight < Bytes::MAX, expected == State::Drain);
    }
}

#[test]
fn drain_ends_when_the_queue_is_gone_or_after_three_rounds() {
    let drained = |in_flight, rounds| {
        let mut flow = Flow::new().until(State::Drain, Ack { in_flight: 20, ..ACK });
        flow.rounds(rounds, Ack { in_flight, ..ACK })
    };
    assert_eq!(drained(9, 1), State::Drain);
    assert_eq!(drained(8, 1), State::ProbeCruise, "8 packets are the product, and no more needs to leave");
    assert_eq!(drained(20, 3), State::Drain);
    assert_eq!(drained(20, 4), State::ProbeDown);
}

#[test]
fn probing_down_ends_with_the_queue_and_with_headroom() {
    let down = || Flow::new().until(State::ProbeDown, ACK);
    assert_near(down().pacing(), 0.99 * 0.9 * 640_000.0);
    assert_eq!(down().rounds(1, Ack { in_flight: 9, ..ACK }), State::ProbeDown);
    assert_eq!(down().rounds(1, Ack { in_flight: 8, ..ACK }), State::ProbeCruise);
    let mut flow = down();
    flow.bbr.long_term.inflight = MSS * 8;
    // One packet is more than 15 % of eight.
    assert_eq!(flow.rounds(1, Ack { in_flight: 8, in_flight_at_send: 8, ..ACK }), State::ProbeDown);
    assert_eq!(flow.rounds(1, Ack { in_flight: 6, in_flight_at_send: 8, ..ACK }), State::ProbeCruise);
}

#[test]
fn cruising_ends_after_two_to_three_seconds_or_the_rounds_of_reno() {
    // With rounds of a second, 80 packets are in flight, so that the clock decides.
    let mut waits: [u64; 20] = [0; 20];
    for (seed, wait) in (1..).zip(&mut waits) {
        let mut flow = Flow::with_seed(seed);
        let slow = Ack { rate: Rate::from_bps(6_400_000), in_flight: 70, in_flight_at_send: 80, ..ACK };
        flow = flow.until(State::ProbeDown, Ack { in_flight: 100, ..slow });
        let began = flow.now;
        // Many acknowledgments in one round.
        let one_round = Ack { same_round: true, ..slow };
        flow.go(Duration::from_millis(10), one_round, |state| state == State::ProbeRefill);
        *wait = flow.now.since(began).as_nanos() / 1_000_000;
    }
    assert!(waits.iter().all(|wait| (2000..=3010).contains(wait)), "{waits:?}");
    assert!(waits.iter().max() > waits.iter().min(), "{waits:?}");
    // 8 packets in flight: after 8 rounds, minus the random offset.
    let mut flow = Flow::new().until(State::ProbeDown, ACK);
    let rounds = flow.go(RTT, ACK, |state| state == State::ProbeRefill);
    assert!((6..=8).contains(&rounds), "{rounds}");
}

#[test]
fn a_round_of_refilling_precedes_the_probe() {
    let mut flow = Flow::cruising();
    flow.bbr.short_term.bandwidth = Rate::from_bps(320_000);
    flow.bbr.short_term.inflight = MSS * 5;
    flow = flow.until(State::ProbeRefill, ACK);
    assert_eq!((flow.bbr.short_term.bandwidth, flow.bbr.short_term.inflight), (Rate::UNLIMITED, Bytes::MAX));
    assert_near(flow.pacing(), 0.99 * 640_000.0);
    assert_eq!(flow.ack(RTT, Ack { same_round: true, ..ACK }), State::ProbeRefill);
    assert_eq!(flow.ack(RTT, ACK), State::ProbeUp);
    assert_near(flow.pacing(), 0.99 * 1.25 * 640_000.0);
    // 2.25 times the product, plus the aggregated acknowledgments, plus two packets.
    assert!(flow.bbr.window <= MSS * 21, "{:?}", flow.bbr.window);
}

#[test]
fn the_probe_ends_on_a_plateau_and_continues_while_the_rate_grows() {
    let mut flow = Flow::probing();
    assert_eq!(flow.rounds(2, ACK), State::ProbeUp);
    assert_eq!(flow.rounds(1, Ack { rate: Rate::from_bps(810_000), ..ACK }), State::ProbeUp);
    assert_eq!(flow.rounds(2, Ack { rate: Rate::from_bps(810_000), ..ACK }), State::ProbeUp);
    assert_eq!(flow.rounds(1, Ack { rate: Rate::from_bps(810_000), ..ACK }), State::ProbeDown);
    assert_eq!(flow.bbr.long_term.inflight, Bytes::MAX, "nothing was lost");
}

#[test]
fn heavy_loss_ends_the_probe_and_sets_the_limit() {
    let mut flow = Flow::probing();
    let few = Ack { newly_lost: 1, lost: 1, in_flight_at_send: 50, ..ACK };
    assert_eq!(flow.ack(RTT, few), State::ProbeUp, "2 % are tolerated");
    let much = Ack { newly_lost: 1, lost: 2, in_flight: 20, in_flight_at_send: 51, ..ACK };
    assert_eq!(flow.ack(RTT, much), State::ProbeDown);
    // Before, 50 packets were in flight, of which 1 was lost: the second loss crossed the threshold at (0.02
    // × 50 - 1) / 0.98 of its packet.
    assert_eq!(flow.bbr.long_term.inflight, MSS * 50);
    // A round later, losses are no longer those of a probe.
    flow.ack(RTT, ACK);
    flow.ack(RTT, Ack { newly_lost: 4, lost: 4, in_flight_at_send: 8, ..ACK });
    assert_eq!(flow.bbr.long_term.inflight, MSS * 50);
}

#[test]
fn a_probe_may_need_losses_in_two_places_of_a_round() {
    let lost = Ack { newly_lost: 1, lost: 1, ..ACK };
    assert_eq!(Flow::probing().ack(RTT, lost), State::ProbeDown);
    let bearing = || {
        let config = BbrConfig { probe_loss_events: 2, ..BbrConfig::default() };
        Flow::with(config, 1).until(State::ProbeCruise, ACK).until(State::ProbeUp, ACK)
    };
    let mut flow = bearing();
    assert_eq!(flow.ack(RTT, lost), State::ProbeUp);
    // The rate still grows.
    assert_eq!(flow.ack(RTT, Ack { rate: Rate::from_bps(810_000), ..ACK }), State::ProbeUp);
    assert_eq!(flow.ack(RTT, lost), State::ProbeUp, "the count is that of a round");
    assert_eq!(flow.ack(Duration::ZERO, Ack { lost: 2, same_round: true, ..lost }), State::ProbeDown);
    // A tolerable loss does not stop the growth of the limit.
    let mut flow = bearing();
    flow.bbr.long_term.inflight = MSS * 10;
    let limited = Ack { acked: 10, window_limited: true, ..ACK };
    flow.ack(RTT, limited);
    flow.ack(RTT, Ack { newly_lost: 1, lost: 1, ..limited });
    assert!(flow.bbr.long_term.inflight > MSS * 10, "{:?}", flow.bbr.long_term.inflight);
}

#[test]
fn the_limit_falls_by_at_most_beta() {
    let mut flow = Flow::probing();
    flow.ack(RTT, Ack { newly_lost: 2, lost: 2, in_flight_at_send: 3, ..ACK });
    assert_eq!(flow.bbr.long_term.inflight, Bytes::new(5600), "0.7 of the product of eight");
}

#[test]
fn after_a_probe_with_heavy_loss_the_next_is_cautious_and_the_following_one_is_immediate() {
    let mut flow = Flow::probing();
    flow.ack(RTT, Ack { newly_lost: 1, lost: 2, in_flight_at_send: 11, ..ACK });
    let limit = flow.bbr.long_term.inflight;
    let safe = Ack { in_flight: 6, in_flight_at_send: 7, ..ACK };
    flow = flow.until(State::ProbeUp, safe);
    // Nine whole packets fit the limit, and one fewer is in flight after each acknowledgment.
    assert!(limit > MSS * 9 && limit < MSS * 10, "{limit:?}");
    assert_eq!(flow.ack(RTT, Ack { in_flight: 7, ..safe }), State::ProbeUp);
    assert_eq!(flow.ack(RTT, Ack { in_flight: 8, ..safe }), State::ProbeDown);
    assert_eq!(
        flow.ack(RTT, safe),
        State::ProbeRefill,
        "successful: the next probe follows without cruising"
    );
}

#[test]
fn the_limit_grows_while_it_limits_the_probe() {
    let mut flow = Flow::probing();
    flow.bbr.long_term.inflight = MSS * 10;
    let limited = Ack { acked: 10, window_limited: true, ..ACK };
    for expected in [11, 13, 17] {
        // The plateau does not end the probe, because the limit caused the plateau.
        assert_eq!(flow.ack(RTT, limited), State::ProbeUp);
        assert!(flow.bbr.long_term.inflight <= MSS * expected, "{:?}", flow.bbr.long_term.inflight);
    }
    assert!(flow.bbr.long_term.inflight >= MSS * 13);
    let before = flow.bbr.long_term.inflight;
    flow.ack(RTT, Ack { window_limited: false, ..limited });
    assert_eq!(flow.bbr.long_term.inflight, before);
}

#[test]
fn without_a_smaller_rtt_for_five_seconds_probe_rtt_starts() {
    let queued = Ack { rtt: Duration::from_millis(110), ..ACK };
    let mut flow = Flow::cruising();
    flow.go(Duration::from_millis(50), queued, |state| state == State::ProbeRtt);
    let due = Timestamp::from_secs_f64(5.1);
    assert!(flow.now > due && flow.now < due + RTT, "the minimum was sampled at 0.1 s: {:?}", flow.now);
    assert_eq!(flow.bbr.window, MSS * 4, "half of the product of eight");
    let little = Ack { in_flight: 4, ..queued };
    let began = flow.now;
    // The clock starts when four packets are in flight.
    assert_eq!(flow.ack(RTT, Ack { in_flight: 5, ..queued }), State::ProbeRtt);
    assert_eq!(flow.ack(RTT, little), State::ProbeRtt);
    assert_eq!(
        flow.ack(RTT * 3, Ack { same_round: true, ..little }),
        State::ProbeRtt,
        "a round must pass, too"
    );
    assert_eq!(flow.ack(Duration::ZERO, little), State::ProbeCruise);
    assert!(flow.now.since(began) >= Duration::from_millis(200));
    assert!(flow.bbr.window > MSS * 8, "the window is as before");
}

#[test]
fn samples_of_probe_rtt_count_as_limited() {
    let mut flow = Flow::cruising();
    let queued = Ack { rtt: Duration::from_millis(110), ..ACK };
    flow.go(Duration::from_millis(50), queued, |state| state == State::ProbeRtt);
    let slow = Ack { in_flight: 4, rate: Rate::from_bps(64_000), rtt: Duration::from_millis(10), ..ACK };
    flow.go(Duration::from_millis(20), slow, |state| state != State::ProbeRtt);
    assert!(flow.bbr.limited.sample(&sent_now(&flow)).unwrap().app_limited);
    flow.ack(RTT, Ack { acked: 20, ..slow });
    assert!(
        !flow.bbr.limited.sample(&sent_now(&flow)).unwrap().app_limited,
        "what was in flight has been delivered"
    );
    assert_eq!(flow.bbr.max_bw.maximum(), BANDWIDTH);
}

/// Returns an acknowledgment of a packet that was sent at the current time.
fn sent_now(flow: &Flow) -> AckEvent {
    let mut event = AckEvent::at(flow.now);
    event.latest_sent_at = Some(flow.now);
    event.rate = Some(RateSample {
        delivered: MSS,
        lost: Bytes::ZERO,
        interval: RTT,
        prior_delivered: flow.delivered,
        app_limited: false,
    });
    event
}

#[test]
fn after_an_idle_period_no_probe_is_needed_and_the_rate_is_the_bandwidth() {
    let mut flow = Flow::probing();
    flow.now += Duration::from_secs(10);
    let mut sent = SendEvent::at(flow.now, MSS);
    sent.in_flight = MSS;
    sent.app_limited = true;
    flow.bbr.on_sent(&sent, &mut NullProbe);
    assert_near(flow.pacing(), 0.99 * 640_000.0);
    let state = flow.ack(RTT, Ack { rtt: Duration::from_millis(150), ..ACK });
    assert!(state.is_probe_bandwidth(), "{state:?}");
    assert_eq!(
        flow.bbr.min_rtt.get(),
        Some(Duration::from_millis(150)),
        "the old minimum is ten seconds old"
    );
}

#[test]
fn losses_while_cruising_lower_the_short_term_model() {
    let mut flow = Flow::cruising();
    let before = flow.bbr.window;
    let slower = Ack { rate: Rate::from_bps(600_000), ..ACK };
    let lossy = Ack { newly_lost: 1, lost: 1, ..slower };
    flow.ack(RTT, lossy);
    assert_eq!(flow.bbr.bandwidth, BANDWIDTH, "the round is not over");
    flow.ack(RTT, slower);
    assert!(flow.bbr.window < before, "what the round delivered, or 0.7 of the window");
    assert_eq!(flow.bbr.bandwidth, BANDWIDTH, "the round began with that rate");
    flow.ack(RTT, lossy);
    flow.ack(RTT, slower);
    assert_eq!(flow.bbr.state, State::ProbeCruise);
    assert_near(flow.bbr.bandwidth, 600_000.0);
}

#[test]
fn a_timeout_leaves_one_packet_until_all_losses_are_repaired() {
    let mut flow = Flow::cruising();
    let before = flow.bbr.window;
    flow.signal(CongestionSignal::Timeout, 8);
    assert_eq!(flow.bbr.control().window, MSS);
    flow.ack(RTT, Ack { acked: 4, ..ACK });
    assert!(flow.bbr.window < before);
    flow.ack(RTT, Ack { acked: 4, ..ACK });
    // Restored, then bounded by the model of a round with losses.
    assert!(flow.bbr.window >= before.mul_f64(0.7), "{:?} of {before:?}", flow.bbr.window);
}

#[test]
fn a_mark_ends_a_probe() {
    let mut flow = Flow::probing();
    flow.signal(CongestionSignal::EcnCe, 0);
    assert_eq!(flow.bbr.state, State::ProbeDown);
    assert!(flow.bbr.long_term.inflight < Bytes::MAX);
}

#[test]
fn the_quantum_is_a_millisecond_between_two_packets_and_64_kib() {
    let mut flow = Flow::new();
    for (bps, quantum) in [(8000, 2000), (80_000_000, 10_000), (8_000_000_000, 65_536)] {
        flow.bbr.pacing_rate = Rate::from_bps(bps);
        assert_eq!(flow.bbr.control().quantum, Bytes::new(quantum));
    }
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let good = BbrConfig::default();
    let bad = [
        BbrConfig { loss_threshold: 1.1, ..good },
        BbrConfig { loss_threshold: f64::NAN, ..good },
        BbrConfig { probe_loss_events: 0, ..good },
        BbrConfig { beta: 0.0, ..good },
        BbrConfig { headroom: 1.0, ..good },
        BbrConfig { probe_rtt_interval: Duration::ZERO, ..good },
        BbrConfig { min_rtt_window: Duration::from_secs(4), ..good },
    ];
    let new = |config, window, mss| Bbr::new(config, RandomStream::new(1, "test"), window, mss);
    for config in bad {
        assert!(new(config, MSS * 10, MSS).is_err(), "{config:?}");
    }
    assert!(new(good, Bytes::new(999), MSS).is_err());
    assert!(new(good, MSS, Bytes::ZERO).is_err());
}
