//! Packet-delivery opportunities: scripts by hand, and a slow model of `mm-link` that steps through milliseconds.

use std::collections::VecDeque;
use std::sync::Arc;

use airpath_channel::{
    InvalidChannel, LinkChannel, NoErrors, OPPORTUNITY_SIZE, Opportunities, RateProcess, TraceEnd,
};
use airpath_model::{Bytes, Channel, Duration, Timestamp, Transmission};
use proptest::prelude::*;

fn at(millis: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(millis)
}

fn trace(millis: &[u64], end: TraceEnd) -> LinkChannel<NoErrors> {
    let instants: Arc<[u64]> = millis.iter().map(|ms| ms * 1_000_000).collect();
    let opportunities = Opportunities::new(instants, OPPORTUNITY_SIZE, end).unwrap();
    LinkChannel::new(RateProcess::from(opportunities), NoErrors)
}

fn departs(link: &mut impl Channel, start: Timestamp, size: u64, continues: bool) -> Timestamp {
    link.transmit(&Transmission { start, size: Bytes::new(size), continues }).departs
}

#[test]
fn one_line_for_each_millisecond_is_12_mbit_per_second() {
    let mut link = trace(&[1], TraceEnd::Repeat);
    let mut start = Timestamp::ZERO;
    for packet in 1..=1000 {
        start = departs(&mut link, start, 1500, packet > 1);
        assert_eq!(start, at(packet));
    }
    assert_eq!(link.offered_bits(at(1000)), Some(12_000_000.0));
}

#[test]
fn waiting_packets_share_an_opportunity() {
    let mut link = trace(&[5, 9, 20], TraceEnd::Stop);
    assert_eq!(departs(&mut link, at(1), 500, false), at(5));
    assert_eq!(departs(&mut link, at(5), 500, true), at(5));
    assert_eq!(departs(&mut link, at(5), 500, true), at(5));
    // The opportunity is full: the fourth packet uses the next one.
    assert_eq!(departs(&mut link, at(5), 500, true), at(9));
}

#[test]
fn a_packet_that_arrives_later_cannot_share() {
    let mut link = trace(&[5, 9, 20], TraceEnd::Stop);
    assert_eq!(departs(&mut link, at(1), 500, false), at(5));
    assert_eq!(departs(&mut link, at(5), 500, false), at(9));
}

#[test]
fn packets_that_do_not_fit_are_carried_over() {
    let mut link = trace(&[5, 9, 20], TraceEnd::Stop);
    assert_eq!(departs(&mut link, at(1), 1000, false), at(5));
    // 500 bytes at 5 ms, 1000 at 9 ms, and 500 of that opportunity remain.
    assert_eq!(departs(&mut link, at(5), 1500, true), at(9));
    assert_eq!(departs(&mut link, at(9), 500, true), at(9));
    assert_eq!(departs(&mut link, at(9), 1, true), at(20));
}

#[test]
fn a_large_packet_takes_several_opportunities() {
    let mut link = trace(&[5, 9, 20], TraceEnd::Stop);
    assert_eq!(departs(&mut link, at(0), 4500, false), at(20));
    assert_eq!(departs(&mut link, at(20), 1, true), Timestamp::NEVER);
}

#[test]
fn an_idle_link_loses_its_opportunities() {
    let mut link = trace(&[5, 9, 9, 20], TraceEnd::Stop);
    // Those of the very instant of the arrival are lost as well.
    assert_eq!(departs(&mut link, at(9), 100, false), at(20));
}

#[test]
fn equal_lines_are_opportunities_of_their_own() {
    let mut link = trace(&[5, 5, 9], TraceEnd::Stop);
    assert_eq!(departs(&mut link, at(1), 1500, false), at(5));
    assert_eq!(departs(&mut link, at(5), 1500, true), at(5));
    assert_eq!(departs(&mut link, at(5), 1500, true), at(9));
}

#[test]
fn a_trace_repeats_from_its_last_instant() {
    // Laps begin at 0, 10, 20, …: at 10 ms there are the last opportunity of one lap and the first of the next.
    let mut link = trace(&[0, 4, 10], TraceEnd::Repeat);
    let mut start = at(0);
    let leaves: Vec<_> = (0..6)
        .map(|packet| {
            start = departs(&mut link, start, 1500, packet > 0);
            start
        })
        .collect();
    assert_eq!(leaves, [4, 10, 10, 14, 20, 20].map(at));
    // A long silence passes in laps.
    assert_eq!(departs(&mut link, at(1_000_000), 1500, false), at(1_000_004));
}

#[test]
fn offered_bits_count_opportunities() {
    let mut link = trace(&[0, 4, 10], TraceEnd::Repeat);
    let mut count = |until| link.offered_bits(at(until)).unwrap() as u64 / 12_000;
    // Interval ends are included; time zero belongs to the first interval.
    assert_eq!([0, 3, 4, 10, 13].map(&mut count), [1, 0, 1, 2, 0]);
    // 14, 20, 20, 24, 30, 30.
    assert_eq!(count(30), 6);
}

