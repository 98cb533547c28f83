//! Tests of RED.

use airpath_model::{Bytes, DropReason, Duration, Ecn, Rate};
use airpath_queue::{Limit, QueueUnit, Red, RedConfig};

use super::driver::{Driver, SIZE, ms, stream};

/// With these parameters the average equals the queue, so that probabilities are known.
const FOLLOWING: RedConfig = RedConfig {
    unit: QueueUnit::Packets,
    minimum: 5.0,
    maximum: 15.0,
    max_probability: 0.1,
    weight: 1.0,
    gentle: true,
    wait: false,
    adaptive: false,
    ecn: false,
    mark_limit: 1.0,
    packet: Bytes::new(SIZE),
    capacity: Rate::from_bps(10_000_000),
};
/// The transmission time of a packet.
const PACKET_TIME: Duration = Duration::from_micros(1200);

fn red(config: RedConfig) -> Driver {
    Driver::new(Red::new(Limit::Unlimited, config, stream()).expect("the parameters are in range"))
}

/// Keeps the queue at `queue` packets for `arrivals` arrivals. Returns the numbers of arrivals between chosen
/// packets.
fn gaps(config: RedConfig, queue: u64, arrivals: u64) -> Vec<u64> {
    let mut driver = red(config);
    let (mut gaps, mut since, mut seen) = (Vec::new(), 0, 0);
    for _ in 0..queue + arrivals {
        while driver.backlog().packets > queue {
            driver.depart();
        }
        driver.arrive(SIZE, Ecn::Ect0, 0);
        since += 1;
        let chosen = driver.seen.drops.len() + driver.seen.marks.len();
        if chosen > seen {
            (seen, since) = (chosen, {
                gaps.push(since);
                0
            });
        }
    }
    gaps
}

fn mean(gaps: &[u64]) -> f64 {
    gaps.iter().sum::<u64>() as f64 / gaps.len() as f64
}

/// Returns the probability reported by a queue of `queue` packets.
fn probability(config: RedConfig, queue: u64) -> f64 {
    let mut driver = red(RedConfig { ecn: true, ..config });
    driver.burst(queue, Ecn::Ect0, 0);
    assert_eq!(driver.backlog().packets, queue);
    driver.arrive(SIZE, Ecn::Ect0, 0);
    driver.observed("probability")
}

#[test]
fn the_probability_is_linear_then_gentle() {
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    close(probability(FOLLOWING, 4), 0.0);
    close(probability(FOLLOWING, 10), 0.05);
    close(probability(FOLLOWING, 15), 0.1);
    // Linear from 0.1 at 15 to 1 at 30.
    close(probability(FOLLOWING, 20), 0.4);
    close(probability(FOLLOWING, 30), 1.0);
    let abrupt = RedConfig { gentle: false, ..FOLLOWING };
    close(probability(abrupt, 14), 0.09);
    close(probability(abrupt, 15), 1.0);
}

/// Floyd and Jacobson 1993, section 7: gaps are uniform on 1 to 1/p, and with ns-2's waiting on 1/p to 2/p.
/// Because the arriving packet is already counted, in the paper's algorithm and in ns-2, the longest gap does
/// not occur.
#[test]
fn packets_are_chosen_at_uniform_gaps() {
    // p = 0.05; the first gap is longer by the packets that filled the queue.
    let paper = &gaps(FOLLOWING, 10, 20_000)[1..];
    assert!(paper.iter().all(|gap| (1..=19).contains(gap)), "{:?}", paper.iter().max());
    // Five standard errors of the mean of 2000 samples with a standard deviation of 5.5.
    assert!((mean(paper) - 10.0).abs() < 5.0 * 5.5 / 44.7, "{}", mean(paper));
    let waiting = &gaps(RedConfig { wait: true, ..FOLLOWING }, 10, 20_000)[1..];
    assert!(waiting.iter().all(|gap| (20..=39).contains(gap)), "{:?}", waiting.iter().max());
    // The same for 680 samples with a standard deviation of 5.8.
    assert!((mean(waiting) - 29.5).abs() < 5.0 * 5.8 / 26.0, "{}", mean(waiting));
}

