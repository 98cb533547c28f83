//! The limits of the answers of components that are not part of this source tree.

use core::ffi::c_char;

use airpath_model::Timestamp;
use airpath_plugin::abi::{self, code};

/// The largest window and the largest burst, bytes. A sender keeps every packet in flight, so a window that grows without
/// bound takes all memory before the run ends.
pub const LARGEST_WINDOW: u64 = 1 << 30;
/// The largest pacing rate, bit/s.
pub const LARGEST_RATE: u64 = 1_000_000_000_000_000;
/// The longest RTT that an estimator may return, s.
pub const LONGEST_RTT: u64 = 1_000_000;
/// The largest factor on a capacity.
pub const LARGEST_PROBING: u64 = 1_000_000;
/// Nanoseconds in a second.
const NANOS: u64 = 1_000_000_000;
/// The most calls of `on_timer` at one instant.
const TIMERS_AT_ONCE: u32 = 1000;

/// Counts the calls of `on_timer` at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Timers {
    last: Timestamp,
    calls: u32,
}

impl Default for Timers {
    fn default() -> Self {
        Self { last: Timestamp::ZERO, calls: 0 }
    }
}

impl Timers {
    /// Counts a call.
    ///
    /// # Errors
    /// There were too many calls at this instant; the text states the number.
    pub fn count(&mut self, now: Timestamp) -> Result<(), String> {
        self.calls = if self.last == now { self.calls + 1 } else { 1 };
        self.last = now;
        if self.calls <= TIMERS_AT_ONCE {
            return Ok(());
        }
        let at = now.as_secs_f64();
        Err(format!("next_timer is {at} s for the {}th time, and it is {at} s", self.calls))
    }

    /// Counts a call of a function that a library may leave out.
    ///
    /// # Errors
    /// As [`Timers::count`]; or there is no such function.
    pub(crate) fn count_for(&mut self, is_there: bool, now: Timestamp) -> Result<(), String> {
        if is_there {
            return self.count(now);
        }
        Err("next_timer is set, but there is no function on_timer".to_owned())
    }
}

/// Returns the text of the error that a timer is in the past.
pub fn timer_in_the_past(timer: Timestamp, now: Timestamp) -> String {
    format!("next_timer is {} s, in the past: it is {} s", timer.as_secs_f64(), now.as_secs_f64())
}

/// Returns a value that must be from `least` to `most`.
///
/// # Errors
/// The value is outside the range; the text states both.
pub fn within(name: &str, value: f64, least: u64, most: u64) -> Result<f64, String> {
    if (least as f64..=most as f64).contains(&value) {
        return Ok(value);
    }
    Err(format!("{name} is {value}; accepted: {least} to {most}"))
}

/// Returns whether a number can be a rate in bit/s; NaN cannot.
#[inline]
fn is_rate(value: f64) -> bool {
    (0.0..=LARGEST_RATE as f64).contains(&value)
}

/// An answer of a component of a library.
pub(crate) trait Answer {
    /// Returns whether the answer is possible.
    fn is_possible(&self, now: Timestamp) -> bool;

    /// Returns the reason why the answer is impossible, if it is.
    fn problem(&self, now: Timestamp) -> String;

    /// Returns the reason of a failure, which may be null.
    fn error(&self) -> *const c_char;
}

impl Answer for abi::Control {
    #[inline]
    fn is_possible(&self, now: Timestamp) -> bool {
        // Zero wraps around to a large number.
        let within = |value: u64, most: u64| value.wrapping_sub(1) < most;
        within(self.window, LARGEST_WINDOW)
            && within(self.quantum, LARGEST_WINDOW)
            && self.next_timer >= now.as_nanos()
            && match self.pacing {
                code::PACING_FROM_WINDOW | code::PACING_OFF => true,
                code::PACING_AT_RATE => within(self.pacing_rate, LARGEST_RATE),
                _ => false,
            }
    }

    #[cold]
    fn problem(&self, now: Timestamp) -> String {
        let outside = |name: &str, value: u64, most: u64| {
            (!(1..=most).contains(&value)).then(|| format!("{name} is {value}; accepted: 1 to {most}"))
        };
        outside("window", self.window, LARGEST_WINDOW)
            .or_else(|| outside("quantum", self.quantum, LARGEST_WINDOW))
            .or_else(|| match self.pacing {
                code::PACING_AT_RATE => outside("pacing_rate", self.pacing_rate, LARGEST_RATE),
                other => Some(format!("pacing is {other}; accepted: 0, 1 or 2")).filter(|_| other > 2),
            })
            .unwrap_or_else(|| timer_in_the_past(Timestamp::from_nanos(self.next_timer), now))
    }

    fn error(&self) -> *const c_char {
        self.error
    }
}

impl Answer for abi::Estimate {
    #[inline]
    fn is_possible(&self, _now: Timestamp) -> bool {
        let has = |flag: u32| self.flags & flag != 0;
        (!has(code::ESTIMATE_SAMPLE) || is_rate(self.sample))
            && (!has(code::ESTIMATE_BANDWIDTH) || is_rate(self.bandwidth))
            && (!has(code::ESTIMATE_MINIMUM_RTT) || self.minimum_rtt <= LONGEST_RTT * NANOS)
    }

    #[cold]
    fn problem(&self, _now: Timestamp) -> String {
        let outside = |name: &str, flag: u32, value: f64| {
            within(name, value, 0, LARGEST_RATE).err().filter(|_| self.flags & flag != 0)
        };
        let longest = LONGEST_RTT * NANOS;
        outside("sample", code::ESTIMATE_SAMPLE, self.sample)
            .or_else(|| outside("bandwidth", code::ESTIMATE_BANDWIDTH, self.bandwidth))
            .unwrap_or_else(|| format!("minimum_rtt is {}; accepted: 0 to {longest}", self.minimum_rtt))
    }

    fn error(&self) -> *const c_char {
        self.error
    }
}

impl Answer for abi::Capacity {
    #[inline]
    fn is_possible(&self, now: Timestamp) -> bool {
        (self.flags & code::CAPACITY_KNOWN == 0 || is_rate(self.capacity))
            && (0.0..=LARGEST_PROBING as f64).contains(&self.probing)
            && self.next_timer >= now.as_nanos()
    }

    #[cold]
    fn problem(&self, now: Timestamp) -> String {
        let capacity = within("capacity", self.capacity, 0, LARGEST_RATE);
        capacity
            .err()
            .filter(|_| self.flags & code::CAPACITY_KNOWN != 0)
            .or_else(|| within("probing", self.probing, 0, LARGEST_PROBING).err())
            .unwrap_or_else(|| timer_in_the_past(Timestamp::from_nanos(self.next_timer), now))
    }

    fn error(&self) -> *const c_char {
        self.error
    }
}

impl Answer for abi::Decision {
    #[inline]
    fn is_possible(&self, now: Timestamp) -> bool {
        self.next_timer >= now.as_nanos()
    }

    #[cold]
    fn problem(&self, now: Timestamp) -> String {
        timer_in_the_past(Timestamp::from_nanos(self.next_timer), now)
    }

    fn error(&self) -> *const c_char {
        self.error
    }
}
