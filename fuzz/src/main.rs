//! Fuzz targets of libFuzzer; see `docs/development/fuzzing.md`.
//!
//! The variable `AIRPATH_FUZZ_TARGET` names the target. With `AIRPATH_FUZZ_SEEDS`, which names a folder, the program
//! writes the seeds of all targets to it instead, and ends.
#![no_main]
#![allow(clippy::unwrap_used, reason = "a tool for developers")]

mod captures;
#[cfg(feature = "daemon")]
mod daemon;
mod link_logs;
mod packets;
mod plans;
mod qlogs;
mod target;
mod traces;

use std::cell::RefCell;
use std::env;
use std::path::Path;
use std::process::exit;

use libfuzzer_sys::fuzz_target;

use target::{Target, write_seeds};

thread_local! {
    static TARGET: RefCell<Target> = RefCell::new(chosen());
}

fuzz_target!(
    init: {
        if let Some(folder) = env::var_os("AIRPATH_FUZZ_SEEDS") {
            write_seeds(&targets(), Path::new(&folder)).unwrap();
            exit(0);
        }
    },
    |bytes: &[u8]| TARGET.with_borrow_mut(|target| target.feed(bytes))
);

fn targets() -> Vec<Target> {
    let mut targets =
        vec![captures::target(), traces::target(), link_logs::target(), qlogs::target(), packets::network()];
    #[cfg(target_os = "linux")]
    targets.push(packets::tcp_info());
    targets.extend(plans::targets());
    #[cfg(feature = "daemon")]
    targets.extend(daemon::targets());
    targets
}

fn chosen() -> Target {
    let name = env::var("AIRPATH_FUZZ_TARGET").unwrap_or_default();
    let found = targets().into_iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("AIRPATH_FUZZ_TARGET={name} is not a target"))
}
