//! ABC's router in a queue.

use airpath_model::{AbcMark, Bytes, Duration, PathHeader, Timestamp};
use airpath_queue::{Abc, AbcConfig};
use proptest::prelude::*;

use crate::driver::Driver;
use crate::source::{Event, Known, Probing, RecordingSource};

const SIZE: Bytes = Bytes::new(1000);
const ACCELERATE: PathHeader = PathHeader::Abc(AbcMark::Accelerate);
const BRAKE: PathHeader = PathHeader::Abc(AbcMark::Brake);
/// A packet of 1 kB per millisecond is 1 MB/s.
const MILLISECOND: Duration = Duration::from_millis(1);

fn driver(capacity: f64) -> Driver<Abc> {
    Driver::new(
        Abc::new(AbcConfig::default(), Box::new(Known(capacity))).expect("the parameters are in range"),
    )
}

/// Sends one packet through the router after `gap`. Returns the header with which it departs.
fn pass(driver: &mut Driver<Abc>, gap: Duration, header: PathHeader) -> PathHeader {
    driver.run_to(driver.now + gap);
    driver.arrive(SIZE, true, header);
    driver.depart().expect("a packet waits").header
}

/// Returns the share of accelerates among `packets`, one per millisecond.
fn share(driver: &mut Driver<Abc>, packets: u32) -> f64 {
    let accelerates = (0..packets).filter(|_| pass(driver, MILLISECOND, ACCELERATE) == ACCELERATE).count();
    accelerates as f64 / f64::from(packets)
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs().max(1.0)
}

/// Traffic of 1 MB/s. At a capacity of 2 MB/s tr = 0.98 · 2 MB/s and f = 1.96 / 2 = 0.98; at 1 MB/s f = 0.49;
/// at a quarter of that 0.1225.
#[test]
fn rates_and_fraction_match_the_equations() {
    for (capacity, target, fraction) in
        [(4e6, 3.92e6, 1.0), (2e6, 1.96e6, 0.98), (1e6, 0.98e6, 0.49), (0.25e6, 0.245e6, 0.1225)]
    {
        let mut driver = driver(capacity);
        share(&mut driver, 100);
        assert!(close(driver.observed("target_rate_bps"), 8.0 * target));
        assert!((driver.observed("dequeue_rate_bps") - 8e6).abs() < 1.0);
        assert!((driver.observed("accelerate_fraction") - fraction).abs() < 1e-6);
    }
}

/// 90 packets of 1 kB wait behind the departing packet, at 1 MB/s: x = 91 ms, tr = 0.98 − (91 − 50) / 133.3 =
/// 0.6725 MB/s.
#[test]
fn delay_above_the_threshold_lowers_the_target() {
    let mut driver = driver(1e6);
    for _ in 0..90 {
        driver.arrive(SIZE, true, ACCELERATE);
    }
    for _ in 0..40 {
        pass(&mut driver, MILLISECOND, ACCELERATE);
    }
    assert!((driver.observed("target_rate_bps") - 8.0 * 672_500.0).abs() < 1e-3 * 8.0 * 672_500.0);
    assert!((driver.observed("accelerate_fraction") - 0.336_25).abs() < 1e-4);
    // The target rate is not reduced up to 50 ms, and is zero from 50 + 0.98 · 133.3 = 180.7 ms on.
    for (waiting, left) in [(49, 0.98), (50, 0.98), (51, 0.9725), (300, 0.0)] {
        let mut driver = self::driver(1e6);
        for _ in 0..waiting {
            driver.arrive(SIZE, true, ACCELERATE);
        }
        driver.depart();
        assert!((driver.observed("target_rate_bps") - 8e6 * left).abs() < 80.0, "{waiting} packets");
    }
}

