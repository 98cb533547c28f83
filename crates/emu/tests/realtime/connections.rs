//! TCP connections that anybody opened, as flows of their own: what the kernel says of them, and that none is left.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stderr, reason = "measurements are shown")]

mod support;

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use airpath_emu::{ConnectionFlow, Connections, Emulated, Emulation, Options, Side};
use airpath_sim::network::FlowSummary;
use airpath_sim::plan::Plan;
use airpath_sim::{Outcome, Table};
use nix::sched::{CloneFlags, setns};

use support::{Otherwise, constant, hosts_can_be_made, link, plan, skipped, valid};

const PORT: u16 = 80;

/// Two links of some Mbit/s with 10 ms of delay each; all that is no connection goes with flows 0 and 1.
fn two_ways(mbps: u64) -> Plan {
    two_ways_of(mbps, 10.0)
}

fn two_ways_of(mbps: u64, delay_ms: f64) -> Plan {
    let link = |name| link(name, constant(mbps * 1_000_000), delay_ms, 100);
    let mut plan = plan(60, vec![link("there"), link("back")], 2);
    let back = &mut plan.flows[1];
    (back.path, back.reverse_path, back.measured_at) = (vec![1], vec![0], 1);
    plan
}

/// An emulation whose connections are observed, or `None` where there can be none.
fn observed(plan: &Plan) -> Option<Emulation> {
    let options = Options { connections: Some([0, 1]), ..Options::default() };
    hosts_can_be_made().then(|| Emulation::start(plan, &[], 1, &options).unwrap())
}

fn listener(emulation: &Emulation) -> TcpListener {
    let at = SocketAddrV4::new(Side::Receivers.address(0).unwrap(), PORT);
    emulation.host(Side::Receivers).enter(|| TcpListener::bind(at)).unwrap().unwrap()
}

fn connect(emulation: &Emulation) -> TcpStream {
    let to = SocketAddrV4::new(Side::Receivers.address(0).unwrap(), PORT);
    emulation.host(Side::Senders).enter(|| TcpStream::connect(to)).unwrap().unwrap()
}

/// Both ends of a connection.
fn both_ends(emulation: &Emulation, listener: &TcpListener) -> (TcpStream, TcpStream) {
    let here = connect(emulation);
    (here, listener.accept().unwrap().0)
}

/// Sends so many bytes and reads them, then closes.
fn transfer((mut from, mut to): (TcpStream, TcpStream), bytes: usize) {
    let reading = thread::spawn(move || {
        let mut read = Vec::new();
        to.read_to_end(&mut read).unwrap();
        read.len()
    });
    from.write_all(&vec![7; bytes]).unwrap();
    from.shutdown(Shutdown::Write).unwrap();
    from.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(reading.join().unwrap(), bytes);
}

fn stop(emulation: Emulation) -> (Outcome, Connections, Emulated) {
    let emulated = emulation.stop(None).unwrap();
    let connections = emulated.connections.clone().unwrap();
    assert_eq!(connections.sampled.missing, "");
    assert_eq!(connections.beyond_packets, 0);
    assert!(connections.flows.iter().all(|flow| flow.told), "{connections:?}");
    (emulated.outcome.clone(), connections, emulated)
}

fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|table| table.name == name).unwrap()
}

/// A value of a flow in the table `flows`.
fn of_flow(outcome: &Outcome, flow: &ConnectionFlow, column: &str) -> i64 {
    table(outcome, "flows").integers(column)[flow.flow as usize]
}

/// The values of a flow in its series.
fn series(outcome: &Outcome, flow: &ConnectionFlow, column: &str) -> Vec<f64> {
    let series = outcome.flow_series.table();
    let rows = series.integers("flow").iter().zip(series.reals(column));
    rows.filter(|&(&of, _)| of == i64::from(flow.flow)).map(|(_, &value)| value).collect()
}

/// The congestion control of connections in this thread's network namespace: a new one need not have that of the machine's.
fn default_control() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap().trim().to_owned()
}

