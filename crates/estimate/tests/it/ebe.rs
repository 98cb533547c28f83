//! EBE as a whole with scripted input: units, timers and reports.

use std::collections::BTreeMap;

use airpath_estimate::{
    Configured, Ebe, EbeConfig, Measured, Monitor, Oracle, Predictor, Profile, SampledQueue, SpareArrivals,
};
use airpath_model::{
    Backlog, Bytes, CapacitySource, ControlInterval, Duration, QueueUnit, Rate, Timestamp, TrueRate,
};

fn at(milliseconds: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(milliseconds)
}

fn bytes(bytes: u64) -> Backlog {
    // Packets of 40 bytes, because only the bytes must count.
    Backlog { bytes: Bytes::new(bytes), packets: bytes / 40 }
}

fn observed(source: &dyn CapacitySource) -> BTreeMap<&'static str, f64> {
    let mut values = BTreeMap::new();
    source.observe(&mut |name, value| {
        values.insert(name, value);
    });
    values
}

/// Simulates one estimation interval: 100 kB arrive, and the queue is `queue(i)` bytes at the i-th sample.
fn interval(ebe: &mut Ebe, start: u64, queue: impl Fn(u64) -> u64) {
    ebe.on_arrival(at(start + 1), Bytes::new(99_960), bytes(40));
    ebe.on_arrival(at(start + 2), Bytes::new(40), bytes(99_960));
    for sample in 1..=20 {
        let due = at(start + 10 * sample);
        assert_eq!(ebe.next_timer(), due);
        ebe.on_timer(due, bytes(queue(sample)));
    }
}

#[test]
fn queue_and_arrivals_are_bytes_over_the_packet_size() {
    let mut ebe = Ebe::new(EbeConfig { profile: Profile::None, ..EbeConfig::default() }).unwrap();
    interval(&mut ebe, 0, |sample| 1000 * sample);
    let first = observed(&ebe);
    assert!((first["queue_mean_packets"] - 10.5).abs() < 1e-12);
    assert!((first["arrival_rate_pps"] - 500.0).abs() < 1e-9);
    assert!((first["x1"] - 10.5).abs() < 1e-12 && (first["x2"] - 500.0).abs() < 1e-9);
    // From an empty queue to 10.5 packets in 0.2 s: 52.5 packets/s less than the arrival rate.
    assert!((first["capacity_estimate"] - 447_500.0).abs() < 1e-6);
    assert!((first["capacity_estimate_bps"] - 3_580_000.0).abs() < 1e-5);
    assert_eq!(ebe.capacity(at(200)), Some(first["capacity_estimate"]));
    // The queue rises by five packets: 25 packets/s less than the arrival rate.
    interval(&mut ebe, 200, |sample| 1000 * sample + 5000);
    assert!((observed(&ebe)["capacity_estimate"] - 475_000.0).abs() < 1e-6);
}

/// Two packets arrive in each interval, and 25 packets of 40 bytes make a backlog of one kilobyte.
#[test]
fn in_packet_mode_an_acknowledgment_counts_as_one() {
    let config = EbeConfig { profile: Profile::None, unit: QueueUnit::Packets, ..EbeConfig::default() };
    let mut ebe = Ebe::new(config).unwrap();
    interval(&mut ebe, 0, |_| 1000);
    assert!((observed(&ebe)["queue_mean_packets"] - 25.0).abs() < 1e-12);
    assert!((observed(&ebe)["arrival_rate_pps"] - 10.0).abs() < 1e-12);
    ebe.on_departure(at(205), Bytes::new(1000), bytes(200));
    interval(&mut ebe, 200, |_| 200);
    let second = observed(&ebe);
    assert!((second["queue_mean_packets"] - 5.0).abs() < 1e-12);
    // The queue shrinks by 20 packets: 100 packets/s more than the 10 that arrived, as packets of 1000 bytes.
    assert!((second["capacity_estimate"] - 110_000.0).abs() < 1e-6);
}