#[test]
fn the_bucket_starts_full_and_counts_whole_tokens() {
    // f = 0.49: 5, 4.49, 3.98, 3.47, 2.96, 2.45, 1.94, 1.43, 0.92, 1.41: the ninth packet is the first that
    // brakes.
    let mut driver = driver(1e6);
    share(&mut driver, 0);
    let mut left = Vec::new();
    // The first packet counts as spread over the time before it, one packet in 1 ms, so f is above 0.49 until
    // the 20 ms are full.
    for _ in 0..40 {
        left.push(pass(&mut driver, MILLISECOND, ACCELERATE) == ACCELERATE);
    }
    assert!(left[..9].iter().all(|&accelerate| accelerate), "{left:?}");
    assert!(left[25..].windows(2).all(|pair| !(pair[0] && pair[1])), "alternating, once the bucket is spent");
}

#[test]
fn a_source_that_probes_raises_the_target() {
    let source = Box::new(Probing(1e6, 1.14));
    let mut driver = Driver::new(Abc::new(AbcConfig::default(), source).expect("in range"));
    share(&mut driver, 50);
    assert!(close(driver.observed("target_rate_bps"), 8e6 * 0.98 * 1.14));
}

#[test]
fn without_a_capacity_every_packet_is_a_brake() {
    let mut driver = driver(0.0);
    share(&mut driver, 5);
    assert!(close(share(&mut driver, 50), 0.0));
    assert!(close(driver.observed("accelerate_fraction"), 0.0));
}

#[test]
fn other_packets_count_in_the_rate_and_pass_unchanged() {
    let mut driver = driver(0.25e6);
    for _ in 0..100 {
        assert_eq!(pass(&mut driver, MILLISECOND, PathHeader::None), PathHeader::None);
    }
    assert!((driver.observed("dequeue_rate_bps") - 8e6).abs() < 1.0);
    driver.arrive(SIZE, false, ACCELERATE);
    assert_eq!(driver.depart().expect("a packet waits").header, ACCELERATE, "an echo");
    // Other packets and echoes do not change the bucket, which is still full.
    assert_eq!(pass(&mut driver, MILLISECOND, ACCELERATE), ACCELERATE);
}

#[test]
fn the_source_receives_every_event() {
    let (listening, told) = RecordingSource::new();
    assert!(Abc::new(AbcConfig::default(), Box::new(listening)).is_err(), "the source never has a capacity");
    assert!(told.lock().unwrap().is_empty());
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let source = RecordingKnown(std::sync::Arc::clone(&heard));
    let mut driver = Driver::new(Abc::new(AbcConfig::default(), Box::new(source)).expect("in range"));
    driver.arrive(SIZE, true, ACCELERATE);
    driver.arrive(SIZE, false, PathHeader::None);
    driver.depart();
    let expected = vec![
        Event::Arrival(Timestamp::ZERO, SIZE, Bytes::ZERO),
        Event::Arrival(Timestamp::ZERO, SIZE, SIZE),
        Event::Departure(Timestamp::ZERO, SIZE, SIZE),
    ];
    assert_eq!(*heard.lock().unwrap(), expected);
}

#[test]
fn the_source_has_a_timer_and_reports_its_own_quantities() {
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let source = RecordingKnown(std::sync::Arc::clone(&heard));
    let mut driver = Driver::new(Abc::new(AbcConfig::default(), Box::new(source)).expect("in range"));
    for quantity in ["target_rate_bps", "dequeue_rate_bps", "accelerate_fraction"] {
        assert!(close(driver.observed(quantity), 0.0), "nothing has left: {quantity}");
    }
    driver.arrive(SIZE, true, ACCELERATE);
    heard.lock().unwrap().clear();
    let due = Timestamp::ZERO + MILLISECOND * 30;
    driver.run_to(due);
    assert_eq!(*heard.lock().unwrap(), [Event::Timer(due, SIZE)]);
    assert!(close(driver.observed("told"), 1.0));
}

/// A bucket of one token never contains more than one, so that no packet accelerates; with two tokens a
/// packet does.
#[test]
fn an_accelerate_takes_more_than_one_token() {
    for (token_limit, left) in [(1.0, BRAKE), (2.0, ACCELERATE)] {
        let config = AbcConfig { token_limit, target_utilisation: 1.0, ..AbcConfig::default() };
        let mut driver = Driver::new(Abc::new(config, Box::new(Known(1e9))).expect("at the bounds"));
        assert_eq!(pass(&mut driver, MILLISECOND, ACCELERATE), left, "{token_limit}");
    }
}

