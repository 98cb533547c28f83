//! XCP's router in a queue: its measurements, their times, and the feedback that it writes.

use airpath_model::{Bytes, Duration, PathHeader, Timestamp, XcpForm, XcpHeader};
use airpath_queue::{NegativeShare, UpsilonOn, Xcp, XcpConfig};

use crate::driver::Driver;
use crate::source::{Event, Known, Probing, RecordingSource};

const SIZE: Bytes = Bytes::new(1000);
const UNLIMITED: f64 = 1e24;
const BUFFER: Bytes = Bytes::new(50_000);

fn milliseconds(count: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(count)
}

fn router(capacity: f64) -> Xcp {
    Xcp::new(XcpConfig::NS2, Box::new(Known(capacity)), BUFFER).expect("the parameters are in range")
}

/// Returns a router whose source probes 40 % above its capacity.
fn probing(upsilon_on: UpsilonOn, capacity: f64) -> Xcp {
    let config = XcpConfig { upsilon_on, ..XcpConfig::NS2 };
    Xcp::new(config, Box::new(Probing(capacity, 1.4)), BUFFER).expect("the parameters are in range")
}

fn header(rtt: Duration, packets_in_window: u64) -> PathHeader {
    let inter_packet = rtt / packets_in_window;
    PathHeader::Xcp(XcpHeader { rtt, inter_packet, delta_throughput: UNLIMITED })
}

fn delta(header: PathHeader) -> f64 {
    match header {
        PathHeader::Xcp(header) => header.delta_throughput,
        other => panic!("{other:?}"),
    }
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs().max(1.0)
}

/// Simulates an interval of two flows with different round-trip times and rates and evenly spaced packets.
/// Returns the total feedback given in it.
fn an_interval_of_two_flows(driver: &mut Driver<Xcp>) -> f64 {
    let interval = Duration::from_millis(50);
    let mut given = 0.0;
    for packet in 0..10 {
        let path = if packet % 5 == 0 {
            header(Duration::from_millis(60), 2)
        } else {
            header(Duration::from_millis(40), 8)
        };
        driver.arrive(SIZE, true, path);
        given += delta(driver.depart().expect("a packet waits").header);
        driver.run_to(driver.now + interval / 10);
    }
    given
}

#[test]
fn the_feedback_of_an_interval_sums_to_the_aggregate() {
    for capacity in [400_000.0, 205_000.0, 199_000.0, 50_000.0] {
        let mut driver = Driver::new(router(capacity));
        // In the first interval nothing is known, and no feedback is given.
        assert!(close(an_interval_of_two_flows(&mut driver), 0.0));
        // 2 packets with X = 30 ms and an RTT of 60 ms, 8 with 5 ms and 40 ms: d = (2·30·60 + 8·5·40)/(60 +
        // 40) = 52 ms.
        assert!(close(driver.observed("mean_rtt_s"), 0.052));
        assert!(close(driver.observed("control_interval_s"), 0.052));
        assert!(close(driver.observed("input_rate_bps"), 8.0 * 200_000.0));
        let feedback = driver.observed("feedback");
        assert!(close(feedback, 0.4 * (capacity - 200_000.0)), "{feedback}");
        // The same packets, all in the interval of 52 ms: the residues are given out completely.
        assert!(close(an_interval_of_two_flows(&mut driver), feedback), "capacity {capacity}");
    }
}

#[test]
fn in_equilibrium_shuffling_moves_rate_from_the_faster_flow_to_the_slower() {
    let mut driver = Driver::new(router(200_000.0));
    an_interval_of_two_flows(&mut driver);
    assert!(close(driver.observed("feedback"), 0.0));
    let mut given = |packets_in_window, rtt| {
        driver.arrive(SIZE, true, header(Duration::from_millis(rtt), packets_in_window));
        delta(driver.depart().expect("a packet waits").header)
    };
    // h = 20 000 byte/s over Σ X = 0.1 s and 10 000 bytes: 200 000 X − 2 size.
    assert!(close(given(2, 60), 200_000.0 * 0.030 - 2000.0));
    assert!(close(given(8, 40), 200_000.0 * 0.005 - 2000.0));
}

