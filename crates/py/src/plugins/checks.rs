//! Checks of what objects of the user answer.

use airpath_model::Timestamp;
use airpath_plugin_host::answer::{self, timer_in_the_past};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The latest time of a timer, s.
const LATEST_TIMER: u64 = 1_000_000_000;

/// Returns a value that must be from `least` to `most`.
pub(super) fn within(name: &str, value: f64, least: u64, most: u64) -> PyResult<f64> {
    answer::within(name, value, least, most).map_err(PyValueError::new_err)
}

/// Returns a value that must be from `least` to `most`, or absent.
pub(super) fn within_or_none(name: &str, value: Option<f64>, least: u64, most: u64) -> PyResult<Option<f64>> {
    value.map(|value| within(name, value, least, most)).transpose()
}

/// Returns a timer that must not be in the past; `None` is no timer.
pub(super) fn timer(at: Option<f64>, now: Timestamp) -> PyResult<Timestamp> {
    let Some(at) = at else { return Ok(Timestamp::NEVER) };
    let timer = Timestamp::from_secs_f64(within("next_timer", at, 0, LATEST_TIMER)?);
    if timer < now {
        return Err(PyValueError::new_err(timer_in_the_past(timer, now)));
    }
    Ok(timer)
}
