//! VCP's and MPCP's routers in a queue.

use airpath_model::{Bytes, Duration, LoadCode, LoadWord, PathHeader, Rate};
use airpath_queue::{LoadFactor, LoadFactorConfig, Mpcp, RouterProtocol, Vcp};

use crate::driver::Driver;
use crate::packet::TestPacket;
use crate::source::{Known, RecordingSource};

/// 10 Mbit/s, in byte/s: 98 % of the capacity are 245 packets in 200 ms.
const CAPACITY: f64 = 1_250_000.0;
const SIZE: Bytes = Bytes::new(1000);
const INTERVAL: Duration = Duration::from_millis(200);

fn load_factor() -> LoadFactor {
    LoadFactor::new(LoadFactorConfig::default(), Box::new(Known(CAPACITY))).expect("parameters in range")
}

/// Simulates an interval in which `packets` packets without a header pass.
fn interval<T: RouterProtocol<TestPacket>>(driver: &mut Driver<T>, packets: u64) {
    for _ in 0..packets {
        driver.arrive(SIZE, true, PathHeader::None);
        driver.depart();
    }
    driver.run_to(driver.now + INTERVAL);
}

/// Sends a packet with `header` through the router. Returns the header with which it departs.
fn pass<T: RouterProtocol<TestPacket>>(
    driver: &mut Driver<T>,
    is_data: bool,
    header: PathHeader,
) -> PathHeader {
    driver.arrive(SIZE, is_data, header);
    driver.depart().expect("a packet waits").header
}

fn word(level: u16, digits: u8, digit: u8) -> PathHeader {
    PathHeader::Word(LoadWord { level, digits, digit })
}

#[test]
fn the_code_is_constant_for_an_interval() {
    let mut driver = Driver::new(Vcp::new(load_factor()));
    let low = PathHeader::Load(LoadCode::Low);
    // 195, 196 and 245 packets: the packet that reads the code counts in the next interval.
    for (packets, code) in
        [(195, LoadCode::Low), (195, LoadCode::High), (244, LoadCode::Overload), (100, LoadCode::Low)]
    {
        interval(&mut driver, packets);
        assert_eq!(pass(&mut driver, true, low), PathHeader::Load(code), "{packets} packets");
    }
    driver.run_to(driver.now + Duration::from_millis(199));
    assert_eq!(pass(&mut driver, true, low), low);
}

#[test]
fn the_code_is_the_most_severe_of_the_hops() {
    let mut driver = Driver::new(Vcp::new(load_factor()));
    interval(&mut driver, 200);
    for (brought, left) in [
        (LoadCode::Low, LoadCode::High),
        (LoadCode::High, LoadCode::High),
        (LoadCode::Overload, LoadCode::Overload),
    ] {
        assert_eq!(pass(&mut driver, true, PathHeader::Load(brought)), PathHeader::Load(left));
    }
}

#[test]
fn the_code_is_set_on_departure() {
    let mut driver = Driver::new(Vcp::new(load_factor()));
    driver.arrive(SIZE, true, PathHeader::Load(LoadCode::Low));
    for _ in 0..300 {
        driver.arrive(SIZE, true, PathHeader::None);
    }
    driver.run_to(driver.now + INTERVAL);
    assert_eq!(driver.depart().expect("it waits").header, PathHeader::Load(LoadCode::Overload));
}

#[test]
fn acknowledgments_count_in_the_load_and_keep_their_echo() {
    let mut driver = Driver::new(Vcp::new(load_factor()));
    for _ in 0..300 {
        pass(&mut driver, false, PathHeader::Load(LoadCode::Low));
    }
    driver.run_to(driver.now + INTERVAL);
    assert!((driver.observed("load_factor") - 300.0 / 245.0).abs() < 1e-12);
    let low = PathHeader::Load(LoadCode::Low);
    assert_eq!(pass(&mut driver, false, low), low);
    assert_eq!(pass(&mut driver, true, low), PathHeader::Load(LoadCode::Overload));
}

