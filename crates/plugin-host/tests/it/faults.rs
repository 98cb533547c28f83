//! A fault of a library ends its run with one line.

use std::sync::Arc;

use airpath_plugin_host::Library;
use serde_json::json;

use crate::examples::example;
use crate::support::{library, run_with, shared_link};

/// The fault, the beginning of its text, and its end. `None`: there is no fault.
const FAULTS: [(&str, Option<(&str, &str)>); 11] = [
    ("none", None),
    ("panic", Some(("on_ack: panicked at crates/plugin/examples/faulty.rs:", ": after 100 acknowledgments"))),
    ("quantity", Some(("on_ack: panicked at ", "QUANTITIES contains no \"unknown\""))),
    ("past", Some(("after on_ack, next_timer is 0.", " s"))),
    ("timers", Some(("next_timer is 0.", " s"))),
    ("window", Some(("after on_ack, window is 0; accepted: 1 to 1073741824", ""))),
    ("large", Some(("after on_ack, window is 2147483648; accepted: 1 to 1073741824", ""))),
    ("quantum", Some(("after on_ack, quantum is 0; accepted: 1 to 1073741824", ""))),
    ("rate", Some(("after on_ack, pacing_rate is 0; accepted: 1 to 1000000000000000", ""))),
    ("start", Some(("create: as asked", ""))),
    ("start_panic", Some(("create: panicked at crates/plugin/examples/faulty.rs:", "as asked"))),
];

#[test]
fn each_fault_ends_its_run_with_one_line() {
    let loaded = Arc::new(Library::open(&example("faulty")).unwrap());
    for (fault, expected) in FAULTS {
        let plan = shared_link(&library(json!({ "fault": fault })), 5);
        let (outcome, found) = run_with(&loaded, &plan, 1);
        let Some((start, end)) = expected else {
            assert_eq!(found, None);
            assert!(outcome.is_some());
            continue;
        };
        let (text, at) = found.unwrap_or_else(|| panic!("{fault} was not detected"));
        assert!(text.starts_with(&format!("lib.so: {start}")) && text.ends_with(end), "{fault}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert_eq!(at.is_none(), fault.starts_with("start"), "{fault}: {at:?}");
    }
}

#[test]
fn the_process_and_the_library_continue_after_a_panic() {
    let loaded = Arc::new(Library::open(&example("faulty")).unwrap());
    let outcome = |fault: &str, packets: u32| {
        let options = json!({ "fault": fault, "packets": packets });
        run_with(&loaded, &shared_link(&library(options), 2), 1)
    };
    let (before, _) = outcome("none", 5);
    assert!(outcome("panic", 5).1.is_some());
    let (after, fault) = outcome("none", 5);
    assert_eq!((before.unwrap().counts, fault), (after.unwrap().counts, None));
}
