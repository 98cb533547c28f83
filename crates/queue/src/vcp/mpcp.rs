//! Multi-packet congestion control (MPCP) at a router: the load factor, quantised, on each data packet.

use airpath_model::{Backlog, Packet, PathHeader, Timestamp};

use super::LoadFactor;
use crate::RouterProtocol;

/// `ρ_max`: larger load factors are encoded as this one.
const MAX_LOAD: f64 = 1.2;

/// The most packets for one word that the header's level has room for.
const MAX_DIGITS: u8 = 8;

/// MPCP's router (Li and Yousefi'zadeh, CCR 39(5), 2009; DPCP is the case of two packets for a word).
///
/// The [`LoadFactor`] of the link is quantised to 2n bits, `q = round((4ⁿ − 1) min(ρ, 1.2) / 1.2)`, where n is the
/// number of packets that carry one word as the packet itself says. A data packet with an MPCP header leaves with
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
            word.level = level(self.load_factor.value(), word.digits).max(word.level);
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

/// `load` in `2 digits` bits, to the nearest level; 1 to 8 digits.
fn level(load: f64, digits: u8) -> u16 {
    let highest = (1_u32 << (2 * digits.clamp(1, MAX_DIGITS))) - 1;
    // At most 4⁸ − 1, which 16 bits hold.
    libm::round(f64::from(highest) * load.min(MAX_LOAD) / MAX_LOAD) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_span_zero_to_the_maximum() {
        for (digits, highest) in [(1, 3), (2, 15), (3, 63), (8, u16::MAX)] {
            assert_eq!(level(0.0, digits), 0);
            assert_eq!(level(1.2, digits), highest);
            assert_eq!(level(1e9, digits), highest);
            assert_eq!(level(0.6, digits), highest / 2 + 1, "half rounds up");
        }
    }

    #[test]
    fn two_packets_carry_sixteen_levels_of_eight_percent() {
        assert_eq!(level(0.8, 2), 10);
        assert_eq!(level(0.75, 2), 9);
        assert_eq!(level(0.97, 2), 12);
        assert_eq!(level(1.03, 2), 13);
    }

    #[test]
    fn impossible_numbers_of_digits_do_no_harm() {
        assert_eq!(level(1.2, 0), 3);
        assert_eq!(level(1.2, 200), u16::MAX);
    }
}
