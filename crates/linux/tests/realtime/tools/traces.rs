//! Resources that a daemon could leave behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::lab::output;
use crate::support::namespace::{MADE, Namespace};

/// Names of a daemon's programs and maps, and kinds of its links, in the kernel's lists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) programs: &'static [&'static str],
    pub(crate) maps: &'static [&'static str],
    pub(crate) links: &'static [&'static str],
}

/// The links are attached to devices and control groups; `struct_ops` links are those of controllers.
pub(crate) const HOSTS: Names = Names {
    programs: &["\"host_", "\"airpath_"],
    maps: &["\"host.", "\"airpath_", "\"senders\"", "\"receivers\""],
    links: &["\"tcx\"", "\"cgroup\"", "\"struct_ops\""],
};
pub(crate) const ROUTERS: Names =
    Names { programs: &["\"router_"], maps: &["\"router."], links: &["\"tcx\""] };

/// Counts of a daemon's programs, maps and links, and of network namespaces, and the queue disciplines of one
/// namespace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Traces {
    pub(crate) programs: usize,
    pub(crate) maps: usize,
    links: usize,
    /// Namespaces that this process created and any process still uses.
    namespaces: usize,
    /// Queue disciplines without their handles; `clsact` would be listed here.
    qdiscs: String,
}

/// Returns the current resources.
pub(crate) fn traces(namespace: &Namespace, names: Names) -> Traces {
    let count = |kind: &str, of: &[&str]| {
        let list: Value = serde_json::from_str(&output("bpftool", &["-j", kind])).unwrap();
        let items = list.as_array().cloned().unwrap_or_default();
        items.iter().map(ToString::to_string).filter(|item| of.iter().any(|one| item.contains(one))).count()
    };
    Traces {
        programs: count("prog", names.programs),
        maps: count("map", names.maps),
        links: count("link", names.links),
        namespaces: held_namespaces(),
        qdiscs: without_numbers(&namespace.command("tc qdisc show")),
    }
}

/// Returns the number of network namespaces created by this process that any process uses, by a thread inside
/// or an open descriptor.
fn held_namespaces() -> usize {
    let mut held = BTreeSet::new();
    for process in entries(Path::new("/proc")) {
        held.extend(entries(&process.join("fd")).filter_map(|file| number(&file)));
        held.extend(entries(&process.join("task")).filter_map(|thread| number(&thread.join("ns/net"))));
    }
    held.intersection(&MADE.lock().unwrap()).count()
}

/// Returns the entries of a folder; none if it has disappeared, as those of processes do.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Returns the number of the network namespace that a link in `/proc` refers to, if any.
fn number(link: &Path) -> Option<u64> {
    let target = fs::read_link(link).ok()?;
    target.to_str()?.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

/// Removes the handles of queue disciplines. The kernel increments them, so that `8107:` is no resource left
/// behind.
fn without_numbers(qdiscs: &str) -> String {
    let words = qdiscs.split_whitespace();
    let words =
        words.filter(|word| word.strip_suffix(':').is_none_or(|it| u32::from_str_radix(it, 16).is_err()));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the resources before any daemon, after those of an earlier test's last connections are freed.
pub(crate) fn traces_before(namespace: &Namespace, names: Names) -> Traces {
    let began = Instant::now();
    loop {
        let before = traces(namespace, names);
        if before.programs + before.maps == 0 {
            return before;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{before:?}: another airpathd?");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Waits until nothing is left. The kernel frees programs slightly later than their last descriptor.
pub(crate) fn assert_no_new_traces(namespace: &Namespace, names: Names, before: &Traces) {
    let began = Instant::now();
    while traces(namespace, names) != *before {
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}, {before:?}", traces(namespace, names));
        std::thread::sleep(Duration::from_millis(50));
    }
}
