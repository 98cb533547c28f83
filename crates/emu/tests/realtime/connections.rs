//! TCP connections as separate flows in real time: their series, and the cost of querying the kernel.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use airpath_emu::{Connections, Emulated, Emulation, Options, Side};
use airpath_network::FlowSummary;

use crate::check::{assert_valid, check};
use crate::support::connections::*;

/// Returns the congestion control of connections in this thread's network namespace, which may differ from
/// the machine's.
fn default_control() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap().trim().to_owned()
}

#[test]
fn a_long_connection_is_recorded_correctly() {
    check(|| {
        let emulation = observed(&two_ways(20))?;
        let listener = listener(&emulation);
        let ends = both_ends(&emulation, &listener);
        let port = ends.0.local_addr().unwrap().port();
        let control = emulation.host(Side::Senders).enter(default_control).unwrap();
        transfer(ends, 3_000_000);
        thread::sleep(Duration::from_millis(150));
        let (outcome, Connections { flows, sampled, .. }, emulated) = stop(emulation);
        assert_valid(&emulated.validity.problems);
        assert_eq!(sampled.late, 0, "late samples are in the wrong row: {sampled:?}");
        let [flow] = &flows[..] else { panic!("{flows:?}") };
        assert_eq!((flow.flow, flow.from), (2, Side::Senders));
        assert_eq!(flow.connection.0.map(|end| end.port()), [port, PORT]);
        assert_eq!(flow.congestion_control, Some(control));

        assert_eq!(of_flow(&outcome, flow, "goodput_bytes"), 3_000_000);
        let FlowSummary { sent_packets, retransmitted_packets, min_rtt_s, srtt_s, .. } = flow.summary;
        assert!(sent_packets - retransmitted_packets >= 3_000_000 / 1448, "{:?}", flow.summary);
        let seen = of_flow(&outcome, flow, "delivered_packets") + of_flow(&outcome, flow, "lost_packets");
        assert_eq!(seen, sent_packets as i64, "the network carried every packet that the kernel reports");
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
        // Returns the sum over the second half, in which the link is full.
        let full = |column: &str| -> i64 {
            let of_flow = rows.integers("flow").iter().zip(rows.integers(column));
            of_flow.filter(|&(&of, _)| of == 2).map(|(_, &value)| value).skip(5).take(5).sum()
        };
        let (goodput, departed) = (full("goodput_bytes") as f64, full("departed_bytes") as f64);
        assert!(
            (departed / 1_250_000.0 - 1.0).abs() < 0.02,
            "{departed} bytes in half a second at 20 Mbit/s"
        );
        assert!((goodput / departed / (1448.0 / 1500.0) - 1.0).abs() < 0.06, "{goodput} of {departed}");
        assert!(sampled.times >= 12 && sampled.mean_s < 0.01, "{sampled:?}");
        Some(())
    });
}

/// Starts this many connections that send a little every 20 ms, during a second of bulk transfer.
fn open_connections(emulation: &Emulation, connections: usize) -> Vec<(TcpStream, TcpStream)> {
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
fn a_thousand_connections_are_recorded_at_bounded_cost() {
    check(|| {
        const CONNECTIONS: usize = 1000;
        let emulation = observed(&two_ways_of(100, 1.0))?;
        let ends = open_connections(&emulation, CONNECTIONS);
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
        Some(())
    });
}

#[test]
#[ignore = "a measurement of half a minute, of which only the words are of interest"]
fn what_sampling_costs() {
    for connections in [0, 10, 1000] {
        for _ in 0..3 {
            for options in [Options::default(), Options { connections: Some([0, 1]), ..Options::default() }] {
                let emulation = Emulation::start(&two_ways_of(100, 1.0), &[], 1, &options).unwrap();
                drop(open_connections(&emulation, connections));
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