#[test]
fn the_inner_filter_is_the_predictor() {
    let mut ebe = Ebe::new(EbeConfig::default()).unwrap();
    interval(&mut ebe, 0, |sample| 1000 * sample);
    let cycle = Predictor::new(Profile::Icc, 1250.0).step(&Measured {
        queue: 10.5,
        queue_variance: 33.25,
        last_queue: 20.0,
        arrival_rate: 500.0,
        service_rate: 1250.0,
        interval: 0.2,
    });
    let reported = observed(&ebe);
    let expected = [
        ("x1", cycle.posterior.x[0]),
        ("x2", cycle.posterior.x[1]),
        ("p11", cycle.posterior.p.p11),
        ("p12", cycle.posterior.p.p12),
        ("p22", cycle.posterior.p.p22),
        ("k1", cycle.gain.k1),
        ("k2", cycle.gain.k2),
    ];
    for (name, value) in expected {
        assert!((reported[name] - value).abs() <= 1e-12 * value.abs(), "{name}: {} {value}", reported[name]);
    }
}

/// EBE-C: the mean of the samples is the prediction, the current queue the measurement, P their covariance.
#[test]
fn the_linear_filter_follows_the_instantaneous_queue() {
    let mut ebe = Ebe::new(EbeConfig { profile: Profile::Linear, ..EbeConfig::default() }).unwrap();
    interval(&mut ebe, 0, |sample| 1000 * sample);
    let k1 = (33.25 + 1e-5) / (33.25 + 2e-5);
    let reported = observed(&ebe);
    assert!((reported["k1"] - k1).abs() < 1e-12);
    assert!((reported["x1"] - (10.5 + k1 * 9.5)).abs() < 1e-9);
}

/// Samples of 1 … 20 packets, and a queue that fell to 400 bytes between two of them.
#[test]
fn the_measured_queue_is_the_configured_one() {
    for (sampled_queue, first, second) in [
        (SampledQueue::Mean, 10.5, 15.5),
        (SampledQueue::Minimum, 0.0, 0.4),
        (SampledQueue::Last, 20.0, 25.0),
    ] {
        let config = EbeConfig { profile: Profile::None, sampled_queue, ..EbeConfig::default() };
        let mut ebe = Ebe::new(config).unwrap();
        // A run starts with an empty queue, the second interval with 20 packets.
        interval(&mut ebe, 0, |sample| 1000 * sample);
        assert!((observed(&ebe)["queue_mean_packets"] - first).abs() < 1e-12, "{sampled_queue:?}");
        ebe.on_departure(at(205), Bytes::new(1000), bytes(400));
        interval(&mut ebe, 200, |sample| 1000 * sample + 5000);
        let reported = observed(&ebe);
        assert!((reported["queue_mean_packets"] - second).abs() < 1e-12, "{sampled_queue:?}");
        // 500 packets/s arrived. The growth of the queue in 0.2 s was not served.
        let carried = 500.0 - (second - first) / 0.2;
        assert!((reported["capacity_estimate"] - 1000.0 * carried).abs() < 1e-6, "{sampled_queue:?}");
    }
}

#[test]
fn the_maintainer_probes_below_its_threshold() {
    let mut ebe = Ebe::new(EbeConfig::default()).unwrap();
    interval(&mut ebe, 0, |_| 5000);
    assert!((ebe.probing() - 1.0).abs() < 1e-12);
    interval(&mut ebe, 200, |_| 5000);
    assert!((ebe.probing() - 1.40).abs() < 1e-12);
    assert!((observed(&ebe)["maintainer_on"] - 1.0).abs() < 1e-12);
    // 15 % of 575 kB are 86.25 packets.
    interval(&mut ebe, 400, |_| 86_200);
    interval(&mut ebe, 600, |_| 86_300);
    assert!((ebe.probing() - 1.40).abs() < 1e-12, "only the second is above");
    interval(&mut ebe, 800, |_| 86_400);
    assert!((ebe.probing() - 1.0).abs() < 1e-12);
}

