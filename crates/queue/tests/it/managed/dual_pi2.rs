//! Tests of DualPI2.

use airpath_model::{Bytes, DropReason, Duration, Ecn};
use airpath_queue::{DualPi2, DualPi2Config, Limit};

use super::driver::{Driver, SIZE, ms, stream};

const CONFIG: DualPi2Config = DualPi2Config {
    target: Duration::from_millis(15),
    update_interval: Duration::from_millis(16),
    alpha: 0.16,
    beta: 3.2,
    coupling: 2.0,
    step: Duration::from_millis(1),
    classic_share: 0.1,
    packet: Bytes::new(SIZE),
};

fn dual(config: DualPi2Config) -> Driver {
    Driver::new(DualPi2::new(Limit::Packets(10_000), config, stream()).expect("the parameters are in range"))
}

/// Returns an empty queue whose p' is `base` and does not change.
fn at(base: f64) -> Driver {
    at_coupling(base, CONFIG.coupling)
}

/// Returns the same queue with a different k.
fn at_coupling(base: f64, coupling: f64) -> Driver {
    // One packet has waited for 10 ms at the first update, and the next update is an hour later.
    let config = DualPi2Config {
        update_interval: Duration::from_secs(3600),
        alpha: 0.0,
        beta: base / 0.010,
        step: Duration::from_secs(1),
        coupling,
        ..CONFIG
    };
    let mut driver = dual(config);
    driver.wait(Duration::from_secs(3600) - ms(10));
    driver.arrive(SIZE, Ecn::NotEct, 0);
    driver.wait(ms(10));
    assert!((driver.observed("base_probability") - base).abs() < 1e-9);
    assert!(driver.depart().is_some());
    driver
}

/// Returns how many of 10 000 packets are marked and dropped at departure.
fn acted(mut driver: Driver, ecn: Ecn) -> (usize, usize) {
    for _ in 0..2 {
        driver.burst(5000, ecn, 0);
        while driver.depart().is_some() {}
    }
    assert_eq!(driver.dropped(DropReason::Overflow), 0);
    (driver.seen.marks.len(), driver.seen.drops.len())
}

/// Returns whether a count of 10 000 is within five standard deviations of a probability.
fn fits(count: usize, probability: f64) -> bool {
    let deviation = 100.0 * (probability * (1.0 - probability)).sqrt();
    (count as f64 - 1e4 * probability).abs() <= 5.0 * deviation
}

#[test]
fn classic_packets_see_the_square_and_low_latency_ones_the_coupled_probability() {
    let (marked, dropped) = acted(at(0.2), Ecn::NotEct);
    assert!(marked == 0 && fits(dropped, 0.04), "{dropped}");
    let (marked, dropped) = acted(at(0.2), Ecn::Ect0);
    assert!(dropped == 0 && fits(marked, 0.04), "{marked}");
    let (marked, dropped) = acted(at(0.2), Ecn::Ect1);
    assert!(dropped == 0 && fits(marked, 0.4), "{marked}");
}

/// At the first update, a packet of the classic queue has waited for 10 ms and one of the low-latency queue
/// for 4 ms.
#[test]
fn the_delays_of_both_queues_are_those_of_the_last_update() {
    let mut driver = dual(CONFIG);
    driver.wait(CONFIG.update_interval - ms(10));
    driver.arrive(SIZE, Ecn::NotEct, 0);
    driver.wait(ms(6));
    driver.arrive(SIZE, Ecn::Ect1, 0);
    driver.wait(ms(4 + 5));
    assert!((driver.observed("classic_delay_s") - 0.010).abs() < 1e-12);
    assert!((driver.observed("low_latency_delay_s") - 0.004).abs() < 1e-12);
}

/// Overload begins at k p' = 1: p' = 0.6, whose square is 0.36.
#[test]
fn overload_drops_regardless_of_the_ecn_field() {
    let (marked, dropped) = acted(at(0.6), Ecn::Ect0);
    assert!(marked == 0 && fits(dropped, 0.36), "{marked} {dropped}");
    let (marked, dropped) = acted(at(0.6), Ecn::Ect1);
    assert!(fits(dropped, 0.36) && marked + dropped >= 9_990, "{marked} {dropped}");
}

