//! How many packets in a row are lost: chi-square of run lengths against their exact laws, for every clock.

use crate::air::{Point, arrives, points, stream};
use airpath_channel::{AirErrors, GilbertElliott, PacketBursts, StepByStep, TimedBursts};
use airpath_model::{Duration, RandomStream, Timestamp};

/// Lengths of the runs of losses in this number of packets; the first and the last run may be cut and do not count.
fn runs(mut lost: impl FnMut(u32) -> bool, packets: u32) -> Vec<usize> {
    let (mut lengths, mut length, mut begun) = (Vec::new(), 0, false);
    for packet in 0..packets {
        if lost(packet) {
            length += 1;
        } else {
            if begun && length > 0 {
                lengths.push(length);
            }
            (length, begun) = (0, true);
        }
    }
    lengths
}

/// The usual least for the approximation.
const LEAST_EXPECTED: f64 = 5.0;

/// Chi-square of lengths against a law given as P(length > n), in cells that expect `LEAST_EXPECTED` lengths or more.
/// The statistic and its degrees of freedom.
fn chi_square(lengths: &[usize], beyond: impl Fn(usize) -> f64) -> (f64, usize) {
    let count = lengths.len() as f64;
    let (mut statistic, mut cells, mut from) = (0.0, 0, 1_usize);
    while count * beyond(from - 1) > 0.0 {
        // The cell goes on until it and what is left expect that many each.
        let mut to = from;
        while count * (beyond(from - 1) - beyond(to)) < LEAST_EXPECTED && beyond(to) > 0.0 {
            to += 1;
        }
        let last = count * beyond(to) < LEAST_EXPECTED;
        let expected = count * (beyond(from - 1) - if last { 0.0 } else { beyond(to) });
        let inside = |length: &&usize| **length >= from && (last || **length <= to);
        let observed = lengths.iter().filter(inside).count() as f64;
        statistic += (observed - expected) * (observed - expected) / expected;
        cells += 1;
        if last {
            break;
        }
        from = to + 1;
    }
    (statistic, cells - 1)
}

/// What chi-square passes once in a thousand (Wilson and Hilferty).
fn critical(freedom: usize) -> f64 {
    let d = freedom as f64;
    let c = 2.0 / (9.0 * d);
    d * libm::pow(1.0 - c + 3.0902 * c.sqrt(), 3.0)
}

fn assert_law(what: &str, lengths: &[usize], beyond: impl Fn(usize) -> f64) {
    let (statistic, freedom) = chi_square(lengths, beyond);
    assert!(freedom >= 1, "{what}: {} runs are too few", lengths.len());
    assert!(
        statistic < critical(freedom),
        "{what}: {statistic} at {freedom} degrees of freedom, {} runs",
        lengths.len()
    );
}

#[test]
fn the_check_rejects_a_slightly_wrong_law() {
    let chain = GilbertElliott::from_means(0.05, 4.0).unwrap();
    let mut errors = PacketBursts::new(chain, stream(5));
    let lengths = runs(|_| !arrives(&mut errors, 1500, Timestamp::ZERO), 400_000);
    let geometric = |mean: f64| move |n| libm::pow(1.0 - 1.0 / mean, n as f64);
    let (right, freedom) = chi_square(&lengths, geometric(4.0));
    let (wrong, _) = chi_square(&lengths, geometric(4.5));
    assert!(right < critical(freedom) && wrong > 2.0 * critical(freedom), "{right} and {wrong}");
}

/// Packet by packet and bit by bit, at ten points: from the exact matrices of a packet that arrives (A) and one that is lost
/// (L), P(length > n) = pi A L^(n+1) 1 / (pi A L 1).
#[test]
fn losses_of_packets_on_a_chain_of_bits() {
    for (index, point) in points().into_iter().enumerate() {
        let outcomes = point.outcomes();
        let Point { air, coding, bytes } = point;
        let step = |[good, bad]: [f64; 2], matrix: &[[f64; 2]; 2]| {
            [good * matrix[0][0] + bad * matrix[1][0], good * matrix[0][1] + bad * matrix[1][1]]
        };
        let begun = step(step(air.chain.stationary(), &outcomes.arrived), &outcomes.lost);
        let beyond = |n: usize| {
            let [good, bad] = (0..n).fold(begun, |states, _| step(states, &outcomes.lost));
            (good + bad) / (begun[0] + begun[1])
        };
        let seed = 200 + index as u64;
        let mut fast = AirErrors::new(air, coding, stream(seed));
        let lengths = runs(|_| !arrives(&mut fast, bytes, Timestamp::ZERO), 200_000);
        assert_law(&format!("point {index}, packet by packet"), &lengths, beyond);
        let mut exact = StepByStep::new(air, coding, stream(seed + 100));
        let lengths = runs(|_| !arrives(&mut exact, bytes, Timestamp::ZERO), 20_000);
        assert_law(&format!("point {index}, step by step"), &lengths, beyond);
    }
}

/// Seen at equal distances a chain in time is one in steps: it is still bad after `t` with
/// b + (1 - b) exp(-t (1/good + 1/bad)), and runs are geometric.
#[test]
fn losses_by_time_sampled_at_equal_distances() {
    let (loss, burst_s) = (0.1, 0.02);
    let chain = GilbertElliott::from_means(loss, 20.0).unwrap();
    for (index, spacing_ms) in [0.5, 3.0, 25.0].into_iter().enumerate() {
        let states = RandomStream::new(index as u64, "link/radio/loss-states");
        let mut errors = TimedBursts::new(chain, Duration::from_millis(1), states, stream(9)).unwrap();
        let spacing = Duration::from_secs_f64(spacing_ms / 1000.0);
        let rate = 1.0 / burst_s + loss / (1.0 - loss) / burst_s;
        let stay = loss + (1.0 - loss) * libm::exp(-rate * spacing_ms / 1000.0);
        let at = |packet: u32| Timestamp::ZERO + spacing * u64::from(packet);
        let lengths = runs(|packet| !arrives(&mut errors, 1500, at(packet)), 1_000_000);
        assert_law(&format!("every {spacing_ms} ms"), &lengths, |n| libm::pow(stay, n as f64));
    }
}

/// `netem`'s chain also loses in the good state and spares in the bad one: runs follow the matrices, as above.
#[test]
fn losses_by_packet_in_both_states() {
    let chain = GilbertElliott::netem(0.02, 0.25, 0.8, 0.01).unwrap();
    let mut errors = PacketBursts::new(chain, stream(11));
    let lengths = runs(|_| !arrives(&mut errors, 1500, Timestamp::ZERO), 400_000);
    let ([good, bad], [to_bad, to_good]) = (chain.stationary(), [0.02, 0.25]);
    let (lost_good, lost_bad) = (0.01, 0.8);
    // One packet: the transition, then the loss in the new state.
    let next = |[g, b]: [f64; 2], lost: bool| {
        let weight = |p: f64| if lost { p } else { 1.0 - p };
        let (new_good, new_bad) = (g * (1.0 - to_bad) + b * to_good, g * to_bad + b * (1.0 - to_good));
        [new_good * weight(lost_good), new_bad * weight(lost_bad)]
    };
    let begun = next(next([good, bad], false), true);
    let beyond = |n: usize| {
        let [g, b] = (0..n).fold(begun, |states, _| next(states, true));
        (g + b) / (begun[0] + begun[1])
    };
    assert_law("netem", &lengths, beyond);
}
