//! What a daemon could leave behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::lab::output;
use crate::support::namespace::{MADE, Namespace};

/// How a daemon's programs and maps, and the kinds of its links, are called in the kernel's lists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) programs: &'static [&'static str],
    pub(crate) maps: &'static [&'static str],
    pub(crate) links: &'static [&'static str],
}

/// The links are those at devices, at control groups, and controllers by their names.
pub(crate) const HOSTS: Names = Names {
    programs: &["\"host_", "\"airpath_"],
    maps: &["\"host.", "\"airpath_", "\"senders\"", "\"receivers\""],
    links: &["\"tcx\"", "\"cgroup\"", "\"struct_ops\""],
};
pub(crate) const ROUTERS: Names =
    Names { programs: &["\"router_"], maps: &["\"router."], links: &["\"tcx\""] };

/// Programs, maps and links of a daemon, network namespaces, and the queue disciplines of one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Traces {
    pub(crate) programs: usize,
    pub(crate) maps: usize,
    links: usize,
    /// Those that this process made and somebody still holds.
    namespaces: usize,
    /// Without their numbers; `clsact` would stand here.
    qdiscs: String,
}

/// What there is of it now.
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

/// How many network namespaces of this process's making anybody holds, by a thread inside or an open descriptor.
fn held_namespaces() -> usize {
    let mut held = BTreeSet::new();
    for process in entries(Path::new("/proc")) {
        held.extend(entries(&process.join("fd")).filter_map(|file| number(&file)));
        held.extend(entries(&process.join("task")).filter_map(|thread| number(&thread.join("ns/net"))));
    }
    held.intersection(&MADE.lock().unwrap()).count()
}

/// What is in a folder; nothing if it went meanwhile, as processes do.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The number of the network namespace that a link of `/proc` stands for, if it does.
fn number(link: &Path) -> Option<u64> {
    let target = fs::read_link(link).ok()?;
    target.to_str()?.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

/// The kernel counts queue disciplines on: `8107:` is no trace.
fn without_numbers(qdiscs: &str) -> String {
    let words = qdiscs.split_whitespace();
    let words =
        words.filter(|word| word.strip_suffix(':').is_none_or(|it| u32::from_str_radix(it, 16).is_err()));
    words.collect::<Vec<_>>().join(" ")
}

/// The traces before any daemon: those of an earlier test's last connections go first.
pub(crate) fn none_yet(namespace: &Namespace, names: Names) -> Traces {
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

/// Waits until nothing is left; the kernel frees programs a little later than their last descriptor.
pub(crate) fn nothing_left(namespace: &Namespace, names: Names, before: &Traces) {
    let began = Instant::now();
    while traces(namespace, names) != *before {
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}, {before:?}", traces(namespace, names));
        std::thread::sleep(Duration::from_millis(50));
    }
}
