//! Outcomes of real-time checks: *passed*, *failed*, *inconclusive*.
//!
//! A real-time check is a test whose result depends on wall-clock time. Such a test can fail because the
//! program is wrong or because the machine did not run it in time. [`check`] measures the disturbance of the
//! machine while the test body runs ([`Disturbance`]) and runs the body again if a disturbance explains a
//! failure. The outcome is
//!
//! - *passed* if one attempt passes,
//! - *failed* if [`CONFIRMED`] attempts fail without a disturbance that explains the failure (the test
//!   panics),
//! - *inconclusive* otherwise. The test passes in libtest. A line `inconclusive: NAME: REASON` is written to
//!   standard error and, if the environment variable `AIRPATH_INCONCLUSIVE` names a file, appended to that
//!   file.
//!
//! For tests only. Linux only; the crate is empty on other systems.

#[cfg(target_os = "linux")]
mod check;
#[cfg(target_os = "linux")]
mod disturbance;
#[cfg(target_os = "linux")]
mod processor_time;
#[cfg(target_os = "linux")]
mod skipped;

#[cfg(target_os = "linux")]
pub use check::{ATTEMPTS, CONFIRMED, check, inconclusive};
#[cfg(target_os = "linux")]
pub use disturbance::{DELAYED_BOUND, Disturbance, Monitor, OTHERS_BOUND, STEAL_BOUND};
#[cfg(target_os = "linux")]
pub use skipped::skipped;
