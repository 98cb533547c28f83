//! Packets at external routers: sent there, and received with the router's changes.

use airpath_model::{Backlog, Timestamp};
use airpath_network::Direction;

use super::{Exchange, says};
use crate::address::{Side, flow_of};
use crate::packet::Ipv4;

impl Exchange {
    /// Returns the next packet for the router of a link: its slot, which it keeps until it is back, and its
    /// bytes. Call until `None` after each event.
    pub fn next_out(&mut self, link: usize) -> Option<(u32, &[u8])> {
        let slot = self.network.next_out(link)?;
        Some((slot, self.slots.packet(slot)))
    }

    /// Accepts a packet from the router of a link at `now`, with these bytes, as many as were sent. Call
    /// [`Exchange::advance`] up to `now` before.
    pub fn come_back(&mut self, now: Timestamp, link: usize, slot: u32, bytes: &[u8]) {
        let kept = self.slots.packet(slot);
        let Some(ip) = Ipv4::read(bytes).filter(|_| bytes.len() == kept.len()) else {
            return self.lose_outside(now, link, slot);
        };
        kept.copy_from_slice(bytes);
        let from_senders = flow_of(Side::Senders, ip.source, ip.destination).is_some();
        let direction = if from_senders { Direction::Forward } else { Direction::Back };
        let (ecn, path) = says(&ip, bytes, direction, self.load_codes);
        self.network.come_back(now, link, slot, ecn, path);
        self.forget_lost();
    }

    /// Records a drop by the router of a link at `now`. Call [`Exchange::advance`] up to `now` before.
    pub fn lose_outside(&mut self, now: Timestamp, link: usize, slot: u32) {
        self.network.lose_outside(now, link, slot);
        self.forget_lost();
    }

    /// Returns the backlog of the router of a link.
    pub fn outside(&mut self, link: usize) -> Backlog {
        self.network.outside(link)
    }
}
