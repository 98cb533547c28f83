//! The addresses of flows. Each flow has its own pair of addresses, so that the addresses of a packet
//! identify its flow and its direction.

use std::net::Ipv4Addr;

/// The network of all senders: 10.7.0.0/16.
pub const SENDERS: Ipv4Addr = Ipv4Addr::new(10, 7, 0, 0);
/// The network of all receivers: 10.8.0.0/16.
pub const RECEIVERS: Ipv4Addr = Ipv4Addr::new(10, 8, 0, 0);
/// Length of both prefixes in bits.
pub const PREFIX_LENGTH: u8 = 16;
/// Largest number of flows with addresses: the first and the last address of a prefix are not used.
pub const MAX_FLOWS: usize = (1 << 16) - 2;

/// One end of the emulated network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The source of data: packets from here take the `path` of their flow.
    Senders,
    /// The destination of data: packets from here take the `reverse_path` of their flow.
    Receivers,
}

impl Side {
    /// Both sides, in the order of tables.
    pub const BOTH: [Self; 2] = [Self::Senders, Self::Receivers];

    /// Returns the side across the network.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Senders => Self::Receivers,
            Self::Receivers => Self::Senders,
        }
    }

    /// Returns 0 for senders, 1 for receivers.
    pub const fn index(self) -> usize {
        match self {
            Self::Senders => 0,
            Self::Receivers => 1,
        }
    }

    /// Returns the name: `senders` or `receivers`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Senders => "senders",
            Self::Receivers => "receivers",
        }
    }

    /// Returns the prefix of this side, of [`PREFIX_LENGTH`] bits.
    pub const fn prefix(self) -> Ipv4Addr {
        match self {
            Self::Senders => SENDERS,
            Self::Receivers => RECEIVERS,
        }
    }

    /// Returns the address of a flow on this side, or `None` from [`MAX_FLOWS`] on.
    pub fn address(self, flow: usize) -> Option<Ipv4Addr> {
        let host = u32::try_from(flow + 1).ok().filter(|_| flow < MAX_FLOWS)?;
        Some(Ipv4Addr::from_bits(self.prefix().to_bits() | host))
    }
}

/// Returns the flow of a packet with these addresses from `side`, or `None` unless both addresses belong to
/// the same flow.
pub fn flow_of(side: Side, source: Ipv4Addr, destination: Ipv4Addr) -> Option<usize> {
    let (source, destination) = (source.to_bits(), destination.to_bits());
    let host = source ^ side.prefix().to_bits();
    let same = destination ^ side.other().prefix().to_bits();
    let flow = host.checked_sub(1)? as usize;
    (host == same && flow < MAX_FLOWS).then_some(flow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_flow_has_the_first_addresses() {
        assert_eq!(Side::Senders.address(0), Some(Ipv4Addr::new(10, 7, 0, 1)));
        assert_eq!(Side::Receivers.address(MAX_FLOWS - 1), Some(Ipv4Addr::new(10, 8, 255, 254)));
        assert_eq!(Side::Receivers.address(MAX_FLOWS), None);
    }

    proptest! {
        #[test]
        fn addresses_identify_flow_and_side(flow in 0..MAX_FLOWS) {
            let sender = Side::Senders.address(flow).unwrap();
            let receiver = Side::Receivers.address(flow).unwrap();
            prop_assert_eq!(flow_of(Side::Senders, sender, receiver), Some(flow));
            prop_assert_eq!(flow_of(Side::Receivers, receiver, sender), Some(flow));
            prop_assert_eq!(flow_of(Side::Senders, receiver, sender), None);
            prop_assert_eq!(flow_of(Side::Senders, sender, sender), None);
        }

        #[test]
        fn other_addresses_identify_no_flow(source: u32, destination: u32) {
            let (source, destination) = (Ipv4Addr::from_bits(source), Ipv4Addr::from_bits(destination));
            for side in Side::BOTH {
                if let Some(flow) = flow_of(side, source, destination) {
                    prop_assert_eq!(side.address(flow), Some(source));
                    prop_assert_eq!(side.other().address(flow), Some(destination));
                }
            }
        }
    }
}
