//! The controllers in connections of this kernel, between two namespaces.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use airpath_linux::host::{CONTROLLERS, HostConfig};
use airpath_linux::native::{Kind, NativeController};
use libbpf_rs::query::MapInfoIter;

use crate::support::replay::{self, difference, native_windows, reference_windows};
use crate::support::{OwnCgroup, load};
use crate::tools::check::{HOLD, check_host};
use crate::tools::namespaces::Pair;
use crate::tools::recorded::{self, Connection};

/// Returns a configuration for this process and its children.
fn config(group: &OwnCgroup, pair: &Pair) -> HostConfig {
    HostConfig { cgroup: group.folder.clone(), devices: Some(pair.devices()), ..HostConfig::default() }
}

fn kind_of(controller: &str) -> Kind {
    match controller {
        "airpath_xcp" => Kind::Xcp,
        "airpath_vcp" => Kind::Vcp,
        "airpath_ebe" => Kind::CubicEbe,
        "airpath_westw" => Kind::Westwood,
        _ => Kind::Sarbe,
    }
}

#[test]
fn transfers_complete_with_each_controller_and_valid_checksums() {
    check_host(HOLD, || {
        let (group, pair) = (OwnCgroup::join("airpath-live"), Pair::new());
        let host = load(&config(&group, &pair));
        for controller in CONTROLLERS {
            let before = host.counters();
            pair.transfer(controller, 3_000_000);
            let after = host.counters();
            let echoes = after.echoes - before.echoes;
            let speaks = ["airpath_xcp", "airpath_vcp"].contains(&controller);
            // A slow receiver acknowledges many segments at once.
            assert_eq!(echoes >= 10, speaks, "{controller}: {echoes} echoes");
            assert_eq!(after.options_written > before.options_written, speaks, "{controller}");
            assert_eq!(after.malformed, 0, "{controller}");
        }
        for namespace in [&pair.left, &pair.right] {
            assert_eq!(namespace.tcp_counter("InCsumErrors") + namespace.tcp_counter("InErrs"), 0);
        }
        Ok(())
    });
}

/// Compares the windows of the kernel, of the same code in this process, and of the Rust controllers for the
/// events of live connections over a narrow link that drops packets.
#[test]
fn recorded_events_replay_to_the_same_windows() {
    check_host(HOLD, || {
        let (group, pair) = (OwnCgroup::join("airpath-record"), Pair::new());
        pair.left.command("tc qdisc add dev left root tbf rate 40mbit burst 5000 limit 20000");
        let host = load(&HostConfig { record: true, ..config(&group, &pair) });
        for controller in CONTROLLERS {
            host.records().unwrap();
            pair.transfer(controller, 4_000_000);
            let records = host.records().unwrap();
            assert_eq!(host.records_lost(), 0, "{controller}");
            check_replay(controller, &recorded::longest(records));
        }
        Ok(())
    });
}

fn check_replay(controller: &str, connection: &Connection) {
    let kind = kind_of(controller);
    let Connection { mss, first_window, told, windows } = connection;
    assert!(windows.len() > 400, "{controller}: only {} events", windows.len());
    let native = NativeController::new(kind, *first_window, *mss);
    assert_eq!(native_windows(native, told), *windows, "{controller}");
    let losses = told.iter().filter(|told| matches!(told, replay::Told::Congestion(_))).count();
    // No router on this path supports XCP, so XCP falls back to Reno, which the Rust controller does not.
    // `router_recorded.rs` has one.
    if kind == Kind::Xcp {
        return;
    }
    let allowed = if kind == Kind::CubicEbe { 2e-3 } else { 1e-9 };
    let difference = difference(windows, &reference_windows(kind, *mss, first_window / mss, told));
    println!("{controller}: {} events, {losses} losses, windows differ by {difference:.1e}", windows.len());
    assert!(difference <= allowed, "{controller}: windows differ by {difference}");
    assert!(losses > 0 || kind == Kind::Vcp, "{controller}: no losses");
}