/// Floyd and Jacobson 1993, section 4: avg ← (1 − w)^m avg, with m packets that could have been sent since
/// the queue became empty.
#[test]
fn the_average_falls_while_the_link_is_idle() {
    let mut driver = red(RedConfig { weight: 0.1, ..FOLLOWING });
    driver.burst(5, Ecn::NotEct, 0);
    let before = driver.observed("average_queue_packets");
    while driver.depart().is_some() {}
    driver.wait(PACKET_TIME * 10);
    driver.arrive(SIZE, Ecn::NotEct, 0);
    // Ten missing packets, and the one that arrived at the empty queue.
    let (after, expected) = (driver.observed("average_queue_packets"), before * libm::pow(0.9, 10.0 + 1.0));
    assert!(before > 0.5 && (after - expected).abs() < 1e-12, "{before} {after}");
}

/// A link that sends packet after packet is not idle in between, regardless of the transmission times.
#[test]
fn the_average_does_not_fall_while_packets_wait() {
    let mut driver = red(RedConfig { weight: 0.1, ..FOLLOWING });
    driver.burst(5, Ecn::NotEct, 0);
    let before = driver.observed("average_queue_packets");
    assert!(driver.depart().is_some());
    driver.wait(PACKET_TIME * 10);
    driver.arrive(SIZE, Ecn::NotEct, 0);
    let (after, expected) = (driver.observed("average_queue_packets"), 0.9 * before + 0.1 * 4.0);
    assert!((after - expected).abs() < 1e-12, "{after} {expected}");
}

/// ns-2.35 (`queue/red.cc`): the packet with which the average first exceeds `min_th` is spared, even with a
/// probability of one.
#[test]
fn the_packet_that_raises_the_average_above_the_minimum_is_not_chosen() {
    // The probability is one for packets that find two or more packets in the queue.
    let mut driver = red(RedConfig { minimum: 1.5, maximum: 2.0, gentle: false, ..FOLLOWING });
    driver.burst(5, Ecn::NotEct, 0);
    // The average falls below the minimum and exceeds it again.
    (0..2).for_each(|_| assert!(driver.depart().is_some()));
    driver.burst(4, Ecn::NotEct, 0);
    let dropped: Vec<u64> = driver.seen.drops.iter().map(|&(_, number, _)| number).collect();
    assert_eq!(dropped, [3, 4, 7, 8]);
}

/// ns-2.35 (`queue/red.cc`): an overflow counts as any other drop. With `wait` no packet is chosen before
/// count p = 1, which is 1/0.04 = 25 packets after the last drop.
#[test]
fn an_overflow_restarts_the_count() {
    let config = RedConfig { wait: true, ..FOLLOWING };
    let mut driver =
        Driver::new(Red::new(Limit::Packets(10), config, stream()).expect("the parameters are in range"));
    driver.burst(9, Ecn::NotEct, 0);
    for _ in 0..100 {
        // One packet that finds nine in the queue, and one for which there is no room.
        driver.burst(2, Ecn::NotEct, 0);
        assert!(driver.depart().is_some());
    }
    assert_eq!((driver.dropped(DropReason::Overflow), driver.dropped(DropReason::Early)), (100, 0));
}

#[test]
fn chosen_packets_are_marked_up_to_the_limit_and_then_dropped() {
    let marking = RedConfig { ecn: true, mark_limit: 0.1, ..FOLLOWING };
    let mut driver = red(marking);
    driver.burst(14, Ecn::Ect0, 0);
    for _ in 0..1000 {
        driver.arrive(SIZE, Ecn::Ect0, 0);
        driver.depart();
    }
    assert!(driver.seen.drops.is_empty() && driver.seen.marks.len() > 50);
    let marks = driver.seen.marks.len();
    driver.arrive(SIZE, Ecn::Ect0, 0);
    for _ in 0..1000 {
        driver.arrive(SIZE, Ecn::Ect0, 0);
        if driver.backlog().packets > 15 {
            driver.depart();
        }
    }
    assert_eq!(driver.seen.marks.len(), marks, "p is 0.1 and more");
    assert!(driver.dropped(DropReason::Early) > 50);
    assert_eq!(driver.dropped(DropReason::Overflow), 0);
}

