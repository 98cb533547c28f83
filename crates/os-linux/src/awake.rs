//! Idle processors that wake up without delay.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};

/// The kernel's file for latency requests (`Documentation/power/pm_qos_interface.rst`).
const LATENCY: &str = "/dev/cpu_dma_latency";

/// While the value exists, idle processors stay in the idle state with the shortest exit latency. Without it
/// an idle virtual machine woke threads 50 to 100 µs late, a busy one did not. The kernel withdraws the
/// request when the process ends.
#[derive(Debug)]
pub struct Awake {
    _request: File,
}

impl Awake {
    /// Requests the shortest latency.
    ///
    /// # Errors
    /// If the system refuses it: on most systems it needs root.
    pub fn obtain() -> io::Result<Self> {
        let mut request = OpenOptions::new().write(true).open(LATENCY)?;
        // The longest exit latency, in µs.
        request.write_all(&0_i32.to_ne_bytes())?;
        Ok(Self { _request: request })
    }
}

#[cfg(test)]
mod tests {
    use airpath_realtime::skipped;

    use super::*;

    #[test]
    fn the_wake_lock_is_granted_while_it_exists() {
        let awake = match Awake::obtain() {
            Ok(awake) => awake,
            Err(error) => {
                skipped(format_args!("{LATENCY}: {error}"));
                return;
            }
        };
        // The kernel grants the shortest latency of all requests.
        let granted = std::fs::read(LATENCY).unwrap();
        assert_eq!(granted, 0_i32.to_ne_bytes());
        drop(awake);
    }
}
