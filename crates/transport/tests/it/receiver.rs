//! Times and contents of a receiver's acknowledgments (RFC 5681, section 4.2; RFC 2018; RFC 7323).

use airpath_model::{Bytes, Ecn, PathHeader, Timestamp, XcpHeader};
use airpath_transport::{Acknowledgment, Receiver, ReceiverConfig, Segment};
use proptest::prelude::*;
use std::collections::BTreeSet;

use crate::script::{MSS, at};

fn segment(k: u64, sent_ms: u64) -> Segment {
    Segment {
        sequence: k * MSS,
        payload: MSS as u32,
        retransmission: false,
        ecn: Ecn::NotEct,
        cwr: false,
        timestamp: Some(at(sent_ms)),
        timestamp_echo: None,
        path: PathHeader::None,
    }
}

/// Delivers segment `k` at `ms`; returns the immediate acknowledgment, if any.
fn arrive(receiver: &mut Receiver, k: u64, ms: u64) -> Option<Acknowledgment> {
    receiver.on_segment(at(ms), &segment(k, ms));
    receiver.poll_ack(at(ms))
}

fn cumulative(ack: Option<Acknowledgment>) -> Option<u64> {
    ack.map(|ack| ack.cumulative / MSS)
}

fn blocks(ack: Option<Acknowledgment>) -> Vec<(u64, u64)> {
    ack.map(|ack| ack.sack_ranges().map(|(left, right)| (left / MSS, right / MSS)).collect())
        .unwrap_or_default()
}

#[test]
fn every_second_segment_is_acknowledged_or_after_the_delay() {
    let mut receiver = Receiver::new(ReceiverConfig::default());
    assert_eq!(receiver.next_timer(), Timestamp::NEVER);
    assert_eq!(arrive(&mut receiver, 0, 10), None);
    assert_eq!(receiver.next_timer(), at(50));
    assert_eq!(cumulative(arrive(&mut receiver, 1, 20)), Some(2));
    assert_eq!(receiver.next_timer(), Timestamp::NEVER);
    assert_eq!(arrive(&mut receiver, 2, 30), None);
    receiver.on_timer(at(69));
    assert_eq!(receiver.poll_ack(at(69)), None, "too early");
    receiver.on_timer(at(70));
    assert_eq!(cumulative(receiver.poll_ack(at(70))), Some(3));
    assert_eq!(receiver.poll_ack(at(70)), None);
    assert_eq!(receiver.next_timer(), Timestamp::NEVER);
    assert_eq!(arrive(&mut receiver, 3, 80), None, "the count starts over");
    assert_eq!(receiver.next_timer(), at(120));
}

/// RFC 2883, reduced to one bit: below the cumulative acknowledgment, and within a block above it.
#[test]
fn duplicate_data_is_reported_at_once_and_once() {
    let mut receiver = Receiver::new(ReceiverConfig::default());
    let mut repeated = |k, ms| arrive(&mut receiver, k, ms).map(|ack| ack.repeated);
    assert_eq!(repeated(0, 10), None);
    assert_eq!(repeated(1, 20), Some(false));
    assert_eq!(repeated(1, 30), Some(true));
    assert_eq!(repeated(3, 40), Some(false), "out of order for the first time");
    assert_eq!(repeated(4, 50), Some(false));
    assert_eq!(repeated(3, 60), Some(true));
    assert_eq!(repeated(2, 70), Some(false));
    let mut deaf = Receiver::new(ReceiverConfig { sack: false, ..ReceiverConfig::default() });
    arrive(&mut deaf, 0, 10);
    assert_eq!(arrive(&mut deaf, 0, 20).map(|ack| ack.repeated), Some(false), "no SACK, no duplicate SACK");
}

/// As Linux does with `TCP_MAX_QUICKACKS` and `tcp_grow_window`.
#[test]
fn first_segments_are_acknowledged_one_by_one_and_the_window_grows_with_the_data() {
    let mut receiver = Receiver::new(ReceiverConfig {
        quick_acks: 3,
        initial_receive_window: Bytes::new(10 * MSS),
        receive_window: Bytes::new(17 * MSS),
        ..ReceiverConfig::default()
    });
    let acknowledged = (0..9)
        .filter_map(|k| arrive(&mut receiver, k, k))
        .map(|ack| (ack.cumulative / MSS, ack.receive_window.get() / MSS));
    assert_eq!(acknowledged.collect::<Vec<_>>(), [(1, 12), (2, 14), (3, 16), (5, 17), (7, 17), (9, 17)]);
}

