//! Rates known beforehand: departures by hand, and the account of bits against the integral of the rate.

use std::sync::Arc;

use airpath_channel::{InvalidChannel, LinkChannel, NoErrors, RateProcess, Schedule, ScheduleEnd, Step};
use airpath_model::{Bytes, Channel, Duration, Rate, Timestamp, Transmission};
use proptest::prelude::*;

const MBIT: u64 = 1_000_000;

fn micros(micros: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_micros(micros)
}

fn steps(steps: &[(Duration, u64)]) -> Arc<[Step]> {
    steps.iter().map(|&(start, bps)| Step { start, rate: Rate::from_bps(bps) }).collect()
}

fn link(rate: impl Into<RateProcess>) -> LinkChannel<NoErrors> {
    LinkChannel::new(rate.into(), NoErrors)
}

fn schedule(series: &[(Duration, u64)], end: ScheduleEnd) -> LinkChannel<NoErrors> {
    link(Schedule::new(steps(series), end).unwrap())
}

fn departs(link: &mut impl Channel, start: Timestamp, size: u64, continues: bool) -> Timestamp {
    link.transmit(&Transmission { start, size: Bytes::new(size), continues }).departs
}

#[test]
fn an_unlimited_link_sends_at_once_and_has_no_capacity() {
    let mut link = link(RateProcess::Unlimited);
    assert_eq!(departs(&mut link, micros(7), 1_000_000, false), micros(7));
    assert_eq!(link.offered_bits(micros(9)), None);
}

#[test]
fn a_constant_rate_takes_size_over_rate() {
    let mut link = link(RateProcess::constant(Rate::from_bps(100 * MBIT)).unwrap());
    assert_eq!(departs(&mut link, micros(10), 1500, false), micros(130));
    assert_eq!(departs(&mut link, micros(130), 1500, true), micros(250));
    assert_eq!(link.offered_bits(micros(250)), Some(25_000.0));
}

#[test]
fn rounding_errors_do_not_accumulate() {
    // 1500 bytes at 11 Mbit/s take 1090909 and 1/11 ns: eleven take 12 ms exactly.
    let mut link = link(RateProcess::constant(Rate::from_bps(11 * MBIT)).unwrap());
    let mut start = Timestamp::ZERO;
    for packet in 0..11 {
        start = departs(&mut link, start, 1500, packet > 0);
        if packet == 0 {
            assert_eq!(start.as_nanos(), 1_090_910);
        }
    }
    assert_eq!(start, micros(12_000));
}

#[test]
fn an_idle_period_discards_the_fraction() {
    let mut link = link(RateProcess::constant(Rate::from_bps(11 * MBIT)).unwrap());
    let first = departs(&mut link, Timestamp::ZERO, 1500, false);
    assert_eq!(departs(&mut link, first, 1500, false).as_nanos(), 2 * 1_090_910);
}

#[test]
fn several_packets_may_leave_within_one_nanosecond() {
    // 40 bytes at 1 Tbit/s take 0.32 ns.
    let mut link = link(RateProcess::constant(Rate::from_bps(1_000_000 * MBIT)).unwrap());
    let mut start = Timestamp::ZERO;
    let nanos: Vec<u64> = (0..7)
        .map(|packet| {
            start = departs(&mut link, start, 40, packet > 0);
            start.as_nanos()
        })
        .collect();
    assert_eq!(nanos, [1, 1, 1, 2, 2, 2, 3]);
}

#[test]
fn a_packet_finishes_at_the_new_rate() {
    // 12000 bits: 10 Mbit/s for the first millisecond carry 10000 of them, 2 Mbit/s take another millisecond.
    let series = [(Duration::ZERO, 10 * MBIT), (Duration::from_millis(1), 2 * MBIT)];
    let mut link = schedule(&series, ScheduleEnd::Hold);
    assert_eq!(departs(&mut link, Timestamp::ZERO, 1500, false), micros(2000));
    assert_eq!(departs(&mut link, micros(2000), 1500, true), micros(8000));
    assert_eq!(link.offered_bits(micros(3000)), Some(14_000.0));
    assert_eq!(link.offered_bits(micros(3500)), Some(1_000.0));
}

