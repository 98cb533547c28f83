use airpath_model::Ecn;
use airpath_model::PathHeader;
use alloc::vec::Vec;

use super::*;

/// A packet of this many bytes.
struct Sized(u64);

impl Packet for Sized {
    fn size(&self) -> Bytes {
        Bytes::new(self.0)
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ecn(&mut self, _ecn: Ecn) {}
    fn flow(&self) -> u64 {
        0
    }
    fn is_data(&self) -> bool {
        true
    }
    fn path_header(&mut self) -> &mut PathHeader {
        unreachable!("the load factor writes nothing")
    }
}

/// A source with a capacity in byte/s, a probing factor, and a timer that adds to the capacity.
#[derive(Clone, Copy, Debug)]
struct Source {
    capacity: Option<f64>,
    probing: f64,
    timer: Timestamp,
    period: Duration,
    gain: f64,
}

impl Source {
    const fn knowing(capacity: f64) -> Self {
        Self {
            capacity: Some(capacity),
            probing: 1.0,
            timer: Timestamp::NEVER,
            period: Duration::MAX,
            gain: 0.0,
        }
    }
}

impl CapacitySource for Source {
    fn on_arrival(&mut self, _now: Timestamp, size: Bytes, _backlog: Backlog) {
        self.gain += size.as_f64();
    }
    fn on_timer(&mut self, now: Timestamp, _backlog: Backlog) {
        self.capacity = self.capacity.map(|capacity| capacity + self.gain);
        self.timer = now + self.period;
    }
    fn next_timer(&self) -> Timestamp {
        self.timer
    }
    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        self.capacity
    }
    fn probing(&self) -> f64 {
        self.probing
    }
    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("capacity_estimate", self.capacity.unwrap_or(f64::NAN));
    }
}

fn load_factor(source: Source) -> LoadFactor {
    LoadFactor::new(LoadFactorConfig::default(), Box::new(source)).unwrap()
}

fn at(millis: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(millis)
}

fn waiting(bytes: u64) -> Backlog {
    Backlog { bytes: Bytes::new(bytes), packets: bytes.div_ceil(1000) }
}

/// Runs the timers that are due up to `end`, with a constant queue.
fn run(load: &mut LoadFactor, end: Timestamp, backlog: Backlog) {
    while load.next_timer() <= end {
        let now = load.next_timer();
        load.on_timer(now, backlog);
        assert!(load.next_timer() > now);
    }
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() <= 1e-12 * right.abs(), "{left} is not {right}");
}

#[test]
fn the_load_factor_is_demand_over_capacity() {
    // 10 Mbit/s carry 250 kB in 200 ms, of which 98 % are the target. 196 packets of 1000 B: 196 / 245.
    let mut load = load_factor(Source::knowing(1_250_000.0));
    for _ in 0..196 {
        load.on_arrival(at(100), &Sized(1000), waiting(0));
    }
    run(&mut load, at(199), waiting(0));
    assert!(load.value().abs() < f64::EPSILON, "held until the interval ends");
    run(&mut load, at(200), waiting(0));
    close(load.value(), 0.8);
    run(&mut load, at(399), waiting(0));
    close(load.value(), 0.8);
    run(&mut load, at(400), waiting(0));
    assert!(load.value().abs() < f64::EPSILON, "the next interval counts from zero");
}

#[test]
fn the_steady_queue_is_the_mean_of_samples_filtered_over_intervals() {
    let mut load = load_factor(Source::knowing(1_250_000.0));
    // Samples at 10, …, 100 ms find 40 kB, those at 110, …, 200 ms an empty queue: the mean is 20 kB, a
    // quarter of it 5 kB.
    run(&mut load, at(100), waiting(40_000));
    run(&mut load, at(200), waiting(0));
    close(load.steady_queue, 5_000.0);
    close(load.value(), 0.5 * 5_000.0 / 245_000.0);
    // 0.75 × 5 kB + 0.25 × 40 kB.
    run(&mut load, at(400), waiting(40_000));
    close(load.steady_queue, 13_750.0);
}

#[test]
fn probing_shrinks_the_load() {
    let mut load = load_factor(Source { probing: 1.14, ..Source::knowing(1_250_000.0) });
    load.on_arrival(at(100), &Sized(245_000), waiting(0));
    run(&mut load, at(200), waiting(0));
    close(load.value(), 1.0 / 1.14);
}

