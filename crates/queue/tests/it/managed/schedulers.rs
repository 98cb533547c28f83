//! Tests of strict priority and deficit round robin.

use airpath_model::{Bytes, DropReason, Ecn};
use airpath_queue::{Classifier, Drr, Limit, Priority};

use super::driver::{Driver, SIZE};
use crate::packet::TestPacket;

/// Returns a classifier with separate classes for flows 0, 1 and 2.
fn classes() -> Classifier {
    Classifier::Table { queues: 3, of_flow: Box::new([0, 1, 2]) }
}

fn priority(limit: Limit) -> Driver {
    Driver::new(Priority::new(limit, classes()).expect("there are classes"))
}

fn drr(limit: Limit, quanta: [u64; 3]) -> Driver {
    Driver::new(Drr::new(limit, classes(), &quanta.map(Bytes::new)).expect("the parameters are in range"))
}

fn flows(driver: &mut Driver, packets: usize) -> Vec<u64> {
    (0..packets).map_while(|_| driver.depart()).map(|packet| packet.flow).collect()
}

#[test]
fn a_class_starves_only_while_a_higher_class_is_busy() {
    let mut driver = priority(Limit::Unlimited);
    driver.burst(3, Ecn::NotEct, 2);
    driver.burst(2, Ecn::NotEct, 1);
    assert_eq!(flows(&mut driver, 1), [1]);
    driver.burst(2, Ecn::NotEct, 0);
    assert_eq!(flows(&mut driver, 4), [0, 0, 1, 2]);
    driver.burst(1, Ecn::NotEct, 1);
    assert_eq!(flows(&mut driver, 9), [1, 2, 2]);
}

#[test]
fn an_overflow_drops_from_the_last_class() {
    let mut driver = priority(Limit::Packets(4));
    driver.burst(4, Ecn::NotEct, 2);
    driver.burst(3, Ecn::NotEct, 0);
    assert_eq!(driver.dropped(DropReason::Overflow), 3);
    assert_eq!(flows(&mut driver, 9), [0, 0, 0, 2]);
    driver.burst(4, Ecn::NotEct, 0);
    driver.burst(1, Ecn::NotEct, 1);
    assert_eq!(flows(&mut driver, 9), [0, 0, 0, 0]);
}

/// For any packet sizes, the bytes sent are proportional to the quanta, within one quantum and one packet
/// (Shreedhar and Varghese 1995, theorem 2 and lemma 1).
#[test]
fn busy_classes_share_by_their_quanta() {
    let quanta = [1500, 3000, 4500];
    let mut driver = drr(Limit::Unlimited, quanta);
    for (flow, size) in [(0, 1500), (1, 400), (2, 1000)] {
        (0..10_000_000 / size).for_each(|_| driver.arrive(size, Ecn::NotEct, flow));
    }
    let mut sent = [0_u64; 3];
    for _ in 0..5000 {
        let packet = driver.depart().expect("packets wait");
        sent[packet.flow as usize] += packet.size.get();
        let rounds: Vec<f64> =
            sent.iter().zip(quanta).map(|(sent, quantum)| *sent as f64 / quantum as f64).collect();
        let spread = rounds.iter().fold(0.0, |most: f64, now| most.max(*now))
            - rounds.iter().fold(f64::INFINITY, |least: f64, now| least.min(*now));
        assert!(spread <= 1.0 + 1.0, "{rounds:?}");
    }
}

#[test]
fn a_quantum_below_a_packet_adds_up() {
    let mut driver = drr(Limit::Unlimited, [500, 1000, 1]);
    driver.burst(100, Ecn::NotEct, 0);
    driver.burst(100, Ecn::NotEct, 1);
    let sent = flows(&mut driver, 60);
    assert_eq!(sent.iter().filter(|flow| **flow == 1).count(), 40);
    driver.burst(1, Ecn::NotEct, 2);
    assert_eq!(flows(&mut driver, 1000).len(), 141);
}

#[test]
fn a_single_class_gets_the_link_and_accumulates_no_credit() {
    // A turn is two packets: with one quantum per packet, one would be left to accumulate.
    let mut driver = drr(Limit::Unlimited, [3000, 3000, 3000]);
    driver.burst(100, Ecn::NotEct, 0);
    assert_eq!(flows(&mut driver, 30), [0; 30]);
    driver.burst(50, Ecn::NotEct, 1);
    let sent = flows(&mut driver, 40);
    assert_eq!(sent.iter().filter(|flow| **flow == 0).count(), 20);
}

