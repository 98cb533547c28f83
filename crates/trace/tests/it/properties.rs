//! For any bytes: no panic, errors refer to lines of the input, and accepted traces meet the invariants of
//! `Trace`.

use airpath_trace::{
    Direction, Format, ReadOptions, Statistics, Trace, detect, read, to_opportunities, to_rates,
    write_airpath_csv, write_mahimahi,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::samples::SAMPLES;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_bytes(bytes in vec(any::<u8>(), 0..200), options in options()) {
        check(&bytes, options)?;
    }

    #[test]
    fn bytes_of_the_formats_alphabet(
        bytes in vec(select(b"0123456789019.,-e \t\r\n$sbitMK/_TDLUR".to_vec()), 0..120),
        options in options(),
    ) {
        check(&bytes, options)?;
    }

    #[test]
    fn corrupted_files_do_not_panic(
        sample in select(SAMPLES.to_vec()),
        damages in vec((any::<Index>(), damage()), 0..4),
        options in options(),
    ) {
        let mut bytes = sample.as_bytes().to_vec();
        for (place, damage) in damages {
            damage.apply(&mut bytes, place);
        }
        check(&bytes, options)?;
    }

    #[test]
    fn rows_of_large_and_small_numbers(
        rows in vec((number(), number()), 1..20),
        separator in select(vec![" ", "\t", ","]),
        header in select(vec!["", "time_s,rate_mbps\n"]),
        options in options(),
    ) {
        let mut rows = rows;
        rows.sort_by_key(|row| row.0.0);
        let text: String = rows.iter().flat_map(|((_, time), (_, rate))| [time, separator, rate, "\n"]).collect();
        check(format!("{header}{text}").as_bytes(), options)?;
    }

    #[test]
    fn series_are_written_and_read_back(
        steps in vec((1..10_000_000_000u64, any::<u64>()), 1..30),
        last_step in 1..10_000_000_000u64,
    ) {
        let mut points = vec![(0, steps[0].1)];
        for (step, rate) in &steps[1..] {
            points.push((points[points.len() - 1].0 + step, *rate));
        }
        let end_ns = points[points.len() - 1].0 + last_step;
        let trace = Trace::Rates { points, end_ns };
        let text = write_airpath_csv(&trace, 0).unwrap();
        prop_assert_eq!(read(text.as_bytes(), &ReadOptions::default()), Ok(trace));
    }

    #[test]
    fn opportunities_are_written_and_read_back(mut milliseconds in vec(0..100_000u64, 1..200), last in 1..100_000u64) {
        milliseconds.push(last);
        milliseconds.sort_unstable();
        let instants_ns = milliseconds.iter().map(|instant| instant * 1_000_000).collect();
        let trace = Trace::Opportunities { instants_ns, opportunity_bytes: 1500 };
        let text = write_mahimahi(&trace).unwrap();
        prop_assert_eq!(read(text.as_bytes(), &ReadOptions::default()), Ok(trace.clone()));

        // Bins lose no packet, except for the rounding of rates.
        let rates = to_rates(&trace, 250_000_000).unwrap();
        let bits = |trace: &Trace| Statistics::of(trace).mean_bps * trace.period_ns() as f64 / 1e9;
        prop_assert!((bits(&rates) - bits(&trace)).abs() <= 0.5 * rates.period_ns() as f64 / 1e9 + 1e-3);
    }

    #[test]
    fn a_rate_never_provides_less_than_its_opportunities(
        pieces in vec((1..500_000_000u64, 0..40_000_000u64), 1..20),
    ) {
        let mut points = Vec::new();
        let mut end_ns = 0;
        for (length, rate) in pieces {
            points.push((end_ns, rate));
            end_ns += length;
        }
        let trace = Trace::Rates { points: points.clone(), end_ns };
        if let Ok(Trace::Opportunities { instants_ns, .. }) = to_opportunities(&trace) {
            for (count, instant) in (1u128..).zip(&instants_ns) {
                prop_assert!(provided(&points, *instant) >= count * PACKET);
                // The data was not available a millisecond before.
                prop_assert!(provided(&points, instant - 1_000_000) < count * PACKET);
            }
            prop_assert!(provided(&points, end_ns) < (instants_ns.len() as u128 + 1) * PACKET);
        } else {
            prop_assert!(provided(&points, end_ns) < PACKET);
        }
    }
}

