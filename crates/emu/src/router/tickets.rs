//! Identification of packets that come back from a router: while a packet is there, its IP identification is
//! a ticket.

use std::collections::VecDeque;

use crate::packet::Ipv4;

/// The packets at a router, in the order in which they were sent there and come back.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    out: VecDeque<Ticket>,
    next: u16,
}

#[derive(Clone, Copy, Debug)]
struct Ticket {
    number: u16,
    slot: u32,
    /// The original identification of the packet.
    identification: u16,
}

/// Largest number of distinguishable packets.
const MOST: usize = u16::MAX as usize;

impl Tickets {
    /// Writes a ticket into the bytes of a packet that is sent to the router. Returns `false` if there are
    /// none left.
    pub(crate) fn give(&mut self, slot: u32, bytes: &mut [u8]) -> bool {
        if self.out.len() >= MOST {
            return false;
        }
        self.out.push_back(Ticket { number: self.next, slot, identification: Ipv4::identification(bytes) });
        Ipv4::write_identification(bytes, self.next);
        self.next = self.next.wrapping_add(1);
        true
    }

    /// Removes the packet that was sent last, because it did not reach the router.
    pub(crate) fn take_last(&mut self) -> Option<u32> {
        self.out.pop_back().map(|ticket| ticket.slot)
    }

    /// Takes back the ticket of a packet: returns its slot and restores its identification. Calls `vanished`
    /// with earlier packets that should have come back before. Returns `None` for a packet without a ticket.
    pub(crate) fn redeem(&mut self, bytes: &mut [u8], mut vanished: impl FnMut(u32)) -> Option<u32> {
        let number = Ipv4::identification(bytes);
        let place = usize::from(number.wrapping_sub(self.out.front()?.number));
        // Numbers of packets that did not reach the router are missing.
        let place = self.out.iter().take(place + 1).rposition(|ticket| ticket.number == number)?;
        for _ in 0..place {
            self.out.pop_front().into_iter().for_each(|ticket| vanished(ticket.slot));
        }
        let ticket = self.out.pop_front()?;
        Ipv4::write_identification(bytes, ticket.identification);
        Some(ticket.slot)
    }

    /// Returns whether no packet is at the router.
    pub(crate) fn is_empty(&self) -> bool {
        self.out.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(identification: u16) -> Vec<u8> {
        let mut bytes = vec![0; 40];
        Ipv4::write_identification(&mut bytes, identification);
        bytes
    }

    fn redeemed(tickets: &mut Tickets, bytes: &mut [u8]) -> (Option<u32>, Vec<u32>) {
        let mut vanished = Vec::new();
        let slot = tickets.redeem(bytes, |slot| vanished.push(slot));
        (slot, vanished)
    }

    #[test]
    fn packets_return_unchanged_and_gaps_are_detected() {
        let mut tickets = Tickets { next: u16::MAX - 1, ..Tickets::default() };
        let mut packets: Vec<_> = (0..5).map(|number| packet(700 + number)).collect();
        for (slot, bytes) in (10..).zip(&mut packets) {
            assert!(tickets.give(slot, bytes));
        }
        assert_eq!(tickets.take_last(), Some(14), "the queue was full");
        assert_eq!(redeemed(&mut tickets, &mut packets[0]), (Some(10), vec![]));
        assert_eq!(packets[0], packet(700));
        assert_eq!(redeemed(&mut tickets, &mut packets[3]), (Some(13), vec![11, 12]));
        assert!(tickets.is_empty());
        let mut last = packet(1);
        assert!(tickets.give(15, &mut last));
        assert_eq!(redeemed(&mut tickets, &mut packet(9)), (None, vec![]), "a stranger");
        assert_eq!(redeemed(&mut tickets, &mut last), (Some(15), vec![]));
    }

    #[test]
    fn outstanding_packets_are_limited_by_the_ticket_numbers() {
        let mut tickets = Tickets::default();
        let mut bytes = packet(0);
        assert!((0..65_535).all(|slot| tickets.give(slot, &mut bytes)));
        assert!(!tickets.give(65_535, &mut bytes));
    }
}
