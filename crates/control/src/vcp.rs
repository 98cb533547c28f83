//! Variable-structure congestion control (VCP) at a sender: a load code selects one of three changes of the
//! window.

mod mpcp;
mod overload;
mod response;
mod scaling;

pub use mpcp::{Mpcp, MpcpConfig};
pub use overload::{AfterFreeze, VcpFreeze};
pub use response::LoadResponseConfig;
pub use scaling::{AdditiveScaling, RttScaling, VcpBounds};

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, Control, Controller, LoadCode, Measurement, PathHeader, Phase, Probe,
    Requirements, SendEvent, Timestamp,
};

use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
#[cfg(feature = "declare")]
use alloc::boxed::Box;
use overload::Region;
use response::LoadResponse;

/// The upper end of low load, as a load factor: σ of SIGCOMM'05, section 4.2.
const LOW_LOAD: f64 = 0.8;

/// Parameters of VCP's sender (Xia et al., SIGCOMM'05, Table 2).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default)
)]
pub struct VcpConfig {
    /// Parameters that MPCP's sender shares.
    #[cfg_attr(feature = "declare", serde(flatten))]
    pub response: LoadResponseConfig,
    /// kappa: gain of the multiplicative increase, at most 1 (Xia et al. 2005: 0.25).
    // The window grows by ξ = κ (1 − 0.8) / 0.8 = 1/16 each t_ρ. The paper's bound for stability is 0.5.
    #[cfg_attr(feature = "declare", schemars(range(max = 1), extend("exclusiveMinimum" = 0)))]
    pub kappa: f64,
    /// beta: the share of the window that remains after an overload (Xia et al. 2005: 0.875).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub beta: f64,
}

impl Default for VcpConfig {
    fn default() -> Self {
        Self { response: LoadResponseConfig::default(), kappa: 0.25, beta: 0.875 }
    }
}

#[cfg(feature = "declare")]
impl Component<Controllers> for VcpConfig {
    const ID: &'static str = "vcp";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Vcp::new(*self, facts.initial_window, facts.mss)?))
    }
}

/// VCP's sender (Xia et al., SIGCOMM'05, sections 3 and 4.2).
///
/// The code echoed by an acknowledgment selects the response: multiplicative increase at low load, additive
/// increase at high load, multiplicative decrease at overload, once, followed by a freeze of `t_ρ` and
/// additive increase for one round trip. Multiplicative and additive increase replace slow start, also after
/// a timeout. An acknowledgment without a code changes nothing.
///
/// Telemetry: `load_code` at each change: 0 low, 1 high, 2 overload.
#[derive(Clone, Debug)]
pub struct Vcp {
    response: LoadResponse,
    /// ξ, the growth of one `t_ρ` at low load.
    xi: f64,
    beta: f64,
    code: Option<LoadCode>,
}

impl Vcp {
    /// Creates a sender with `initial_window` (bytes of payload); `mss` is the largest payload of one packet.
    ///
    /// Fails if a parameter is out of range, `mss` is zero, or the window is smaller than one packet.
    pub fn new(config: VcpConfig, initial_window: Bytes, mss: Bytes) -> Result<Self, ConfigError> {
        let VcpConfig { response, kappa, beta } = config;
        check(kappa > 0.0 && kappa <= 1.0, "kappa", "greater than 0 and at most 1", kappa)?;
        check(beta > 0.0 && beta < 1.0, "beta", "greater than 0 and less than 1", beta)?;
        let response = LoadResponse::new(response, initial_window, mss)?;
        Ok(Self { response, xi: kappa * (1.0 - LOW_LOAD) / LOW_LOAD, beta, code: None })
    }
}

impl Controller for Vcp {
    fn requirements(&self) -> Requirements {
        self.response.requirements()
    }

    fn on_sent(&mut self, _event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        PathHeader::Load(LoadCode::Low)
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        let code = if let PathHeader::Load(code) = event.path { Some(code) } else { None };
        if let Some(code) = code
            && self.code.replace(code) != Some(code)
        {
            probe.record(event.now, Measurement::Named("load_code", f64::from(code as u8)));
        }
        let wish = code.map(|code| match code {
            LoadCode::Low => Region::Multiplicative(self.xi),
            LoadCode::High => Region::Additive,
            LoadCode::Overload => Region::Decrease(self.beta),
        });
        self.response.on_ack(event, wish);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        self.response.on_congestion(event);
    }

    fn on_spurious(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {
        self.response.on_spurious();
    }

    fn control(&self) -> Control {
        self.response.control()
    }

    fn phase(&self) -> Phase {
        Phase::Steady
    }
}

#[cfg(test)]
mod tests;
