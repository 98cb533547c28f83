//! The kernel's own TCP through the emulator: whole, counted, captured.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use airpath_emu::{Emulation, Options, Side};
use airpath_sim::network::FlowState;
use airpath_sim::plan::{LinkPlan, Plan, RatePlan};
use airpath_sim::{Column, Outcome};
use airpath_trace::capture::CaptureReader;

use support::{Otherwise, constant, emulation, hosts_can_be_made, link, plan, skipped, socket, valid};

/// Sends that many bytes over one connection of the first flow; gives how long it took in seconds.
fn transfer(emulation: &Emulation, bytes: usize) -> f64 {
    let to = SocketAddrV4::new(Side::Receivers.address(0).unwrap(), 80);
    let from = Side::Senders.address(0).unwrap();
    let listener = emulation.host(Side::Receivers).enter(|| TcpListener::bind(to)).unwrap().unwrap();
    let content: Vec<u8> = (0..bytes).map(|number| (number * number / 8) as u8).collect();
    let expected = content.clone();
    let receiving = thread::spawn(move || {
        let (mut connection, peer) = listener.accept().unwrap();
        assert_eq!(peer.ip(), from);
        let mut received = Vec::new();
        connection.read_to_end(&mut received).unwrap();
        assert!(received == expected, "the content is another");
        connection.write_all(b"!").unwrap();
    });
    let began = Instant::now();
    let mut connection = emulation.host(Side::Senders).enter(|| TcpStream::connect(to)).unwrap().unwrap();
    connection.write_all(&content).unwrap();
    connection.shutdown(Shutdown::Write).unwrap();
    connection.read_exact(&mut [0]).unwrap();
    let took = began.elapsed().as_secs_f64();
    receiving.join().unwrap();
    took
}

/// A link that loses one packet in a hundred, and one back.
fn lossy(seconds: u64) -> Plan {
    let there = LinkPlan { loss: 0.01, ..link("there", constant(10_000_000), 10.0, 100) };
    plan(seconds, vec![there, link("back", constant(10_000_000), 10.0, 100)], 1)
}

