//! Tests that cannot run here.

use std::fmt::Display;
use std::io::Write;

/// Writes the reason why the calling test is skipped to standard error, past the capture of the output of
/// passing tests.
pub fn skipped(reason: impl Display) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "{test}: skipped, because {reason}");
}
