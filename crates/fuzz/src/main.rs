//! The targets in libFuzzer.
//!
//! The variable `AIRPATH_FUZZ_TARGET` names the target. With `AIRPATH_FUZZ_SEEDS`, which names a folder, the program
//! writes the seeds of all targets to it instead, and ends.
#![no_main]
#![allow(unsafe_code, reason = "the macro exports functions")]
#![allow(clippy::unwrap_used, reason = "a tool for developers")]

use std::cell::RefCell;
use std::env;
use std::path::Path;
use std::process::exit;

use airpath_fuzz::{Target, targets, write_seeds};
use libfuzzer_sys::fuzz_target;

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
    |bytes: &[u8]| {
        TARGET.with_borrow_mut(|target| target.feed(bytes));
    }
);

fn chosen() -> Target {
    let name = env::var("AIRPATH_FUZZ_TARGET").unwrap_or_default();
    let found = targets().into_iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("AIRPATH_FUZZ_TARGET={name} is not a target"))
}