#[test]
fn every_segment_is_acknowledged_if_configured() {
    let mut receiver = Receiver::new(ReceiverConfig { delayed_ack_segments: 1, ..ReceiverConfig::default() });
    for k in 0..5 {
        assert_eq!(cumulative(arrive(&mut receiver, k, k)), Some(k + 1));
    }
}

#[test]
fn out_of_order_segments_are_acknowledged_at_once() {
    let mut receiver = Receiver::new(ReceiverConfig::default());
    assert_eq!(cumulative(arrive(&mut receiver, 1, 10)), Some(0), "a gap");
    assert_eq!(cumulative(arrive(&mut receiver, 3, 11)), Some(0), "another");
    assert_eq!(cumulative(arrive(&mut receiver, 0, 12)), Some(2), "part of the gap is filled");
    assert_eq!(cumulative(arrive(&mut receiver, 2, 13)), Some(4), "all of it");
    assert_eq!(cumulative(arrive(&mut receiver, 1, 14)), Some(4), "a duplicate");
    assert_eq!(arrive(&mut receiver, 4, 15), None, "order again");
    assert_eq!(receiver.delivered(), Bytes::new(5 * MSS));
}

#[test]
fn the_block_that_changed_last_comes_first() {
    let mut receiver = Receiver::new(ReceiverConfig::default());
    assert_eq!(blocks(arrive(&mut receiver, 2, 1)), [(2, 3)]);
    assert_eq!(blocks(arrive(&mut receiver, 4, 2)), [(4, 5), (2, 3)]);
    assert_eq!(blocks(arrive(&mut receiver, 6, 3)), [(6, 7), (4, 5), (2, 3)]);
    assert_eq!(blocks(arrive(&mut receiver, 8, 4)), [(8, 9), (6, 7), (4, 5)]);
    assert_eq!(blocks(arrive(&mut receiver, 2, 5)), [(2, 3), (8, 9), (6, 7)], "a duplicate counts");
    assert_eq!(
        blocks(arrive(&mut receiver, 7, 6)),
        [(6, 9), (2, 3), (4, 5)],
        "merged, and room for one more"
    );
    assert_eq!(
        blocks(arrive(&mut receiver, 0, 7)),
        [(6, 9), (2, 3), (4, 5)],
        "not the block that has been delivered"
    );
    assert_eq!(blocks(arrive(&mut receiver, 1, 8)), [(6, 9), (4, 5)]);
    assert_eq!(blocks(arrive(&mut receiver, 3, 9)), [(6, 9)]);
    assert!(blocks(arrive(&mut receiver, 5, 10)).is_empty());
}

#[test]
fn segments_without_payload_form_no_block() {
    let mut receiver = Receiver::new(ReceiverConfig::default());
    receiver.on_segment(at(0), &Segment { payload: 0, ..segment(3, 0) });
    assert_eq!(blocks(receiver.poll_ack(at(0))), []);
    assert_eq!(blocks(arrive(&mut receiver, 2, 1)), [(2, 3)]);
}

#[test]
fn without_sack_there_are_no_blocks() {
    let mut receiver = Receiver::new(ReceiverConfig { sack: false, ..ReceiverConfig::default() });
    let ack = arrive(&mut receiver, 2, 1);
    assert!(ack.is_some_and(|ack| ack.sack.is_empty()));
}