/// EBE counts 500 kB/s and, with a queue from zero to 10.5 packets, a capacity of 447.5 kB/s; XCP counts 400
/// kB/s in its own interval.
#[test]
fn the_subtracted_arrivals_are_the_configured_ones() {
    for (spare_arrivals, probing, before, after) in [
        (SpareArrivals::Protocol, 1.0, 850_000.0, 47_500.0),
        (SpareArrivals::Protocol, 1.4, 1_350_000.0, 226_500.0),
        (SpareArrivals::Estimator, 1.0, 850_000.0, -52_500.0),
        (SpareArrivals::Estimator, 1.4, 1_350_000.0, 126_500.0),
    ] {
        let config = EbeConfig { profile: Profile::None, spare_arrivals, ..EbeConfig::default() };
        let mut ebe = Ebe::new(config).unwrap();
        let asked = ControlInterval {
            now: at(200),
            length: Duration::from_millis(50),
            input_rate: 400_000.0,
            probing,
            mean_rtt: Duration::from_millis(50),
            queue: 7000.0,
            shortest_queue: 0.0,
            mean_queue: 0.0,
            last_queue: 0.0,
            buffer: 575_000.0,
        };
        // The first estimate is 1250 kB/s, and EBE has counted nothing yet.
        assert!((ebe.spare(&asked).bandwidth - before).abs() < 1e-6, "{spare_arrivals:?}");
        interval(&mut ebe, 0, |sample| 1000 * sample);
        let spare = ebe.spare(&asked);
        assert!((spare.bandwidth - after).abs() < 1e-6, "{spare_arrivals:?} {probing}: {spare:?}");
        assert!((spare.queue - 7000.0).abs() < 1e-9);
    }
}

#[test]
fn hold_depends_on_whether_the_queue_was_ever_empty() {
    let capacity = |emptied: bool| {
        let config = EbeConfig { profile: Profile::None, monitor: Monitor::Hold, ..EbeConfig::default() };
        let mut ebe = Ebe::new(config).unwrap();
        // A run starts with an empty queue; the second interval starts with a queue.
        interval(&mut ebe, 0, |_| 5000);
        if emptied {
            ebe.on_departure(at(205), Bytes::new(1000), bytes(0));
        }
        interval(&mut ebe, 200, |_| 5000);
        ebe.capacity(at(400)).unwrap()
    };
    assert!((capacity(true) - 1_250_000.0).abs() < 1e-6);
    assert!((capacity(false) - 500_000.0).abs() < 1e-6);
}

/// 300 kB in 0.3 s are 1000 packets/s even if the estimate is 100 ms late.
#[test]
fn a_late_driver_lengthens_the_interval() {
    let mut ebe = Ebe::new(EbeConfig::default()).unwrap();
    ebe.on_arrival(at(1), Bytes::new(300_000), bytes(0));
    ebe.on_timer(at(300), bytes(0));
    assert!((observed(&ebe)["arrival_rate_pps"] - 1000.0).abs() < 1e-9);
    assert_eq!(ebe.next_timer(), at(310));
}

#[test]
fn an_interval_too_short_for_a_sample_uses_the_current_queue() {
    let mut ebe = Ebe::new(EbeConfig::default()).unwrap();
    let mut passed = 0;
    let mut until = |ebe: &mut Ebe, now: u64| {
        for instant in passed + 1..=now {
            ebe.on_arrival(at(instant), Bytes::new(1250), bytes(100_000));
            ebe.on_departure(at(instant), Bytes::new(1250), bytes(100_000));
        }
        passed = now;
        ebe.on_timer(at(now), bytes(100_000));
    };
    (1..=59).for_each(|sample| until(&mut ebe, 10 * sample));
    // The estimate of 600 ms is due just before that of 800 ms, and no sample is due in between.
    until(&mut ebe, 795);
    assert!(ebe.next_timer() <= at(800));
    until(&mut ebe, 800);
    assert!((observed(&ebe)["queue_mean_packets"] - 100.0).abs() < 1.0, "{:?}", observed(&ebe));
    let capacity = ebe.capacity(at(800)).unwrap();
    assert!((1e6..1.6e6).contains(&capacity), "10 Mbit/s pass: {capacity} bytes/s");
}

#[test]
fn configured_never_changes_and_the_oracle_follows() {
    #[derive(Debug)]
    struct Step;
    impl TrueRate for Step {
        fn rate(&mut self, now: Timestamp) -> Rate {
            Rate::from_bps(if now < at(500) { 8_000_000 } else { 0 })
        }
    }
    let mut configured = Configured::new(Rate::from_bps(8_000_000));
    let mut oracle = Oracle::new(Box::new(Step), Duration::ZERO);
    assert!(observed(&oracle).is_empty(), "no capacity was requested yet");
    for (now, truth) in [(at(0), 1e6), (at(600), 0.0)] {
        assert_eq!(configured.capacity(now), Some(1e6));
        assert_eq!(oracle.capacity(now), Some(truth));
        assert!((observed(&oracle)["capacity_estimate_bps"] - 8.0 * truth).abs() < 1e-6);
    }
}