#[test]
fn low_latency_packets_that_waited_longer_than_the_step_are_marked() {
    let mut driver = dual(CONFIG);
    driver.burst(3, Ecn::Ect1, 0);
    driver.wait(ms(1));
    assert_eq!(driver.depart().map(|packet| packet.ecn), Some(Ecn::Ect1), "1 ms is not longer than 1 ms");
    driver.wait(Duration::from_nanos(1));
    assert_eq!(driver.depart().map(|packet| packet.ecn), Some(Ecn::Ce));
    assert_eq!(driver.depart().map(|packet| packet.ecn), Some(Ecn::Ce));
    assert!((driver.observed("base_probability")).abs() < f64::EPSILON);
}

#[test]
fn the_low_latency_queue_has_priority_except_for_the_classic_share() {
    let mut driver = dual(CONFIG);
    driver.burst(1000, Ecn::NotEct, 0);
    driver.burst(1000, Ecn::Ect1, 1);
    let sent: Vec<u64> = (0..1000).map(|_| driver.depart().expect("packets wait").flow).collect();
    assert_eq!(sent[0], 1);
    assert_eq!(sent.iter().filter(|flow| **flow == 0).count(), 100);
    // Packets that arrive marked count as low-latency packets.
    let mut driver = dual(CONFIG);
    driver.burst(1, Ecn::Ect0, 0);
    driver.burst(1, Ecn::Ce, 1);
    assert_eq!(driver.depart().map(|packet| packet.flow), Some(1));
}

/// Both queues are busy, and more than half of the classic packets are dropped: the share is a share of the
/// packets sent.
#[test]
fn dropped_packets_do_not_use_the_classic_share() {
    // p' = 0.9 with k = 1: no overload, p'² = 0.81.
    let mut driver = at_coupling(0.9, 1.0);
    driver.burst(5000, Ecn::NotEct, 0);
    driver.burst(5000, Ecn::Ect1, 1);
    let sent: Vec<u64> = (0..5000).map(|_| driver.depart().expect("packets wait").flow).collect();
    let classic = sent.iter().filter(|flow| **flow == 0).count();
    assert!((495..=505).contains(&classic), "{classic} of 5000");
}

/// The share applies to the time in which both queues are busy. A queue that was busy alone is not charged
/// for it.
#[test]
fn packets_sent_while_the_other_queue_is_empty_are_not_charged() {
    for (alone, other) in [((Ecn::Ect1, 1), (Ecn::NotEct, 0)), ((Ecn::NotEct, 0), (Ecn::Ect1, 1))] {
        let mut driver = dual(CONFIG);
        driver.burst(1000, alone.0, alone.1);
        (0..500).for_each(|_| assert!(driver.depart().is_some()));
        driver.burst(500, other.0, other.1);
        let sent: Vec<u64> = (0..100).map(|_| driver.depart().expect("packets wait").flow).collect();
        assert_eq!(sent.iter().filter(|flow| **flow == 0).count(), 10, "{sent:?}");
    }
}

/// As in Linux, which resets its `c_protection`, the low-latency queue is first again, although it was served
/// last when both were busy.
#[test]
fn an_idle_link_carries_no_deficit() {
    let mut driver = dual(CONFIG);
    for _ in 0..3 {
        driver.burst(1, Ecn::NotEct, 0);
        driver.burst(1, Ecn::Ect1, 1);
        assert_eq!(
            [driver.depart(), driver.depart()].map(|sent| sent.map(|packet| packet.flow)),
            [Some(1), Some(0)]
        );
        assert!(driver.depart().is_none());
    }
}

