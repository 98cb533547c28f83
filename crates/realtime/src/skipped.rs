//! Tests that cannot run here.

use std::fmt::Display;
use std::io::Write;

/// Writes to standard error why the calling test is skipped, also if the output of passing tests is captured.
pub fn skipped(reason: impl Display) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "{test}: skipped, because {reason}");
}
