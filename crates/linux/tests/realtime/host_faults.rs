//! Faults around the controllers of hosts while a connection transfers data: all bytes arrive, and no
//! resources are left behind.

use std::io::Write;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::net::sockopt::set_tcp_congestion;
use rustix::net::{AddressFamily, SocketType, ipproto};

use crate::support::OwnCgroup;
use crate::support::lab::{Lab, output};
use crate::tools::check::{HOLD, check_host};
use crate::tools::leaping_clock::LeapingClock;
use crate::tools::namespaces::{connect, transfer};
use crate::tools::traces::{HOSTS, assert_no_new_traces, traces, traces_before};

const AIRPATHD: &str = env!("CARGO_BIN_EXE_airpathd");
/// Bytes that a transfer of this duration carries over 10 Mbit/s.
const THREE_SECONDS: usize = 3_500_000;
const ONE_SECOND: usize = THREE_SECONDS / 3;

/// Sends `bytes`, calls `what` after a third of them, and returns the duration of the transfer.
fn during(lab: &Lab, controller: &str, bytes: usize, what: impl FnOnce()) -> Duration {
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| transfer(&lab.a, (&lab.b, "10.9.0.2"), controller, bytes));
        sleep(Duration::from_secs(1) * bytes as u32 / THREE_SECONDS as u32);
        assert!(!sender.is_finished(), "{controller}: the transfer has ended");
        what();
        sender.join().unwrap()
    })
}

/// Returns the kernel's description of the connection in `a`, and its window in segments.
fn connection(lab: &Lab) -> (String, u32) {
    let said = lab.a.command("ss -tinH state established");
    let window = said.split_whitespace().find_map(|word| word.strip_prefix("cwnd:")).unwrap();
    let window = window.parse().unwrap();
    (said, window)
}

/// Returns whether a new connection can select that controller.
fn offered(lab: &Lab, controller: &str) -> bool {
    lab.a.within(|| {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::TCP));
        set_tcp_congestion(socket.unwrap(), controller).is_ok()
    })
}

/// Checks that a second daemon is refused with one message.
fn refuse_second(lab: &Lab, words: &[&str], expected: &str) {
    let device = format!("{}:va", lab.a.path());
    let second =
        Command::new(words[0]).args(&words[1..]).args(["host", "--device", &device]).output().unwrap();
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(!second.status.success() && said.lines().count() == 1, "{said}");
    assert!(said.contains(expected), "{said}");
}

