//! Variable-structure congestion control (VCP) at a sender: three ways to move the window, chosen by a load code.

mod mpcp;
mod overload;
mod response;
mod scaling;

pub use mpcp::{Mpcp, MpcpConfig};
pub use overload::{AfterFreeze, VcpFreeze};
pub use scaling::{AdditiveScaling, RttScaling, VcpBounds};

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, Control, Controller, Duration, LoadCode, Measurement, PathHeader,
    Phase, Probe, Requirements, SendEvent, Timestamp,
};

use crate::ConfigError;
use airpath_model::config::check;
use overload::Region;
use response::{LoadResponse, ResponseConfig};
use scaling::Scaling;

/// The load factor where low load ends: σ of SIGCOMM'05, section 4.2.
const LOW_LOAD: f64 = 0.8;

/// Parameters of VCP's sender (Xia et al., SIGCOMM'05, Table 2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VcpConfig {
    /// Which round-trip time scales the increases.
    pub rtt_scaling: RttScaling,
    /// How additive increase follows the round-trip time.
    pub additive_scaling: AdditiveScaling,
    /// To which round-trip time additive increase refers.
    pub bounds: VcpBounds,
    /// Whether scaling stops at the 500 ms of the authors' code.
    pub rtt_cap: bool,
    /// What the freeze after a decrease keeps from happening.
    pub freeze: VcpFreeze,
    /// What an overload does in the round trip after the freeze.
    pub after_freeze: AfterFreeze,
    /// κ: gain of multiplicative increase, greater than 0, at most 1 (the paper's bound for stability is 0.5). 0.25:
    /// the window grows by ξ = κ (1 − 0.8) / 0.8 = 1/16 each `t_ρ`.
    pub kappa: f64,
    /// α: packets that additive increase adds each `t_ρ`, greater than 0. 1.
    pub alpha: f64,
    /// β: factor of multiplicative decrease, greater than 0, less than 1. 0.875.
    pub beta: f64,
    /// `t_ρ`: the routers' load-factor interval, greater than zero. 200 ms.
    pub interval: Duration,
    /// The part of the window that a loss or a mark leaves, greater than 0, less than 1. 0.5, as under Reno.
    pub loss_factor: f64,
    /// Spread windows of 2 to 64 packets over long round trips.
    pub pace_small_windows: bool,
}

impl Default for VcpConfig {
    fn default() -> Self {
        Self {
            rtt_scaling: RttScaling::default(),
            additive_scaling: AdditiveScaling::default(),
            bounds: VcpBounds::default(),
            rtt_cap: true,
            freeze: VcpFreeze::default(),
            after_freeze: AfterFreeze::default(),
            kappa: 0.25,
            alpha: 1.0,
            beta: 0.875,
            interval: Duration::from_millis(200),
            loss_factor: 0.5,
            pace_small_windows: true,
        }
    }
}

/// VCP's sender (Xia et al., SIGCOMM'05, sections 3 and 4.2).
///
/// The code that an acknowledgment echoes says what to do: multiplicative increase at low load, additive increase at
/// high load, multiplicative decrease at overload, once, and then a freeze of `t_ρ` and additive increase for one
/// round trip. Multiplicative and additive increase take the place of slow start, also after a timeout. An
/// acknowledgment without a code changes nothing.
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
    /// A sender that starts with `initial_window` (bytes of payload); `mss` is the largest payload of one packet.
    ///
    /// Fails when a parameter is out of range, `mss` is zero, or the window does not hold one packet.
    pub fn new(config: VcpConfig, initial_window: Bytes, mss: Bytes) -> Result<Self, ConfigError> {
        let VcpConfig { kappa, beta, .. } = config;
        check(kappa > 0.0 && kappa <= 1.0, "kappa", "greater than 0 and at most 1", kappa)?;
        check(beta > 0.0 && beta < 1.0, "beta", "greater than 0 and less than 1", beta)?;
        let response = ResponseConfig {
            scaling: Scaling::new(
                config.rtt_scaling,
                config.additive_scaling,
                config.bounds,
                config.rtt_cap,
                config.interval,
            ),
            freeze: config.freeze,
            after_freeze: config.after_freeze,
            alpha: config.alpha,
            interval: config.interval,
            loss_factor: config.loss_factor,
            pace_small_windows: config.pace_small_windows,
        };
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
