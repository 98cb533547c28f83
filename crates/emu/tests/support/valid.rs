//! Measurements by the real clock that can be trusted, or a reason why there are none.
#![allow(clippy::print_stderr, reason = "a measurement is to be read")]

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use airpath_emu::{Emulated, LATE_SHARE_BOUND, held_up};

use super::skipped;

/// Says what was measured.
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

/// What comes of a test when no run is valid.
#[derive(Clone, Copy)]
pub(crate) enum Otherwise {
    /// It is skipped if the machine holds up even a thread that does nothing, and fails if not.
    Skipped,
    /// It fails: whoever runs it wants the result.
    Fails,
}

/// Those that measure time do so one after another.
static MEASURING: Mutex<()> = Mutex::new(());

/// What the first valid run of four found. A run gives what it found and why that should not be trusted, or `None` where
/// there are no hosts; `None`, and the reason is said, there and where the machine is too busy.
pub(crate) fn valid<T>(otherwise: Otherwise, measure: impl Fn() -> Option<(T, Vec<String>)>) -> Option<T> {
    // A test that failed meanwhile is over, too.
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let look = || Some(held_up(Duration::from_secs(2))).filter(|share| *share > LATE_SHARE_BOUND / 4.0);
    let (mut last, mut busy) = (Vec::new(), None);
    for _ in 0..4 {
        let (found, problems) = measure()?;
        if problems.is_empty() {
            return Some(found);
        }
        last = problems;
        // At once: what spoilt the run may be over when the last one ends.
        busy = busy.or_else(look);
    }
    // A machine that stops seldom, but for long, may not do so in two seconds.
    let busy = busy.or_else(|| (0..5).find_map(|_| look()));
    let held_up = match busy {
        Some(share) => {
            format!("a thread that does nothing is held up for {:.2} % of the time", 100.0 * share)
        }
        None => {
            "a thread that does nothing is not held up, neither after a run nor for ten seconds".to_owned()
        }
    };
    let busy = busy.is_some() && matches!(otherwise, Otherwise::Skipped);
    assert!(busy, "no run of four was valid; {held_up}; the last run: {last:?}");
    skipped(format_args!("no run of four was valid, and {held_up}"));
    None
}
