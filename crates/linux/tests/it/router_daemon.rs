//! The router daemon from start to end. Each test waits for events, and none depends on their duration.
//! `tests/realtime/router_faults.rs` tests the same with traffic, and counts the resources that remain.

use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::can_route;
use crate::support::lab::{Lab, output};

const AIRPATHD: &str = env!("CARGO_BIN_EXE_airpathd");
const ROUTER: [&str; 4] = ["--protocol", "xcp", "--rate", "10Mbit"];

/// Returns the number of daemons that run at the router's end.
fn daemons(lab: &Lab) -> usize {
    output(AIRPATHD, &["status", "--netns", &lab.a.path()]).lines().count()
}

/// Runs `airpathd router`, which must refuse to start, and returns its error message.
fn refused(words: &[&str]) -> String {
    let ended = Command::new(AIRPATHD).arg("router").args(words).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success() && said.lines().count() == 1, "{said}");
    said
}

#[test]
fn a_second_router_on_a_device_is_rejected_and_the_first_continues() {
    if !can_route("router daemon") {
        return;
    }
    let lab = Lab::new("10mbit");
    let daemon = lab.router(&ROUTER);
    let path = lab.a.path();
    let said = refused(&[&["--netns", &path, "--device", "va"], &ROUTER[..]].concat());
    assert!(said.contains("another airpathd is running as router/va"), "{said}");
    assert_eq!(daemon.status()["name"], "router/va");
    assert_eq!(daemons(&lab), 1);
}

#[test]
fn signals_and_detach_stop_a_router_cleanly() {
    if !can_route("router daemon") {
        return;
    }
    let lab = Lab::new("10mbit");
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT] {
        let daemon = lab.router(&ROUTER);
        assert_eq!(daemons(&lab), 1);
        kill(Pid::from_raw(daemon.pid()), signal).unwrap();
        let (said, success) = daemon.end();
        assert!(success && said.is_empty(), "{signal}: {said}");
        assert_eq!(daemons(&lab), 0, "{signal}");
    }
    let daemon = lab.router(&ROUTER);
    let answer = output(AIRPATHD, &["detach", "--netns", &lab.a.path()]);
    assert!(answer.contains("detached"), "{answer}");
    assert!(daemon.end().1);
    assert_eq!(daemons(&lab), 0);
}

#[test]
fn the_name_of_a_killed_router_is_free() {
    if !can_route("router daemon") {
        return;
    }
    let lab = Lab::new("10mbit");
    let daemon = lab.router(&ROUTER);
    kill(Pid::from_raw(daemon.pid()), Signal::SIGKILL).unwrap();
    assert!(!daemon.end().1);
    assert_eq!(daemons(&lab), 0);
    assert_eq!(lab.router(&ROUTER).status()["role"], "router");
}

#[test]
fn a_router_stops_when_its_device_or_namespace_disappears() {
    if !can_route("router daemon") {
        return;
    }
    let lab = Lab::new("10mbit");
    let daemon = lab.router(&ROUTER);
    lab.a.command("ip link del va");
    let (said, success) = daemon.end();
    assert!(!success && said.contains("device \"va\" was removed"), "{said}");

    let lab = Lab::new("10mbit");
    let daemon = lab.router(&ROUTER);
    drop(lab);
    let (said, success) = daemon.end();
    assert!(!success && said.contains("which ended the router"), "{said}");
}

#[test]
fn a_router_needs_a_device_with_a_queue() {
    if !can_route("router daemon") {
        return;
    }
    let lab = Lab::new("10mbit");
    for (device, expected) in [("lo", "has no queue"), ("nothere", "does not exist")] {
        let said = refused(&[&["--netns", &lab.a.path(), "--device", device], &ROUTER[..]].concat());
        assert!(said.contains(expected), "{said}");
    }
}
