//! Scheduling delays of a thread that must be on time.

use std::thread;
use std::time::{Duration, Instant};

use airpath_os_linux::Scheduling;

use crate::link_thread::{AWAKE, REST};
use crate::timing::LATE;

/// Returns the share of `lasting` for which a thread is delayed by more than [`LATE`] at a time. The thread
/// has the scheduling of a link thread, and alternates between work and rest like one. It does nothing else,
/// so the machine causes the delays.
pub fn held_up(lasting: Duration) -> f64 {
    let [late, awake, rest] = [LATE, AWAKE, REST].map(|span| Duration::from_nanos(span.as_nanos()));
    let watch = move || {
        let _granted = Scheduling::obtain(true, true);
        let (began, mut away) = (Instant::now(), Duration::ZERO);
        let (mut looked, mut woke) = (began, began);
        while looked - began < lasting {
            let now = Instant::now();
            if now - looked > late {
                away += now - looked;
            }
            looked = now;
            if now - woke > awake {
                thread::sleep(rest);
                woke = Instant::now();
            }
        }
        away.as_secs_f64() / (looked - began).as_secs_f64()
    };
    // The thread does not panic.
    thread::spawn(watch).join().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_has_its_duration_and_share() {
        let began = Instant::now();
        let share = held_up(Duration::from_millis(20));
        assert!(began.elapsed() >= Duration::from_millis(20));
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
}
