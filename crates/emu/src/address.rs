//! Which addresses flows have: a pair of its own for each, so that a packet's addresses say to which flow it belongs and
//! which way it goes.

use std::net::Ipv4Addr;

/// All senders' addresses: 10.7.0.0/16.
pub const SENDERS: Ipv4Addr = Ipv4Addr::new(10, 7, 0, 0);
/// All receivers' addresses: 10.8.0.0/16.
pub const RECEIVERS: Ipv4Addr = Ipv4Addr::new(10, 8, 0, 0);
/// Length of both prefixes, bits.
pub const PREFIX_LENGTH: u8 = 16;
/// Most flows that have addresses: the first and the last address of a prefix are left out.
pub const MAX_FLOWS: usize = (1 << 16) - 2;

/// One end of the emulated network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where data comes from: packets from here take their flow's `path`.
    Senders,
    /// Where data goes to: packets from here take their flow's `reverse_path`.
    Receivers,
}

impl Side {
    /// Both, in the order of tables.
    pub const BOTH: [Self; 2] = [Self::Senders, Self::Receivers];

    /// The side across the network.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Senders => Self::Receivers,
            Self::Receivers => Self::Senders,
        }
    }

    /// 0 for senders, 1 for receivers.
    pub const fn index(self) -> usize {
        match self {
            Self::Senders => 0,
            Self::Receivers => 1,
        }
    }

    /// Its name: `senders` or `receivers`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Senders => "senders",
            Self::Receivers => "receivers",
        }
    }

    /// Its prefix, of [`PREFIX_LENGTH`] bits.
    pub const fn prefix(self) -> Ipv4Addr {
        match self {
            Self::Senders => SENDERS,
            Self::Receivers => RECEIVERS,
        }
    }

    /// The address of a flow on this side; `None` from [`MAX_FLOWS`] on.
    pub fn address(self, flow: usize) -> Option<Ipv4Addr> {
        let host = u32::try_from(flow + 1).ok().filter(|_| flow < MAX_FLOWS)?;
        Some(Ipv4Addr::from_bits(self.prefix().to_bits() | host))
    }
}

/// The flow to which a packet with these addresses belongs, if it comes from `side`: both addresses must be that flow's.
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
        fn addresses_name_their_flow_and_side(flow in 0..MAX_FLOWS) {
            let sender = Side::Senders.address(flow).unwrap();
            let receiver = Side::Receivers.address(flow).unwrap();
            prop_assert_eq!(flow_of(Side::Senders, sender, receiver), Some(flow));
            prop_assert_eq!(flow_of(Side::Receivers, receiver, sender), Some(flow));
            prop_assert_eq!(flow_of(Side::Senders, receiver, sender), None);
            prop_assert_eq!(flow_of(Side::Senders, sender, sender), None);
        }

        #[test]
        fn other_addresses_name_none(source: u32, destination: u32) {
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