#[test]
fn headers_of_other_protocols_pass_unchanged() {
    let mut vcp = Driver::new(Vcp::new(load_factor()));
    let mut mpcp = Driver::new(Mpcp::new(load_factor()));
    interval(&mut vcp, 300);
    interval(&mut mpcp, 300);
    let low = PathHeader::Load(LoadCode::Low);
    for header in [PathHeader::None, PathHeader::FairRate(Rate::UNLIMITED), word(3, 2, 1)] {
        assert_eq!(pass(&mut vcp, true, header), header);
    }
    for header in [PathHeader::None, PathHeader::FairRate(Rate::UNLIMITED), low] {
        assert_eq!(pass(&mut mpcp, true, header), header);
    }
}

#[test]
fn the_load_word_is_the_quantised_maximum_of_the_hops() {
    let mut driver = Driver::new(Mpcp::new(load_factor()));
    // ρ = 0.6 is half of the largest value of a word.
    interval(&mut driver, 147);
    assert!((driver.observed("load_factor") - 0.6).abs() < 1e-12);
    assert_eq!(pass(&mut driver, true, word(0, 2, 0)), word(8, 2, 0));
    assert_eq!(pass(&mut driver, true, word(0, 2, 1)), word(8, 2, 1));
    assert_eq!(pass(&mut driver, true, word(0, 3, 2)), word(32, 3, 2));
    assert_eq!(pass(&mut driver, true, word(11, 2, 0)), word(11, 2, 0));
    assert_eq!(pass(&mut driver, false, word(1, 2, 0)), word(1, 2, 0));
    interval(&mut driver, 1000);
    assert_eq!(pass(&mut driver, true, word(0, 2, 0)), word(15, 2, 0));
}

#[test]
fn a_source_without_a_capacity_is_rejected() {
    let (listening, _) = RecordingSource::new();
    let refused = LoadFactor::new(LoadFactorConfig::default(), Box::new(listening)).unwrap_err();
    assert_eq!(refused.parameter, "source");
}

/// A source that estimates a capacity and records its calls.
#[derive(Debug)]
struct RecordingKnown(RecordingSource);

impl airpath_model::CapacitySource for RecordingKnown {
    fn on_arrival(&mut self, now: airpath_model::Timestamp, size: Bytes, backlog: airpath_model::Backlog) {
        self.0.on_arrival(now, size, backlog);
    }
    fn on_departure(&mut self, now: airpath_model::Timestamp, size: Bytes, backlog: airpath_model::Backlog) {
        self.0.on_departure(now, size, backlog);
    }
    fn on_timer(&mut self, now: airpath_model::Timestamp, backlog: airpath_model::Backlog) {
        self.0.on_timer(now, backlog);
    }
    fn next_timer(&self) -> airpath_model::Timestamp {
        self.0.next_timer()
    }
    fn capacity(&mut self, _now: airpath_model::Timestamp) -> Option<f64> {
        Some(CAPACITY)
    }
}

#[test]
fn the_source_receives_every_event() {
    use crate::source::Event;
    let (listening, told) = RecordingSource::new();
    let load = LoadFactor::new(LoadFactorConfig::default(), Box::new(RecordingKnown(listening))).unwrap();
    let mut driver = Driver::new(Vcp::new(load));
    driver.arrive(SIZE, true, PathHeader::None);
    driver.arrive(SIZE, true, PathHeader::None);
    driver.depart();
    let start = driver.now;
    driver.run_to(start + Duration::from_millis(30));
    let told = told.lock().unwrap();
    let due = airpath_model::Timestamp::ZERO + Duration::from_millis(30);
    assert_eq!(
        *told,
        [
            Event::Arrival(start, SIZE, Bytes::ZERO),
            Event::Arrival(start, SIZE, SIZE),
            Event::Departure(start, SIZE, SIZE),
            Event::Timer(due, SIZE),
        ]
    );
}
