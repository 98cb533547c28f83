//! Saying that a test is skipped.

use std::fmt::Display;
use std::io::Write;

/// Says why a test is skipped, past the capture of test output: it is shown of tests that pass, too.
pub(crate) fn skipped(reason: impl Display) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "{test}: skipped, because {reason}");
}