#[test]
fn acknowledgments_count_as_input_and_are_unchanged() {
    let mut driver = Driver::new(router(200_000.0));
    for _ in 0..10 {
        driver.arrive(SIZE, false, header(Duration::from_millis(40), 1));
        let echo = driver.depart().expect("a packet waits");
        assert!(close(delta(echo.header), UNLIMITED));
    }
    driver.run_to(milliseconds(50));
    assert!(close(driver.observed("input_rate_bps"), 8.0 * 200_000.0));
    // No flow reported its RTT.
    assert!(close(driver.observed("mean_rtt_s"), 0.050));
    driver.arrive(SIZE, true, PathHeader::None);
    assert_eq!(driver.depart().expect("a packet waits").header, PathHeader::None);
}

/// Half of all bytes are acknowledgments. They take half of the negative feedback, unless only data shares
/// it.
#[test]
fn the_negative_share_determines_whether_acknowledgments_dilute_negative_feedback() {
    for (negative_share, given_part) in [(NegativeShare::All, 0.5), (NegativeShare::Data, 1.0)] {
        let config = XcpConfig { gamma: 0.0, negative_share, ..XcpConfig::NS2 };
        let source = Box::new(Known(100_000.0));
        let mut driver = Driver::new(Xcp::new(config, source, BUFFER).expect("the parameters are in range"));
        let mut given = 0.0;
        for packet in 0..20 {
            driver.arrive(SIZE, packet % 2 == 0, header(Duration::from_millis(50), 10));
            let departed = driver.depart().expect("a packet waits");
            if packet % 2 == 0 && driver.now >= milliseconds(50) {
                given += delta(departed.header);
            }
            driver.run_to(driver.now + Duration::from_millis(5));
        }
        // y = 200 000 byte/s: F = 0.4 (100 000 - 200 000).
        assert!(close(driver.observed("feedback"), -40_000.0));
        assert!(close(given, -40_000.0 * given_part), "{negative_share:?} {given}");
    }
}

/// F = 40 000 byte/s over Σ X = 0.5 s of ten packets in 50 ms, 4000 byte/s each; then twice as many packets
/// arrive.
#[test]
fn the_form_determines_whether_more_packets_get_more_feedback() {
    for (form, given_in_all) in [(XcpForm::Rate, 40_000.0), (XcpForm::Window, 80_000.0)] {
        let config = XcpConfig { gamma: 0.0, form, ..XcpConfig::NS2 };
        let source = Box::new(Known(300_000.0));
        let mut driver = Driver::new(Xcp::new(config, source, BUFFER).expect("the parameters are in range"));
        for _ in 0..10 {
            driver.arrive(SIZE, true, header(Duration::from_millis(50), 1));
            driver.depart();
        }
        driver.run_to(milliseconds(50));
        assert!(close(driver.observed("feedback"), 0.4 * 100_000.0));
        let mut given = 0.0;
        for _ in 0..20 {
            driver.arrive(SIZE, true, header(Duration::from_millis(50), 1));
            given += delta(driver.depart().expect("a packet waits").header);
        }
        assert!(close(given, given_in_all), "{form:?}: {given}");
    }
}

#[test]
fn a_flow_without_a_round_trip_time_gets_zero() {
    let mut driver = Driver::new(router(400_000.0));
    an_interval_of_two_flows(&mut driver);
    driver.arrive(SIZE, true, header(Duration::ZERO, 1));
    assert!(close(delta(driver.depart().expect("a packet waits").header), 0.0));
    // Another packet, with an RTT, gets its share.
    driver.arrive(SIZE, true, header(Duration::from_millis(40), 8));
    assert!(delta(driver.depart().expect("a packet waits").header) > 0.0);
}

