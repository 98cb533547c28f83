//! QFCP's router in a queue.

use airpath_model::{Bytes, Duration, PathHeader, Rate};
use airpath_queue::{Qfcp, QfcpConfig};

use crate::driver::Driver;
use crate::source::{Event, Known, RecordingSource};

const SIZE: Bytes = Bytes::new(1000);
const BUFFER: Bytes = Bytes::new(50_000);
const CONFIG: QfcpConfig = QfcpConfig { beta: 0.5, control_interval: Duration::from_millis(100) };
const ASKED: PathHeader = PathHeader::FairRate(Rate::UNLIMITED);

fn driver(capacity: f64) -> Driver<Qfcp> {
    Driver::new(Qfcp::new(CONFIG, Box::new(Known(capacity)), BUFFER).expect("the parameters are in range"))
}

/// Sends one packet through the router. Returns the header with the rate assigned to it.
fn asked(driver: &mut Driver<Qfcp>, path: PathHeader) -> PathHeader {
    driver.arrive(SIZE, true, path);
    driver.depart().expect("a packet waits").header
}

/// Simulates an interval in which `packets` packets arrive, all of which depart except the first `waiting`.
fn interval(driver: &mut Driver<Qfcp>, packets: u64, waiting: u64) {
    for packet in 0..packets {
        driver.arrive(SIZE, true, PathHeader::None);
        if packet >= waiting {
            driver.depart();
        }
    }
    driver.run_to(driver.now + CONFIG.control_interval);
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs().max(1.0)
}

#[test]
fn every_flow_gets_its_share_of_the_capacity() {
    let mut driver = driver(100_000.0);
    assert_eq!(asked(&mut driver, ASKED), ASKED, "nothing is known before the first interval ends");
    interval(&mut driver, 4, 0);
    assert!(close(driver.observed("fair_rate_bps"), 800_000.0));
    assert_eq!(asked(&mut driver, ASKED), PathHeader::FairRate(Rate::from_bps(800_000)));
    // Four flows send at that rate, 40 packets in 100 ms. An increase of the count by more than a factor of
    // two takes effect only in the next interval.
    interval(&mut driver, 39, 0);
    assert!(close(driver.observed("flow_count"), 2.0));
    assert!(close(driver.observed("fair_rate_bps"), 400_000.0));
    interval(&mut driver, 20, 0);
    assert!(close(driver.observed("flow_count"), 4.0));
    assert!(close(driver.observed("fair_rate_bps"), 200_000.0));
    // The flows follow, and the count is at rest.
    interval(&mut driver, 10, 0);
    assert!(close(driver.observed("flow_count"), 4.0));
    assert!(close(driver.observed("fair_rate_bps"), 200_000.0));
    // No flow sends: the rate of the next flow approaches the whole link, step by step.
    interval(&mut driver, 0, 0);
    assert!(close(driver.observed("fair_rate_bps"), 400_000.0));
    interval(&mut driver, 0, 0);
    assert!(close(driver.observed("fair_rate_bps"), 800_000.0));
}

/// If R is less than a packet per interval, few of the flows have responded at the end of an interval.
#[test]
fn the_flow_count_changes_less_with_fewer_responses() {
    let mut driver = driver(10_000.0);
    interval(&mut driver, 1, 0);
    // R = 10 kB/s: two thirds of a packet of 1500 bytes in 100 ms.
    interval(&mut driver, 100, 0);
    let flows = driver.observed("flow_count");
    assert!(close(flows * flows * flows, 4.0), "2 to the power of two thirds: {flows}");
}

#[test]
fn the_smallest_rate_on_the_path_counts_and_echoes_stay() {
    let mut driver = driver(100_000.0);
    interval(&mut driver, 1, 0);
    let tighter = PathHeader::FairRate(Rate::from_bps(1000));
    assert_eq!(asked(&mut driver, tighter), tighter);
    assert_eq!(asked(&mut driver, PathHeader::None), PathHeader::None);
    driver.arrive(SIZE, false, ASKED);
    assert_eq!(driver.depart().expect("a packet waits").header, ASKED);
}

#[test]
fn a_standing_queue_lowers_the_allocated_rate() {
    let mut standing = driver(100_000.0);
    // Four packets wait; they count only from the interval at whose start they are present.
    interval(&mut standing, 10, 4);
    assert!(close(standing.observed("fair_rate_bps"), 800_000.0));
    interval(&mut standing, 10, 0);
    // (C − 0.5 · 4000 / 0.1 s) / 1: each arrival is followed by a departure.
    let expected = 8.0 * (100_000.0 - 0.5 * 4000.0 / 0.1);
    assert!(close(standing.observed("fair_rate_bps"), expected));
    // For any queue, at least 5 % of the capacity is assigned.
    let mut long = driver(100_000.0);
    interval(&mut long, 40, 40);
    interval(&mut long, 40, 40);
    let flows = long.observed("flow_count");
    assert!(close(flows, 2.0));
    assert!(close(long.observed("fair_rate_bps"), 8.0 * 5000.0 / flows));
}

#[test]
fn a_link_without_capacity_has_a_positive_rate_and_recovers() {
    let mut driver = driver(0.0);
    interval(&mut driver, 10, 0);
    interval(&mut driver, 10, 0);
    assert!(close(driver.observed("fair_rate_bps"), 8.0));
    assert!(driver.observed("flow_count").is_finite());
    interval(&mut driver, 0, 0);
    assert!(close(driver.observed("flow_count"), 1.0));
}

#[test]
fn the_source_receives_every_event() {
    let (listening, told) = RecordingSource::new();
    let mut driver =
        Driver::new(Qfcp::new(CONFIG, Box::new(listening), BUFFER).expect("the parameters are in range"));
    interval(&mut driver, 2, 1);
    let told = told.lock().unwrap();
    let timers = told.iter().filter(|event| matches!(event, Event::Timer(..))).count();
    assert_eq!((told.len(), timers), (7, 3), "two arrivals, a departure, three timers, a question");
    let Event::Spare(interval) = told[6] else { panic!("{:?}", told[6]) };
    assert!(close(interval.input_rate, 20_000.0) && close(interval.last_queue, 1000.0));
    assert!(close(interval.buffer, 50_000.0) && close(interval.mean_queue, 1000.0));
    assert!(close(driver.observed("listening"), 1.0));
}

#[test]
fn impossible_parameters_are_rejected() {
    for config in [
        QfcpConfig { beta: f64::NAN, ..CONFIG },
        QfcpConfig { beta: -1.0, ..CONFIG },
        QfcpConfig { control_interval: Duration::ZERO, ..CONFIG },
    ] {
        assert!(Qfcp::new(config, Box::new(Known(1.0)), BUFFER).is_err());
    }
}

#[test]
fn the_probing_factor_of_a_source_scales_the_allocation() {
    let rate = |source: Box<dyn airpath_model::CapacitySource>| {
        let mut driver = Driver::new(Qfcp::new(CONFIG, source, BUFFER).expect("the parameters are in range"));
        interval(&mut driver, 1, 1);
        driver.observed("fair_rate_bps")
    };
    let plain = rate(Box::new(crate::source::Probing(100_000.0, 1.0)));
    let probing = rate(Box::new(crate::source::Probing(100_000.0, 1.14)));
    assert!(close(probing, 1.14 * plain), "{probing} {plain}");
}
