//! Processors that wake at once.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};

/// The kernel's file for such wishes (`Documentation/power/pm_qos_interface.rst`).
const LATENCY: &str = "/dev/cpu_dma_latency";

/// While it lives, idle processors stay in the state that they leave at once. Without it an idle virtual machine woke
/// threads 50 to 100 µs late, a busy one did not. The kernel ends it with the descriptor, however the process ends.
#[derive(Debug)]
pub(crate) struct Awake {
    _wish: File,
}

impl Awake {
    /// Asks for it: on most systems only root may.
    pub(crate) fn obtain() -> io::Result<Self> {
        let mut wish = OpenOptions::new().write(true).open(LATENCY)?;
        // The longest time that waking up may take, in µs.
        wish.write_all(&0_i32.to_ne_bytes())?;
        Ok(Self { _wish: wish })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skipped::skipped;

    #[test]
    fn the_kernel_holds_to_it_while_it_lives() {
        let awake = match Awake::obtain() {
            Ok(awake) => awake,
            Err(error) => {
                skipped(format_args!("{LATENCY}: {error}"));
                return;
            }
        };
        // What all who asked are granted together: the shortest.
        let granted = std::fs::read(LATENCY).unwrap();
        assert_eq!(granted, 0_i32.to_ne_bytes());
        drop(awake);
    }
}