#[test]
fn a_packet_waits_through_an_outage() {
    let ms = Duration::from_millis;
    let series = [(ms(0), 12 * MBIT), (ms(2), 0), (ms(5), 12 * MBIT)];
    let mut link = schedule(&series, ScheduleEnd::Hold);
    assert_eq!(departs(&mut link, micros(1500), 1500, false), micros(5500));
    assert_eq!(departs(&mut link, micros(5500), 1500, true), micros(6500));
}

#[test]
fn a_packet_that_ends_with_its_rate_leaves_the_next_one_the_new_rate() {
    let ms = Duration::from_millis;
    let mut link = schedule(&[(ms(0), 12 * MBIT), (ms(1), 24 * MBIT)], ScheduleEnd::Hold);
    assert_eq!(departs(&mut link, Timestamp::ZERO, 1500, false), micros(1000));
    assert_eq!(departs(&mut link, micros(1000), 1500, true), micros(1500));
}

#[test]
fn a_schedule_repeats() {
    let ms = Duration::from_millis;
    let series = [(ms(0), 12 * MBIT), (ms(1), 0)];
    let mut link = schedule(&series, ScheduleEnd::RepeatAfter(ms(10)));
    // One packet for each lap, also after laps in silence.
    assert_eq!(departs(&mut link, Timestamp::ZERO, 1500, false), micros(1000));
    assert_eq!(departs(&mut link, micros(1000), 1500, true), micros(11_000));
    assert_eq!(departs(&mut link, micros(50_500), 1500, false), micros(60_500));
    assert_eq!(link.offered_bits(micros(100_000)), Some(120_000.0));
}

#[test]
fn a_trace_played_once_ends() {
    let ms = Duration::from_millis;
    let mut link = schedule(&[(ms(0), 12 * MBIT)], ScheduleEnd::StopAfter(ms(3)));
    assert_eq!(departs(&mut link, micros(2000), 1500, false), micros(3000));
    assert_eq!(departs(&mut link, micros(3000), 1, true), Timestamp::NEVER);
    assert_eq!(link.offered_bits(micros(9000)), Some(36_000.0));
    assert_eq!(link.offered_bits(micros(99_000)), Some(0.0));
}

#[test]
fn a_packet_that_never_departs_does_not_arrive() {
    let mut link = schedule(&[(Duration::ZERO, 1), (Duration::from_millis(1), 0)], ScheduleEnd::Hold);
    let passage = link.transmit(&Transmission { start: micros(1), size: Bytes::new(1500), continues: false });
    assert_eq!((passage.departs, passage.arrives), (Timestamp::NEVER, false));
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let ms = Duration::from_millis;
    let refused = |series: &[(Duration, u64)], end| Schedule::new(steps(series), end).unwrap_err();
    assert_eq!(refused(&[], ScheduleEnd::Hold), InvalidChannel::Empty);
    assert_eq!(refused(&[(ms(1), 1)], ScheduleEnd::Hold), InvalidChannel::LateStart);
    assert_eq!(
        refused(&[(ms(0), 1), (ms(2), 1), (ms(2), 1)], ScheduleEnd::Hold),
        InvalidChannel::OutOfOrder { index: 2 }
    );
    let two = [(ms(0), 1), (ms(2), 1)];
    assert_eq!(refused(&two, ScheduleEnd::RepeatAfter(ms(2))), InvalidChannel::EarlyEnd);
    assert_eq!(refused(&two, ScheduleEnd::StopAfter(ms(1))), InvalidChannel::EarlyEnd);
    let silent = [(ms(0), 0), (ms(1), 0)];
    assert_eq!(refused(&silent, ScheduleEnd::RepeatAfter(ms(2))), InvalidChannel::NeverSends);
    assert_eq!(refused(&[(ms(0), u64::MAX)], ScheduleEnd::Hold), InvalidChannel::UnlimitedRate);
    assert_eq!(RateProcess::constant(Rate::ZERO).unwrap_err(), InvalidChannel::NeverSends);
}