/// A class whose next packet arrives while its last one is being sent sends one packet in each round,
/// regardless of its quantum: with quanta of two packets a third of the link, with ten an eleventh (Shreedhar
/// and Varghese 1995: an empty queue leaves the list and loses its deficit at once).
#[test]
fn an_emptied_class_waits_for_the_next_round_without_credit() {
    for (quantum, share) in [(3000, 3), (15_000, 11)] {
        let mut driver = drr(Limit::Unlimited, [quantum, quantum, 1]);
        driver.burst(3000, Ecn::NotEct, 1);
        let (mut sent, mut waits) = (0_u64, false);
        for _ in 0..share * 100 {
            if !waits {
                driver.burst(1, Ecn::NotEct, 0);
            }
            waits = driver.depart().expect("packets wait").flow != 0;
            sent += u64::from(!waits);
        }
        assert!(sent.abs_diff(100) <= 1, "{sent} of {} with a quantum of {quantum}", share * 100);
    }
    // The class uses half of its quantum ten times; then it has exactly one quantum.
    let mut driver = drr(Limit::Unlimited, [3000, 3000, 1]);
    for _ in 0..10 {
        driver.burst(1, Ecn::NotEct, 0);
        assert_eq!(flows(&mut driver, 1), [0]);
    }
    driver.burst(10, Ecn::NotEct, 0);
    driver.burst(10, Ecn::NotEct, 1);
    assert_eq!(flows(&mut driver, 8), [0, 0, 1, 1, 0, 0, 1, 1]);
}

#[test]
fn the_longest_queue_loses_the_packet_at_its_head() {
    let mut driver = drr(Limit::Bytes(Bytes::new(10 * SIZE)), [1500, 1500, 1500]);
    driver.burst(10, Ecn::NotEct, 0);
    driver.burst(2, Ecn::NotEct, 1);
    let numbers: Vec<u64> = driver.seen.drops.iter().map(|&(_, number, _)| number).collect();
    assert_eq!(numbers, [0, 1]);
    assert_eq!(driver.dropped(DropReason::Overflow), 2);
    assert_eq!(driver.backlog().packets, 10);
}

/// A class that an overflow has emptied leaves the rotation, even during the turn of another class (Shreedhar
/// and Varghese 1995: only busy queues are in the active list). It returns behind the waiting classes.
#[test]
fn a_class_that_loses_its_only_packet_gets_no_turn() {
    let busy = |driver: &Driver| driver.observed("busy_queues") as u64;
    let mut driver = drr(Limit::Bytes(Bytes::new(2 * SIZE)), [1500, 1500, 1500]);
    driver.burst(1, Ecn::NotEct, 1);
    driver.arrive(2 * SIZE, Ecn::NotEct, 0);
    assert_eq!(driver.dropped(DropReason::Overflow), 1, "the larger one");
    assert_eq!((driver.backlog().packets, busy(&driver)), (1, 1));
    driver.arrive(SIZE / 3, Ecn::NotEct, 2);
    driver.arrive(SIZE / 3, Ecn::NotEct, 0);
    assert_eq!(busy(&driver), 3);
    assert_eq!(flows(&mut driver, 3), [1, 2, 0]);
    driver.burst(1, Ecn::NotEct, 1);
    assert_eq!(flows(&mut driver, 9), [1]);
    assert_eq!(busy(&driver), 0);
}

#[test]
fn impossible_parameters_are_rejected() {
    let none = Classifier::Table { queues: 0, of_flow: Box::new([]) };
    assert!(Priority::<TestPacket>::new(Limit::Unlimited, none.clone()).is_err());
    assert!(Drr::<TestPacket>::new(Limit::Unlimited, none, &[]).is_err());
    for quanta in [&[Bytes::new(1)][..], &[Bytes::new(1), Bytes::new(1), Bytes::ZERO]] {
        assert!(Drr::<TestPacket>::new(Limit::Unlimited, classes(), quanta).is_err());
    }
}
