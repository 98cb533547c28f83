//! Multi-packet congestion control (MPCP) at a router: the load factor, quantised, on each data packet.

use airpath_model::{Backlog, LoadWord, Packet, PathHeader, Timestamp};

use super::LoadFactor;
use crate::RouterProtocol;

/// MPCP's router (Li and Yousefi'zadeh, CCR 39(5), 2009; DPCP is the case of two packets for a word).
///
/// The [`LoadFactor`] of the link is quantised to 2n bits ([`LoadWord::level`]), where n is the number of packets that
/// carry one word as the packet itself says. A data packet with an MPCP header leaves with
/// the larger of the level it brought and this one.
///
/// Departure: only abstract and review of the paper are at hand. How routers combine a word of which a part has
/// already passed is not in them, so each packet carries the whole word, and the sender waits for all n packets
/// before it uses one. `ρ_max` is a reconstruction as well (docs/schemes/mpcp.md).
///
/// Reports what [`crate::Vcp`] reports.
#[derive(Debug)]
pub struct Mpcp {
    load_factor: LoadFactor,
}

impl Mpcp {
    /// A router that encodes this load factor.
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