#[test]
fn a_sender_without_ecn_is_dropped() {
    let mut driver = red(RedConfig { ecn: true, ..FOLLOWING });
    driver.burst(10, Ecn::NotEct, 0);
    for _ in 0..1000 {
        driver.arrive(SIZE, Ecn::NotEct, 0);
        if driver.backlog().packets > 10 {
            driver.depart();
        }
    }
    assert!(driver.seen.marks.is_empty() && driver.dropped(DropReason::Early) > 50);
}

#[test]
fn in_byte_mode_small_packets_are_chosen_less_often() {
    let config = RedConfig { unit: QueueUnit::Bytes, ecn: true, ..FOLLOWING };
    let chosen = |size| {
        let mut driver = red(config);
        driver.burst(10, Ecn::Ect0, 0);
        for _ in 0..30_000 {
            driver.arrive(size, Ecn::Ect0, 0);
            while driver.backlog().bytes > Bytes::new(10 * SIZE) {
                driver.depart();
            }
        }
        driver.seen.marks.len() as f64
    };
    // Both the count and the probability are in bytes: each byte has the same probability in packets of any
    // size.
    let ratio = chosen(1500) / chosen(150);
    assert!((6.0..=14.0).contains(&ratio), "{ratio}");
}

#[test]
fn a_full_buffer_overflows() {
    let mut driver =
        Driver::new(Red::new(Limit::Packets(3), FOLLOWING, stream()).expect("the parameters are in range"));
    driver.burst(5, Ecn::NotEct, 0);
    assert_eq!(driver.dropped(DropReason::Overflow), 2);
}

#[test]
fn the_average_adapts_to_the_middle_of_the_thresholds() {
    // Without feedback, a queue above the target raises max_p every half second by 0.01.
    let mut driver = red(RedConfig { adaptive: true, ecn: true, max_probability: 0.05, ..FOLLOWING });
    for _ in 0..12 {
        driver.arrive(SIZE, Ecn::Ect0, 0);
    }
    for _ in 0..100 {
        driver.wait(ms(100));
        driver.arrive(SIZE, Ecn::Ect0, 0);
        driver.depart();
    }
    let max_p = driver.observed("max_probability");
    assert!((max_p - 0.25).abs() < 0.0101, "{max_p}");
}

#[test]
fn without_adaptation_the_maximum_probability_is_constant() {
    let mut driver = red(RedConfig { ecn: true, ..FOLLOWING });
    driver.burst(14, Ecn::Ect0, 0);
    for _ in 0..10 {
        driver.wait(ms(600));
        driver.arrive(SIZE, Ecn::Ect0, 0);
        driver.depart();
    }
    assert!((driver.observed("max_probability") - 0.1).abs() < 1e-12);
}

#[test]
fn impossible_parameters_are_rejected() {
    for config in [
        RedConfig { minimum: -1.0, ..FOLLOWING },
        RedConfig { maximum: 5.0, ..FOLLOWING },
        RedConfig { max_probability: 0.0, ..FOLLOWING },
        RedConfig { weight: 1.1, ..FOLLOWING },
        RedConfig { mark_limit: f64::NAN, ..FOLLOWING },
        RedConfig { packet: Bytes::ZERO, ..FOLLOWING },
        RedConfig { capacity: Rate::ZERO, ..FOLLOWING },
    ] {
        assert!(Red::<crate::packet::TestPacket>::new(Limit::Unlimited, config, stream()).is_err());
    }
}
