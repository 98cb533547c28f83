//! Tests of AVQ.

use airpath_model::{Bytes, DropReason, Ecn, Rate};
use airpath_queue::{Avq, AvqConfig, Limit};

use super::driver::{Driver, SIZE, ms};

const CONFIG: AvqConfig = AvqConfig {
    capacity: Rate::from_bps(12_000_000),
    buffer: Bytes::new(10 * SIZE),
    alpha: 0.15,
    gamma: 0.98,
    initial_share: 0.8,
    ecn: true,
};

fn avq(config: AvqConfig) -> Driver {
    Driver::new(Avq::new(Limit::Unlimited, config).expect("the parameters are in range"))
}

/// Arrivals at 0.9 of the capacity, below γ: the virtual capacity grows by α (γ - 0.9) C per second, carries
/// the arrivals after 8 s and reaches the capacity of the link after 17 s.
#[test]
fn a_load_below_the_desired_utilisation_is_not_marked() {
    let mut driver = avq(CONFIG);
    for packet in 0..27_000 {
        driver.wait(ms(if packet % 9 == 8 { 2 } else { 1 }));
        driver.arrive(SIZE, Ecn::Ect0, 0);
        driver.depart();
    }
    assert!(driver.observed("virtual_capacity_bps") > 0.95 * 12e6);
    assert!(driver.seen.marks.iter().all(|mark| mark.0 < airpath_model::Timestamp::ZERO + ms(12_000)));
}

/// Arrivals at the capacity, above γ: the virtual capacity falls, and packet after packet is marked.
#[test]
fn a_load_above_it_is_marked_or_dropped() {
    for (ecn, field) in [(true, Ecn::Ect0), (true, Ecn::NotEct), (false, Ecn::Ect0)] {
        let mut driver = avq(AvqConfig { ecn, ..CONFIG });
        for _ in 0..10_000 {
            driver.wait(ms(1));
            driver.arrive(SIZE, field, 0);
            driver.depart();
        }
        let (marked, dropped) = (driver.seen.marks.len(), driver.dropped(DropReason::Early));
        let (acted, other) = if ecn && field == Ecn::Ect0 { (marked, dropped) } else { (dropped, marked) };
        assert!(acted > 1000 && other == 0, "{marked} marked, {dropped} dropped");
        assert!(driver.observed("virtual_capacity_bps") < 0.8 * 12e6);
    }
}

#[test]
fn impossible_parameters_are_rejected() {
    for config in [
        AvqConfig { capacity: Rate::ZERO, ..CONFIG },
        AvqConfig { alpha: 0.0, ..CONFIG },
        AvqConfig { gamma: 1.1, ..CONFIG },
        AvqConfig { initial_share: -0.1, ..CONFIG },
    ] {
        assert!(Avq::<crate::packet::TestPacket>::new(Limit::Unlimited, config).is_err());
    }
}
