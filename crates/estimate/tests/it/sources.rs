//! XCP-b and QFCP as capacity sources.

use airpath_estimate::{Qfcp, QfcpConfig, XcpB, XcpBConfig};
use airpath_model::*;

fn at(ms: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(ms)
}

#[test]
fn a_probe_of_xcp_b_leaves_no_spare_queue() {
    let mut source =
        XcpB::new(XcpBConfig { kappa: 0.05, late_reaction: 0, ..XcpBConfig::default() }).unwrap();
    let spare = source.spare(&ControlInterval {
        now: at(100),
        length: Duration::from_millis(100),
        input_rate: 0.0,
        probing: 1.0,
        mean_rtt: Duration::from_millis(100),
        queue: 0.0,
        shortest_queue: 0.0,
        mean_queue: 0.0,
        last_queue: 0.0,
        buffer: 100_000.0,
    });
    assert!((spare.bandwidth - 0.2 * 100_000.0 / 0.04).abs() < 1e-6 && spare.queue.abs() < 1e-12);
}

/// An outage does not raise an estimate that is already below one packet per interval.
#[test]
fn intervals_without_departures_do_not_raise_the_estimate() {
    let config = QfcpConfig { capacity: Rate::from_bps(8_000), ..QfcpConfig::default() };
    let mut source = Qfcp::new(config).unwrap();
    let busy = Backlog { bytes: Bytes::new(5000), packets: 5 };
    source.on_departure(at(50), Bytes::new(1000), busy);
    source.on_timer(at(100), busy);
    source.on_timer(at(200), busy);
    // It grew once because the first interval was not busy throughout. One packet in 100 ms would be 10 kB/s.
    assert_eq!(source.capacity(at(200)), Some(1050.0));
}
