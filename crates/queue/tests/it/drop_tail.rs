//! Drop-tail, with results computed by hand.

use airpath_model::{Backlog, Bytes, DropReason, Qdisc, QueueSink, Timestamp};
use airpath_queue::{DropTail, Limit};
use proptest::prelude::*;

use crate::packet::TestPacket;

/// Numbers of dropped packets.
#[derive(Default)]
struct Dropped(Vec<u64>);

impl QueueSink<TestPacket> for Dropped {
    fn on_drop(&mut self, _now: Timestamp, packet: TestPacket, reason: DropReason) {
        assert_eq!(reason, DropReason::Overflow);
        self.0.push(packet.number);
    }
}

/// Enqueues packets of these sizes, numbered from zero. Returns the queue and the dropped packets.
fn offered(limit: Limit, sizes: &[u64]) -> (DropTail<TestPacket>, Dropped) {
    let (mut queue, mut dropped) = (DropTail::new(limit), Dropped::default());
    for (number, &size) in (0..).zip(sizes) {
        queue.enqueue(Timestamp::ZERO, TestPacket::new(number, Bytes::new(size)), &mut dropped);
    }
    (queue, dropped)
}

fn drained(queue: &mut DropTail<TestPacket>) -> Vec<u64> {
    let mut dropped = Dropped::default();
    std::iter::from_fn(|| queue.dequeue(Timestamp::ZERO, &mut dropped)).map(|packet| packet.number).collect()
}

#[test]
fn packets_leave_in_the_order_of_arrival() {
    let (mut queue, dropped) = offered(Limit::Unlimited, &[1500, 40, 9000, 40]);
    assert_eq!(queue.backlog(), Backlog { bytes: Bytes::new(10_580), packets: 4 });
    assert_eq!(drained(&mut queue), [0, 1, 2, 3]);
    assert_eq!(queue.backlog(), Backlog::default());
    assert!(dropped.0.is_empty());
}

#[test]
fn a_packet_limit_counts_packets_only() {
    let (mut queue, dropped) = offered(Limit::Packets(2), &[9000, 9000, 40, 40]);
    assert_eq!(dropped.0, [2, 3]);
    assert_eq!(drained(&mut queue), [0, 1]);
}

#[test]
fn a_byte_limit_may_be_filled_exactly_and_admits_a_small_packet_after_a_large_drop() {
    let (mut queue, dropped) = offered(Limit::Bytes(Bytes::new(3000)), &[1500, 1460, 41, 40, 1]);
    assert_eq!(dropped.0, [2, 4]);
    assert_eq!(queue.backlog().bytes, Bytes::new(3000));
    assert_eq!(drained(&mut queue), [0, 1, 3]);
}

#[test]
fn the_packet_in_transmission_frees_its_space() {
    let (mut queue, mut dropped) = offered(Limit::Packets(1), &[1500]);
    assert!(queue.dequeue(Timestamp::ZERO, &mut dropped).is_some());
    queue.enqueue(Timestamp::ZERO, TestPacket::new(1, Bytes::new(1500)), &mut dropped);
    assert_eq!(drained(&mut queue), [1]);
    assert!(dropped.0.is_empty());
}

#[test]
fn a_limit_of_zero_drops_everything() {
    assert_eq!(offered(Limit::Packets(0), &[40, 40]).1.0, [0, 1]);
    assert_eq!(offered(Limit::Bytes(Bytes::ZERO), &[40, 40]).1.0, [0, 1]);
}

proptest! {
    /// Passing is equivalent to enqueueing and dequeueing in one step, for any backlog and any limit.
    #[test]
    fn passing_equals_enqueue_and_dequeue(
        limit in prop_oneof![
            Just(Limit::Unlimited),
            (0_u64..4).prop_map(Limit::Packets),
            (0_u64..4000).prop_map(|bytes| Limit::Bytes(Bytes::new(bytes))),
        ],
        waiting in prop::collection::vec(1_u64..3000, 0..4),
        size in 1_u64..3000,
    ) {
        let packet = TestPacket::new(99, Bytes::new(size));
        let (mut one, mut dropped_by_one) = offered(limit, &waiting);
        let (mut other, mut dropped_by_other) = offered(limit, &waiting);
        let passed = one.pass(Timestamp::ZERO, packet, &mut dropped_by_one);
        other.enqueue(Timestamp::ZERO, packet, &mut dropped_by_other);
        prop_assert_eq!(passed, other.dequeue(Timestamp::ZERO, &mut dropped_by_other));
        prop_assert_eq!(one.backlog(), other.backlog());
        prop_assert_eq!(dropped_by_one.0, dropped_by_other.0);
        prop_assert_eq!(drained(&mut one), drained(&mut other));
    }
}