/// A source with a capacity that records its calls and requests a timer at 30 ms.
#[derive(Debug)]
struct RecordingKnown(crate::source::EventLog);

impl airpath_model::CapacitySource for RecordingKnown {
    fn on_arrival(&mut self, now: Timestamp, size: Bytes, backlog: airpath_model::Backlog) {
        self.0.lock().expect("no thread panicked").push(Event::Arrival(now, size, backlog.bytes));
    }

    fn on_departure(&mut self, now: Timestamp, size: Bytes, backlog: airpath_model::Backlog) {
        self.0.lock().expect("no thread panicked").push(Event::Departure(now, size, backlog.bytes));
    }

    fn on_timer(&mut self, now: Timestamp, backlog: airpath_model::Backlog) {
        self.0.lock().expect("no thread panicked").push(Event::Timer(now, backlog.bytes));
    }

    fn next_timer(&self) -> Timestamp {
        let told = self.0.lock().expect("no thread panicked");
        let over = told.iter().any(|event| matches!(event, Event::Timer(..)));
        if over { Timestamp::NEVER } else { Timestamp::ZERO + MILLISECOND * 30 }
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("told", self.0.lock().expect("no thread panicked").len() as f64);
    }

    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        Some(1e6)
    }
}

#[test]
fn impossible_parameters_are_rejected() {
    let good = AbcConfig::default();
    for config in [
        AbcConfig { target_utilisation: 0.0, ..good },
        AbcConfig { target_utilisation: 1.01, ..good },
        AbcConfig { target_utilisation: f64::NAN, ..good },
        AbcConfig { delta: Duration::ZERO, ..good },
        AbcConfig { rate_window: Duration::from_nanos(999), ..good },
        AbcConfig { token_limit: 0.9, ..good },
        AbcConfig { token_limit: f64::INFINITY, ..good },
    ] {
        assert!(Abc::new(config, Box::new(Known(1e6))).is_err(), "{config:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    /// The share of accelerates is f, except for the accumulated tokens and the first window.
    #[test]
    fn the_share_of_accelerates_converges_to_the_fraction(capacity in 0.0..2.0e6_f64) {
        let mut driver = driver(capacity);
        share(&mut driver, 100);
        let fraction = driver.observed("accelerate_fraction");
        let seen = share(&mut driver, 2000);
        prop_assert!((seen - fraction).abs() <= 6.0 / 2000.0, "{} for {}", seen, fraction);
    }

    /// The slower of two routers determines the share, and a brake of the first router remains a brake.
    #[test]
    fn the_second_router_turns_no_brake_into_an_accelerate(first in 0.1..2.0e6_f64, second in 0.1..2.0e6_f64) {
        let (mut one, mut two) = (driver(first), driver(second));
        let mut accelerates = 0;
        for _ in 0..2000 {
            let between = pass(&mut one, MILLISECOND, ACCELERATE);
            let after = pass(&mut two, MILLISECOND, between);
            prop_assert!(between == ACCELERATE || after == BRAKE);
            accelerates += u32::from(after == ACCELERATE);
        }
        let slower = 0.49e-6 * first.min(second);
        // Of the tokens that it might need, the second router accumulates at most five, and both buckets are
        // initially full.
        prop_assert!((f64::from(accelerates) / 2000.0 - slower).abs() < 0.015, "{} {}", accelerates, slower);
    }

    /// For any traffic, the fraction is between zero and one.
    #[test]
    fn the_fraction_is_one(packets in prop::collection::vec((0_u64..50_000, 1_u64..9000, any::<bool>()), 1..200), capacity in 0.0..1e12_f64) {
        let mut driver = driver(capacity);
        for (gap, size, leaves) in packets {
            driver.run_to(driver.now + Duration::from_micros(gap));
            driver.arrive(Bytes::new(size), true, ACCELERATE);
            if leaves {
                driver.depart();
            }
            let fraction = driver.observed("accelerate_fraction");
            prop_assert!((0.0..=1.0).contains(&fraction));
            prop_assert!(driver.observed("target_rate_bps") >= 0.0);
        }
    }
}
