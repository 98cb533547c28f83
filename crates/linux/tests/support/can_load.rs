//! Whether these tests can run here.

use std::io::Write;

use airpath_linux::capability;

/// Whether BPF programs can be loaded; says why not, past the capture of test output.
pub(crate) fn can_load(test: &str) -> bool {
    let missing = capability::missing();
    if let Some(reason) = missing {
        let _ = writeln!(std::io::stderr(), "{test}: skipped, because {reason}");
    }
    missing.is_none()
}
