//! Faults around a router: it exits cleanly, leaves no resources behind, and does not disturb other traffic.

use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::lab::{Lab, output};
use crate::tools::check::{HOLD, check_router};
use crate::tools::traces::{ROUTERS, assert_no_new_traces, traces};

const ROUTER: [&str; 8] = ["--protocol", "xcp", "--capacity", "ebe", "--rate", "10Mbit", "--buffer", "575kB"];

fn reaches(lab: &Lab) -> bool {
    let words = ["ping", "-q", "-c", "2", "-i", "0.1", "-W", "1", "10.9.0.2"];
    lab.a.inside(&words).output().unwrap().status.success()
}

/// Waits for a condition that takes milliseconds, or longer on a busy machine.
fn until(holds: impl Fn() -> bool, what: &str) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(10), "{what} does not occur");
        std::thread::sleep(Duration::from_millis(10));
    }
}

// A single test, because resources of concurrent tests would be counted too.
#[test]
fn routers_stop_cleanly_and_leave_nothing() {
    check_router(HOLD, || {
        let lab = Lab::new("10mbit");
        let before = traces(&lab.a, ROUTERS);

        // A second daemon is refused with one message, and the first continues.
        let daemon = lab.router(&ROUTER);
        let path = lab.a.path();
        let mut words = vec!["router", "--netns", &path, "--device", "va"];
        words.extend(ROUTER);
        let second = Command::new(env!("CARGO_BIN_EXE_airpathd")).args(&words).output().unwrap();
        let said = String::from_utf8(second.stderr).unwrap();
        assert!(!second.status.success() && said.lines().count() == 1, "{said}");
        assert!(said.contains("another airpathd is running as router/va"), "{said}");
        assert_ne!(traces(&lab.a, ROUTERS), before, "a running router uses kernel resources");

        // Killed: the kernel removes everything, and traffic continues.
        kill(Pid::from_raw(daemon.pid()), Signal::SIGKILL).unwrap();
        daemon.end();
        assert_no_new_traces(&lab.a, ROUTERS, &before);
        assert!(reaches(&lab));

        // Each of the signals causes a clean exit without packet loss. So does `detach`.
        for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT] {
            let daemon = lab.router(&ROUTER);
            let pid = Pid::from_raw(daemon.pid());
            let traffic = lab.spawn(&lab.a, &["ping", "-q", "-i", "0.01", "-c", "50", "-W", "1", "10.9.0.2"]);
            std::thread::sleep(Duration::from_millis(200));
            kill(pid, signal).unwrap();
            let (said, success) = daemon.end();
            assert!(success && said.is_empty(), "{signal}: {said}");
            let answers = traffic.text();
            assert!(answers.contains(" 50 received"), "{signal}: {answers}");
            assert_no_new_traces(&lab.a, ROUTERS, &before);
        }
        let daemon = lab.router(&ROUTER);
        let answer = output(env!("CARGO_BIN_EXE_airpathd"), &["detach", "--netns", &path]);
        assert!(answer.contains("detached"), "{answer}");
        assert_eq!(traces(&lab.a, ROUTERS), before, "gone when detach returns");
        assert!(daemon.end().1);

        // Stopped for two seconds, as by a debugger or a suspended machine: a gap, not an interval.
        let daemon = lab.router(&ROUTER);
        let pid = Pid::from_raw(daemon.pid());
        let gaps = || daemon.status()["gaps"].as_u64().unwrap();
        let before_it = gaps();
        kill(pid, Signal::SIGSTOP).unwrap();
        assert!(reaches(&lab), "a silent daemon blocks no packets");
        std::thread::sleep(Duration::from_secs(2));
        kill(pid, Signal::SIGCONT).unwrap();
        // The daemon may answer before it reads its clock again.
        until(|| gaps() == before_it + 1, "a gap");

        // The queue discipline is replaced; the replacement is unusable for a moment.
        lab.a.command("tc qdisc replace dev va root pfifo limit 100");
        until(|| daemon.status()["queue"]["kind"] == "pfifo", "the other queue discipline");
        lab.rate("replace", "10mbit");

        // The device is removed: one message.
        lab.a.command("ip link del va");
        let (said, success) = daemon.end();
        assert!(!success && said.contains("device \"va\" was removed"), "{said}");
        drop(lab);

        // The namespace is removed: the daemon does not keep it alive.
        let lab = Lab::new("10mbit");
        let daemon = lab.router(&ROUTER);
        drop(lab);
        let (said, success) = daemon.end();
        assert!(!success && said.contains("which ended the router"), "{said}");
        let lab = Lab::new("10mbit");
        assert_no_new_traces(&lab.a, ROUTERS, &before);

        // A device without a queue, a missing device: one message each.
        for (device, expected) in [("lo", "has no queue"), ("nothere", "does not exist")] {
            let path = lab.a.path();
            let words =
                ["router", "--netns", &path, "--device", device, "--protocol", "vcp", "--rate", "1Mbit"];
            let refused = Command::new(env!("CARGO_BIN_EXE_airpathd")).args(words).output().unwrap();
            let said = String::from_utf8(refused.stderr).unwrap();
            assert!(
                !refused.status.success() && said.lines().count() == 1 && said.contains(expected),
                "{said}"
            );
        }
        Ok(())
    });
}
