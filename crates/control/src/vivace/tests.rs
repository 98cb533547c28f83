//! Vivace over one link.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use airpath_model::NullProbe;

use super::*;

const MSS: Bytes = Bytes::new(1000);
/// The transmission time of ten packets is 8 ms, and the RTT without a queue 40 ms.
const CAPACITY: Rate = Rate::from_bps(10_000_000);
const RTT: Duration = Duration::from_millis(40);

fn vivace(config: VivaceConfig) -> Vivace {
    Vivace::new(config, RandomStream::new(1, "test"), MSS * 10, MSS).unwrap()
}

/// A link with an unlimited queue, and one flow.
struct Path {
    vivace: Vivace,
    now: Timestamp,
    next_packet: Timestamp,
    /// When the link is free.
    free: Timestamp,
    /// Arrival of the acknowledgment, departure of the packet, and whether the packet is lost.
    acknowledgments: VecDeque<(Timestamp, Timestamp, bool)>,
    in_flight: Bytes,
    rtt: airpath_model::RttEstimate,
    sent: u64,
    arrived: u64,
    /// One of this number of packets is lost.
    loss_interval: u64,
    app_limited: bool,
}

impl Path {
    fn new(config: VivaceConfig) -> Self {
        Self {
            vivace: vivace(config),
            now: Timestamp::ZERO,
            next_packet: Timestamp::ZERO,
            free: Timestamp::ZERO,
            acknowledgments: VecDeque::new(),
            in_flight: Bytes::ZERO,
            rtt: airpath_model::RttEstimate::default(),
            sent: 0,
            arrived: 0,
            loss_interval: u64::MAX,
            app_limited: false,
        }
    }

    /// Processes the next event: a packet that leaves, or an acknowledgment.
    fn proceed(&mut self) {
        let acknowledgment = self.acknowledgments.front().map_or(Timestamp::NEVER, |next| next.0);
        let is_open = self.in_flight + MSS <= self.vivace.control().window;
        if is_open && self.next_packet.max(self.now) <= acknowledgment {
            self.send();
        } else {
            self.acknowledge();
        }
    }

    fn send(&mut self) {
        self.now = self.now.max(self.next_packet);
        self.sent += 1;
        self.in_flight += MSS;
        let mut event = SendEvent::at(self.now, MSS);
        (event.mss, event.in_flight, event.rtt) = (MSS, self.in_flight, self.rtt);
        event.app_limited = self.app_limited;
        self.vivace.on_sent(&event, &mut NullProbe);
        self.free = self.free.max(self.now) + CAPACITY.time_for(MSS);
        let is_lost = self.sent.is_multiple_of(self.loss_interval);
        // The RTT of a packet that finds no queue is 40 ms.
        let arrival = self.free + (RTT - CAPACITY.time_for(MSS));
        self.acknowledgments.push_back((arrival, self.now, is_lost));
        self.next_packet = match self.vivace.control().pacing {
            Pacing::At(rate) => self.now + rate.time_for(MSS),
            _ => self.now,
        };
    }

    /// Delivers the next acknowledgment. A lost packet leaves the network, and the following acknowledgment
    /// reveals it.
    fn acknowledge(&mut self) {
        let (arrival, sent_at, is_lost) = self.acknowledgments.pop_front().unwrap();
        self.now = self.now.max(arrival);
        self.in_flight -= MSS;
        if is_lost {
            return;
        }
        self.arrived += 1;
        self.rtt.on_sample(self.now.since(sent_at), self.rtt.minimum.is_zero());
        let mut event = AckEvent::at(self.now);
        (event.acked, event.mss, event.in_flight) = (MSS, MSS, self.in_flight);
        (event.rtt_sample, event.rtt) = (Some(self.rtt.latest), self.rtt);
        self.vivace.on_ack(&event, &mut NullProbe);
    }

    fn run(&mut self, seconds: u64) {
        let end = self.now + Duration::from_secs(seconds);
        while self.now < end {
            self.proceed();
        }
    }

    fn time_out(&mut self, consecutive: u32) {
        let mut event = CongestionEvent::at(self.now, CongestionSignal::Timeout);
        (event.mss, event.consecutive) = (MSS, consecutive);
        self.vivace.on_congestion(&event, &mut NullProbe);
    }
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 2e-3, "{found} instead of {expected}");
}

/// Ten packets in 40 ms are 2 Mbit/s. At 16 Mbit/s the RTT grows. The pairs around 8 Mbit/s have the slope
/// (8.4^0.9 − 7.6^0.9)/0.8 = 0.731, which exceeds 5 % of 8.4, and less than 0.5 is no step: 8.9. The slope
/// (8.9^0.9 − 8.4^0.9)/0.5 = 0.725 is allowed, 0.721 × 2^1.2 is not: 5 % are less than 0.5. At 10.125 the
/// RTT grows by 1.25 %, and the rate returns by 10 %, because the boundary was exceeded once.
#[test]
fn the_rate_doubles_probes_and_climbs_until_the_queue_grows() {
    let mut path = Path::new(VivaceConfig::default());
    let mut rates: Vec<(f64, Phase)> = Vec::new();
    while rates.len() < 9 {
        path.proceed();
        let found = (path.vivace.rate, path.vivace.phase());
        if rates.last().is_none_or(|&last| last.0.to_bits() != found.0.to_bits()) && found.0 > 0.0 {
            rates.push(found);
        }
    }
    let (start, probe, up) = (Phase::SlowStart, Phase::CongestionAvoidance, Phase::ProbeUp);
    let expected = [
        (2.0, start),
        (4.0, start),
        (8.0, start),
        (16.0, start),
        (8.0, probe),
        (8.9, up),
        (9.6253, up),
        (10.1253, up),
        (9.1128, probe),
    ];
    for ((rate, phase), (expected_rate, expected_phase)) in rates.iter().zip(expected) {
        assert_close(*rate, expected_rate);
        assert_eq!(*phase, expected_phase, "{rates:?}");
    }
}

