//! Reference vectors for tests: reading their files, and counting which numbers hold.
//!
//! The folder is named by the environment variable `AIRPATH_VECTORS`; by default it is the project's own copy. Another
//! folder may hold other points in the same format, and need not hold every file.
//!
//! For tests only: what cannot go on panics.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "how many points a file held, and the worst error, are the result")]

use std::path::{Path, PathBuf};

pub use serde_json::Value;

/// Counts comparisons and keeps the worst.
#[derive(Debug, Default)]
pub struct Tally {
    held: usize,
    broken: Vec<String>,
    /// Error over tolerance, and where.
    worst: (f64, String),
}

impl Tally {
    /// `value` is within `tolerance` of `expected`, or the tally will not finish. A NaN is not.
    pub fn hold(&mut self, what: &str, value: f64, expected: f64, tolerance: f64) {
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

    /// `value` is `expected`.
    pub fn hold_exactly(&mut self, what: &str, value: f64, expected: f64) {
        self.hold(what, value, expected, 0.0);
    }

    /// Prints the number of comparisons with `file`, and the largest error.
    ///
    /// # Panics
    /// If a comparison failed, or there was none.
    pub fn finish(self, file: &str) {
        let total = self.held + self.broken.len();
        println!(
            "{file}: {} of {total} numbers held; worst error {:.1e} of the tolerance ({})",
            self.held, self.worst.0, self.worst.1
        );
        assert!(self.broken.is_empty(), "{file}: {} broken, first {:?}", self.broken.len(), self.broken[0]);
        assert!(total > 0, "{file} holds nothing to compare");
    }
}

/// The project's own copy.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors");

/// The folder of the vectors.
///
/// # Panics
/// If there is none, or it holds no file that the project's own has.
pub fn folder() -> PathBuf {
    let folder = std::env::var_os("AIRPATH_VECTORS").map_or_else(|| PathBuf::from(OWN), PathBuf::from);
    assert!(folder.is_dir(), "AIRPATH_VECTORS names no folder: {}", folder.display());
    assert!(holds_vectors(&folder), "AIRPATH_VECTORS: no vectors are in {}", folder.display());
    folder
}

/// Whether a folder holds a file of vectors: one that holds none would pass every test.
fn holds_vectors(folder: &Path) -> bool {
    let known = std::fs::read_dir(OWN).unwrap();
    known.map(|file| file.unwrap().file_name()).any(|name| folder.join(name).is_file())
}

/// The file, or nothing when a folder named by the user does not have it.
///
/// # Panics
/// If the project's own copy does not have it, or it is no JSON.
pub fn read(name: &str) -> Option<Value> {
    let path = folder().join(name);
    if std::env::var_os("AIRPATH_VECTORS").is_some() && !path.exists() {
        println!("{name}: not in this folder");
        return None;
    }
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// The elements of a list; none of anything else.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A number.
///
/// # Panics
/// If it is none.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}

/// A whole number, not negative.
///
/// # Panics
/// If it is none.
pub fn integer(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("not a whole number: {value}"))
}

/// A text.
///
/// # Panics
/// If it is none.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_and_without_vectors_are_distinguished() {
        assert!(holds_vectors(Path::new(OWN)));
        assert!(!holds_vectors(Path::new(env!("CARGO_MANIFEST_DIR"))));
    }
}
