//! Tests of PIE.

use airpath_model::{Bytes, DropReason, Duration, Ecn, Qdisc};
use airpath_queue::{Limit, Pie, PieConfig, PieDelay};

use super::driver::{Driver, SIZE, ms, stream};
use crate::packet::TestPacket;

const CONFIG: PieConfig = PieConfig {
    target: Duration::from_millis(15),
    update_interval: Duration::from_millis(15),
    alpha: 0.125,
    beta: 1.25,
    max_burst: Duration::from_millis(150),
    delay: PieDelay::Timestamps,
    derandomise: true,
    ecn: true,
    mark_limit: 0.1,
    packet: Bytes::new(SIZE),
};

fn pie(config: PieConfig) -> Driver {
    Driver::new(Pie::new(Limit::Unlimited, config, stream()).expect("the parameters are in range"))
}

/// Simulates one arrival and one departure per millisecond behind a queue of `queue` packets.
fn standing(config: PieConfig, queue: u64, millis: u64, ecn: Ecn) -> Driver {
    let mut driver = pie(config);
    driver.burst(queue, ecn, 0);
    for _ in 0..millis {
        driver.wait(ms(1));
        driver.arrive(SIZE, ecn, 0);
        while driver.backlog().packets > queue {
            driver.depart();
        }
    }
    driver
}

#[test]
fn a_burst_passes_during_the_burst_allowance() {
    let driver = standing(CONFIG, 100, 2000, Ecn::NotEct);
    assert!(driver.observed("burst_allowance_s") == 0.0);
    let first = driver.seen.drops[0].0.as_secs_f64();
    assert!(first > 0.150, "{first}");
    assert!(driver.seen.drops.len() > 20, "{}", driver.seen.drops.len());
    assert!(driver.seen.drops.iter().all(|(.., reason)| *reason == DropReason::Early));
    // The burst allowance is restored when the queue is at rest.
    let mut driver = driver;
    while driver.depart().is_some() {}
    driver.wait(Duration::from_secs(10));
    assert!((driver.observed("burst_allowance_s") - 0.150).abs() < 1e-12);
}

#[test]
fn a_delay_at_the_target_keeps_the_probability() {
    // The packet at the head arrived 14 to 15 ms ago.
    let driver = standing(CONFIG, 15, 20_000, Ecn::NotEct);
    assert!(driver.observed("probability") < 1e-4, "{}", driver.observed("probability"));
    assert!(
        (driver.observed("queue_delay_s") - 0.015).abs() < 0.0011,
        "{}",
        driver.observed("queue_delay_s")
    );
}

#[test]
fn both_delay_estimates_agree() {
    let delay =
        |delay| standing(PieConfig { delay, ..CONFIG }, 40, 1000, Ecn::Ect0).observed("queue_delay_s");
    let (stamped, drained) = (delay(PieDelay::Timestamps), delay(PieDelay::DepartureRate));
    assert!((stamped - 0.040).abs() < 0.0021, "{stamped}");
    assert!((drained - 0.040).abs() < 0.0021, "{drained}");
}

#[test]
fn packets_are_marked_up_to_the_limit_and_then_dropped() {
    let driver = standing(CONFIG, 30, 10_000, Ecn::Ect0);
    assert!(driver.seen.marks.len() > 10);
    assert!(driver.observed("probability") > 0.1 && driver.dropped(DropReason::Early) > 10);
    let last_mark = driver.seen.marks.last().expect("there are marks").0;
    let first_drop = driver.seen.drops[0].0;
    assert!(last_mark < first_drop, "{last_mark:?} {first_drop:?}");
}

/// Returns a queue of ten packets that have waited for `delay` at the only update, after which the
/// probability is `probability`: from zero the step is β · delay / 2048 (RFC 8033, section 4.2). Chosen
/// packets are dropped.
fn at(probability: f64, delay: Duration, limit: Limit, derandomise: bool) -> Driver {
    let (update_interval, beta) = (ms(250), 2048.0 * probability / delay.as_secs_f64());
    let config = PieConfig {
        update_interval,
        max_burst: Duration::ZERO,
        alpha: 0.0,
        beta,
        derandomise,
        ecn: false,
        ..CONFIG
    };
    let mut driver = Driver::new(Pie::new(limit, config, stream()).expect("the parameters are in range"));
    driver.wait(update_interval - delay);
    driver.burst(10, Ecn::NotEct, 0);
    driver.wait(delay);
    assert!((driver.observed("probability") - probability).abs() < 1e-12);
    driver
}

