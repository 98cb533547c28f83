//! Tests of the policer.

use airpath_model::{Bytes, DropReason, Ecn, Rate};
use airpath_queue::{Limit, Policer, PolicerConfig};

use super::driver::{Driver, SIZE, ms};

/// One full packet per millisecond, and a bucket of ten packets.
const CONFIG: PolicerConfig =
    PolicerConfig { rate: Rate::from_bps(12_000_000), burst: Bytes::new(10 * SIZE) };

fn policer(limit: Limit, config: PolicerConfig) -> Driver {
    Driver::new(Policer::new(limit, config).expect("the parameters are in range"))
}

#[test]
fn a_full_bucket_passes_its_burst_and_drops_the_rest() {
    let mut driver = policer(Limit::Unlimited, CONFIG);
    driver.burst(12, Ecn::Ect0, 0);
    assert_eq!(driver.backlog().packets, 10);
    let dropped: Vec<_> = driver.seen.drops.iter().map(|&(_, number, reason)| (number, reason)).collect();
    assert_eq!(dropped, [(10, DropReason::Early), (11, DropReason::Early)]);
    assert!(driver.seen.marks.is_empty());
    assert!(driver.observed("bucket_bytes").abs() < 1e-9);
}

#[test]
fn an_empty_bucket_fills_at_the_rate_up_to_the_burst() {
    let mut driver = policer(Limit::Unlimited, CONFIG);
    driver.burst(10, Ecn::NotEct, 0);
    driver.wait(ms(4));
    driver.burst(5, Ecn::NotEct, 0);
    assert_eq!((driver.backlog().packets, driver.dropped(DropReason::Early)), (14, 1));
    driver.wait(ms(60_000));
    driver.burst(11, Ecn::NotEct, 0);
    assert_eq!((driver.backlog().packets, driver.dropped(DropReason::Early)), (24, 2));
}

#[test]
fn a_dropped_packet_uses_no_tokens() {
    let mut driver = policer(Limit::Unlimited, CONFIG);
    driver.burst(9, Ecn::NotEct, 0);
    driver.arrive(9000, Ecn::NotEct, 0);
    driver.arrive(SIZE, Ecn::NotEct, 0);
    assert_eq!((driver.backlog().packets, driver.dropped(DropReason::Early)), (10, 1));
}

#[test]
fn a_packet_dropped_by_overflow_has_used_its_tokens() {
    let mut driver = policer(Limit::Packets(4), CONFIG);
    driver.burst(10, Ecn::NotEct, 0);
    assert_eq!((driver.backlog().packets, driver.dropped(DropReason::Overflow)), (4, 6));
    driver.depart();
    driver.arrive(SIZE, Ecn::NotEct, 0);
    assert_eq!(driver.dropped(DropReason::Early), 1);
}

/// The time of a packet is not a whole number of nanoseconds, and every second packet is dropped.
#[test]
fn the_passing_rate_is_the_configured_rate() {
    let mut driver = policer(Limit::Unlimited, PolicerConfig { rate: Rate::from_bps(7_000_001), ..CONFIG });
    for _ in 0..100_000 {
        driver.arrive(SIZE, Ecn::NotEct, 0);
        driver.depart();
        driver.wait(ms(1));
    }
    let passed = (100_000 - driver.dropped(DropReason::Early)) as u64 * SIZE;
    let expected = 10 * SIZE + 7_000_001 * 99_999 / 8000;
    assert!(passed.abs_diff(expected) <= SIZE, "{passed} bytes, {expected} expected");
}

#[test]
fn impossible_parameters_are_rejected() {
    for config in
        [PolicerConfig { rate: Rate::ZERO, ..CONFIG }, PolicerConfig { burst: Bytes::ZERO, ..CONFIG }]
    {
        assert!(Policer::<crate::packet::TestPacket>::new(Limit::Unlimited, config).is_err());
    }
}
