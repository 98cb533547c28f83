//! Tests of REM.

use airpath_model::{Bytes, DropReason, Duration, Ecn, Rate};
use airpath_queue::{Limit, QueueUnit, Rem, RemConfig, Unmarkable};

use super::driver::{Driver, SIZE, ms, stream};

const CONFIG: RemConfig = RemConfig {
    unit: QueueUnit::Packets,
    capacity: Rate::from_bps(10_000_000),
    interval: Duration::from_millis(2),
    gamma: 0.001,
    alpha: 0.1,
    phi: 1.001,
    target: 20.0,
    ecn: true,
    unmarkable: Unmarkable::Drop,
    packet: Bytes::new(SIZE),
};

fn rem(config: RemConfig) -> Driver {
    Driver::new(Rem::new(Limit::Unlimited, config, stream()).expect("the parameters are in range"))
}

/// Returns a queue whose price chooses one packet in five: 1 - 1.001^-price = 0.2 at 223.3.
fn priced(ecn: bool, unmarkable: Unmarkable) -> Driver {
    priced_in(QueueUnit::Packets, ecn, unmarkable)
}

/// Returns the same queue with `unit`.
fn priced_in(unit: QueueUnit, ecn: bool, unmarkable: Unmarkable) -> Driver {
    let mut driver = rem(RemConfig { unit, gamma: 1.0, alpha: 0.0, ecn, unmarkable, ..CONFIG });
    driver.burst(225, Ecn::Ect0, 0);
    while driver.depart().is_some() {}
    driver.wait(ms(2));
    assert!((driver.observed("price") - (225.0 - 5.0 / 3.0)).abs() < 1e-9);
    assert!((driver.observed("probability") - 0.2).abs() < 1e-3);
    driver.seen = super::driver::Seen::default();
    driver
}

#[test]
fn ecn_capable_packets_are_marked_on_departure_and_others_dropped_on_arrival() {
    let mut driver = priced(true, Unmarkable::Drop);
    driver.burst(1000, Ecn::Ect0, 0);
    assert!(driver.seen.marks.is_empty() && driver.seen.drops.is_empty());
    while driver.depart().is_some() {}
    // Five standard deviations of a binomial distribution of 1000 and 0.2.
    assert!((137..=263).contains(&driver.seen.marks.len()), "{}", driver.seen.marks.len());
    driver.burst(1000, Ecn::NotEct, 0);
    assert!((137..=263).contains(&driver.dropped(DropReason::Early)));
}

#[test]
fn packets_that_cannot_be_marked_may_pass() {
    let mut driver = priced(true, Unmarkable::Pass);
    driver.burst(1000, Ecn::NotEct, 0);
    while driver.depart().is_some() {}
    assert!(driver.seen.marks.is_empty() && driver.seen.drops.is_empty());
}

#[test]
fn without_ecn_all_drops_occur_on_arrival() {
    let mut driver = priced(false, Unmarkable::Drop);
    driver.burst(1000, Ecn::Ect0, 0);
    assert!((137..=263).contains(&driver.dropped(DropReason::Early)));
    assert!(driver.seen.marks.is_empty());
}

#[test]
fn packets_count_whatever_their_size_unless_bytes_are_counted() {
    let price = |unit| {
        let mut driver = rem(RemConfig { unit, ..CONFIG });
        (0..100).for_each(|_| driver.arrive(150, Ecn::Ect0, 0));
        driver.wait(ms(2));
        driver.observed("price")
    };
    assert!((price(QueueUnit::Packets) - 0.001 * (100.0 + 8.0 - 5.0 / 3.0)).abs() < 1e-12);
    assert!((price(QueueUnit::Bytes) - 0.001 * (10.0 - 1.0 - 5.0 / 3.0)).abs() < 1e-12);
}

/// ns-2.35 (`queue/rem.cc`): the probability times size / mean size, here 0.02, 0.2 and 0.4.
#[test]
fn in_byte_mode_packets_are_chosen_by_their_size() {
    for (size, expected) in [(150, 200_usize), (1500, 2000), (3000, 4000)] {
        let mut driver = priced_in(QueueUnit::Bytes, false, Unmarkable::Drop);
        (0..10_000).for_each(|_| driver.arrive(size, Ecn::NotEct, 0));
        let dropped = driver.dropped(DropReason::Early);
        // Five standard deviations of a binomial distribution of 10 000 and 0.02, 0.2 or 0.4.
        let chance = expected as f64 / 1e4;
        let within = 5.0 * (1e4 * chance * (1.0 - chance)).sqrt();
        assert!(dropped.abs_diff(expected) as f64 <= within, "{dropped} of {size} bytes");
    }
}

/// The price follows the demand on the link: 30 packets, of which 10 fit.
#[test]
fn packets_that_overflow_count_as_arrivals() {
    let mut driver =
        Driver::new(Rem::new(Limit::Packets(10), CONFIG, stream()).expect("the parameters are in range"));
    driver.burst(30, Ecn::Ect0, 0);
    assert_eq!(driver.dropped(DropReason::Overflow), 20);
    driver.wait(ms(2));
    // 30 packets arrive in the interval, γ is 0.001, α is 0.1 with 10 − 20 packets, and c T = 5/3.
    let (found, expected) = (driver.observed("price"), 0.001 * (30.0 - 1.0 - 5.0 / 3.0));
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
}

/// Packets for which the buffer has no room overflow: REM chooses only among packets that could wait.
#[test]
fn a_packet_that_overflows_is_not_chosen() {
    let config = RemConfig { gamma: 1.0, alpha: 0.0, ecn: false, ..CONFIG };
    let mut driver =
        Driver::new(Rem::new(Limit::Packets(10), config, stream()).expect("the parameters are in range"));
    driver.burst(1000, Ecn::NotEct, 0);
    driver.wait(ms(2));
    assert!(driver.observed("probability") > 0.6);
    driver.seen = super::driver::Seen::default();
    driver.burst(100, Ecn::NotEct, 0);
    assert_eq!((driver.dropped(DropReason::Overflow), driver.dropped(DropReason::Early)), (100, 0));
}

#[test]
fn impossible_parameters_are_rejected() {
    for config in [
        RemConfig { interval: Duration::ZERO, ..CONFIG },
        RemConfig { gamma: 0.0, ..CONFIG },
        RemConfig { alpha: -1.0, ..CONFIG },
        RemConfig { phi: 1.0, ..CONFIG },
        RemConfig { target: f64::NAN, ..CONFIG },
        RemConfig { packet: Bytes::ZERO, ..CONFIG },
    ] {
        assert!(Rem::<crate::packet::TestPacket>::new(Limit::Unlimited, config, stream()).is_err());
    }
}
