//! Running a real-time check until there is an outcome.

use std::any::type_name;
use std::env::var_os;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::disturbance::{Disturbance, Monitor};

/// Maximum number of attempts of a check.
pub const ATTEMPTS: u32 = 4;
/// Number of failures without an explanation that make a check fail.
pub const CONFIRMED: u32 = 2;

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed(String),
    Inconclusive(String),
}

/// Runs `body` up to [`ATTEMPTS`] times, one check of this process at a time. An attempt fails if `body`
/// returns an error or panics. `bound` is the shortest delay of a thread that can make the check fail
/// ([`Disturbance::explanation`]).
///
/// If the environment variable `AIRPATH_AGAIN` names a file, other checks run at the same time. The first
/// failure that a disturbance explains then ends the attempts, and the check's name is appended to the file, so
/// that it can run again alone.
///
/// # Panics
/// If the check failed and no disturbance explains the failure, or if the file of an environment variable
/// cannot be written.
pub fn check<F: FnMut() -> Result<(), String>>(bound: Duration, mut body: F) {
    static ALONE: Mutex<()> = Mutex::new(());
    let again = var_os("AIRPATH_AGAIN");
    let outcome = {
        // A check that failed in another thread has ended, too.
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        decide(again.is_some(), bound, || {
            let monitor = Monitor::start();
            let result =
                catch_unwind(AssertUnwindSafe(&mut body)).unwrap_or_else(|panic| Err(message(&*panic)));
            (result, monitor.end())
        })
    };
    match outcome {
        Outcome::Passed => {}
        Outcome::Failed(reason) => panic!("{reason}"),
        Outcome::Inconclusive(reason) => {
            let thread = thread::current();
            let name = name(thread.name(), type_name::<F>());
            match again {
                Some(file) => append(&file, &format!("{name}\n")),
                None => inconclusive(name, &reason),
            }
        }
    }
}

/// Reports that the check `name` is inconclusive. [`check`] calls it.
///
/// # Panics
/// If the file `AIRPATH_INCONCLUSIVE` cannot be written.
pub fn inconclusive(name: &str, reason: &str) {
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("inconclusive: {name}: {reason}\n");
    // `eprint!` is not used: libtest shows its output only if the test fails.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(file) = var_os("AIRPATH_INCONCLUSIVE") {
        append(&file, &line);
    }
}

fn append(file: &OsStr, line: &str) {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    if let Err(error) = opened.and_then(|mut file| file.write_all(line.as_bytes())) {
        panic!("{}: {error}", file.display());
    }
}

fn decide(
    others_run: bool,
    bound: Duration,
    mut attempt: impl FnMut() -> (Result<(), String>, Disturbance),
) -> Outcome {
    let (mut unexplained, mut explained) = (0, None);
    for _ in 0..ATTEMPTS {
        let (result, disturbance) = attempt();
        let Err(problem) = result else { return Outcome::Passed };
        if let Some(reason) = disturbance.explanation(bound) {
            explained = Some(format!("{reason}; {problem}"));
            if others_run {
                break;
            }
        } else {
            unexplained += 1;
            if unexplained == CONFIRMED {
                return Outcome::Failed(format!("{problem}; the machine was quiet: {disturbance}"));
            }
        }
    }
    Outcome::Inconclusive(explained.unwrap_or_default())
}

/// Returns the text of a panic.
fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("the check panicked").to_owned()
}

/// Returns the name of the running test. libtest names threads after tests, except if it runs them in the
/// main thread; then the name of the check's closure contains that of the enclosing function.
fn name<'a>(thread: Option<&'a str>, closure: &'a str) -> &'a str {
    thread.filter(|name| *name != "main").unwrap_or_else(|| closure.trim_end_matches("::{{closure}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: Duration = Duration::from_millis(10);

    fn disturbance(others: f64) -> Disturbance {
        Disturbance { longest_delay: Duration::ZERO, delayed: 0.0, others, stolen: 0.0, processors: 2 }
    }

    /// Decides by the attempts `PASSES QUIET`. Also returns the number of attempts needed.
    fn decided(attempts: &[(bool, bool)]) -> (Outcome, usize) {
        decided_while(false, attempts)
    }

    fn decided_while(others_run: bool, attempts: &[(bool, bool)]) -> (Outcome, usize) {
        let mut made = 0;
        let outcome = decide(others_run, BOUND, || {
            let (passes, quiet) = attempts[made];
            made += 1;
            let result = if passes { Ok(()) } else { Err(format!("attempt {made}")) };
            (result, disturbance(if quiet { 0.0 } else { 1.5 }))
        });
        (outcome, made)
    }

    #[test]
    fn one_passing_attempt_suffices() {
        assert_eq!(decided(&[(true, false)]), (Outcome::Passed, 1));
        assert_eq!(
            decided(&[(false, false), (false, true), (false, false), (true, true)]),
            (Outcome::Passed, 4)
        );
    }

    #[test]
    fn an_incorrect_program_on_an_idle_machine_fails() {
        let (outcome, made) = decided(&[(false, true), (false, false), (false, true)]);
        assert!(
            matches!(&outcome, Outcome::Failed(reason) if reason.starts_with("attempt 3; ")),
            "{outcome:?}"
        );
        assert_eq!(made, 3);
    }

    #[test]
    fn load_alone_is_inconclusive() {
        let (outcome, made) = decided(&[(false, false), (false, true), (false, false), (false, false)]);
        let expected = "other processes used 1.50 processors; attempt 4".to_owned();
        assert_eq!((outcome, made), (Outcome::Inconclusive(expected), 4));
    }

    #[test]
    fn while_others_run_an_explained_failure_ends_the_attempts() {
        let (outcome, made) = decided_while(true, &[(false, true), (false, false)]);
        let expected = "other processes used 1.50 processors; attempt 2".to_owned();
        assert_eq!((outcome, made), (Outcome::Inconclusive(expected), 2));

        let (outcome, made) = decided_while(true, &[(false, true), (false, true)]);
        assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
        assert_eq!(made, 2);
    }

    #[test]
    fn a_panic_is_a_failure_with_its_message() {
        let caught = |work: fn()| message(&*catch_unwind(work).unwrap_err());
        assert_eq!(caught(|| panic!("off by {}", 3)), "off by 3");
        assert_eq!(caught(|| panic!("off")), "off");
        assert_eq!(caught(|| std::panic::panic_any(1)), "the check panicked");
    }

    #[test]
    fn a_check_has_the_name_of_its_test() {
        assert_eq!(name(Some("rates::one_mbps"), "it::rates::within::{{closure}}"), "rates::one_mbps");
        assert_eq!(name(Some("main"), "it::rates::within::{{closure}}"), "it::rates::within");
        assert_eq!(name(None, "it::rates::within::{{closure}}"), "it::rates::within");
    }

    #[test]
    fn a_check_that_passes_returns() {
        let mut ran = 0;
        check(BOUND, || {
            ran += 1;
            Ok(())
        });
        assert_eq!(ran, 1);
    }
}