#[test]
fn an_interval_without_arrivals_allocates_no_feedback() {
    let mut driver = Driver::new(router(400_000.0));
    an_interval_of_two_flows(&mut driver);
    driver.run_to(milliseconds(50 + 52 + 50));
    assert!(close(driver.observed("feedback"), 0.0));
    assert!(close(driver.observed("mean_rtt_s"), 0.050));
    driver.arrive(SIZE, true, header(Duration::from_millis(40), 8));
    assert!(close(delta(driver.depart().expect("a packet waits").header), 0.0));
}

#[test]
fn control_intervals_stay_within_their_bounds() {
    for (rtt, interval) in [(Duration::from_micros(10), 0.001), (Duration::from_secs(3), 1.0)] {
        let mut driver = Driver::new(router(400_000.0));
        driver.arrive(SIZE, true, header(rtt, 1));
        driver.run_to(milliseconds(50));
        assert!(close(driver.observed("control_interval_s"), interval));
    }
}

/// Ten packets wait from the start, and in the second interval, of 50 ms, eight arrive and depart: 10 000
/// bytes persist.
fn an_interval_over_a_standing_queue(driver: &mut Driver<Xcp>) {
    for _ in 0..10 {
        driver.arrive(SIZE, true, header(Duration::from_millis(50), 10));
    }
    // The timer of the queue first finds the empty queue of the start, then the packets that have not
    // departed.
    driver.run_to(milliseconds(50));
    assert!(close(driver.observed("persistent_queue_bytes"), 0.0));
    // No packet departs: 10 000 bytes are the whole 50 ms, so that T_q = 2 ms.
    driver.run_to(milliseconds(60));
    assert!(close(driver.observed("persistent_queue_bytes"), 10_000.0));
    for _ in 0..8 {
        driver.arrive(SIZE, true, header(Duration::from_millis(50), 10));
        driver.depart();
    }
    driver.run_to(milliseconds(100));
}

#[test]
fn a_standing_queue_is_drained() {
    let mut driver = Driver::new(router(200_000.0));
    an_interval_over_a_standing_queue(&mut driver);
    // 8000 bytes in 50 ms of 200 000 byte/s; F = 0.4 · 40 000 − 0.226 · Q / 0.05 s.
    let queue = driver.observed("persistent_queue_bytes");
    assert!(close(queue, 10_000.0));
    assert!(close(driver.observed("feedback"), 0.4 * 40_000.0 - 0.226 * queue / 0.05));
}

/// If a packet arrives and departs at the same instant, the link was idle, and no queue persists. A single
/// packet that had to wait for another is a queue of one packet.
#[test]
fn an_idle_link_has_no_persistent_queue() {
    for (idle, persistent) in [(true, 0.0), (false, 1000.0)] {
        let mut driver = Driver::new(router(200_000.0));
        let arrive =
            |driver: &mut Driver<Xcp>| driver.arrive(SIZE, true, header(Duration::from_millis(50), 10));
        arrive(&mut driver);
        driver.run_to(milliseconds(50));
        driver.depart();
        driver.run_to(milliseconds(60));
        if idle {
            arrive(&mut driver);
            driver.depart();
        }
        // 1000 bytes are 5 ms of 50 ms: T_q = 22.5 ms.
        driver.run_to(milliseconds(73));
        assert!(close(driver.observed("persistent_queue_bytes"), persistent), "{idle}");
    }
}

/// All choices for Υ = 1.4 with y = 200 000 byte/s, d = 52 ms and an empty queue: at rest, below the
/// capacity, above it.
#[test]
fn upsilon_multiplies_the_configured_quantity() {
    for (upsilon_on, capacity, expected) in [
        (UpsilonOn::Capacity, 200_000.0, 0.4 * 80_000.0),
        (UpsilonOn::Spare, 200_000.0, 0.0),
        (UpsilonOn::Feedback, 200_000.0, 0.0),
        (UpsilonOn::PositiveFeedback, 200_000.0, 0.0),
        (UpsilonOn::Capacity, 300_000.0, 0.4 * 220_000.0),
        (UpsilonOn::Spare, 300_000.0, 0.4 * 140_000.0),
        (UpsilonOn::Feedback, 300_000.0, 1.4 * 40_000.0),
        (UpsilonOn::PositiveFeedback, 300_000.0, 1.4 * 40_000.0),
        (UpsilonOn::Capacity, 100_000.0, 0.4 * -60_000.0),
        (UpsilonOn::Spare, 100_000.0, 0.4 * -140_000.0),
        (UpsilonOn::Feedback, 100_000.0, 1.4 * -40_000.0),
        (UpsilonOn::PositiveFeedback, 100_000.0, -40_000.0),
    ] {
        let mut driver = Driver::new(probing(upsilon_on, capacity));
        an_interval_of_two_flows(&mut driver);
        let feedback = driver.observed("feedback");
        assert!(close(feedback, expected), "{upsilon_on:?} at {capacity}: {feedback}");
    }
}