/// A repeating schedule, written down as its integral.
#[derive(Debug)]
struct Integral {
    /// (length in nanoseconds, bit/s)
    pieces: Vec<(u64, u64)>,
}

impl Integral {
    fn period(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.0).sum()
    }

    /// Bits times 10⁹ offered from 0 to `nanos`.
    fn up_to(&self, nanos: u64) -> u128 {
        let lap: u128 = self.pieces.iter().map(|&(length, bps)| u128::from(length) * u128::from(bps)).sum();
        let mut rest = nanos % self.period();
        let mut sum = u128::from(nanos / self.period()) * lap;
        for &(length, bps) in &self.pieces {
            let part = rest.min(length);
            sum += u128::from(part) * u128::from(bps);
            rest -= part;
        }
        sum
    }

    /// The first nanosecond at which `amount` has been offered, by bisection.
    fn reaches(&self, amount: u128) -> u64 {
        let (mut early, mut late) = (0, 1_u64 << 62);
        while early < late {
            let middle = early.midpoint(late);
            if self.up_to(middle) >= amount { late = middle } else { early = middle + 1 }
        }
        early
    }

    fn link(&self) -> LinkChannel<NoErrors> {
        let mut start = 0;
        let series: Vec<_> = self
            .pieces
            .iter()
            .map(|&(length, bps)| {
                start += length;
                (Duration::from_nanos(start - length), bps)
            })
            .collect();
        schedule(&series, ScheduleEnd::RepeatAfter(Duration::from_nanos(self.period())))
    }
}

fn integrals() -> impl Strategy<Value = Integral> {
    let rate = prop_oneof![Just(0), 1_000..1_000_000_u64, 1_000_000..20_000_000_000_u64];
    prop::collection::vec((1..3_000_000_u64, rate), 1..8)
        .prop_filter("must send", |pieces| pieces.iter().any(|piece| piece.1 > 0 && piece.0 > 100_000))
        .prop_map(|pieces| Integral { pieces })
}

proptest! {
    /// Within each busy period, the k-th packet leaves at the first nanosecond by which the integral of the rate
    /// has reached the sum of the bits: nothing is gained or lost, however many packets and changes there are.
    #[test]
    fn departures_follow_the_integral_of_the_rate(
        integral in integrals(),
        packets in prop::collection::vec((40..9000_u64, prop_oneof![3 => Just(0), 1 => 0..2_000_000_u64]), 1..200),
    ) {
        let mut link = integral.link();
        let (mut arrival, mut departed, mut target) = (0, 0, 0);
        for (size, gap) in packets {
            arrival += gap;
            let start = departed.max(arrival);
            let continues = arrival < departed;
            if !continues {
                target = integral.up_to(start);
            }
            target += u128::from(size) * 8_000_000_000;
            let leaves = departs(&mut link, Timestamp::from_nanos(start), size, continues).as_nanos();
            prop_assert_eq!(leaves, integral.reaches(target));
            departed = leaves;
        }
        prop_assert!(departed > 0);
    }

    /// The meter gives the same integral in whatever portions it is asked, and is not disturbed by sending.
    #[test]
    fn the_meter_returns_the_integral(
        integral in integrals(),
        spans in prop::collection::vec(0..5_000_000_u64, 1..50),
    ) {
        let mut link = integral.link();
        let (mut now, mut sent_until) = (0, Timestamp::ZERO);
        for span in spans {
            sent_until = departs(&mut link, sent_until, 1500, now > 0);
            let offered = link.offered_bits(Timestamp::from_nanos(now + span)).unwrap();
            let expected = (integral.up_to(now + span) - integral.up_to(now)) as f64 / 1e9;
            prop_assert!((offered - expected).abs() <= expected * 1e-15, "{} {}", offered, expected);
            now += span;
        }
    }
}