#[test]
fn the_source_receives_packets_and_its_timer_runs_before_the_interval_ends() {
    // The arrival causes the timer at 200 ms to double the capacity.
    let source =
        Source { timer: at(200), period: Duration::from_millis(200), ..Source::knowing(1_225_000.0) };
    let mut load = load_factor(source);
    load.on_arrival(at(100), &Sized(1_225_000), waiting(0));
    run(&mut load, at(200), waiting(0));
    close(load.value(), 1.0 / (0.98 * 2.0 * 0.2));
}

#[test]
fn a_timer_of_the_source_between_samples_is_requested_and_takes_no_sample() {
    let source = Source { timer: at(3), period: Duration::from_secs(9), ..Source::knowing(1.0) };
    let mut load = load_factor(source);
    assert_eq!(load.next_timer(), at(3));
    load.on_timer(at(3), waiting(5_000));
    assert_eq!(load.next_timer(), at(10));
    assert_eq!(load.samples, 0);
}

#[test]
fn a_late_driver_lengthens_the_interval() {
    let mut load = load_factor(Source::knowing(1_000_000.0));
    load.on_arrival(at(10), &Sized(245_000), waiting(0));
    load.on_timer(at(250), waiting(0));
    close(load.value(), 245_000.0 / (0.98 * 1_000_000.0 * 0.25));
    assert_eq!(load.next_timer(), at(260));
    run(&mut load, at(400), waiting(0));
    assert_eq!(load.interval_began, at(400));
}

#[test]
fn a_link_without_capacity_has_a_finite_load() {
    let mut load = load_factor(Source::knowing(0.0));
    run(&mut load, at(200), waiting(0));
    assert!(load.value().abs() < f64::EPSILON);
    load.on_arrival(at(300), &Sized(1500), waiting(0));
    run(&mut load, at(400), waiting(0));
    close(load.value(), 1500.0);
}

#[test]
fn bits_bytes_and_the_values_of_the_source_are_reported() {
    let mut load = load_factor(Source::knowing(1_250_000.0));
    load.on_arrival(at(100), &Sized(24_500), waiting(0));
    run(&mut load, at(200), waiting(8_000));
    let mut reported = Vec::new();
    load.observe(&mut |name, value| reported.push((name, value)));
    let names: Vec<_> = reported.iter().map(|&(name, _)| name).collect();
    assert_eq!(names, ["load_factor", "steady_queue_bytes", "input_rate_bps", "capacity_estimate"]);
    let expected = [25_500.0 / 245_000.0, 2_000.0, 980_000.0, 1_250_000.0];
    for (&(_, value), expected) in reported.iter().zip(expected) {
        close(value, expected);
    }
}

#[test]
fn invalid_parameters_are_rejected() {
    let good = LoadFactorConfig::default();
    let bad = [
        LoadFactorConfig { load_factor_interval: Duration::ZERO, ..good },
        LoadFactorConfig { queue_sampling_interval: Duration::ZERO, ..good },
        LoadFactorConfig { queue_sampling_interval: Duration::from_millis(201), ..good },
        LoadFactorConfig { kappa_q: -0.1, ..good },
        LoadFactorConfig { kappa_q: f64::INFINITY, ..good },
        LoadFactorConfig { target_utilisation: 0.0, ..good },
        LoadFactorConfig { target_utilisation: 1.01, ..good },
        LoadFactorConfig { queue_weight: 0.0, ..good },
        LoadFactorConfig { queue_weight: f64::NAN, ..good },
    ];
    for config in bad {
        assert!(LoadFactor::new(config, Box::new(Source::knowing(1.0))).is_err(), "{config:?}");
    }
    let blind = Source { capacity: None, ..Source::knowing(1.0) };
    let refused = LoadFactor::new(good, Box::new(blind)).unwrap_err();
    assert_eq!(refused.parameter, "source");
}

#[test]
fn the_load_regions_include_their_lower_bound() {
    assert_eq!(code(0.0), LoadCode::Low);
    assert_eq!(code(0.799_999), LoadCode::Low);
    assert_eq!(code(0.8), LoadCode::High);
    assert_eq!(code(0.999_999), LoadCode::High);
    assert_eq!(code(1.0), LoadCode::Overload);
    assert_eq!(code(f64::MAX), LoadCode::Overload);
}

#[test]
fn samples_count_like_their_packets() {
    let mut load = load_factor(Source::knowing(1_250_000.0));
    let sample = QueueSample {
        arrived: Bytes::new(98_000),
        departed: Bytes::new(98_000),
        departed_packets: 98,
        ..QueueSample::default()
    };
    load.on_sample(at(50), &sample);
    load.on_sample(at(150), &sample);
    run(&mut load, at(200), waiting(0));
    close(load.value(), 0.8);
}
