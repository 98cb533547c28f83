//! Tests of FQ-CoDel.

use airpath_model::{Bytes, DropReason, Duration, Ecn};
use airpath_queue::{FqCodel, FqCodelConfig, Limit};

use super::codel;
use super::driver::{Driver, SIZE, stream};

const CONFIG: FqCodelConfig = FqCodelConfig { codel: codel::CONFIG, quantum: Bytes::new(SIZE), queues: 1024 };

fn fq_codel(limit: Limit) -> Driver {
    Driver::new(FqCodel::new(limit, CONFIG, stream()).expect("the parameters are in range"))
}

#[test]
fn busy_flows_take_turns_by_bytes() {
    let mut driver = fq_codel(Limit::Unlimited);
    driver.burst(100, Ecn::NotEct, 1);
    driver.burst(100, Ecn::NotEct, 2);
    (0..400).for_each(|_| driver.arrive(500, Ecn::NotEct, 4));
    // This holds with this seed; the hash may assign several flows to one queue.
    assert!((driver.observed("busy_queues") - 3.0).abs() < f64::EPSILON);
    let mut bytes = [0; 5];
    for _ in 0..250 {
        let packet = driver.depart().expect("packets wait");
        bytes[packet.flow as usize] += packet.size.get();
    }
    let (least, most) = (bytes[1].min(bytes[2]).min(bytes[4]), bytes[1].max(bytes[2]).max(bytes[4]));
    assert!(most - least <= 2 * SIZE, "{bytes:?}");
}

#[test]
fn a_packet_of_a_new_flow_is_sent_first() {
    let mut driver = fq_codel(Limit::Unlimited);
    driver.burst(100, Ecn::NotEct, 1);
    for _ in 0..10 {
        driver.depart();
    }
    for _ in 0..5 {
        driver.arrive(200, Ecn::NotEct, 2);
        assert_eq!(driver.depart().map(|packet| packet.flow), Some(2));
        // After it became empty, the queue still waits for its round among the old queues.
        (0..3).for_each(|_| assert_eq!(driver.depart().map(|packet| packet.flow), Some(1)));
    }
}

/// RFC 8290, section 4.1: a queue that becomes new has a quantum of credits, regardless of its unused
/// credits.
#[test]
fn an_idle_flow_accumulates_no_credit() {
    let mut driver = fq_codel(Limit::Unlimited);
    for _ in 0..10 {
        driver.arrive(200, Ecn::NotEct, 1);
        assert!(driver.depart().is_some() && driver.depart().is_none());
    }
    driver.burst(5, Ecn::NotEct, 1);
    driver.burst(5, Ecn::NotEct, 2);
    let sent: Vec<u64> = (0..10).map_while(|_| driver.depart()).map(|packet| packet.flow).collect();
    assert_eq!(sent, [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]);
}

/// A flow that sends again as soon as its queue is empty does not become new each time: it gets its share and
/// no more.
#[test]
fn new_flows_cannot_starve_others() {
    let mut driver = fq_codel(Limit::Unlimited);
    driver.burst(200, Ecn::NotEct, 1);
    let (mut sent, mut second_waits) = ([0; 3], 0);
    for _ in 0..100 {
        if second_waits == 0 {
            driver.arrive(SIZE, Ecn::NotEct, 2);
            second_waits = 1;
        }
        let packet = driver.depart().expect("packets wait");
        sent[packet.flow as usize] += 1;
        second_waits -= u64::from(packet.flow == 2);
    }
    assert!((45..=55).contains(&sent[1]), "{sent:?}");
}

#[test]
fn an_overflow_drops_half_of_the_longest_queue_from_its_head() {
    let mut driver = fq_codel(Limit::Packets(100));
    driver.burst(20, Ecn::NotEct, 1);
    driver.burst(80, Ecn::NotEct, 2);
    assert!(driver.seen.drops.is_empty());
    driver.arrive(SIZE, Ecn::NotEct, 1);
    assert_eq!(driver.dropped(DropReason::Overflow), 40);
    let numbers: Vec<u64> = driver.seen.drops.iter().map(|&(_, number, _)| number).collect();
    assert_eq!(numbers, (20..60).collect::<Vec<_>>());
    assert_eq!(driver.backlog().packets, 61);
}

#[test]
fn an_overflow_drops_at_most_64_packets() {
    let mut driver = fq_codel(Limit::Packets(1000));
    driver.burst(1001, Ecn::NotEct, 1);
    assert_eq!(driver.seen.drops.len(), 64);
}

#[test]
fn each_queue_has_a_codel_of_its_own() {
    let mut driver = fq_codel(Limit::Unlimited);
    driver.burst(2000, Ecn::NotEct, 1);
    for packet in 0..3000 {
        if packet % 10 == 0 {
            driver.arrive(SIZE, Ecn::NotEct, 2);
        }
        driver.depart();
        driver.wait(Duration::from_micros(200));
    }
    assert!(driver.dropped(DropReason::Early) > 3);
    let second: Vec<_> = driver.seen.drops.iter().filter(|(_, number, _)| *number >= 2000).collect();
    assert!(second.is_empty(), "{second:?}");
}

#[test]
fn impossible_parameters_are_rejected() {
    for config in [FqCodelConfig { quantum: Bytes::ZERO, ..CONFIG }, FqCodelConfig { queues: 0, ..CONFIG }] {
        assert!(FqCodel::<crate::packet::TestPacket>::new(Limit::Unlimited, config, stream()).is_err());
    }
}

/// The longest queue is the one with the most bytes, and here all queues have zero bytes.
#[test]
fn packets_of_size_zero_do_not_cause_an_endless_loop() {
    let mut driver = fq_codel(Limit::Packets(2));
    (0..5).for_each(|_| driver.arrive(0, Ecn::NotEct, 1));
    driver.burst(1, Ecn::NotEct, 2);
    assert!(driver.dropped(DropReason::Overflow) > 0);
    assert_eq!(driver.arrived, 6);
}
