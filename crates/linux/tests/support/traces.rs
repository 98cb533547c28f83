//! What a daemon could leave behind.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::lab::output;
use crate::namespace::Namespace;

/// Programs, maps and links of the kernel, and the queue disciplines of a namespace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Traces {
    programs: usize,
    maps: usize,
    /// At devices.
    tcx: usize,
    /// At control groups.
    cgroups: usize,
    /// Controllers by their names.
    struct_ops: usize,
    /// Without their numbers; `clsact` would stand here.
    qdiscs: String,
}

/// What there is of ours now.
pub(crate) fn traces(namespace: &Namespace) -> Traces {
    let count = |kind: &str, of: &[&str]| {
        let list: Value = serde_json::from_str(&output("bpftool", &["-j", kind])).unwrap();
        let items = list.as_array().cloned().unwrap_or_default();
        items.iter().map(ToString::to_string).filter(|item| of.iter().any(|one| item.contains(one))).count()
    };
    Traces {
        programs: count("prog", &["\"router_", "\"host_", "\"airpath_"]),
        maps: count("map", &["\"router.", "\"host.", "\"airpath_", "\"senders\"", "\"receivers\""]),
        tcx: count("link", &["\"tcx\""]),
        cgroups: count("link", &["\"cgroup\""]),
        struct_ops: count("link", &["\"struct_ops\""]),
        qdiscs: without_numbers(&namespace.command("tc qdisc show")),
    }
}

/// The kernel counts queue disciplines on: `8107:` is no trace.
fn without_numbers(qdiscs: &str) -> String {
    let words = qdiscs.split_whitespace();
    let words =
        words.filter(|word| word.strip_suffix(':').is_none_or(|it| u32::from_str_radix(it, 16).is_err()));
    words.collect::<Vec<_>>().join(" ")
}

/// Waits until nothing is left; the kernel frees programs a little later than their last descriptor.
pub(crate) fn nothing_left(namespace: &Namespace, before: &Traces) {
    let began = Instant::now();
    while traces(namespace) != *before {
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}, {before:?}", traces(namespace));
        std::thread::sleep(Duration::from_millis(50));
    }
}