/// RFC 7323, section 4.3 and its three cases: a delayed acknowledgment echoes the earliest segment, a gap
/// retains the echo of the last segment in order, and a segment that fills a gap is echoed itself.
#[test]
fn the_timestamp_echo_follows_rfc_7323() {
    let mut receiver = Receiver::new(ReceiverConfig::default());
    let echo = |ack: Option<Acknowledgment>| ack.and_then(|ack| ack.timestamp_echo);
    assert_eq!(arrive(&mut receiver, 0, 10), None);
    assert_eq!(echo(arrive(&mut receiver, 1, 20)), Some(at(10)));
    assert_eq!(echo(arrive(&mut receiver, 3, 30)), Some(at(10)));
    assert_eq!(echo(arrive(&mut receiver, 4, 40)), Some(at(10)));
    assert_eq!(echo(arrive(&mut receiver, 2, 50)), Some(at(50)));
    let mut silent = Receiver::new(ReceiverConfig { timestamps: false, ..ReceiverConfig::default() });
    let ack = arrive(&mut silent, 1, 10);
    assert!(ack.is_some_and(|ack| ack.timestamp_echo.is_none() && ack.timestamp.is_none()));
}

#[test]
fn xcp_feedback_is_summed_over_the_acknowledged_segments() {
    let header = |delta_throughput: f64| {
        PathHeader::Xcp(XcpHeader {
            rtt: airpath_model::Duration::from_millis(delta_throughput as u64),
            inter_packet: airpath_model::Duration::ZERO,
            delta_throughput,
        })
    };
    let mut receiver = Receiver::new(ReceiverConfig::default());
    let mut answers = Vec::new();
    for k in 0..4 {
        receiver.on_segment(at(k), &Segment { path: header(k as f64 + 1.0), ..segment(k, k) });
        answers.extend(receiver.poll_ack(at(k)).map(|ack| match ack.path {
            PathHeader::Xcp(xcp) => (xcp.delta_throughput, xcp.rtt),
            other => panic!("{other:?}"),
        }));
    }
    let ms = airpath_model::Duration::from_millis;
    assert_eq!(answers, [(3.0, ms(2)), (7.0, ms(4))]);
}

/// The blocks of RFC 2018, section 4, recomputed from single segments: those that changed last, then others
/// from the highest on.
#[derive(Debug, Default)]
struct PlainReceiver {
    next: u64,
    above: BTreeSet<u64>,
    /// One segment of each block that changed last, newest first.
    newest: [Option<u64>; 3],
}

impl PlainReceiver {
    /// Returns the block that contains segment `k`.
    fn block(&self, k: u64) -> Option<(u64, u64)> {
        let is_above = |other: &u64| self.above.contains(other);
        let left = (0..=k).rev().take_while(is_above).last()?;
        let right = k + (k..=*self.above.last()?).take_while(is_above).count() as u64;
        Some((left, right))
    }

    fn arrive(&mut self, k: u64) {
        if k > self.next {
            self.above.insert(k);
            let is_in_block =
                |other: Option<u64>| other.is_some_and(|other| self.block(other) == self.block(k));
            let [first, second, third] = self.newest;
            self.newest = if is_in_block(first) {
                [Some(k), second, third]
            } else if is_in_block(second) {
                [Some(k), first, third]
            } else {
                [Some(k), first, second]
            };
        } else if k == self.next {
            self.next = self.block(k + 1).map_or(k + 1, |(_, right)| right);
            self.above.retain(|above| *above >= self.next);
        }
    }

    fn blocks(&self) -> Vec<(u64, u64)> {
        let newest = self.newest.iter().flatten().copied();
        let mut blocks = Vec::new();
        for block in newest.chain(self.above.iter().rev().copied()).filter_map(|k| self.block(k)) {
            if !blocks.contains(&block) && blocks.len() < 3 {
                blocks.push(block);
            }
        }
        blocks
    }
}

proptest! {
    /// Segments arrive in any order, some of them twice, most of them near the lowest missing one.
    #[test]
    fn blocks_equal_those_of_a_simple_receiver(arrivals in prop::collection::vec((0_u64..14, any::<bool>()), 1..150)) {
        let mut receiver = Receiver::new(ReceiverConfig { delayed_ack_segments: 1, ..ReceiverConfig::default() });
        let mut plain = PlainReceiver::default();
        for (k, from_next) in arrivals {
            let k = if from_next { plain.next + k } else { 3 * k };
            plain.arrive(k);
            let ack = arrive(&mut receiver, k, 0);
            prop_assert_eq!(cumulative(ack), Some(plain.next));
            prop_assert_eq!(blocks(ack), plain.blocks());
        }
    }
}
