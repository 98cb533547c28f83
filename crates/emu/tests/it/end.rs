//! Every end of an emulation leaves nothing behind: no process, no namespace, no device.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a process tells its parent; a skipped test says why"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use airpath_emu::{Emulation, Options, Side};
use airpath_plan::RatePlan;

use crate::support::{PATIENCE, constant, hosts_can_be_made, link, plan};

/// Starts an emulation, and in each host a command that starts another one in a separate session. Prints
/// their namespaces, and waits to be killed. The tests below run it in a separate process.
#[test]
#[expect(clippy::zombie_processes, reason = "whether the kernel takes them away is the question")]
#[ignore = "does nothing by itself: it is what other tests kill"]
fn hold() {
    let links = vec![link("there", constant(1_000_000), 5.0, 10), link("back", RatePlan::Unlimited, 5.0, 10)];
    let emulation =
        Emulation::start(&plan(LONGEST.as_secs(), links, 1), &[], 1, &Options::default()).unwrap();
    for side in Side::BOTH {
        let mut shell = Command::new("sh");
        shell.args(["-c", "setsid sleep 98765 & sleep 98765"]).stdout(Stdio::null()).stderr(Stdio::null());
        emulation.spawn(side, &mut shell).unwrap();
        println!(
            "{}",
            emulation
                .host(side)
                .enter(|| fs::read_link("/proc/thread-self/ns/net"))
                .unwrap()
                .unwrap()
                .display()
        );
    }
    thread::sleep(LONGEST);
}

/// Longer than any of these tests.
const LONGEST: Duration = Duration::from_secs(300);

/// One test at a time: the kernel reuses the number of a deleted namespace for the next new one, which must
/// not be mistaken for a leftover.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a process with an emulation, and the namespaces of the emulation.
fn held() -> (Child, BTreeSet<PathBuf>) {
    // A background test runner may ignore the signal of Ctrl-C, and child processes inherit this.
    let mut holder = Command::new("env")
        .arg("--default-signal=INT")
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "end::hold", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    // The line may begin with output of the test runner.
    let named = |line: String| Some(PathBuf::from(&line[line.find("net:[")?..]));
    let namespaces = lines.filter_map(|line| named(line.unwrap())).take(2).collect();
    (holder, namespaces)
}

/// Returns everything that still holds one of these namespaces: processes and their descriptors.
fn holders(namespaces: &BTreeSet<PathBuf>) -> Vec<String> {
    let holds = |path: &Path| fs::read_link(path).is_ok_and(|target| namespaces.contains(&target));
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()) {
        let descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        let paths = descriptors.map(|entry| entry.path()).chain([process.join("ns/net")]);
        if paths.into_iter().any(|path| holds(&path)) {
            let command = fs::read_to_string(process.join("cmdline")).unwrap_or_default();
            found.push(format!("{} {}", process.display(), command.replace('\0', " ")));
        }
    }
    found
}

/// Waits until nothing holds the namespaces any more.
fn assert_gone(namespaces: &BTreeSet<PathBuf>) {
    let until = Instant::now() + PATIENCE;
    while !holders(namespaces).is_empty() {
        assert!(Instant::now() < until, "left behind: {:?}", holders(namespaces));
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the number of processes in the namespaces: two shells with a child and a child in another session.
fn inside(namespaces: &BTreeSet<PathBuf>) -> usize {
    let until = Instant::now() + PATIENCE;
    loop {
        let sleeping = holders(namespaces).iter().filter(|holder| holder.contains("sleep 98765")).count();
        // Both shells, whose command lines also contain these words, and four sleepers.
        if sleeping == 6 || Instant::now() > until {
            return sleeping;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn ends_with(signal: &str) {
    let _alone = alone();
    if !hosts_can_be_made() {
        return;
    }
    let (mut holder, namespaces) = held();
    assert_eq!((namespaces.len(), inside(&namespaces)), (2, 6));
    let sent = Command::new("kill").args([signal, &holder.id().to_string()]).status().unwrap();
    assert!(sent.success());
    holder.wait().unwrap();
    assert_gone(&namespaces);
}

#[test]
fn nothing_is_left_behind_after_kill_9() {
    ends_with("-KILL");
}

#[test]
fn nothing_is_left_behind_after_ctrl_c() {
    ends_with("-INT");
}

#[test]
fn nothing_is_left_behind_after_a_normal_end() {
    let _alone = alone();
    if !hosts_can_be_made() {
        return;
    }
    let links = vec![link("there", constant(1_000_000), 5.0, 10), link("back", RatePlan::Unlimited, 5.0, 10)];
    let emulation = Emulation::start(&plan(60, links, 1), &[], 1, &Options::default()).unwrap();
    let of =
        |side| emulation.host(side).enter(|| fs::read_link("/proc/thread-self/ns/net")).unwrap().unwrap();
    let namespaces = BTreeSet::from(Side::BOTH.map(of));
    let mut command = emulation.spawn(Side::Senders, Command::new("sleep").arg("98765")).unwrap();
    assert!(!holders(&namespaces).is_empty());
    emulation.stop(None).unwrap();
    assert!(!command.wait().unwrap().success());
    assert_gone(&namespaces);
}
