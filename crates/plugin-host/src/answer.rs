//! The limits of the answers of controllers that are not part of this source tree.

use airpath_model::Timestamp;
use airpath_plugin::abi::{self, code};

/// The largest window and the largest burst, bytes. A sender keeps every packet in flight, so a window that grows without
/// bound takes all memory before the run ends.
pub const LARGEST_WINDOW: u64 = 1 << 30;
/// The largest pacing rate, bit/s.
pub const LARGEST_RATE: u64 = 1_000_000_000_000_000;
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
    /// There were too many at this instant, in words.
    pub fn count(&mut self, now: Timestamp) -> Result<(), String> {
        self.calls = if self.last == now { self.calls + 1 } else { 1 };
        self.last = now;
        if self.calls <= TIMERS_AT_ONCE {
            return Ok(());
        }
        let at = now.as_secs_f64();
        Err(format!("next_timer is {at} s for the {}th time, and it is {at} s", self.calls))
    }
}

/// Returns that a timer is in the past, in words.
pub fn timer_in_the_past(timer: Timestamp, now: Timestamp) -> String {
    format!("next_timer is {} s, in the past: it is {} s", timer.as_secs_f64(), now.as_secs_f64())
}

/// Whether an answer is possible.
#[inline]
pub(crate) fn is_possible(answer: &abi::Control, now: Timestamp) -> bool {
    // Zero wraps around to a large number.
    let within = |value: u64, most: u64| value.wrapping_sub(1) < most;
    within(answer.window, LARGEST_WINDOW)
        && within(answer.quantum, LARGEST_WINDOW)
        && answer.next_timer >= now.as_nanos()
        && match answer.pacing {
            code::PACING_FROM_WINDOW | code::PACING_OFF => true,
            code::PACING_AT_RATE => within(answer.pacing_rate, LARGEST_RATE),
            _ => false,
        }
}

/// Returns why an answer is impossible, in words.
#[cold]
pub(crate) fn problem(answer: &abi::Control, now: Timestamp) -> String {
    let outside = |name: &str, value: u64, most: u64| {
        (!(1..=most).contains(&value)).then(|| format!("{name} is {value}; accepted: 1 to {most}"))
    };
    outside("window", answer.window, LARGEST_WINDOW)
        .or_else(|| outside("quantum", answer.quantum, LARGEST_WINDOW))
        .or_else(|| match answer.pacing {
            code::PACING_AT_RATE => outside("pacing_rate", answer.pacing_rate, LARGEST_RATE),
            other => Some(format!("pacing is {other}; accepted: 0, 1 or 2")).filter(|_| other > 2),
        })
        .unwrap_or_else(|| timer_in_the_past(Timestamp::from_nanos(answer.next_timer), now))
}