// A single test, because resources of concurrent tests would be counted too.
#[test]
fn hosts_stop_cleanly_and_leave_nothing() {
    check_host(HOLD, || {
        let group = OwnCgroup::join("airpath-host-faults");
        let lab = Lab::new("10mbit");
        let before = traces_before(&lab.a, HOSTS);

        // Killed: the connection keeps its controller, which gets no feedback and continues as Reno. No other
        // connection can select the controller.
        let daemon = lab.hosts(&group.folder);
        assert_ne!(traces(&lab.a, HOSTS), before, "running hosts use kernel resources");
        assert!(offered(&lab, "airpath_vcp"));
        let pid = Pid::from_raw(daemon.pid());
        let mut again = None;
        let took = during(&lab, "airpath_vcp", THREE_SECONDS, || {
            let (_, told) = connection(&lab);
            kill(pid, Signal::SIGKILL).unwrap();
            daemon.end();
            sleep(Duration::from_secs(1));
            let (said, alone) = connection(&lab);
            println!("killed: {told} segments, then {alone}; {:?}", traces(&lab.a, HOSTS));
            assert!(said.contains("airpath_vcp"), "{said}");
            // VCP's window hardly changes over a round trip of microseconds; Reno's grows by a segment in
            // each window of some 12 ms.
            assert!(alone >= told + 10, "{alone} segments after {told}");
            assert!(!offered(&lab, "airpath_vcp"));
            // A new daemon can register the same names, and does not affect the connection.
            again = Some(lab.hosts(&group.folder));
            assert!(offered(&lab, "airpath_vcp"));
        });
        println!("killed: {:.2} s", took.as_secs_f64());
        assert!(took < Duration::from_secs(6), "{took:?}");
        let daemon = again.unwrap();
        assert_eq!(daemon.status()["counters"]["started"], 0);

        // Detached: the same, with a clean exit.
        let took = during(&lab, "airpath_xcp", THREE_SECONDS, || {
            assert!(output(AIRPATHD, &["detach", "host"]).contains("detached"));
        });
        assert!(took < Duration::from_secs(6), "{took:?}");
        assert!(daemon.end().1);
        assert_no_new_traces(&lab.a, HOSTS, &before);

        // Each of the signals: the same.
        let signals = [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT];
        for (signal, controller) in signals.into_iter().zip(["airpath_vcp", "airpath_xcp", "airpath_ebe"]) {
            let daemon = lab.hosts(&group.folder);
            let pid = Pid::from_raw(daemon.pid());
            let took = during(&lab, controller, ONE_SECOND, || {
                kill(pid, signal).unwrap();
                let (said, success) = daemon.end();
                assert!(success && said.is_empty(), "{signal}: {said}");
            });
            assert!(took < Duration::from_secs(4), "{signal}: {took:?}");
            assert_no_new_traces(&lab.a, HOSTS, &before);
        }

        // Second daemons are refused: in the same namespace because of the daemon's name, in another because
        // of its controllers' names.
        let daemon = lab.hosts(&group.folder);
        refuse_second(&lab, &[AIRPATHD], "another airpathd is running as host");
        let elsewhere = format!("--net={}", lab.b.path());
        refuse_second(&lab, &["nsenter", &elsewhere, AIRPATHD], "is another airpathd host running?");
        transfer(&lab.a, (&lab.b, "10.9.0.2"), "airpath_vcp", ONE_SECOND);
        let counters = daemon.status()["counters"].clone();
        assert_eq!(
            (counters["started"].as_u64(), counters["malformed"].as_u64()),
            (Some(1), Some(0)),
            "{counters}"
        );
        assert_eq!(lab.a.tcp_counter("InCsumErrors") + lab.b.tcp_counter("InCsumErrors"), 0);
        drop(daemon);
        assert_no_new_traces(&lab.a, HOSTS, &before);

        // The wall clock jumps by ten years each time it is read.
        let clock = LeapingClock::new();
        let daemon = lab.hosts_under(&["env", &clock.preload()], &group.folder);
        let took = transfer(&lab.a, (&lab.b, "10.9.0.2"), "airpath_vcp", ONE_SECOND);
        assert!(took < Duration::from_secs(4), "{took:?}");
        let status = daemon.status();
        assert!(status["counters"]["echoes"].as_u64().unwrap() > 100, "{status}");
        assert!(status["uptime_s"].as_f64().unwrap() < 60.0, "{status}");

        // The device is removed: the daemon continues, and exits cleanly.
        lab.a.command("ip link del va");
        assert_eq!(daemon.status()["counters"]["malformed"], 0);
        assert!(output(AIRPATHD, &["detach", "host"]).contains("detached"));
        assert!(daemon.end().1);
        drop(lab);
        assert_no_new_traces(&Lab::new("10mbit").a, HOSTS, &before);

        // A namespace is removed while it contains a connection: the daemon does not keep the namespace
        // alive, and continues to serve other namespaces.
        let (lab, other) = (Lab::new("10mbit"), Lab::new("10mbit"));
        let daemon = lab.hosts(&group.folder);
        // One end of a veth pair disappears with the namespace of the other.
        other.a.command(&format!("ip link add witness type veth peer name cable netns {}", lab.a.path()));
        let (mut sender, receiver) = connect(&lab.a, (&lab.b, "10.9.0.2"), "airpath_vcp");
        sender.write_all(b"under way").unwrap();
        drop(lab);
        drop((sender, receiver));
        let began = Instant::now();
        while other.a.inside(&["ip", "link", "show", "witness"]).output().unwrap().status.success() {
            assert!(began.elapsed() < Duration::from_secs(10), "the namespace still exists");
            sleep(Duration::from_millis(50));
        }
        transfer(&other.a, (&other.b, "10.9.0.2"), "airpath_xcp", THREE_SECONDS / 10);
        let counters = daemon.status()["counters"].clone();
        assert_eq!((counters["started"].as_u64(), counters["malformed"].as_u64()), (Some(2), Some(0)));
        assert!(counters["echoes"].as_u64() > Some(10), "{counters}");
        assert!(output(AIRPATHD, &["detach", "host"]).contains("detached"));
        assert!(daemon.end().1);
        assert_no_new_traces(&other.a, HOSTS, &before);
        Ok(())
    });
}