#[test]
fn a_long_connection_is_told_of_as_it_was() {
    let found = valid(Otherwise::Skipped, || {
        let emulation = observed(&two_ways(20))?;
        let listener = listener(&emulation);
        let ends = both_ends(&emulation, &listener);
        let port = ends.0.local_addr().unwrap().port();
        let control = emulation.host(Side::Senders).enter(default_control).unwrap();
        transfer(ends, 3_000_000);
        thread::sleep(Duration::from_millis(150));
        let (outcome, connections, emulated) = stop(emulation);
        let mut problems = emulated.validity.problems;
        // What is heard late stands in another row than it should.
        if connections.sampled.late > 0 {
            problems.push(format!("{:?}", connections.sampled));
        }
        Some(((port, control, outcome, connections), problems))
    });
    let Some((port, control, outcome, Connections { flows, sampled, .. })) = found else { return };
    let [flow] = &flows[..] else { panic!("{flows:?}") };
    assert_eq!((flow.flow, flow.from), (2, Side::Senders));
    assert_eq!(flow.connection.0.map(|end| end.port()), [port, PORT]);
    assert_eq!(flow.congestion_control, Some(control));

    assert_eq!(of_flow(&outcome, flow, "goodput_bytes"), 3_000_000);
    let FlowSummary { sent_packets, retransmitted_packets, min_rtt_s, srtt_s, .. } = flow.summary;
    assert!(sent_packets - retransmitted_packets >= 3_000_000 / 1448, "{:?}", flow.summary);
    let seen = of_flow(&outcome, flow, "delivered_packets") + of_flow(&outcome, flow, "lost_packets");
    assert_eq!(seen, sent_packets as i64, "the network saw each packet of which the kernel tells");
    assert!((0.0200..0.0215).contains(&min_rtt_s) && srtt_s >= min_rtt_s, "{:?}", flow.summary);
    // 1.2 s at 20 Mbit/s, of which the wire takes 52 bytes of each packet.
    let whole: Vec<f64> = series(&outcome, flow, "srtt_s");
    assert!(whole.len() >= 12, "{whole:?}");
    assert!(whole[1..11].iter().all(|&srtt| srtt >= min_rtt_s && srtt < 0.1), "{whole:?}");
    let windows = series(&outcome, flow, "cwnd_bytes");
    assert!(windows[1..11].iter().all(|&window| window >= 10.0 * 1448.0), "{windows:?}");
    let rows = outcome.flow_series.table();
    let goodput: i64 = rows.integers("goodput_bytes").iter().sum();
    assert_eq!(goodput, 3_000_000);
    // Of the second half, in which the link is full.
    let full = |column: &str| -> i64 {
        let of_flow = rows.integers("flow").iter().zip(rows.integers(column));
        of_flow.filter(|&(&of, _)| of == 2).map(|(_, &value)| value).skip(5).take(5).sum()
    };
    let (goodput, departed) = (full("goodput_bytes") as f64, full("departed_bytes") as f64);
    assert!((departed / 1_250_000.0 - 1.0).abs() < 0.02, "{departed} bytes in half a second at 20 Mbit/s");
    assert!((goodput / departed / (1448.0 / 1500.0) - 1.0).abs() < 0.06, "{goodput} of {departed}");
    assert!(sampled.times >= 12 && sampled.mean_s < 0.01, "{sampled:?}");
}

#[test]
fn short_connections_and_both_directions_are_seen() {
    let Some(emulation) = observed(&two_ways(100)) else { return };
    let listener = listener(&emulation);
    // Ten between two samples, then one in which both sides send.
    for number in 1..=10 {
        transfer(both_ends(&emulation, &listener), 1000 * number);
    }
    let (mut here, mut there) = both_ends(&emulation, &listener);
    here.write_all(b"a question").unwrap();
    there.read_exact(&mut [0; 10]).unwrap();
    there.write_all(&vec![0; 20_000]).unwrap();
    here.read_exact(&mut vec![0; 20_000]).unwrap();
    thread::sleep(Duration::from_millis(150));
    let (outcome, Connections { flows, .. }, _) = stop(emulation);
    let goodput = |from: Side| -> Vec<i64> {
        let of_side = flows.iter().filter(|flow| flow.from == from);
        of_side.map(|flow| of_flow(&outcome, flow, "goodput_bytes")).collect()
    };
    let questions: Vec<i64> = (1..=10).map(|number| 1000 * number).chain([10]).collect();
    assert_eq!(goodput(Side::Senders), questions);
    assert_eq!(goodput(Side::Receivers), [20_000]);
    let back = flows.last().unwrap();
    assert_eq!((back.connection, back.from), (flows[10].connection, Side::Receivers));
    assert_eq!(of_flow(&outcome, back, "delivered_packets"), back.summary.sent_packets as i64);
    // What answers has its own way: what is no data counts nowhere.
    assert_eq!(table(&outcome, "flows").integers("sent_packets")[..2], [0, 0]);
}

