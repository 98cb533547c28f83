//! A constant window, which serves as a reference because its results have a closed form.

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, Control, Controller, Pacing, Phase, Probe, Rate, Requirements,
};

use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use crate::windowed::QUANTUM_SEGMENTS;
use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
#[cfg(feature = "declare")]
use alloc::boxed::Box;

/// Parameters of the fixed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct FixedConfig {
    /// The window of payload, in packets (of one maximum segment size) or bytes.
    #[cfg_attr(
        feature = "declare",
        schemars(extend("x-unit" = "window", "exclusiveMinimum" = 0, "examples" = [14_600]))
    )]
    pub window: Bytes,
    /// Pacing rate of payload. If absent, packets are sent in bursts.
    #[cfg_attr(feature = "declare", serde(default), schemars(extend("exclusiveMinimum" = 0)))]
    pub rate: Option<Rate>,
}

#[cfg(feature = "declare")]
impl Component<Controllers> for FixedConfig {
    const ID: &'static str = "fixed";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Fixed::new(self.window, self.rate, facts.mss)?))
    }
}

/// A controller that keeps a constant amount in flight, in bursts or at a constant rate.
#[derive(Clone, Debug)]
pub struct Fixed {
    window: Bytes,
    pacing: Option<Rate>,
    mss: Bytes,
}

impl Fixed {
    /// Creates a controller with a window of `window` bytes of payload, sent at `pacing` (bits of payload per
    /// second) if given. `mss` is the largest payload of one packet.
    ///
    /// Fails if `mss` is zero, if the window is smaller than one packet, or if the rate is zero.
    pub fn new(window: Bytes, pacing: Option<Rate>, mss: Bytes) -> Result<Self, ConfigError> {
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(window >= mss, "window", "at least one segment", window.as_f64())?;
        check(pacing != Some(Rate::ZERO), "rate", "greater than zero", 0.0)?;
        Ok(Self { window, pacing, mss })
    }
}

impl Controller for Fixed {
    fn requirements(&self) -> Requirements {
        Requirements { pacing: self.pacing.is_some(), ..Requirements::default() }
    }

    fn on_ack(&mut self, _event: &AckEvent, _probe: &mut dyn Probe) {}

    fn on_congestion(&mut self, _event: &CongestionEvent, _probe: &mut dyn Probe) {}

    fn control(&self) -> Control {
        Control {
            window: self.window,
            pacing: self.pacing.map_or(Pacing::FromWindow, Pacing::At),
            quantum: self.mss * QUANTUM_SEGMENTS,
        }
    }

    fn phase(&self) -> Phase {
        Phase::Steady
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_paced_if_a_rate_is_configured() {
        let mss = Bytes::new(1000);
        let rate = Rate::from_bps(1_000_000);
        let paced = Fixed::new(mss * 10, Some(rate), mss).unwrap();
        assert_eq!(paced.control().pacing, Pacing::At(rate));
        assert!(paced.requirements().pacing);
        let plain = Fixed::new(mss * 10, None, mss).unwrap();
        assert_eq!(plain.control().pacing, Pacing::FromWindow);
        assert_eq!(plain.control().window, mss * 10);
    }

    #[test]
    fn configurations_that_cannot_send_are_rejected() {
        let mss = Bytes::new(1000);
        assert!(Fixed::new(mss, None, Bytes::ZERO).is_err());
        assert!(Fixed::new(Bytes::new(999), None, mss).is_err());
        assert!(Fixed::new(mss, Some(Rate::ZERO), mss).is_err());
    }
}
