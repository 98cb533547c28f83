//! Slow start: exponential growth from a small window, and the condition for its end.

use core::fmt::Debug;

#[cfg(feature = "declare")]
use crate::declare::{AnySlowStart, SlowStarts};
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
use airpath_model::{AckEvent, Bytes, CongestionSignal, Phase};

use crate::ConfigError;
use airpath_model::config::check;

/// The growth of the window below the slow-start threshold, and the decision whether growth ends before a
/// loss.
///
/// As for [`crate::WindowRule`], undo works by value.
pub trait SlowStart: Clone + Debug + Send {
    /// Returns the growth of the window. Called only if the acknowledgment covers new data, the window was
    /// used, and no recovery is in progress.
    fn growth(&self, event: &AckEvent) -> Bytes;

    /// Processes an acknowledgment in slow start, after the growth. Returns whether slow start is over: the
    /// threshold then becomes the window.
    fn on_ack(&mut self, _event: &AckEvent) -> bool {
        false
    }

    /// Returns a threshold for the first slow start, as soon as one is known. Called after
    /// [`SlowStart::on_ack`] while there is none.
    fn initial_ssthresh(&self) -> Option<Bytes> {
        None
    }

    /// Processes a congestion signal, in any phase.
    fn on_congestion(&mut self, signal: CongestionSignal);

    /// Returns the phase while the window is below the threshold.
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
    /// Creates a slow start in which the window grows by the acknowledged bytes, at most `limit` segments per
    /// acknowledgment (L of RFC 3465; `u64::MAX` is no limit). Fails if `limit` is zero.
    pub fn new(limit: u64) -> Result<Self, ConfigError> {
        check(limit >= 1, "limit", "at least one segment", limit as f64)?;
        Ok(Self { limit })
    }
}

impl Default for StandardSlowStart {
    /// Returns a slow start with L = 2: full speed with delayed acknowledgments (RFC 3465, section 2.3).
    fn default() -> Self {
        Self { limit: 2 }
    }
}

impl SlowStart for StandardSlowStart {
    fn growth(&self, event: &AckEvent) -> Bytes {
        event.acked.min(event.mss * self.limit)
    }

    fn on_congestion(&mut self, signal: CongestionSignal) {
        // After a timeout, one acknowledgment may cover much data that left the network long ago. It then
        // contains little information about the current capacity, so L = 1 (RFC 3465, section 2.3). Any later
        // slow start follows a timeout as well.
        if signal == CongestionSignal::Timeout {
            self.limit = 1;
        }
    }
}

/// Slow start that grows in every other round trip, so that the round between shows the effect of the window
/// on the RTT (Brakmo and Peterson 1995, section 3.3; ns-2's Vegas): one segment per acknowledgment in odd
/// rounds.
#[derive(Clone, Debug)]
pub struct EveryOtherRound {
    standard: StandardSlowStart,
}

impl Default for EveryOtherRound {
    fn default() -> Self {
        Self { standard: StandardSlowStart { limit: 1 } }
    }
}

impl SlowStart for EveryOtherRound {
    fn growth(&self, event: &AckEvent) -> Bytes {
        if event.round.is_multiple_of(2) { Bytes::ZERO } else { self.standard.growth(event) }
    }

    fn on_congestion(&mut self, signal: CongestionSignal) {
        self.standard.on_congestion(signal);
    }
}

/// Growth by up to two segments for each acknowledgment (RFC 3465, L = 2), until the threshold or a loss (RFC
/// 5681).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct StandardConfig {}

#[cfg(feature = "declare")]
impl Component<SlowStarts> for StandardConfig {
    const ID: &'static str = "standard";

    fn build(&self, (): ()) -> Result<AnySlowStart, ConfigError> {
        Ok(AnySlowStart::new(StandardSlowStart::default()))
    }
}

/// Growth by one segment for each acknowledgment (L = 1; ns-2, and Linux in 2007), until the threshold or a
/// loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct PerAcknowledgmentConfig {}

#[cfg(feature = "declare")]
impl Component<SlowStarts> for PerAcknowledgmentConfig {
    const ID: &'static str = "per-acknowledgment";

    fn build(&self, (): ()) -> Result<AnySlowStart, ConfigError> {
        Ok(AnySlowStart::new(StandardSlowStart::new(1)?))
    }
}

/// Growth by one segment for each acknowledgment of every other round trip (Vegas as published).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct EveryOtherRoundConfig {}

#[cfg(feature = "declare")]
impl Component<SlowStarts> for EveryOtherRoundConfig {
    const ID: &'static str = "every-other-round";

    fn build(&self, (): ()) -> Result<AnySlowStart, ConfigError> {
        Ok(AnySlowStart::new(EveryOtherRound::default()))
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
    fn every_other_round_grows_by_a_segment_for_an_acknowledgment() {
        let slow_start = EveryOtherRound::default();
        let growth = [1, 2, 3, 4].map(|round| {
            let mut event = acked(2000);
            event.round = round;
            slow_start.growth(&event).get()
        });
        assert_eq!(growth, [1000, 0, 1000, 0]);
    }

    #[test]
    fn zero_growth_is_rejected() {
        assert!(StandardSlowStart::new(0).is_err());
    }
}
