//! Random rates and delays.

use airpath_channel::{
    Bernoulli, InvalidChannel, Jitter, LinkChannel, NoErrors, Propagation, RateProcess, UniformRate,
};
use airpath_model::{Bytes, Channel, Duration, RandomStream, Rate, Timestamp, Transmission};

const LOW: Rate = Rate::from_bps(2_000_000);
const HIGH: Rate = Rate::from_bps(10_000_000);
const HOLD: Duration = Duration::from_millis(100);

fn stream(seed: u64) -> RandomStream {
    RandomStream::new(seed, "link/radio/rate")
}

fn uniform(seed: u64, initial: Option<Rate>) -> LinkChannel<NoErrors> {
    let rate = UniformRate::new(LOW, HIGH, HOLD, initial, stream(seed)).unwrap();
    LinkChannel::new(RateProcess::from(rate), NoErrors)
}

/// The rate of each of the first `holds` intervals in bit/s, read from the meter.
fn rates(link: &mut impl Channel, holds: u64) -> Vec<f64> {
    (1..=holds)
        .map(|hold| link.offered_bits(Timestamp::ZERO + HOLD * hold).unwrap() / HOLD.as_secs_f64())
        .collect()
}

#[test]
fn rates_are_uniform_and_fresh() {
    let holds = 40_000;
    let rates = rates(&mut uniform(3, None), holds);
    assert!(rates.iter().all(|rate| (2e6..=10e6).contains(rate)));
    let count = holds as f64;
    let mean = rates.iter().sum::<f64>() / count;
    let variance = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / count;
    let covariance = rates.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / count;
    // The uniform distribution's moments, within five standard errors.
    let deviation = 8e6 / 12_f64.sqrt();
    assert!((mean - 6e6).abs() < 5.0 * deviation / count.sqrt(), "{mean}");
    assert!((variance.sqrt() / deviation - 1.0).abs() < 5.0 * (0.2 / count).sqrt(), "{variance}");
    assert!((covariance / variance).abs() < 5.0 / count.sqrt(), "{covariance}");
}

#[test]
fn equal_seeds_produce_equal_rates_for_any_traffic() {
    let (mut silent, mut busy) = (uniform(5, None), uniform(5, None));
    let mut start = Timestamp::ZERO;
    for packet in 0..500 {
        start = busy.transmit(&Transmission { start, size: Bytes::new(1500), continues: packet > 0 }).departs;
    }
    assert_eq!(rates(&mut silent, 100), rates(&mut busy, 100));
    assert_ne!(rates(&mut uniform(5, None), 100), rates(&mut uniform(6, None), 100));
}

#[test]
fn transmission_and_metering_use_the_same_rates() {
    let mut link = uniform(9, None);
    let mut start = Timestamp::ZERO;
    let packets = 20_000;
    for packet in 0..packets {
        let departs =
            link.transmit(&Transmission { start, size: Bytes::new(1500), continues: packet > 0 }).departs;
        assert!(departs > start);
        start = departs;
    }
    let offered = link.offered_bits(start).unwrap();
    let sent = f64::from(packets) * 12_000.0;
    // One nanosecond at the highest rate.
    assert!((offered - sent).abs() <= 0.01, "{offered} {sent}");
}

#[test]
fn the_first_rate_may_be_given() {
    let first = Rate::from_bps(55_000_000);
    let with = rates(&mut uniform(1, Some(first)), 4);
    let without = rates(&mut uniform(1, None), 3);
    assert!((with[0] - 55e6).abs() < 1e-3);
    assert_eq!(with[1..], without[..]);
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let refused =
        |low, high, hold, initial| UniformRate::new(low, high, hold, initial, stream(0)).unwrap_err();
    assert_eq!(refused(LOW, HIGH, Duration::ZERO, None), InvalidChannel::NoHold);
    assert_eq!(refused(HIGH, LOW, HOLD, None), InvalidChannel::EmptyRange);
    assert_eq!(refused(Rate::ZERO, Rate::ZERO, HOLD, Some(LOW)), InvalidChannel::NeverSends);
    assert_eq!(refused(LOW, Rate::UNLIMITED, HOLD, None), InvalidChannel::UnlimitedRate);
    assert_eq!(refused(LOW, HIGH, HOLD, Some(Rate::UNLIMITED)), InvalidChannel::UnlimitedRate);
    let backwards = Jitter::Uniform { low: HOLD, high: Duration::ZERO };
    assert_eq!(Propagation::with_jitter(HOLD, backwards, stream(0)).unwrap_err(), InvalidChannel::EmptyRange);
}

#[test]
fn a_channel_queries_its_error_process_once_per_packet() {
    let mut link = LinkChannel::new(RateProcess::Unlimited, Bernoulli::new(0.3, stream(2)).unwrap());
    let mut alone = stream(2);
    for _ in 0..1000 {
        let packet = Transmission { start: Timestamp::ZERO, size: Bytes::new(40), continues: false };
        assert_eq!(link.transmit(&packet).arrives, !alone.chance(0.3));
    }
}

#[test]
fn without_jitter_the_delay_is_exact() {
    let mut propagation = Propagation::new(Duration::from_millis(20));
    let departs = Timestamp::from_nanos(1_234_567);
    assert_eq!(propagation.arrival(departs), departs + Duration::from_millis(20));
    assert_eq!(propagation.arrival(Timestamp::NEVER), Timestamp::NEVER);
}

#[test]
fn jitter_has_its_distribution_when_packets_are_far_apart() {
    let millis = Duration::from_millis;
    let cases = [
        // (jitter, mean, standard deviation) in seconds
        (Jitter::Uniform { low: millis(2), high: millis(6) }, 4e-3, 4e-3 / 12_f64.sqrt()),
        (Jitter::Exponential { mean: millis(3) }, 3e-3, 3e-3),
    ];
    let packets = 50_000;
    for (jitter, mean, deviation) in cases {
        let mut propagation = Propagation::with_jitter(millis(10), jitter, stream(4)).unwrap();
        let total: f64 = (0..packets)
            .map(|packet| {
                let departs = Timestamp::ZERO + Duration::from_secs(packet);
                let travel = propagation.arrival(departs).since(departs);
                assert!(travel >= millis(10));
                (travel - millis(10)).as_secs_f64()
            })
            .sum();
        let measured = total / packets as f64;
        assert!((measured - mean).abs() < 5.0 * deviation / (packets as f64).sqrt(), "{jitter:?} {measured}");
    }
}

#[test]
fn packets_are_never_reordered() {
    let jitter = Jitter::Uniform { low: Duration::ZERO, high: Duration::from_millis(50) };
    let mut propagation = Propagation::with_jitter(Duration::from_millis(10), jitter, stream(8)).unwrap();
    let mut alone = stream(8);
    let (mut last, mut held_back) = (Timestamp::ZERO, 0);
    for packet in 0..1000 {
        let departs = Timestamp::ZERO + Duration::from_millis(packet);
        let unhindered = departs
            + Duration::from_millis(10)
            + alone.uniform_duration(Duration::ZERO, Duration::from_millis(50));
        let arrival = propagation.arrival(departs);
        assert_eq!(arrival, unhindered.max(last));
        held_back += u32::from(unhindered < last);
        last = arrival;
    }
    assert!(held_back > 100, "the test requires packets that would be reordered: {held_back}");
}