/// RFC 8033, section 5.4: no drop before the sum of the probabilities since the last one reaches 0.85, and a
/// certain drop at 8.5.
#[test]
fn drops_are_spread_evenly() {
    let gaps = |derandomise| {
        let mut driver = at(0.1, ms(250), Limit::Unlimited, derandomise);
        driver.burst(20_000, Ecn::NotEct, 0);
        let dropped: Vec<u64> = driver.seen.drops.iter().map(|&(_, number, _)| number).collect();
        dropped.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    };
    let (spread, free) = (gaps(true), gaps(false));
    assert!(spread.iter().all(|gap| (9..=85).contains(gap)), "{spread:?}");
    assert!(free.iter().any(|gap| *gap < 9), "{free:?}");
}

/// RFC 8033, section 5.4: at an `accu_prob` of 8.5 a packet is dropped for certain. Here it is the 136th of
/// probability 1/16, which is reached by chance in one of 2600 rounds.
#[test]
fn the_longest_gap_ends_when_the_probabilities_sum_up_to_eight_and_a_half() {
    let mut driver = at(1.0 / 16.0, ms(250), Limit::Unlimited, true);
    for _ in 0..400_000 {
        driver.arrive(SIZE, Ecn::NotEct, 0);
        if driver.backlog().packets > 10 {
            driver.depart();
        }
    }
    let dropped: Vec<u64> = driver.seen.drops.iter().map(|&(_, number, _)| number).collect();
    assert_eq!(dropped.windows(2).map(|pair| pair[1] - pair[0]).max(), Some(136));
}

/// RFC 8033, section 5.4: the sum restarts after a drop for any reason. Eight times 0.1 is less than 0.85.
#[test]
fn an_overflow_drop_counts_in_the_spacing_of_drops() {
    let mut driver = at(0.1, ms(250), Limit::Packets(18), true);
    // Otherwise the sum would reach 8.5, at which a packet is certainly chosen, in the eleventh round.
    for _ in 0..20 {
        driver.burst(8 + 1, Ecn::NotEct, 0);
        (0..8).for_each(|_| assert!(driver.depart().is_some()));
    }
    assert_eq!((driver.dropped(DropReason::Overflow), driver.dropped(DropReason::Early)), (20, 0));
}

/// RFC 8033, section 4.1: no packet is dropped below half of the target, here 7.5 ms, and below a probability
/// of 20 %.
#[test]
fn packets_pass_while_delay_and_probability_are_low() {
    let dropped = |probability, delay| {
        let mut driver = at(probability, delay, Limit::Unlimited, false);
        driver.burst(1000, Ecn::NotEct, 0);
        driver.dropped(DropReason::Early)
    };
    assert_eq!(dropped(0.19, ms(7)), 0);
    // Five standard deviations of a binomial distribution of 1000 and 0.19 or 0.21.
    assert!((128..=252).contains(&dropped(0.19, ms(8))), "{}", dropped(0.19, ms(8)));
    assert!((146..=274).contains(&dropped(0.21, ms(7))), "{}", dropped(0.21, ms(7)));
}

/// RFC 8033, section 4.2: p ← 0.98 p if the delay is zero at this update and at the previous one. From p =
/// 0.1 on the step α (0 - target) is not scaled.
#[test]
fn the_probability_decays_while_there_is_no_delay() {
    let mut driver = standing(PieConfig { mark_limit: 1.0, ..CONFIG }, 30, 10_000, Ecn::Ect0);
    while driver.depart().is_some() {}
    driver.wait(CONFIG.update_interval * 2);
    let before = driver.observed("probability");
    driver.wait(CONFIG.update_interval);
    let (after, expected) = (driver.observed("probability"), 0.98 * (before - 0.125 * 0.015));
    assert!(before > 0.1 && (after - expected).abs() < 1e-12, "{before} {after}");
}

