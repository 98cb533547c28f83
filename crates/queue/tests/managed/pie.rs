//! PIE.

use airpath_model::{Bytes, DropReason, Duration, Ecn, Qdisc};
use airpath_queue::{Limit, Pie, PieConfig, PieDelay};

use crate::driver::{Driver, SIZE, ms, stream};
use crate::packet::TestPacket;

const CONFIG: PieConfig = PieConfig {
    target: Duration::from_millis(15),
    update: Duration::from_millis(15),
    alpha: 0.125,
    beta: 1.25,
    burst: Duration::from_millis(150),
    delay: PieDelay::Timestamps,
    derandomise: true,
    ecn: true,
    mark_limit: 0.1,
    packet: Bytes::new(SIZE),
};

fn pie(config: PieConfig) -> Driver {
    Driver::new(Pie::new(Limit::Unlimited, config, stream()).expect("the parameters are in range"))
}

/// Packets come one a millisecond and leave one a millisecond behind a queue of `queue`.
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
fn a_burst_passes_for_as_long_as_it_may() {
    let driver = standing(CONFIG, 100, 2000, Ecn::NotEct);
    assert!(driver.observed("burst_allowance_s") == 0.0);
    let first = driver.seen.drops[0].0.as_secs_f64();
    assert!(first > 0.150, "{first}");
    assert!(driver.seen.drops.len() > 20, "{}", driver.seen.drops.len());
    assert!(driver.seen.drops.iter().all(|(.., reason)| *reason == DropReason::Early));
    // It rests when the queue does.
    let mut driver = driver;
    while driver.depart().is_some() {}
    driver.wait(Duration::from_secs(10));
    assert!((driver.observed("burst_allowance_s") - 0.150).abs() < 1e-12);
}

#[test]
fn a_delay_at_the_target_keeps_the_probability() {
    // The packet at the head came 14 to 15 ms ago.
    let driver = standing(CONFIG, 15, 20_000, Ecn::NotEct);
    assert!(driver.observed("probability") < 1e-4, "{}", driver.observed("probability"));
    assert!(
        (driver.observed("queue_delay_s") - 0.015).abs() < 0.0011,
        "{}",
        driver.observed("queue_delay_s")
    );
}

#[test]
fn both_ways_to_know_the_delay_agree() {
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

/// RFC 8033, section 5.4: no drop before the probabilities since the last one sum up to 0.85, one at 8.5.
#[test]
fn drops_are_spread_evenly() {
    let gaps = |derandomise| {
        // A probability of 0.1 that stands: β · 0.25 s / 2048 with an update that does not come again.
        let mut driver = pie(PieConfig {
            update: ms(250),
            burst: Duration::ZERO,
            alpha: 0.0,
            beta: 2048.0 * 0.1 / 0.25,
            derandomise,
            ecn: false,
            ..CONFIG
        });
        driver.burst(10, Ecn::NotEct, 0);
        driver.wait(ms(250));
        assert!((driver.observed("probability") - 0.1).abs() < 1e-12);
        driver.burst(20_000, Ecn::NotEct, 0);
        let dropped: Vec<u64> = driver.seen.drops.iter().map(|&(_, number, _)| number).collect();
        dropped.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    };
    let (spread, free) = (gaps(true), gaps(false));
    assert!(spread.iter().all(|gap| (9..=85).contains(gap)), "{spread:?}");
    assert!(free.iter().any(|gap| *gap < 9), "{free:?}");
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
}

#[test]
fn impossible_parameters_are_refused() {
    for config in [
        PieConfig { target: Duration::ZERO, ..CONFIG },
        PieConfig { update: Duration::ZERO, ..CONFIG },
        PieConfig { alpha: -1.0, ..CONFIG },
        PieConfig { beta: f64::INFINITY, ..CONFIG },
        PieConfig { mark_limit: 2.0, ..CONFIG },
    ] {
        assert!(Pie::<TestPacket>::new(Limit::Unlimited, config, stream()).is_err());
    }
    let mut full = Pie::new(Limit::Packets(1), CONFIG, stream()).expect("the parameters are in range");
    let mut seen = crate::driver::Seen::default();
    for number in 0..2 {
        full.enqueue(airpath_model::Timestamp::ZERO, TestPacket::new(number, Bytes::new(1)), &mut seen);
    }
    assert_eq!(seen.drops.len(), 1);
}
