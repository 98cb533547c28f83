//! Real-time checks of emulations.

use std::time::Duration;

use airpath_emu::Emulated;

/// The delay of a thread in one second that can change the rate of that second by 1 %, the tolerance of most
/// checks.
const BOUND: Duration = Duration::from_millis(10);

/// Runs a real-time check ([`airpath_realtime::check`]), which fails by a panic. `body` returns `None` if
/// hosts cannot be created.
pub(crate) fn check(body: impl Fn() -> Option<()>) {
    airpath_realtime::check(BOUND, || {
        body();
        Ok(())
    });
}

/// Fails the attempt if the results of an emulation are not valid.
pub(crate) fn assert_valid(problems: &[String]) {
    assert!(problems.is_empty(), "the emulation is not valid: {}", problems.join("; "));
}

/// Prints the measurements.
pub(crate) fn report(what: &str, emulated: &Emulated) {
    let lateness = emulated.validity.measured.lateness;
    eprintln!(
        "{what}; late mean {:.1} µs, p50 {:.1}, p99 {:.1}, worst {:.1}; gap {:.2} ms; {:?}, {:?}; {:?}",
        1e6 * lateness.mean_s,
        1e6 * lateness.p50_s,
        1e6 * lateness.p99_s,
        1e6 * lateness.max_s,
        1e3 * emulated.validity.measured.longest_gap_s,
        emulated.validity.measured.packets,
        emulated.validity.measured.scheduling,
        emulated.validity.problems,
    );
}