/// The receiver sends no echoes, as if its options had been removed on the path.
#[test]
fn without_echoes_senders_fall_back_to_reno() {
    check_host(HOLD, || {
        let pair = Pair::new();
        // The server starts before this process joins the group, so that its connections do not belong to the
        // group.
        let server = ["iperf3", "--server", "--port", "5299"];
        let mut server = pair.right.inside(&server).stdout(Stdio::null()).spawn().unwrap();
        let group = OwnCgroup::join("airpath-silent");
        let host = load(&config(&group, &pair));
        eventually("the server does not listen", || {
            !pair.right.command("ss --no-header --listening --tcp sport = :5299").is_empty()
        });
        for controller in ["airpath_xcp", "airpath_vcp"] {
            let words = "iperf3 --client 10.77.0.2 --port 5299 --bytes 20M --congestion";
            let words: Vec<&str> = words.split(' ').chain([controller]).collect();
            let client = pair.left.inside(&words).output().unwrap();
            assert!(client.status.success(), "{controller}: {}", String::from_utf8_lossy(&client.stderr));
        }
        server.kill().unwrap();
        server.wait().unwrap();
        let counters = host.counters();
        assert!(counters.options_written > 100, "{counters:?}");
        assert_eq!((counters.echoes, counters.echoes_by_bits), (0, 0));
        Ok(())
    });
}

/// With many losses, SACK blocks fill the options of acknowledgments, and VCP's echo is sent in the TCP
/// header.
#[test]
fn the_code_goes_into_header_bits_if_options_are_full() {
    check_host(HOLD, || {
        let (group, pair) = (OwnCgroup::join("airpath-full"), Pair::through_a_middle());
        let middle = pair.middle.as_ref().unwrap();
        middle.command("tc qdisc add dev out root tbf rate 6mbit burst 3100 limit 6000");
        let host = load(&config(&group, &pair));
        pair.transfer("airpath_vcp", 1_500_000);
        let counters = host.counters();
        println!("{counters:?}");
        assert!(counters.options_without_room > 0, "{counters:?}");
        assert!(counters.echoes_by_bits > 0, "{counters:?}");
        for namespace in [&pair.left, &pair.right] {
            assert_eq!(namespace.tcp_counter("InCsumErrors") + namespace.tcp_counter("InErrs"), 0);
        }
        Ok(())
    });
}

#[test]
fn a_killed_daemon_leaves_nothing_behind() {
    check_host(HOLD, || {
        // `load` waits while another process uses the controllers' names.
        let (group, pair) = (OwnCgroup::join("airpath-killed"), Pair::new());
        drop(load(&config(&group, &pair)));
        eventually("maps of the host programs are left", || ours().is_empty());
        let devices = pair.devices();
        let mut daemon = Command::new(env!("CARGO_BIN_EXE_airpathd"))
            .args(["host", "--cgroup", group.folder.to_str().unwrap(), "--device", &devices[0].to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let ready: serde_json::Value = serde_json::from_str(&ready).unwrap();
        assert_eq!(ready["event"], "ready");
        assert_eq!(ready["controllers"][0], "airpath_xcp");
        pair.transfer("airpath_vcp", 100_000);
        assert!(!ours().is_empty());
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        eventually("maps of the host programs are left", || ours().is_empty());
        pair.transfer("reno", 100_000);
        Ok(())
    });
}

/// Returns the names of the host programs' maps in this kernel.
fn ours() -> Vec<String> {
    let names = MapInfoIter::default().map(|map| map.name.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("airpath_") || name == "senders" || name == "receivers").collect()
}

/// Waits until `holds` returns true. The kernel frees objects after a grace period, and processes start when
/// they get a processor.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < until, "{what}; maps: {:?}", ours());
        std::thread::sleep(Duration::from_millis(100));
    }
}
