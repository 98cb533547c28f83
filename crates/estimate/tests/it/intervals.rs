//! EBE over whole intervals: the queue that its filter and its maintainer receive.

use airpath_estimate::{Ebe, EbeConfig, Measured, Predictor, Profile, SampledQueue};
use airpath_model::*;

fn at(ms: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(ms)
}

fn interval(source: &mut dyn CapacitySource, start: u64, queue: u64) {
    source.on_arrival(at(start + 1), Bytes::new(100_000), Backlog::default());
    for sample in 1..=20 {
        let backlog = Backlog { bytes: Bytes::new(queue), packets: queue / 1000 };
        source.on_timer(at(start + 10 * sample), backlog);
    }
}

fn value(source: &dyn CapacitySource, name: &str) -> f64 {
    let mut found = f64::NAN;
    source.observe(&mut |quantity, value| {
        if quantity == name {
            found = value;
        }
    });
    found
}

/// R is 1e-6 of the squared buffer, and P of the next step is at least Psi, in packets, for a buffer of 575
/// packets.
#[test]
fn the_normalised_filter_uses_buffer_and_interval() {
    let mut ebe = Ebe::new(EbeConfig { profile: Profile::Normalised, ..EbeConfig::default() }).unwrap();
    interval(&mut ebe, 0, 5000);
    let mut predictor = Predictor::normalised(1250.0, 575.0, 0.2);
    let cycle = predictor.step(&Measured {
        queue: 5.0,
        queue_variance: 0.0,
        last_queue: 5.0,
        arrival_rate: 500.0,
        service_rate: 1250.0,
        interval: 0.2,
    });
    for (name, expected) in [("p11", cycle.posterior.p.p11), ("p22", cycle.posterior.p.p22)] {
        assert!((value(&ebe, name) / expected - 1.0).abs() < 1e-12, "{name}");
    }
}

#[test]
fn in_packet_mode_the_shortest_queue_is_counted_in_packets() {
    let config = EbeConfig {
        profile: Profile::None,
        unit: QueueUnit::Packets,
        sampled_queue: SampledQueue::Minimum,
        ..EbeConfig::default()
    };
    let mut ebe = Ebe::new(config).unwrap();
    interval(&mut ebe, 0, 9000);
    ebe.on_departure(at(205), Bytes::new(1000), Backlog { bytes: Bytes::new(4000), packets: 4 });
    interval(&mut ebe, 200, 9000);
    assert_eq!(value(&ebe, "queue_mean_packets").to_bits(), 4.0_f64.to_bits());
}

/// Samples above the threshold and a shortest queue below it: the maintainer receives the selected statistic.
#[test]
fn the_maintainer_receives_the_sampled_queue() {
    let config = EbeConfig { sampled_queue: SampledQueue::Minimum, ..EbeConfig::default() };
    let mut ebe = Ebe::new(config).unwrap();
    for start in [0, 200, 400] {
        ebe.on_departure(at(start + 5), Bytes::new(1000), Backlog { bytes: Bytes::new(1000), packets: 1 });
        interval(&mut ebe, start, 200_000);
    }
    assert!(ebe.probing() > 1.0);
}