/// S = 40 000 byte/s and a persistent queue of 10 000 bytes over d = 50 ms: α S = 16 000, β Q / d = 45 200.
#[test]
fn upsilon_on_the_spare_bandwidth_leaves_the_queue_alone() {
    for (upsilon_on, expected) in [
        (UpsilonOn::Capacity, 0.4 * 120_000.0 - 45_200.0),
        (UpsilonOn::Spare, 1.4 * 16_000.0 - 45_200.0),
        (UpsilonOn::Feedback, 1.4 * (16_000.0 - 45_200.0)),
        (UpsilonOn::PositiveFeedback, 16_000.0 - 45_200.0),
    ] {
        let mut driver = Driver::new(probing(upsilon_on, 200_000.0));
        an_interval_over_a_standing_queue(&mut driver);
        let feedback = driver.observed("feedback");
        assert!(close(feedback, expected), "{upsilon_on:?}: {feedback}");
    }
}

#[test]
fn the_source_receives_every_event_and_its_timer_runs() {
    let (listening, told) = RecordingSource::new();
    let mut driver = Driver::new(
        Xcp::new(XcpConfig::NS2, Box::new(listening), BUFFER).expect("the parameters are in range"),
    );
    driver.run_to(milliseconds(10));
    driver.arrive(SIZE, true, header(Duration::from_millis(20), 1));
    driver.arrive(SIZE, false, PathHeader::None);
    driver.run_to(milliseconds(20));
    driver.depart();
    driver.run_to(milliseconds(50));
    let told = told.lock().unwrap();
    assert_eq!(
        told[..4],
        [
            Event::Arrival(milliseconds(10), SIZE, Bytes::ZERO),
            Event::Arrival(milliseconds(10), SIZE, SIZE),
            Event::Departure(milliseconds(20), SIZE, SIZE),
            Event::Timer(milliseconds(30), SIZE),
        ]
    );
    let Event::Spare(interval) = told[4] else { panic!("{:?}", told[4]) };
    assert_eq!((interval.now, interval.length), (milliseconds(50), Duration::from_millis(50)));
    assert_eq!(interval.mean_rtt, Duration::from_millis(20));
    assert!(close(interval.input_rate, 40_000.0));
    // 0 for 10 ms, 2000 bytes for 10 ms, 1000 for 30 ms.
    assert!(close(interval.mean_queue, 1000.0));
    assert!(close(interval.shortest_queue, 0.0) && close(interval.last_queue, 1000.0));
    assert!(close(interval.queue, 0.0) && close(interval.buffer, 50_000.0));
    assert!(close(driver.observed("listening"), 1.0));
}

#[test]
fn impossible_parameters_are_rejected() {
    let refused = |change: fn(&mut XcpConfig)| {
        let mut config = XcpConfig::NS2;
        change(&mut config);
        Xcp::new(config, Box::new(Known(1.0)), BUFFER).is_err()
    };
    assert!(refused(|config| config.alpha = 0.0));
    assert!(refused(|config| config.alpha = f64::NAN));
    assert!(refused(|config| config.beta = -0.1));
    assert!(refused(|config| config.gamma = 1.1));
    assert!(refused(|config| config.min_interval = Duration::ZERO));
    assert!(refused(|config| config.max_interval = Duration::from_micros(999)));
    assert!(!refused(|_| {}));
}
