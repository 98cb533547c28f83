//! Multi-packet congestion control (MPCP) at a router: the load factor, quantised, on each data packet.

#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError};
use airpath_model::{Backlog, LoadWord, Packet, PathHeader, Timestamp};

use super::LoadFactor;
#[cfg(feature = "declare")]
use super::LoadFactorConfig;
use crate::RouterProtocol;
#[cfg(feature = "declare")]
use crate::{ConfigError, declare::prelude::*};

/// Parameters of [`Mpcp`]: those of its load factor.
#[cfg(feature = "declare")]
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
#[schemars(
    title = "MPCP",
    description = "MPCP, and DPCP with `digits = 2`: packets carry the load factor, finely quantised."
)]
pub struct MpcpConfig(LoadFactorConfig);

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Routers<P>> for MpcpConfig {
    const ID: &'static str = "mpcp";

    fn check(&self) -> Result<(), ComponentError> {
        self.0.check_intervals()
    }

    fn build(&self, facts: ProtocolFacts) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        let load_factor = LoadFactor::new(self.0, facts.source)?;
        Ok(Box::new(Router::new(facts.limit, Mpcp::new(load_factor))))
    }
}

/// MPCP's router (Li and Yousefi'zadeh, CCR 39(5), 2009; DPCP is the case of two packets for a word).
///
/// The [`LoadFactor`] of the link is quantised to 2n bits ([`LoadWord::level`]), where n is the number of
/// packets that carry one word, as stated in the packet itself. A data packet with an MPCP header leaves with
/// the larger of its level and the level of this link.
///
/// Departure from the protocol: only abstract and review of the paper were available. They do not specify how
/// routers combine a word of which a part has already passed, so each packet carries the whole word, and the
/// sender waits for all n packets before it uses the word. `ρ_max` is a reconstruction as well
/// (docs/reference/schemes/mpcp.md).
///
/// Reports the same quantities as [`crate::Vcp`].
#[derive(Debug)]
pub struct Mpcp {
    load_factor: LoadFactor,
}

impl Mpcp {
    /// Creates a router that encodes this load factor.
    pub const fn new(load_factor: LoadFactor) -> Self {
        Self { load_factor }
    }
}

impl<P: Packet> RouterProtocol<P> for Mpcp {
    fn on_arrival(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog) {
        self.load_factor.on_arrival(now, packet, backlog);
    }

    fn on_departure(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog) {
        self.load_factor.on_departure(now, packet, backlog);
        if packet.is_data()
            && let PathHeader::Word(word) = packet.path_header()
        {
            word.level = LoadWord::level(self.load_factor.value(), word.digits).max(word.level);
        }
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        self.load_factor.on_timer(now, backlog);
    }

    fn next_timer(&self) -> Timestamp {
        self.load_factor.next_timer()
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        self.load_factor.observe(report);
    }
}
