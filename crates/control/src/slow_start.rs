//! Slow start: exponential growth from a small window, and when to leave it.

use core::fmt::Debug;

use airpath_model::{AckEvent, Bytes, CongestionSignal, Phase};

use crate::ConfigError;
use airpath_model::config::check;

/// How the window grows below the slow-start threshold, and whether growth should end before a loss ends it.
///
/// As with [`crate::WindowRule`], undo works by value.
pub trait SlowStart: Clone + Debug + Send {
    /// By how much the window grows. Asked only when the acknowledgment covers new data, the window was used, and
    /// no recovery is under way.
    fn growth(&self, event: &AckEvent) -> Bytes;

    /// An acknowledgment arrived in slow start, after the growth. Whether slow start is over: the threshold becomes
    /// the window.
    fn on_ack(&mut self, _event: &AckEvent) -> bool {
        false
    }

    /// A threshold for the first slow start, as soon as one is known. Asked after [`SlowStart::on_ack`] while there
    /// is none.
    fn initial_ssthresh(&self) -> Option<Bytes> {
        None
    }

    /// A congestion signal, in any phase.
    fn on_congestion(&mut self, signal: CongestionSignal);

    /// The phase while the window is below the threshold.
    fn phase(&self) -> Phase {
        Phase::SlowStart
    }
}

/// Slow start that ends at the threshold or at a loss (RFC 5681, section 3.1), with appropriate byte counting
/// (RFC 3465, section 2.2).
#[derive(Clone, Debug)]
pub struct StandardSlowStart {
    /// L, in segments.
    limit: u64,
}

impl StandardSlowStart {
    /// The window grows by the bytes acknowledged, at most `limit` segments for one acknowledgment (L of RFC 3465;
    /// `u64::MAX` is no limit). Fails when `limit` is zero.
    pub fn new(limit: u64) -> Result<Self, ConfigError> {
        check(limit >= 1, "limit", "at least one segment", limit as f64)?;
        Ok(Self { limit })
    }
}

impl Default for StandardSlowStart {
    /// L = 2: full speed with delayed acknowledgments (RFC 3465, section 2.3).
    fn default() -> Self {
        Self { limit: 2 }
    }
}

impl SlowStart for StandardSlowStart {
    fn growth(&self, event: &AckEvent) -> Bytes {
        event.acked.min(event.mss * self.limit)
    }

    fn on_congestion(&mut self, signal: CongestionSignal) {
        // After a timeout one acknowledgment may cover much that left the network long ago, so that it says little
        // about what fits now: L = 1 (RFC 3465, section 2.3). Any later slow start follows a timeout as well.
        if signal == CongestionSignal::Timeout {
            self.limit = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::Timestamp;

    use super::*;

    fn acked(bytes: u64) -> AckEvent {
        let mut event = AckEvent::at(Timestamp::ZERO);
        event.mss = Bytes::new(1000);
        event.acked = Bytes::new(bytes);
        event
    }

    #[test]
    fn growth_is_the_bytes_acknowledged_up_to_l_segments() {
        let slow_start = StandardSlowStart::default();
        assert_eq!(slow_start.growth(&acked(700)), Bytes::new(700));
        assert_eq!(slow_start.growth(&acked(2000)), Bytes::new(2000));
        assert_eq!(slow_start.growth(&acked(9000)), Bytes::new(2000));
        let unlimited = StandardSlowStart::new(u64::MAX).unwrap();
        assert_eq!(unlimited.growth(&acked(9000)), Bytes::new(9000));
    }

    #[test]
    fn after_a_timeout_l_is_one() {
        let mut slow_start = StandardSlowStart::default();
        slow_start.on_congestion(CongestionSignal::Loss);
        assert_eq!(slow_start.growth(&acked(9000)), Bytes::new(2000));
        slow_start.on_congestion(CongestionSignal::Timeout);
        assert_eq!(slow_start.growth(&acked(9000)), Bytes::new(1000));
    }

    #[test]
    fn no_growth_at_all_is_refused() {
        assert!(StandardSlowStart::new(0).is_err());
    }
}
