//! The kernel's own TCP and UDP through the emulator: counted, captured, on their own routes.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use airpath_emu::{Emulation, Options, Side};
use airpath_network::FlowState;
use airpath_plan::RatePlan;
use airpath_trace::capture::CaptureReader;

use crate::support::*;

/// Seconds, longer than any test: no result depends on the end of the run.
const LONG_S: u64 = 3600;

#[test]
fn the_capture_contains_packets_of_both_hosts() {
    if !hosts_can_be_made() {
        return;
    }
    let path = std::env::temp_dir().join(format!("airpath-test-{}.pcapng", std::process::id()));
    let options = Options { capture: Some((path.clone(), Side::BOTH.to_vec())), ..Options::default() };
    let emulation = Emulation::start(&lossy(LONG_S), &[], 1, &options).unwrap();
    transfer(&emulation, 100_000);
    let packets = emulation.stop(None).unwrap().validity.measured.packets;
    let mut reader = CaptureReader::new(File::open(&path).unwrap()).unwrap();
    let mut read = 0_u64;
    while reader.next_packet().is_some() {
        read += 1;
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read, packets.sent + packets.delivered);
}

/// As in the simulator: a link's packets, including lost ones, at the times at which they reach its entrance.
#[test]
fn the_capture_of_a_link_contains_its_arrivals() {
    let mut plan = lossy(LONG_S);
    plan.record.capture = vec![0, 1];
    let Some(emulation) = emulation(&plan) else { return };
    transfer(&emulation, 300_000);
    until_connections_are_over(&emulation);
    let outcome = emulation.stop(None).unwrap().outcome;
    let file = outcome.capture.clone().unwrap();
    let mut reader = CaptureReader::new(std::io::Cursor::new(file)).unwrap();
    let (mut arrived, mut last, mut data) = ([0, 0], 0, 0);
    while let Some(packet) = reader.next_packet() {
        assert!(packet.time_ns >= last, "timestamps do not decrease");
        last = packet.time_ns;
        arrived[packet.interface as usize] += 1;
        data += u64::from(packet.payload);
    }
    let links = outcome.tables.iter().find(|table| table.name == "links").unwrap();
    assert_eq!(arrived.as_slice(), links.integers("arrived_packets"));
    assert!(data >= 300_000, "{data} bytes, and what was sent again");
}

#[test]
fn flows_take_their_own_paths() {
    let links = vec![
        link("there", RatePlan::Unlimited, 5.0, 100),
        link("back", RatePlan::Unlimited, 5.0, 100),
        link("farther", RatePlan::Unlimited, 25.0, 100),
    ];
    let mut plan = plan(LONG_S, links, 2);
    plan.flows[1].path = vec![2, 0];
    let Some(emulation) = emulation(&plan) else { return };
    for (flow, datagrams) in [(0, 3), (1, 4)] {
        let receiver = socket(&emulation, Side::Receivers, flow, 4000);
        let sender = socket(&emulation, Side::Senders, flow, 4001);
        for _ in 0..datagrams {
            sender.send_to(b"x", receiver.local_addr().unwrap()).unwrap();
            receiver.recv(&mut [0; 8]).unwrap();
        }
    }
    let outcome = emulation.stop(None).unwrap().outcome;
    let links = outcome.tables.iter().find(|table| table.name == "links").unwrap();
    assert_eq!(links.integers("departed_packets"), [7, 0, 4], "there, back, farther");
}

#[test]
fn endpoints_of_flows_report_their_measurements() {
    let plan = plan(
        LONG_S,
        vec![link("there", constant(1_000_000), 1.0, 10), link("back", constant(1_000_000), 1.0, 10)],
        1,
    );
    let Some(emulation) = emulation(&plan) else { return };
    let called = Arc::new(AtomicU64::new(0));
    let order = Arc::new(Mutex::new(Vec::new()));
    for number in 0..10 {
        let (called, order) = (Arc::clone(&called), Arc::clone(&order));
        emulation.on_network(move |network| {
            network.set_flow_state(
                0,
                FlowState { cwnd: Some(airpath_model::Bytes::new(14_480)), ..FlowState::unknown(true) },
            );
            called.fetch_add(1, Ordering::Relaxed);
            order.lock().unwrap().push(number);
        });
    }
    let emulated = emulation.stop(None).unwrap();
    assert_eq!(called.load(Ordering::Relaxed), 10);
    assert_eq!(*order.lock().unwrap(), (0..10).collect::<Vec<_>>());
    let series = emulated.outcome.flow_series.table();
    assert!(series.reals("cwnd_bytes").iter().any(|cwnd| (cwnd - 14_480.0).abs() < 1e-9), "{series:?}");
}
