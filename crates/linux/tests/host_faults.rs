//! What can go wrong around the controllers of hosts while a connection is at work: its bytes arrive, and nothing is left behind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "what was measured is worth reading")]

#[path = "support/lab.rs"]
mod lab;
#[path = "support/leaping_clock.rs"]
mod leaping_clock;
#[path = "support/namespace.rs"]
#[allow(dead_code, reason = "shared with tests that use the rest")]
mod namespace;
#[path = "support/namespaces.rs"]
#[allow(dead_code, reason = "shared with tests that use the rest")]
mod namespaces;
mod support;
#[path = "support/traces.rs"]
mod traces;

use std::process::Command;
use std::thread::{ScopedJoinHandle, sleep};
use std::time::{Duration, Instant};

use lab::{Lab, output};
use leaping_clock::LeapingClock;
use namespaces::transfer;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use support::{OwnCgroup, alone, can_load};
use traces::{nothing_left, traces};

const AIRPATHD: &str = env!("CARGO_BIN_EXE_airpathd");
/// What a transfer of 3 s carries over 10 Mbit/s, bytes.
const THREE_SECONDS: usize = 3_500_000;

/// Sends these bytes, and does something after a second of it: how long the transfer took.
fn during(lab: &Lab, controller: &str, bytes: usize, what: impl FnOnce()) -> Duration {
    std::thread::scope(|scope| {
        let sender: ScopedJoinHandle<'_, _> =
            scope.spawn(|| transfer(&lab.a, (&lab.b, "10.9.0.2"), controller, bytes));
        sleep(Duration::from_secs(1));
        assert!(!sender.is_finished(), "{controller}: it is over");
        what();
        sender.join().unwrap()
    })
}

/// The controllers of the connections that live in `a`, and of how many bytes their windows are.
fn controllers(lab: &Lab) -> String {
    lab.a.command("ss -tinH state established")
}

/// A second daemon is refused, with one message.
fn refuse_second(lab: &Lab, words: &[&str], expected: &str) {
    let device = format!("{}:va", lab.a.path());
    let second = Command::new(words[0]).args(&words[1..]).args(["host", "--device", &device]).output().unwrap();
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(!second.status.success() && said.lines().count() == 1, "{said}");
    assert!(said.contains(expected), "{said}");
}

// One test, since the traces of others would be counted too.
#[test]
fn hosts_end_in_good_order_and_leave_nothing() {
    if !can_load("host faults") {
        return;
    }
    let _alone = alone();
    let group = OwnCgroup::join("airpath-host-faults");
    let lab = Lab::new("10mbit");
    let before = traces(&lab.a);
    let sound = || lab.a.tcp_counter("InCsumErrors") + lab.b.tcp_counter("InCsumErrors") == 0;

    // Killed: a connection keeps its controller, hears of no router any more, and completes; new ones cannot have it.
    for controller in ["airpath_vcp", "airpath_xcp"] {
        let daemon = lab.hosts(&group.folder);
        assert_ne!(traces(&lab.a), before, "hosts at work leave traces");
        let pid = Pid::from_raw(daemon.pid());
        let took = during(&lab, controller, THREE_SECONDS, || {
            kill(pid, Signal::SIGKILL).unwrap();
            daemon.end();
            sleep(Duration::from_millis(500));
            assert!(controllers(&lab).contains(controller), "{}", controllers(&lab));
            let held = traces(&lab.a);
            println!("{controller} of a killed daemon: {held:?}");
        });
        println!("{controller}, killed: {:.2} s", took.as_secs_f64());
        assert!(took < Duration::from_secs(8), "{took:?}");
        nothing_left(&lab.a, &before);
    }
    assert!(sound());

    // A second daemon is refused in the same namespace by its name, in another by those of its controllers; the first goes on.
    let daemon = lab.hosts(&group.folder);
    during(&lab, "airpath_vcp", THREE_SECONDS, || {
        refuse_second(&lab, &[AIRPATHD], "another airpathd is at work as host");
    });
    let elsewhere = format!("--net={}", lab.b.path());
    refuse_second(&lab, &["nsenter", &elsewhere, AIRPATHD], "is another airpathd host running?");
    assert_eq!(daemon.status()["counters"]["started"], 1);

    // Detached under way: as killed, but that nothing but the connection's own is left when this returns.
    let took = during(&lab, "airpath_vcp", THREE_SECONDS, || {
        assert!(output(AIRPATHD, &["detach", "host"]).contains("detached"));
    });
    println!("detached: {:.2} s", took.as_secs_f64());
    assert!(daemon.end().1);
    nothing_left(&lab.a, &before);

    // The link is down for ten seconds.
    let daemon = lab.hosts(&group.folder);
    let began = Instant::now();
    let took = during(&lab, "airpath_vcp", THREE_SECONDS, || {
        lab.b.command("ip link set vb down");
        sleep(Duration::from_secs(10));
        lab.b.command("ip link set vb up");
    });
    println!("outage: {:.2} s of {:.2}", took.as_secs_f64(), began.elapsed().as_secs_f64());
    assert!((Duration::from_secs(12)..Duration::from_secs(25)).contains(&took), "{took:?}");
    assert_eq!(daemon.status()["counters"]["malformed"], 0);
    assert!(sound());
    drop(daemon);
    nothing_left(&lab.a, &before);

    // The day leaps by ten years with each look.
    let clock = LeapingClock::new();
    let daemon = lab.hosts_under(&["env", &clock.preload()], &group.folder);
    let took = transfer(&lab.a, (&lab.b, "10.9.0.2"), "airpath_vcp", THREE_SECONDS / 3);
    assert!(took < Duration::from_secs(4), "{took:?}");
    let status = daemon.status();
    assert!(status["counters"]["echoes"].as_u64().unwrap() > 100, "{status}");
    assert!(status["uptime_s"].as_f64().unwrap() < 60.0, "{status}");

    // The device is removed: the daemon goes on, and ends in good order.
    lab.a.command("ip link del va");
    assert_eq!(daemon.status()["counters"]["malformed"], 0);
    assert!(output(AIRPATHD, &["detach", "host"]).contains("detached"));
    assert!(daemon.end().1);
    drop(lab);
    nothing_left(&Lab::new("10mbit").a, &before);
}