/// RFC 8033, section 4.4: bursts pass again if the probability is zero and both delays are below half of the
/// target.
#[test]
fn a_delay_between_half_of_the_target_and_the_target_is_not_idle() {
    // A delay of 9 to 10 ms: the probability falls to zero.
    let mut driver = standing(CONFIG, 10, 1000, Ecn::NotEct);
    assert!(driver.observed("probability") == 0.0 && driver.observed("queue_delay_s") > 0.0075);
    assert!(driver.observed("burst_allowance_s") == 0.0);
    while driver.depart().is_some() {}
    driver.wait(CONFIG.update_interval);
    assert!(driver.observed("burst_allowance_s") == 0.0, "the delay before is not below");
    driver.wait(CONFIG.update_interval);
    assert!(driver.observed("burst_allowance_s") > 0.0);
    // The opposite case at the first update; without β the probability stays zero.
    let driver = standing(PieConfig { beta: 0.0, ..CONFIG }, 10, 15, Ecn::NotEct);
    assert!(driver.observed("probability") == 0.0, "{}", driver.observed("probability"));
    assert!((driver.observed("burst_allowance_s") - 0.135).abs() < 1e-12, "this delay is not below");
}

/// In the pseudo-code of RFC 8033 a measurement takes `DQ_THRESHOLD` = 2^14 bytes, which are 11 packets, and
/// its weight is `DQ_THRESHOLD` / 2^16.
#[test]
fn a_measurement_of_the_departure_rate_weighs_a_quarter() {
    let mut driver =
        pie(PieConfig { delay: PieDelay::DepartureRate, update_interval: Duration::from_secs(1), ..CONFIG });
    driver.burst(1000, Ecn::NotEct, 0);
    driver.depart();
    for pause in [ms(1), ms(2)] {
        for _ in 0..11 {
            driver.wait(pause);
            driver.depart();
        }
    }
    driver.wait(Duration::from_secs(1));
    // 1.25 ms per packet; durations are whole nanoseconds.
    let (found, expected) = (driver.observed("queue_delay_s"), 0.001_25 * driver.backlog().packets as f64);
    assert!((found - expected).abs() < 2e-9, "{found} {expected}");
}

#[test]
fn two_packets_always_pass() {
    let driver = standing(CONFIG, 2, 5000, Ecn::NotEct);
    assert!(driver.seen.drops.is_empty());
    let slow = {
        let mut driver = pie(CONFIG);
        for _ in 0..50 {
            driver.burst(2, Ecn::NotEct, 0);
            driver.wait(ms(400));
            driver.depart();
            driver.depart();
        }
        driver
    };
    assert!(slow.seen.drops.is_empty());
    // With a probability of one: the third packet arrives while two wait, the fourth while three wait.
    let mut driver = at(1.0, ms(250), Limit::Unlimited, false);
    (0..8).for_each(|_| assert!(driver.depart().is_some()));
    driver.burst(1, Ecn::NotEct, 0);
    assert_eq!((driver.backlog().packets, driver.seen.drops.len()), (3, 0));
    driver.burst(1, Ecn::NotEct, 0);
    assert_eq!((driver.backlog().packets, driver.seen.drops.len()), (3, 1));
}

#[test]
fn impossible_parameters_are_rejected() {
    for config in [
        PieConfig { target: Duration::ZERO, ..CONFIG },
        PieConfig { update_interval: Duration::ZERO, ..CONFIG },
        PieConfig { alpha: -1.0, ..CONFIG },
        PieConfig { beta: f64::INFINITY, ..CONFIG },
        PieConfig { mark_limit: 2.0, ..CONFIG },
    ] {
        assert!(Pie::<TestPacket>::new(Limit::Unlimited, config, stream()).is_err());
    }
    let mut full = Pie::new(Limit::Packets(1), CONFIG, stream()).expect("the parameters are in range");
    let mut seen = super::driver::Seen::default();
    for number in 0..2 {
        full.enqueue(airpath_model::Timestamp::ZERO, TestPacket::new(number, Bytes::new(1)), &mut seen);
    }
    assert_eq!(seen.drops.len(), 1);
}
