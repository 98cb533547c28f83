//! Tests of CoDel.

use airpath_model::{Bytes, DropReason, Duration, Ecn, Timestamp};
use airpath_queue::{Codel, CodelConfig, Limit};

use super::driver::{Driver, SIZE, ms};

pub(crate) const CONFIG: CodelConfig = CodelConfig {
    target: Duration::from_millis(5),
    interval: Duration::from_millis(100),
    packet: Bytes::new(SIZE),
    ecn: true,
};

fn codel(config: CodelConfig) -> Driver {
    Driver::new(Codel::new(Limit::Unlimited, config).expect("the parameters are in range"))
}

/// Simulates a standing queue of a thousand packets at one packet per tenth of a millisecond.
fn standing(ecn: Ecn, config: CodelConfig) -> Driver {
    let mut driver = codel(config);
    driver.burst(1000, ecn, 0);
    driver.wait(ms(10));
    for _ in 0..6000 {
        driver.arrive(SIZE, ecn, 0);
        driver.depart();
        driver.wait(Duration::from_micros(100));
    }
    driver
}

/// The packet that departs at 10 ms has waited longer than the target. The first drop is 100 ms later, the
/// others are 100, 170.711, 228.446, 278.446 and 323.167 ms after the first.
fn by_the_control_law(times: impl Iterator<Item = Timestamp>) {
    let times: Vec<f64> = times.map(|at| at.as_secs_f64() * 1e3).collect();
    let expected = [110.0, 210.0, 280.711, 338.446, 388.446, 433.167];
    for (found, expected) in times.iter().zip(expected) {
        // Each drop is at the first departure that is not before it; there is one departure per 0.1 ms.
        assert!((0.0..=0.1001).contains(&(found - expected)), "{times:?}");
    }
    assert!(times.len() > expected.len());
}

#[test]
fn drops_of_a_standing_queue_follow_the_control_law() {
    let driver = standing(Ecn::NotEct, CONFIG);
    by_the_control_law(driver.seen.drops.iter().map(|(at, ..)| *at));
    assert!(driver.seen.drops.iter().all(|(.., reason)| *reason == DropReason::Early));
    assert!(driver.observed("dropping") > 0.0);
}

#[test]
fn marks_follow_the_control_law() {
    let driver = standing(Ecn::Ect0, CONFIG);
    by_the_control_law(driver.seen.marks.iter().map(|(at, _)| *at));
    assert!(driver.seen.drops.is_empty(), "{:?}", driver.seen.drops);
    assert!(standing(Ecn::Ect0, CodelConfig { ecn: false, ..CONFIG }).seen.marks.is_empty());
}

#[test]
fn a_burst_that_drains_within_an_interval_is_not_dropped() {
    let mut driver = codel(CONFIG);
    for _ in 0..20 {
        driver.burst(90, Ecn::NotEct, 0);
        for _ in 0..200 {
            driver.wait(ms(1));
            driver.depart();
        }
    }
    assert!(driver.seen.drops.is_empty());
}

#[test]
fn a_single_packet_with_a_long_delay_is_not_dropped() {
    let mut driver = codel(CONFIG);
    for _ in 0..20 {
        driver.burst(2, Ecn::NotEct, 0);
        driver.wait(ms(300));
        assert!(driver.depart().is_some());
        driver.wait(ms(300));
        assert!(driver.depart().is_some());
        assert!(driver.depart().is_none());
    }
    assert!(driver.seen.drops.is_empty());
}

/// Returns the count with which dropping resumes after `drops` drops, if it resumes `pause` after the next
/// one would have been due.
fn resumed(drops: usize, pause: Duration) -> f64 {
    let mut driver = codel(CONFIG);
    driver.burst(5000, Ecn::NotEct, 0);
    driver.wait(ms(10));
    while driver.seen.drops.len() < drops {
        driver.depart();
        driver.wait(Duration::from_micros(100));
    }
    while driver.depart().is_some() {}
    // The first drop is at 110 ms; the delay is above the target for an interval before dropping begins.
    let due = 0.110 + (1..=drops).map(|count| 0.100 / (count as f64).sqrt()).sum::<f64>();
    let begins = Timestamp::ZERO + Duration::from_secs_f64(due) + pause;
    driver.wait(begins.since(driver.now) - CONFIG.interval - ms(10));
    driver.burst(10, Ecn::NotEct, 0);
    driver.wait(ms(10));
    driver.depart();
    driver.wait(CONFIG.interval);
    driver.depart();
    assert_eq!(driver.seen.drops.len(), drops + 1);
    driver.observed("drop_count")
}

/// RFC 8289, section 5.6: count ← count − lastcount, if that is more than one and the pause was shorter than
/// 16 intervals, which are 1.6 s; otherwise 1. The first dropping period begins with lastcount = 1.
#[test]
fn dropping_resumes_at_the_last_rate_unless_that_was_long_ago() {
    for (drops, count) in [(1, 1.0), (2, 1.0), (3, 2.0), (6, 5.0)] {
        let found = [ms(1599), ms(1601)].map(|pause| resumed(drops, pause));
        assert_eq!(found.map(f64::to_bits), [count, 1.0_f64].map(f64::to_bits), "{drops} drops: {found:?}");
    }
}

#[test]
fn a_full_buffer_overflows() {
    let mut driver = Driver::new(Codel::new(Limit::Packets(3), CONFIG).expect("the parameters are in range"));
    driver.burst(5, Ecn::Ect0, 0);
    assert_eq!(driver.seen.drops.len(), 2);
    assert_eq!(driver.dropped(DropReason::Overflow), 2);
}

#[test]
fn impossible_parameters_are_rejected() {
    for config in
        [CodelConfig { target: Duration::ZERO, ..CONFIG }, CodelConfig { interval: Duration::ZERO, ..CONFIG }]
    {
        assert!(Codel::<crate::packet::TestPacket>::new(Limit::Unlimited, config).is_err());
    }
}