#[test]
fn no_connection_is_left_behind() {
    let Some(emulation) = observed(&two_ways(1)) else { return };
    let anywhere = SocketAddrV4::new(Side::Senders.address(0).unwrap(), PORT);
    let _listening = emulation.host(Side::Senders).enter(|| TcpListener::bind(anywhere)).unwrap().unwrap();
    if let Err(error) = emulation.host(Side::Senders).destroy_sockets() {
        skipped(error);
        return;
    }
    let listener = listener(&emulation);
    let (mut here, there) = both_ends(&emulation, &listener);
    here.set_nonblocking(true).unwrap();
    while here.write(&[0; 4096]).is_ok() {}
    let namespaces = Side::BOTH.map(|side| File::open(emulation.host(side).namespace_path()).unwrap());
    let counted = || {
        thread::scope(|scope| {
            let count = |namespace| {
                move || {
                    setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
                    let table = std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap();
                    table.lines().skip(1).count()
                }
            };
            namespaces.each_ref().map(|namespace| scope.spawn(count(namespace)).join().unwrap())
        })
    };
    assert_eq!(counted(), [1, 2], "those of the connection, and one that listens");
    // Nobody reads what is still to be sent: without more it would be sent again and again.
    drop((here, there));
    emulation.stop(None).unwrap();
    assert_eq!(counted(), [0, 0]);
}

/// A second of bulk transfer beside so many connections that say something every 20 ms.
fn beside(emulation: &Emulation, connections: usize) -> Vec<(TcpStream, TcpStream)> {
    let listener = listener(emulation);
    let bulk = both_ends(emulation, &listener);
    let mut ends: Vec<_> = (0..connections).map(|_| both_ends(emulation, &listener)).collect();
    let sending = thread::spawn(move || transfer(bulk, 10_000_000));
    while !sending.is_finished() {
        for (number, (here, _)) in ends.iter_mut().enumerate() {
            here.write_all(&[1]).unwrap();
            if number % 50 == 49 {
                thread::sleep(Duration::from_millis(1));
            }
        }
        for (_, there) in &mut ends {
            there.read_exact(&mut [0]).unwrap();
        }
    }
    sending.join().unwrap();
    ends
}

#[test]
fn a_thousand_connections_are_told_of_at_bounded_cost() {
    const CONNECTIONS: usize = 1000;
    let Some(emulation) = observed(&two_ways_of(100, 1.0)) else { return };
    let ends = beside(&emulation, CONNECTIONS);
    thread::sleep(Duration::from_millis(150));
    drop(ends);
    thread::sleep(Duration::from_millis(50));
    let (outcome, Connections { flows, sampled, .. }, Emulated { lasted, .. }) = stop(emulation);
    assert_eq!(flows.len(), CONNECTIONS + 1);
    let goodput = |flow| of_flow(&outcome, flow, "goodput_bytes");
    let many: Vec<i64> = flows.iter().map(goodput).collect();
    let (most, least) = (many.iter().max().unwrap(), many.iter().min().unwrap());
    assert_eq!(*most, 10_000_000);
    assert_eq!(many.iter().sum::<i64>(), most + least * CONNECTIONS as i64, "all others are alike");
    assert!(sampled.mean_s * sampled.times as f64 <= 0.15 * lasted.as_secs_f64(), "{sampled:?}");
}

#[test]
#[ignore = "a measurement of half a minute, of which only the words are of interest"]
fn what_sampling_costs() {
    for connections in [0, 10, 1000] {
        for _ in 0..3 {
            for options in [Options::default(), Options { connections: Some([0, 1]), ..Options::default() }] {
                let emulation = Emulation::start(&two_ways_of(100, 1.0), &[], 1, &options).unwrap();
                drop(beside(&emulation, connections));
                let Emulated { validity, connections: seen, .. } = emulation.stop(None).unwrap();
                let lateness = validity.measured.lateness;
                eprintln!(
                    "{connections} connections: late {:.1} us in the mean, {:.1} median, {:.1} p99, {:.0} worst, {} of {} late; {:.1} ms between looks; {:?}",
                    1e6 * lateness.mean_s,
                    1e6 * lateness.p50_s,
                    1e6 * lateness.p99_s,
                    1e6 * lateness.max_s,
                    lateness.late_packets,
                    lateness.packets,
                    1e3 * validity.measured.longest_gap_s,
                    seen.map(|seen| seen.sampled)
                );
            }
        }
    }
}