#[test]
fn a_trace_played_once_offers_no_capacity_afterwards() {
    let mut link = trace(&[0, 4, 10], TraceEnd::Stop);
    assert_eq!(link.offered_bits(at(10)), Some(36_000.0));
    assert_eq!(link.offered_bits(at(1000)), Some(0.0));
    assert_eq!(departs(&mut link, at(1000), 40, false), Timestamp::NEVER);
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let refused = |instants: &[u64], size| {
        Opportunities::new(instants.into(), Bytes::new(size), TraceEnd::Repeat).unwrap_err()
    };
    assert_eq!(refused(&[], 1500), InvalidChannel::Empty);
    assert_eq!(refused(&[0, 0], 1500), InvalidChannel::NoDuration);
    assert_eq!(refused(&[1, 3, 2], 1500), InvalidChannel::OutOfOrder { index: 2 });
    assert_eq!(refused(&[1], 0), InvalidChannel::NoSize);
}

/// Departures by `mm-link`'s rules, one millisecond after the other: first every opportunity of the millisecond
/// serves the queue, then arrivals join it. `arrivals` are (millisecond, bytes).
fn mm_link(trace: &[u64], end: TraceEnd, arrivals: &[(u64, u64)], horizon: u64) -> Vec<Option<u64>> {
    let last = *trace.last().unwrap();
    let mut leaves = vec![None; arrivals.len()];
    // (index of the packet, bytes not yet sent)
    let mut waiting: VecDeque<(usize, u64)> = VecDeque::new();
    for now in 0..horizon {
        let laps = if end == TraceEnd::Stop { 1 } else { now / last + 1 };
        let opportunities =
            (0..laps).map(|lap| trace.iter().filter(|instant| lap * last + *instant == now).count()).sum();
        for _ in 0..opportunities {
            for _byte in 0..1500 {
                let Some((packet, unsent)) = waiting.front_mut() else { break };
                *unsent -= 1;
                if *unsent == 0 {
                    leaves[*packet] = Some(now);
                    waiting.pop_front();
                }
            }
        }
        waiting.extend(
            arrivals
                .iter()
                .enumerate()
                .filter(|(_, arrival)| arrival.0 == now)
                .map(|(packet, &(_, size))| (packet, size)),
        );
    }
    leaves
}

/// The same through the channel, with a link that serves its queue in order.
fn through_channel(trace_ms: &[u64], end: TraceEnd, arrivals: &[(u64, u64)]) -> Vec<Timestamp> {
    let mut link = trace(trace_ms, end);
    let mut free = Timestamp::ZERO;
    arrivals
        .iter()
        .map(|&(arrival, size)| {
            let arrival = at(arrival);
            free = departs(&mut link, free.max(arrival), size, arrival < free);
            free
        })
        .collect()
}

proptest! {
    #[test]
    fn departures_match_mm_link(
        gaps in prop::collection::vec(prop_oneof![Just(0), 0..5_u64, 0..40_u64], 1..30),
        packets in prop::collection::vec(
            (prop_oneof![Just(0), 0..3_u64, 0..60_u64], prop_oneof![1..100_u64, Just(1500), 1..5000_u64]),
            1..40,
        ),
        once in any::<bool>(),
    ) {
        let running_sum = |gaps: Vec<u64>| -> Vec<u64> {
            gaps.into_iter().scan(0, |sum, gap| { *sum += gap; Some(*sum) }).collect()
        };
        let instants = running_sum(gaps);
        prop_assume!(*instants.last().unwrap() > 0);
        let (gaps, sizes): (Vec<_>, Vec<_>) = packets.into_iter().unzip();
        let arrivals: Vec<_> = running_sum(gaps).into_iter().zip(sizes).collect();
        let end = if once { TraceEnd::Stop } else { TraceEnd::Repeat };
        // Long enough for every packet even if each lap carried 1500 bytes only.
        let last_arrival = arrivals.last().unwrap().0;
        let horizon = last_arrival + (2 + arrivals.len() as u64 * 4) * instants.last().unwrap() + 1;
        let horizon = if once { instants.last().unwrap() + 1 } else { horizon.min(20_000) };

        let slow = mm_link(&instants, end, &arrivals, horizon);
        let fast = through_channel(&instants, end, &arrivals);
        for (packet, (slow, fast)) in slow.iter().zip(&fast).enumerate() {
            match slow {
                Some(millis) => prop_assert_eq!(*fast, at(*millis), "packet {}", packet),
                None if once => prop_assert_eq!(*fast, Timestamp::NEVER, "packet {}", packet),
                None => prop_assert!(*fast >= at(horizon), "packet {}", packet),
            }
        }
    }
}
