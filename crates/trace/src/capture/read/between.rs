//! Headers between the link layer and IP: VLAN tags (IEEE 802.1Q), PPPoE (RFC 2516), PPP (RFC 1661), MPLS (RFC 3032).

use etherparse::EtherType;

use super::link_layer::{Network, by_version, rest};
use super::reason::Reason;

/// Removes all headers before IP.
pub(super) fn without_tags(mut network: Network<'_>) -> Result<Network<'_>, Reason> {
    loop {
        let bytes = network.bytes;
        let inner = match network.ether_type {
            EtherType::VLAN_TAGGED_FRAME
            | EtherType::PROVIDER_BRIDGING
            | EtherType::VLAN_DOUBLE_TAGGED_FRAME => {
                let number = bytes.get(2..).and_then(<[u8]>::first_chunk).ok_or(Reason::CutShort)?;
                Network {
                    ether_type: EtherType(u16::from_be_bytes(*number)),
                    bytes: rest(bytes, 4)?,
                    interface: 0,
                }
            }
            PPPOE_SESSION => over_ethernet(bytes)?,
            MPLS_UNICAST | MPLS_MULTICAST => behind_labels(bytes)?,
            _ => return Ok(network),
        };
        network = Network { interface: network.interface, ..inner };
    }
}

/// Parses PPPoE's session stage: version and type 1, code 0.
pub(super) fn over_ethernet(bytes: &[u8]) -> Result<Network<'_>, Reason> {
    match bytes {
        [0x11, 0, _, _, _, _, ppp @ ..] => point_to_point(ppp),
        [_, _, _, _, _, _, ..] => Err(Reason::NotIp),
        _ => Err(Reason::CutShort),
    }
}

/// Parses PPP, with or without the address and control fields of HDLC (RFC 1662), with its protocol in one or
/// two bytes.
pub(super) fn point_to_point(bytes: &[u8]) -> Result<Network<'_>, Reason> {
    let bytes = bytes.strip_prefix(&[0xFF, 0x03]).unwrap_or(bytes);
    let (protocol, bytes) = match bytes {
        [odd, inner @ ..] if odd & 1 == 1 => (u16::from(*odd), inner),
        [high, low, inner @ ..] => (u16::from_be_bytes([*high, *low]), inner),
        _ => return Err(Reason::CutShort),
    };
    let ether_type = match protocol {
        PPP_IPV4 => EtherType::IPV4,
        PPP_IPV6 => EtherType::IPV6,
        PPP_MPLS => MPLS_UNICAST,
        _ => return Err(Reason::NotIp),
    };
    Ok(Network { ether_type, bytes, interface: 0 })
}

/// Skips labels of four bytes up to the bottom of the stack; the first four bits of their content determine
/// its type.
fn behind_labels(mut bytes: &[u8]) -> Result<Network<'_>, Reason> {
    loop {
        let [_, _, third, _, inner @ ..] = bytes else { return Err(Reason::CutShort) };
        if third & 1 == 1 {
            return by_version(inner);
        }
        bytes = inner;
    }
}

const PPPOE_SESSION: EtherType = EtherType(0x8864);
const MPLS_UNICAST: EtherType = EtherType(0x8847);
const MPLS_MULTICAST: EtherType = EtherType(0x8848);
/// Protocol numbers of PPP.
const PPP_IPV4: u16 = 0x0021;
const PPP_IPV6: u16 = 0x0057;
const PPP_MPLS: u16 = 0x0281;

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(ether_type: u16, bytes: &[u8]) -> Option<Reason> {
        without_tags(Network { ether_type: EtherType(ether_type), bytes, interface: 0 }).err()
    }

    #[test]
    fn non_ip_and_truncated_packets_are_reported() {
        let link_control = [0x11, 0, 0, 1, 0, 4, 0xC0, 0x21, 9, 0, 0, 2];
        let discovery = [0x11, 0x09, 0, 0, 0, 4, 1, 1, 0, 0];
        assert_eq!(reason(0x8864, &link_control), Some(Reason::NotIp));
        assert_eq!(reason(0x8864, &discovery), Some(Reason::NotIp));
        assert_eq!(reason(0x8864, &link_control[..7]), Some(Reason::CutShort));
        assert_eq!(reason(0x8864, &link_control[..5]), Some(Reason::CutShort));
        // No label at the bottom of the stack; nothing after it; Ethernet after it, whose first bits are not
        // an IP version.
        assert_eq!(reason(0x8847, &[0, 1, 0, 64, 0, 1, 0]), Some(Reason::CutShort));
        assert_eq!(reason(0x8847, &[0, 1, 1, 64]), Some(Reason::CutShort));
        assert_eq!(reason(0x8847, &[0, 1, 1, 64, 2, 2, 2, 2]), Some(Reason::NotIp));
        assert_eq!(reason(0x8100, &[0, 42, 8]), Some(Reason::CutShort));
    }
}