#[test]
fn a_probe_tries_both_rates_of_three_pairs_and_then_waits_at_the_rate() {
    let mut path = Path::new(VivaceConfig::default());
    while path.vivace.phase() != Phase::CongestionAvoidance {
        path.proceed();
    }
    let mut found: Vec<f64> = Vec::new();
    while path.vivace.phase() == Phase::CongestionAvoidance {
        let rate = path.vivace.pacing();
        if found.last().is_none_or(|&last| last.to_bits() != rate.to_bits()) {
            found.push(rate);
        }
        path.proceed();
    }
    assert_close(found.pop().unwrap(), 8.0);
    // Equal rates of neighbouring pairs appear once.
    assert!((4..=6).contains(&found.len()), "{found:?}");
    assert!(found.iter().all(|rate| (rate - 7.6).abs() < 1e-9 || (rate - 8.4).abs() < 1e-9), "{found:?}");
}

#[test]
fn a_flow_alone_fills_the_link_with_a_short_queue() {
    let mut path = Path::new(VivaceConfig::default());
    path.run(5);
    let (arrived, mut longest) = (path.arrived, Duration::ZERO);
    let end = path.now + Duration::from_secs(20);
    while path.now < end {
        path.proceed();
        longest = longest.max(path.rtt.latest - RTT);
    }
    let share = (path.arrived - arrived) as f64 / 25_000.0;
    assert!((0.9..1.0).contains(&share), "{share}");
    assert!(longest < Duration::from_millis(30), "{longest:?}");
}

#[test]
fn three_percent_of_losses_are_tolerated() {
    let mut path = Path { loss_interval: 33, ..Path::new(VivaceConfig::default()) };
    path.run(30);
    let share = path.arrived as f64 / 37_500.0;
    assert!(share > 0.8, "{share}");
}

#[test]
fn a_timeout_halves_the_rate_until_the_lowest_and_a_spurious_one_is_undone() {
    let mut path = Path::new(VivaceConfig::default());
    path.run(5);
    let before = path.vivace.rate;
    path.time_out(1);
    path.time_out(2);
    assert_close(path.vivace.rate, before / 4.0);
    path.vivace.on_spurious(path.now, &mut NullProbe);
    assert_close(path.vivace.rate, before);
    path.vivace.on_spurious(path.now, &mut NullProbe);
    for consecutive in 1..10 {
        path.time_out(consecutive);
    }
    assert_close(path.vivace.rate, 0.5);
    path.vivace.smoothed = RTT;
    assert_eq!(path.vivace.control().window, MSS * 5, "twice 0.5 Mbit/s in 40 ms");
    let lost = CongestionEvent::at(path.now, CongestionSignal::Loss);
    path.vivace.on_congestion(&lost, &mut NullProbe);
    assert_close(path.vivace.rate, 0.5);
    path.vivace.on_spurious(path.now, &mut NullProbe);
    assert_close(path.vivace.rate, 0.5);
}

#[test]
fn rounds_with_too_little_data_change_nothing() {
    let mut path = Path { app_limited: true, ..Path::new(VivaceConfig::default()) };
    path.run(5);
    assert_close(path.vivace.rate, 2.0);
    path.app_limited = false;
    path.run(5);
    assert!(path.vivace.rate > 7.0, "{}", path.vivace.rate);
}

#[test]
fn before_the_first_rtt_the_initial_window_is_not_paced() {
    let control = vivace(VivaceConfig::default()).control();
    assert_eq!(control, Control { window: MSS * 10, pacing: Pacing::Off, quantum: MSS });
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let default = VivaceConfig::default();
    for config in [
        VivaceConfig { exponent: 0.0, ..default },
        VivaceConfig { exponent: 1.1, ..default },
        VivaceConfig { latency_coefficient: -1.0, ..default },
        VivaceConfig { loss_coefficient: f64::NAN, ..default },
        VivaceConfig { probe_step: 0.0, ..default },
        VivaceConfig { probe_step: 1.0, ..default },
        VivaceConfig { gradient_threshold: f64::INFINITY, ..default },
        VivaceConfig { smallest_change: Rate::ZERO, ..default },
        VivaceConfig { lowest_rate: Rate::ZERO, ..default },
    ] {
        assert!(Vivace::new(config, RandomStream::new(1, "test"), MSS * 10, MSS).is_err(), "{config:?}");
    }
    let built = |window, mss| Vivace::new(default, RandomStream::new(1, "test"), window, mss);
    assert!(built(MSS, Bytes::ZERO).is_err());
    assert!(built(Bytes::new(999), MSS).is_err());
}