/// Waits until no connection of either host sends or acknowledges anything any more: what was lost at its end is sent again
/// some 200 ms later.
fn until_connections_are_over(emulation: &Emulation) {
    const TIME_WAIT: &str = "06";
    let is_over = |side| {
        let table = || std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap();
        let table = emulation.host(side).enter(table).unwrap();
        table.lines().skip(1).all(|line| line.split_whitespace().nth(3) == Some(TIME_WAIT))
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    while !Side::BOTH.into_iter().all(is_over) {
        assert!(Instant::now() < deadline, "a connection goes on");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The sum of a column.
fn sum(outcome: &Outcome, name: &str, column: &str) -> i64 {
    let table = outcome.tables.iter().find(|table| table.name == name).unwrap();
    match table.column(column).unwrap() {
        Column::I64(values) => values.iter().sum(),
        Column::F64(_) => panic!("{column} is not whole"),
    }
}

/// What ends of flows say of the last interval may come after it: a thread that asks them is late.
#[test]
fn what_is_said_after_the_end_is_in_the_last_interval() {
    // Long enough that what is said at the beginning does not come in the last interval.
    let plan = lossy(2);
    let Some(emulation) = emulation(&plan) else { return };
    let says = |bytes| emulation.on_network(move |network| network.on_goodput(0, bytes));
    says(1);
    while !emulation.is_over() {
        thread::sleep(Duration::from_millis(1));
    }
    thread::sleep(Duration::from_millis(20));
    says(1000);
    let outcome = emulation.stop(None).unwrap().outcome;
    assert_eq!(sum(&outcome, "flows", "goodput_bytes"), 1001);
    let series = outcome.flow_series.table();
    assert_eq!(series.integers("goodput_bytes"), [1, 1000]);
    assert!(series.reals("time_s")[1] > 1.99);
}

#[test]
fn a_file_passes_whole_and_every_packet_is_accounted_for() {
    let plan = lossy(30);
    let Some(emulation) = emulation(&plan) else { return };
    let took = transfer(&emulation, 1_000_000);
    until_connections_are_over(&emulation);
    thread::sleep(Duration::from_millis(250)); // the last acknowledgments, and the end of an interval
    let emulated = emulation.stop(None).unwrap();
    let packets = emulated.validity.measured.packets;
    assert_eq!(
        packets.sent,
        packets.unknown + packets.delivered + packets.lost + packets.inside,
        "{packets:?}"
    );
    assert_eq!((packets.unknown, packets.inside), (0, 0), "{packets:?}");
    assert!(packets.lost > 0, "one in a hundred should be lost");
    assert_eq!(sum(&emulated.outcome, "links", "dropped_packets_total"), packets.lost as i64);
    assert_eq!(emulated.validity.measured.device_drops, [0, 0]);
    // 691 segments of 1448 bytes and as many acknowledgments at most, and what is sent again; at 10 Mbit/s that is 0.83 s.
    let departed = sum(&emulated.outcome, "links", "departed_bytes");
    assert!((1_000_000..1_200_000).contains(&departed), "{departed} bytes");
    assert!(took > 0.8 && took < 20.0, "{took} s");
}

#[test]
fn ping_answers_after_the_round_trip() {
    let links =
        vec![link("there", constant(10_000_000), 30.0, 100), link("back", RatePlan::Unlimited, 20.0, 100)];
    let plan = plan(30, links, 1);
    let found = valid(Otherwise::Skipped, || {
        let emulation = emulation(&plan)?;
        let mut ping = Command::new("ping");
        ping.args(["-c", "3", "-i", "0.2", "10.8.0.1"]).env("LC_ALL", "C").stdout(Stdio::piped());
        let Ok(ping) = emulation.spawn(Side::Senders, &mut ping) else {
            skipped("there is no ping");
            return None;
        };
        let said = String::from_utf8(ping.wait_with_output().unwrap().stdout).unwrap();
        Some((said, emulation.stop(None).unwrap().validity.problems))
    });
    let Some(said) = found else { return };
    assert!(said.contains("3 received"), "{said}");
    let least = said.split("mdev = ").nth(1).and_then(|times| times.split('/').next()).unwrap();
    let least: f64 = least.parse().unwrap();
    assert!((50.0..51.5).contains(&least), "50 ms of delay: {said}");
}

#[test]
fn the_capture_shows_both_hosts() {
    if !hosts_can_be_made() {
        return;
    }
    let path = std::env::temp_dir().join(format!("airpath-test-{}.pcapng", std::process::id()));
    let options = Options { capture: Some((path.clone(), Side::BOTH.to_vec())), ..Options::default() };
    let emulation = Emulation::start(&lossy(30), &[], 1, &options).unwrap();
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

/// As in the simulator: a link's packets at the instants at which they reach its entrance, those that it loses too.
#[test]
fn the_capture_of_a_link_shows_what_came_to_it() {
    let mut plan = lossy(30);
    plan.record.capture = vec![0, 1];
    let Some(emulation) = emulation(&plan) else { return };
    transfer(&emulation, 300_000);
    until_connections_are_over(&emulation);
    thread::sleep(Duration::from_millis(250)); // the last acknowledgments, and the end of an interval
    let outcome = emulation.stop(None).unwrap().outcome;
    let file = outcome.capture.clone().unwrap();
    let mut reader = CaptureReader::new(std::io::Cursor::new(file)).unwrap();
    let (mut arrived, mut last, mut data) = ([0, 0], 0, 0);
    while let Some(packet) = reader.next_packet() {
        assert!(packet.time_ns >= last, "times run forward");
        last = packet.time_ns;
        arrived[packet.interface as usize] += 1;
        data += u64::from(packet.payload);
    }
    let links = outcome.tables.iter().find(|table| table.name == "links").unwrap();
    assert_eq!(arrived.as_slice(), links.integers("arrived_packets"));
    assert!(data >= 300_000, "{data} bytes, and what was sent again");
}

#[test]
fn flows_take_their_own_ways() {
    let links = vec![
        link("there", RatePlan::Unlimited, 5.0, 100),
        link("back", RatePlan::Unlimited, 5.0, 100),
        link("farther", RatePlan::Unlimited, 25.0, 100),
    ];
    let mut plan = plan(30, links, 2);
    plan.flows[1].path = vec![2, 0];
    let Some(emulation) = emulation(&plan) else { return };
    for (flow, least) in [(0, 0.005), (1, 0.030)] {
        let receiver = socket(&emulation, Side::Receivers, flow, 4000);
        let sender = socket(&emulation, Side::Senders, flow, 4001);
        let probe = || {
            let began = Instant::now();
            sender.send_to(b"x", receiver.local_addr().unwrap()).unwrap();
            receiver.recv(&mut [0; 8]).unwrap();
            began.elapsed().as_secs_f64()
        };
        // None comes before its time. On a busy machine most may come late, as seen by an ordinary thread, but not all.
        let mut took = vec![probe()];
        while took.last().is_some_and(|took| *took >= least + 0.02) {
            assert!(took.len() < 100, "flow {flow}: {took:?} s of {least}");
            took.push(probe());
        }
        assert!(took.iter().all(|took| *took >= least), "flow {flow}: {took:?} s of {least}");
    }
}

#[test]
fn the_ends_of_flows_can_say_what_they_know() {
    let plan = plan(
        30,
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
    thread::sleep(Duration::from_millis(350));
    let emulated = emulation.stop(None).unwrap();
    assert_eq!(called.load(Ordering::Relaxed), 10);
    assert_eq!(*order.lock().unwrap(), (0..10).collect::<Vec<_>>());
    let series = emulated.outcome.flow_series.table();
    assert!(series.reals("cwnd_bytes").iter().any(|cwnd| (cwnd - 14_480.0).abs() < 1e-9), "{series:?}");
}
