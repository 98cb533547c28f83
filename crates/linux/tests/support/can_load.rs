//! Checks of the requirements of tests.

use std::io::Write;

use airpath_linux::capability;

/// Returns whether BPF programs can be loaded. If not, prints the reason past the capture of test output.
pub(crate) fn can_load(test: &str) -> bool {
    can(test, capability::missing())
}

/// Returns the same for routers, which are attached to devices.
pub(crate) fn can_route(test: &str) -> bool {
    can(test, capability::routers_missing().as_deref())
}

/// Returns the same for congestion controllers.
pub(crate) fn can_control(test: &str) -> bool {
    can(test, capability::controllers_missing().as_deref())
}

/// Returns the same for complete hosts, with a control group.
pub(crate) fn can_host(test: &str) -> bool {
    can(test, capability::hosts_missing().as_deref())
}

fn can(test: &str, missing: Option<&str>) -> bool {
    if let Some(reason) = missing {
        skipped(test, reason);
    }
    missing.is_none()
}

/// Prints why a test is skipped, past the capture of test output.
pub(crate) fn skipped(test: &str, reason: &str) {
    let _ = writeln!(std::io::stderr(), "{test}: skipped, because {reason}");
}
