//! Statistics, conversions and writers, compared with numbers calculated by hand.

use airpath_trace::{
    ConversionError, OPPORTUNITY_BYTES, Outage, ReadOptions, Statistics, Trace, read, to_opportunities,
    to_rates, write_airpath_csv, write_mahimahi,
};

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

fn opportunities(milliseconds: impl IntoIterator<Item = u64>) -> Trace {
    let instants_ns = milliseconds.into_iter().map(|instant| instant * MILLISECOND).collect();
    Trace::Opportunities { instants_ns, opportunity_bytes: OPPORTUNITY_BYTES }
}

fn rates(points: &[(u64, u64)], end_ns: u64) -> Trace {
    Trace::Rates { points: points.to_vec(), end_ns }
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

#[test]
fn statistics_of_rates_follow_the_pieces_through_the_bins() {
    // 8 Mbit/s for 150 ms, nothing for 100 ms, 4 Mbit/s for 250 ms.
    let trace =
        rates(&[(0, 8_000_000), (150 * MILLISECOND, 0), (250 * MILLISECOND, 4_000_000)], 500 * MILLISECOND);
    let found = Statistics::of(&trace);
    assert_eq!(found.duration_ns, 500 * MILLISECOND);
    close(found.mean_bps, (8e6 * 0.15 + 4e6 * 0.25) / 0.5);
    // The bins are 8, 4, 2, 4, 4: sorted 2, 4, 4, 4, 8.
    close(found.min_bps, 2e6);
    close(found.p5_bps, 2.4e6);
    close(found.p50_bps, 4e6);
    close(found.p95_bps, 7.2e6);
    close(found.max_bps, 8e6);
    assert_eq!(
        found.longest_outage,
        Some(Outage { start_ns: 150 * MILLISECOND, duration_ns: 100 * MILLISECOND })
    );
    close(found.largest_step_bps, 0.0);
}

#[test]
fn statistics_of_opportunities_count_those_that_start_in_a_bin() {
    // The bins from 0, 100 and 200 ms have 2, 0 and 1; at 300 ms the trace repeats.
    let found = Statistics::of(&opportunities([0, 99, 200, 300]));
    close(found.mean_bps, 4.0 * 12_000.0 / 0.3);
    close(found.min_bps, 0.0);
    close(found.p50_bps, 120_000.0);
    close(found.max_bps, 240_000.0);
    let outage = Outage { start_ns: 99 * MILLISECOND, duration_ns: 101 * MILLISECOND };
    assert_eq!(found.longest_outage, Some(outage));
}

#[test]
fn the_largest_step_is_between_whole_seconds() {
    let points = [(0, 1_000_000), (SECOND, 4_000_000), (3 * SECOND / 2, 2_000_000), (3 * SECOND, 50_000_000)];
    // The means of the seconds are 1, 3, 2; the last half second is incomplete.
    close(Statistics::of(&rates(&points, 7 * SECOND / 2)).largest_step_bps, 2e6);
    // The last second counts too: 1, 3, 6.
    let points = [(0, 1_000_000), (SECOND, 3_000_000), (2 * SECOND, 6_000_000)];
    close(Statistics::of(&rates(&points, 3 * SECOND)).largest_step_bps, 3e6);
}

#[test]
fn percentiles_are_interpolated_between_ranks() {
    // Bins of 0 to 7 packets: 120 kbit/s each. The ranks are 0.35, 3.5 and 6.65.
    let packets = (0..8).flat_map(|bin| (0..bin).map(move |packet| 100 * bin + packet));
    let found = Statistics::of(&opportunities(packets.chain([800])));
    for (rate, packets) in [(found.p5_bps, 0.35), (found.p50_bps, 3.5), (found.p95_bps, 6.65)] {
        close(rate, packets * 120_000.0);
    }
}

#[test]
fn adjacent_dark_rows_are_one_outage() {
    let dark = rates(&[(0, 1), (SECOND, 0), (2 * SECOND, 0), (3 * SECOND, 1), (4 * SECOND, 0)], 5 * SECOND);
    let outage = Outage { start_ns: SECOND, duration_ns: 2 * SECOND };
    assert_eq!(Statistics::of(&dark).longest_outage, Some(outage));
    assert_eq!(Statistics::of(&rates(&[(0, 1)], SECOND)).longest_outage, None);
    let until_the_first = Outage { start_ns: 0, duration_ns: 5_000_000 };
    assert_eq!(Statistics::of(&opportunities([5])).longest_outage, Some(until_the_first));
    assert_eq!(Statistics::of(&opportunities([5, 6, 8])).longest_outage, Some(until_the_first));
    let before_the_last = Outage { start_ns: 6_000_000, duration_ns: 7_000_000 };
    assert_eq!(Statistics::of(&opportunities([5, 6, 13])).longest_outage, Some(before_the_last));
    // The first of equal ones.
    assert_eq!(Statistics::of(&opportunities([5, 10, 15])).longest_outage, Some(until_the_first));
    let twice = rates(&[(0, 1), (SECOND, 0), (2 * SECOND, 1), (3 * SECOND, 0)], 4 * SECOND);
    let first = Outage { start_ns: SECOND, duration_ns: SECOND };
    assert_eq!(Statistics::of(&twice).longest_outage, Some(first));
}

#[test]
fn a_trace_shorter_than_a_bin_has_its_mean_everywhere() {
    // The usual file for a constant 12 Mbit/s has the single line `1`.
    let found = Statistics::of(&opportunities([1]));
    for rate in [found.mean_bps, found.min_bps, found.p5_bps, found.p50_bps, found.p95_bps, found.max_bps] {
        close(rate, 12e6);
    }
    close(Statistics::of(&rates(&[(0, 4_000), (5, 8_000)], 10)).min_bps, 6_000.0);
    // Whole bins only, from one bin on.
    let dark_at_last = rates(&[(0, 4_000), (100 * MILLISECOND, 0)], 150 * MILLISECOND);
    close(Statistics::of(&dark_at_last).min_bps, 4_000.0);
}

#[test]
fn traces_of_centuries_need_no_memory() {
    let found = Statistics::of(&opportunities([0, 9_223_372_036_854]));
    close(found.max_bps, 120_000.0);
    close(found.p95_bps, 0.0);
    let found = Statistics::of(&rates(&[(0, u64::MAX)], u64::MAX));
    close(found.mean_bps, u64::MAX as f64);
    close(found.p50_bps, u64::MAX as f64);
}

#[test]
fn twelve_megabits_are_a_packet_each_millisecond() {
    let converted = to_opportunities(&rates(&[(0, 12_000_000)], SECOND)).unwrap();
    assert_eq!(converted, opportunities(1..=1000));
    let back = to_rates(&converted, 100 * MILLISECOND).unwrap();
    let points: Vec<_> = (0..10).map(|bin| (bin * 100 * MILLISECOND, 12_000_000)).collect();
    assert_eq!(back, rates(&points, SECOND));
}

#[test]
fn opportunities_occur_when_the_rate_has_provided_a_packet() {
    // 1500 bytes take 1.5 ms at 8 Mbit/s and 6 ms at 2 Mbit/s; 1 ms at 12 Mbit/s.
    let trace =
        rates(&[(0, 8_000_000), (2 * MILLISECOND, 0), (10 * MILLISECOND, 2_000_000)], 20 * MILLISECOND);
    // The first is at 1.5 ms; the second needs a third of a packet after the outage, 4 ms; the third is at 20
    // ms.
    assert_eq!(to_opportunities(&trace).unwrap(), opportunities([2, 14, 20]));
}

#[test]
fn the_last_bin_ends_at_the_period() {
    let found = to_rates(&opportunities([0, 100, 101, 150]), 100 * MILLISECOND).unwrap();
    assert_eq!(found, rates(&[(0, 240_000), (100 * MILLISECOND, 480_000)], 150 * MILLISECOND));
}

#[test]
fn rates_of_bins_are_rounded_to_the_nearest() {
    // One packet in 7 ms is 1714285.71 bit/s, two in 7 ms are 3428571.43, five are 8571428.57.
    let found = to_rates(&opportunities([7, 8, 14, 17, 18, 19, 20, 21]), 7 * MILLISECOND).unwrap();
    let points = [(0, 1_714_286), (7 * MILLISECOND, 3_428_571), (14 * MILLISECOND, 8_571_429)];
    assert_eq!(found, rates(&points, 21 * MILLISECOND));
}

#[test]
fn a_bin_of_rates_contains_its_end_and_not_its_start() {
    let trace = Trace::Opportunities { instants_ns: vec![0, 10, 11, 20, 21, 30], opportunity_bytes: 1 };
    let each = 8_000_000_000 / 10;
    assert_eq!(to_rates(&trace, 10), Ok(rates(&[(0, 2 * each), (10, 2 * each), (20, 2 * each)], 30)));
}

#[test]
fn impossible_conversions_are_rejected() {
    assert_eq!(to_opportunities(&rates(&[(0, 11_999)], SECOND)), Err(ConversionError::NoOpportunity));
    let late = rates(&[(0, 0), (SECOND, 11_999)], 2 * SECOND);
    assert_eq!(to_opportunities(&late), Err(ConversionError::NoOpportunity));
    let vast = rates(&[(0, u64::MAX)], u64::MAX);
    assert!(matches!(to_opportunities(&vast), Err(ConversionError::TooLong(_))));
    assert_eq!(to_rates(&opportunities([1]), 0), Err(ConversionError::NoWidth));
    assert!(matches!(to_rates(&opportunities([1_000_000]), 1), Err(ConversionError::TooLong(_))));
    let small = Trace::Opportunities { instants_ns: vec![1], opportunity_bytes: 64 };
    assert_eq!(write_mahimahi(&small), Err(ConversionError::OpportunityBytes(64)));
    assert_eq!(write_mahimahi(&opportunities([0, 0])), Err(ConversionError::NoOpportunity));
}

#[test]
fn mahimahi_text_is_one_instant_per_line() {
    assert_eq!(write_mahimahi(&opportunities([0, 0, 7])).unwrap(), "0\n0\n7\n");
    assert_eq!(write_mahimahi(&rates(&[(0, 12_000_000)], 3 * MILLISECOND)).unwrap(), "1\n2\n3\n");
}

#[test]
fn our_own_csv_closes_a_series_only_if_needed() {
    let regular = rates(&[(0, 1_500_000), (SECOND / 2, 1)], SECOND);
    assert_eq!(write_airpath_csv(&regular, 0).unwrap(), "time_s,rate_mbps\n0,1.5\n0.5,0.000001\n");
    let irregular = rates(&[(0, 1_500_000)], 3);
    assert_eq!(write_airpath_csv(&irregular, 0).unwrap(), "time_s,rate_mbps\n0,1.5\n0.000000003,\n");
    for trace in [regular, irregular] {
        let text = write_airpath_csv(&trace, 0).unwrap();
        assert_eq!(read(text.as_bytes(), &ReadOptions::default()), Ok(trace));
    }
}