/// At the first update the delay is 16 ms in one queue, either of the two, and 6 ms in the other: p' = α (16
/// − 15) ms + β 16 ms.
#[test]
fn the_base_probability_follows_the_longer_delay() {
    for (longer, shorter) in [(Ecn::Ect1, Ecn::NotEct), (Ecn::NotEct, Ecn::Ect1)] {
        let mut driver = dual(CONFIG);
        driver.burst(1, longer, 0);
        driver.wait(ms(10));
        driver.burst(1, shorter, 0);
        driver.wait(ms(6));
        let (found, expected) = (driver.observed("base_probability"), 0.16 * 0.001 + 3.2 * 0.016);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

/// RFC 9332, appendix A: `p_Cmax` is at most 1.
#[test]
fn choosing_every_packet_is_overload_for_any_coupling() {
    let (marked, dropped) = acted(at_coupling(1.0, 0.5), Ecn::Ect0);
    assert!(marked == 0 && dropped >= 9_990, "{marked} {dropped}");
}

/// Linux's `must_drop` checks the backlog after the packet has been removed.
#[test]
fn a_packet_with_less_than_two_behind_it_is_not_chosen() {
    let mut driver = at(0.49);
    for _ in 0..1000 {
        driver.burst(2, Ecn::NotEct, 0);
        while driver.depart().is_some() {}
    }
    assert!(driver.seen.drops.is_empty(), "{}", driver.seen.drops.len());
    for _ in 0..1000 {
        driver.burst(3, Ecn::NotEct, 0);
        while driver.depart().is_some() {}
    }
    assert!((150..=350).contains(&driver.seen.drops.len()), "{}", driver.seen.drops.len());
}

/// Simulates a sender like DCTCP (Alizadeh et al. 2010): each round trip it adds a packet, or, if any packet
/// was marked, it reduces the window by half of the mean share of marked packets. Five milliseconds of base
/// RTT at 120 Mbit/s are 50 packets. The step of 10 packets is above the seventh of them that the paper
/// requires, and the queue below it oscillates by √(2 · 60) / 2 = 5.5 (section 3.3).
#[test]
fn a_scalable_sender_keeps_the_queue_at_the_step() {
    let mut driver = dual(CONFIG);
    let (mut window, mut in_flight) = (10.0_f64, std::collections::VecDeque::new());
    let (mut marked, mut left, mut round, mut share) = (0.0, 0.0, 0.0, 0.0);
    let (mut delays, packet_time) = (Vec::new(), Duration::from_micros(100));
    for tick in 0..100_000_u32 {
        while in_flight.front().is_some_and(|&(back, _)| back <= driver.now) {
            let (_, ecn) = in_flight.pop_front().expect("one is there");
            marked += f64::from(u8::from(ecn == Ecn::Ce));
            left += 1.0;
            if left >= round {
                share += (marked / left - share) / 16.0;
                window = if marked > 0.0 { window * (1.0 - share / 2.0) } else { window + 1.0 };
                (marked, left, round) = (0.0, 0.0, window);
            }
        }
        while ((in_flight.len() as u64 + driver.backlog().packets) as f64) < window {
            driver.arrive(SIZE, Ecn::Ect1, 0);
        }
        if tick >= 50_000 {
            delays.push(driver.backlog().packets as f64 * packet_time.as_secs_f64());
        }
        if let Some(packet) = driver.depart() {
            in_flight.push_back((driver.now + packet_time + ms(5), packet.ecn));
        }
        driver.wait(packet_time);
    }
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    let idle = delays.iter().filter(|delay| **delay == 0.0).count() as f64 / delays.len() as f64;
    assert!((0.0005..=0.0015).contains(&mean), "mean delay {mean} s");
    assert!(idle < 0.05, "idle {idle}");
    assert!(driver.seen.drops.is_empty());
}

#[test]
fn impossible_parameters_are_rejected() {
    for config in [
        DualPi2Config { target: Duration::ZERO, ..CONFIG },
        DualPi2Config { update_interval: Duration::ZERO, ..CONFIG },
        DualPi2Config { alpha: -1.0, ..CONFIG },
        DualPi2Config { beta: f64::NAN, ..CONFIG },
        DualPi2Config { coupling: 0.0, ..CONFIG },
        DualPi2Config { classic_share: 1.0, ..CONFIG },
    ] {
        assert!(DualPi2::<crate::packet::TestPacket>::new(Limit::Unlimited, config, stream()).is_err());
    }
}
