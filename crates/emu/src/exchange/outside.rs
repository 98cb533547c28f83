//! Packets that go out to routers elsewhere, and come back with what was written on them there.

use airpath_model::{Backlog, Timestamp};
use airpath_network::Direction;

use super::{Exchange, says};
use crate::address::{Side, flow_of};
use crate::packet::Ipv4;

impl Exchange {
    /// The next packet that goes out to the router of a link: where it stays until it is back, and its bytes. Ask until there
    /// is none whenever something has happened.
    pub fn next_out(&mut self, link: usize) -> Option<(u32, &[u8])> {
        let slot = self.network.next_out(link)?;
        Some((slot, self.slots.packet(slot)))
    }

    /// A packet comes back from the router of a link at `now`, with these bytes, which are as many as went out. Call
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

    /// The router of a link dropped a packet at `now`; the same holds.
    pub fn lose_outside(&mut self, now: Timestamp, link: usize, slot: u32) {
        self.network.lose_outside(now, link, slot);
        self.forget_lost();
    }

    /// What is at the router of a link.
    pub fn outside(&mut self, link: usize) -> Backlog {
        self.network.outside(link)
    }
}