/// 1500 bytes in bits times nanoseconds per second.
const PACKET: u128 = 12_000_000_000_000;

/// Returns the integral of the rate up to an instant, with the last rate continued; in the same unit.
fn provided(points: &[(u64, u64)], until_ns: u64) -> u128 {
    let stops = points.iter().skip(1).map(|point| point.0).chain([u64::MAX]);
    let products = points
        .iter()
        .zip(stops)
        .map(|(point, stop)| u128::from(stop.min(until_ns).saturating_sub(point.0)) * u128::from(point.1));
    products.sum()
}

/// Reads with these options and in every format, and checks the results.
fn check(bytes: &[u8], options: ReadOptions) -> Result<(), TestCaseError> {
    let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n').count();
    if let Err(error) = detect(bytes) {
        prop_assert!((1..=lines).contains(&error.line), "{}", error);
    }
    for format in Format::ALL.into_iter().map(Some).chain([None]) {
        match read(bytes, &ReadOptions { format, ..options }) {
            Err(error) => {
                prop_assert!((1..=lines).contains(&error.line), "{}", error);
                prop_assert!(error.found.len() + error.accepted.len() < 1000);
            }
            Ok(trace) => check_trace(&trace)?,
        }
    }
    Ok(())
}

fn check_trace(trace: &Trace) -> Result<(), TestCaseError> {
    match trace {
        Trace::Opportunities { instants_ns, opportunity_bytes } => {
            prop_assert_eq!(*opportunity_bytes, 1500);
            prop_assert!(instants_ns.is_sorted());
            prop_assert!(instants_ns.last().is_some_and(|last| *last > 0));
        }
        Trace::Rates { points, end_ns } => {
            prop_assert_eq!(points.first().map(|point| point.0), Some(0));
            prop_assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
            prop_assert!(points.last().is_some_and(|last| last.0 < *end_ns));
            let text = write_airpath_csv(trace, 0).expect("rates need no conversion");
            let again = read(text.as_bytes(), &ReadOptions::default());
            prop_assert_eq!(again.as_ref(), Ok(trace));
        }
    }
    let found = Statistics::of(trace);
    let bins = [found.min_bps, found.p5_bps, found.p50_bps, found.p95_bps, found.max_bps];
    prop_assert!(bins.is_sorted() && found.min_bps >= 0.0 && found.max_bps.is_finite(), "{:?}", found);
    prop_assert!(found.mean_bps.is_finite() && found.largest_step_bps.is_finite());
    Ok(())
}

fn options() -> impl Strategy<Value = ReadOptions> {
    (any::<bool>(), any::<bool>()).prop_map(|(up, drop_ping_rows)| ReadOptions {
        format: None,
        direction: if up { Direction::Up } else { Direction::Down },
        drop_ping_rows,
    })
}

/// Generates numbers as in files, from tiny to too large, with their integer part.
fn number() -> impl Strategy<Value = (u64, String)> {
    (any::<u64>(), 0..20u32, 0..4u32).prop_map(|(digits, cut, decimals)| {
        let digits = digits / 10u64.pow(cut);
        let whole = digits / 10u64.pow(decimals);
        (whole, format!("{whole}.{}", digits % 10u64.pow(decimals)))
    })
}

#[derive(Clone, Debug)]
enum Damage {
    Replace(u8),
    Insert(Vec<u8>),
    Cut,
    Repeat,
}

impl Damage {
    fn apply(self, bytes: &mut Vec<u8>, place: Index) {
        if bytes.is_empty() {
            return;
        }
        let at = place.index(bytes.len());
        match self {
            Self::Replace(byte) => bytes[at] = byte,
            Self::Insert(more) => drop(bytes.splice(at..at, more)),
            Self::Cut => bytes.truncate(at),
            Self::Repeat => bytes.extend_from_within(at..),
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let likely =
        select(vec!["\n", "\r\n", ",", "-", ".", "e", "9999999999999999999", " ", "0", "$", "e9", "\u{e9}"]);
    prop_oneof![
        any::<u8>().prop_map(Damage::Replace),
        likely.prop_map(|text| Damage::Insert(text.as_bytes().to_vec())),
        vec(any::<u8>(), 1..5).prop_map(Damage::Insert),
        Just(Damage::Cut),
        Just(Damage::Repeat),
    ]
}
