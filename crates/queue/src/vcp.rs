//! Variable-structure congestion control (VCP) at a router: one of three load codes on each data packet.

mod load_factor;
mod mpcp;

pub use load_factor::{LoadFactor, LoadFactorConfig};
pub use mpcp::Mpcp;
#[cfg(feature = "declare")]
pub use mpcp::MpcpConfig;

#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError};
use airpath_model::{Backlog, LoadCode, Packet, PathHeader, Timestamp};

use crate::RouterProtocol;
#[cfg(feature = "declare")]
use crate::{ConfigError, declare::prelude::*};

/// Parameters of [`Vcp`]: those of its load factor.
#[cfg(feature = "declare")]
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
#[schemars(title = "VCP", description = "VCP: packets carry one of three load regions.")]
pub struct VcpConfig(LoadFactorConfig);

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Routers<P>> for VcpConfig {
    const ID: &'static str = "vcp";

    fn check(&self) -> Result<(), ComponentError> {
        self.0.check_intervals()
    }

    fn needs(&self) -> ProtocolNeeds {
        ProtocolNeeds { load_codes: true, ..ProtocolNeeds::default() }
    }

    fn build(&self, facts: ProtocolFacts) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        let load_factor = LoadFactor::new(self.0, facts.source)?;
        Ok(Box::new(Router::new(facts.limit, Vcp::new(load_factor))))
    }
}

/// VCP's router (Xia et al., SIGCOMM'05, section 4.1).
///
/// The [`LoadFactor`] of the link is written as a code: low load below 80 %, high load from 80 % on, overload
/// from 100 % on. A data packet with a VCP header leaves with the more severe of its code and the code of
/// this link, so that the receiver sees the maximum over the hops. Packets without a VCP header (TCP, UDP)
/// count in the load and pass unchanged.
///
/// Reports `load_factor` (1 is the target utilisation), `steady_queue_bytes`, `input_rate_bps` (bits on the
/// wire per second that arrived in the last interval), and the quantities of the capacity source.
#[derive(Debug)]
pub struct Vcp {
    load_factor: LoadFactor,
    code: LoadCode,
}

impl Vcp {
    /// Creates a router that encodes this load factor.
    pub const fn new(load_factor: LoadFactor) -> Self {
        Self { load_factor, code: LoadCode::Low }
    }
}

impl<P: Packet> RouterProtocol<P> for Vcp {
    fn on_arrival(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog) {
        self.load_factor.on_arrival(now, packet, backlog);
    }

    fn on_departure(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog) {
        self.load_factor.on_departure(now, packet, backlog);
        if packet.is_data()
            && let PathHeader::Load(code) = packet.path_header()
        {
            *code = self.code.max(*code);
        }
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        if self.load_factor.on_timer(now, backlog) {
            self.code = self.load_factor.code();
        }
    }

    fn next_timer(&self) -> Timestamp {
        self.load_factor.next_timer()
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        self.load_factor.observe(report);
    }
}
