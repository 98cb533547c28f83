//! What a daemon could leave behind.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::lab::output;
use crate::namespace::Namespace;

/// How a daemon's programs and maps, and the kinds of its links, are called in the kernel's lists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) programs: &'static [&'static str],
    pub(crate) maps: &'static [&'static str],
    pub(crate) links: &'static [&'static str],
}

/// Programs, maps and links of a daemon, and the queue disciplines of a namespace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Traces {
    pub(crate) programs: usize,
    pub(crate) maps: usize,
    links: usize,
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
pub(crate) fn nothing_left(namespace: &Namespace, names: Names, before: &Traces) {
    let began = Instant::now();
    while traces(namespace, names) != *before {
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}, {before:?}", traces(namespace, names));
        std::thread::sleep(Duration::from_millis(50));
    }
}
