//! The clock of an emulation.

use std::thread;
use std::time::Instant;

use airpath_model::{Duration, Timestamp};
use nix::poll::{PollFd, ppoll};
use nix::sys::time::TimeSpec;

#[cfg(test)]
pub(crate) mod virtual_time;
#[cfg(test)]
use virtual_time::VirtualTime;

/// The clock of an emulation: the time since its start. All copies show the same time.
///
/// All threads of the emulator read the time and sleep through it, so that tests can replace real time by
/// virtual time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: Instant,
    #[cfg(test)]
    replaced: Option<&'static VirtualTime>,
}

impl Clock {
    /// Starts a clock. It is monotonic: setting the system time does not change it.
    pub(crate) fn start() -> Self {
        Self {
            began: Instant::now(),
            #[cfg(test)]
            replaced: None,
        }
    }

    /// Returns the time since the emulation started.
    pub fn now(&self) -> Timestamp {
        #[cfg(test)]
        if let Some(time) = self.replaced {
            return time.now();
        }
        Timestamp::ZERO + Duration::from_nanos(self.began.elapsed().as_nanos() as u64) // 584 years
    }

    /// Returns whether time passes only while the emulator sleeps.
    #[cfg(test)]
    pub(crate) fn is_virtual(&self) -> bool {
        self.replaced.is_some()
    }

    /// Sleeps for `time`.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "tests replace real time"))]
    pub(crate) fn sleep(&self, time: Duration) {
        #[cfg(test)]
        if let Some(replaced) = self.replaced {
            return replaced.sleep(time, false);
        }
        thread::sleep(std::time::Duration::from_nanos(time.as_nanos()));
    }

    /// Waits for less than a second, or until one of `watched` is ready. May return sooner.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "tests replace real time"))]
    pub(crate) fn wait(&self, watched: &mut [PollFd<'_>], time: Duration) {
        #[cfg(test)]
        if let Some(replaced) = self.replaced {
            return replaced.sleep(time, !watched.is_empty());
        }
        // The result does not matter: the caller polls the devices and the clock next.
        let _ = ppoll(watched, Some(TimeSpec::new(0, time.as_nanos() as i64)), None);
    }
}
