//! Vector files: reading them, and counting what holds.
//!
//! The folder is named by the environment variable `AIRPATH_VECTORS`; by default it is the project's own copy. Another
//! folder may hold other points in the same format, and need not hold every file.

#![allow(clippy::print_stdout, reason = "how many points a file held, and the worst error, are the result")]

use std::path::PathBuf;

use serde_json::Value;

const FILES: [&str; 7] = [
    "f1.json",
    "ekf_micro.json",
    "ekf_router.json",
    "maintainers.json",
    "gm_filters.json",
    "sarbe.json",
    "westwood_plus.json",
];

/// Counts comparisons and keeps the worst.
#[derive(Default)]
pub(crate) struct Tally {
    held: usize,
    broken: Vec<String>,
    /// Error over tolerance, and where.
    worst: (f64, String),
}

impl Tally {
    pub(crate) fn hold(&mut self, what: &str, value: f64, expected: f64, tolerance: f64) {
        let error = (value - expected).abs();
        let share = if error == 0.0 { 0.0 } else { error / tolerance };
        if share >= self.worst.0 {
            self.worst = (share, format!("{what}: {value:e}, expected {expected:e}"));
        }
        // Written so that a NaN is broken.
        if error <= tolerance {
            self.held += 1;
        } else {
            self.broken.push(format!("{what}: {value:e}, expected {expected:e}, tolerance {tolerance:e}"));
        }
    }

    pub(crate) fn hold_exactly(&mut self, what: &str, value: f64, expected: f64) {
        self.hold(what, value, expected, 0.0);
    }

    pub(crate) fn finish(self, file: &str) {
        let total = self.held + self.broken.len();
        println!(
            "{file}: {} of {total} numbers held; worst error {:.1e} of the tolerance ({})",
            self.held, self.worst.0, self.worst.1
        );
        assert!(self.broken.is_empty(), "{file}: {} broken, first {:?}", self.broken.len(), self.broken[0]);
        assert!(total > 0, "{file} holds nothing to compare");
    }
}

/// The file, or nothing when a folder named by the user does not have it.
pub(crate) fn read(name: &str) -> Option<Value> {
    let named = std::env::var_os("AIRPATH_VECTORS");
    let folder = named
        .as_ref()
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors")), PathBuf::from);
    assert!(folder.is_dir(), "AIRPATH_VECTORS names no folder: {}", folder.display());
    let path = folder.join(name);
    assert!(
        FILES.iter().any(|file| folder.join(file).exists()),
        "{} holds none of {FILES:?}",
        folder.display()
    );
    if named.is_some() && !path.exists() {
        println!("{name}: not in this folder");
        return None;
    }
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}
