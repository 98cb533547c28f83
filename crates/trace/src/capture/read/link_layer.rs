//! Link layers: the offset and the type of the network layer.
//!
//! Link types: the registry of the tcpdump group (`LINKTYPE_*`).

use etherparse::EtherType;

use super::between::{over_ethernet, point_to_point, without_tags};
use super::reason::Reason;

/// The network layer of a packet.
pub(super) struct Network<'a> {
    /// The type stated by the link layer.
    pub(super) ether_type: EtherType,
    pub(super) bytes: &'a [u8],
    /// The interface that the packet itself states (Linux cooked, version 2), else zero.
    pub(super) interface: u32,
}

/// Removes the headers before the network layer.
pub(super) fn network(link_type: i32, data: &[u8]) -> Result<Network<'_>, Reason> {
    without_tags(link_layer(link_type, data)?)
}

fn link_layer(link_type: i32, data: &[u8]) -> Result<Network<'_>, Reason> {
    match link_type & LINK_TYPE_MASK {
        ETHERNET => ether_type_at(data, 12, 14),
        NULL | LOOP => by_version(rest(data, 4)?),
        RAW | RAW_BSD | RAW_OPENBSD | IPV4 | IPV6 => by_version(data),
        LINUX_COOKED => ether_type_at(data, 14, 16),
        LINUX_COOKED_2 => {
            let interface = rest(data, 4)?.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
            let network = ether_type_at(data, 0, 20)?;
            Ok(Network { interface, ..network })
        }
        RADIOTAP => {
            let length = data.get(2..4).and_then(<[u8]>::first_chunk).ok_or(Reason::CutShort)?;
            wireless(rest(data, usize::from(u16::from_le_bytes(*length)))?)
        }
        WIRELESS => wireless(data),
        PPP | PPP_HDLC => point_to_point(data),
        PPP_ETHER => over_ethernet(data),
        _ => Err(Reason::LinkType(link_type)),
    }
}

fn ether_type_at(data: &[u8], at: usize, header: usize) -> Result<Network<'_>, Reason> {
    let number = data.get(at..).and_then(<[u8]>::first_chunk).ok_or(Reason::CutShort)?;
    let ether_type = EtherType(u16::from_be_bytes(*number));
    Ok(Network { ether_type, bytes: rest(data, header)?, interface: 0 })
}

/// Detects IPv4 or IPv6 from the first four bits, for link types without a protocol field or with one that
/// differs between systems.
pub(super) fn by_version(bytes: &[u8]) -> Result<Network<'_>, Reason> {
    let ether_type = match bytes.first().ok_or(Reason::CutShort)? >> 4 {
        4 => EtherType::IPV4,
        6 => EtherType::IPV6,
        _ => return Err(Reason::NotIp),
    };
    Ok(Network { ether_type, bytes, interface: 0 })
}

/// Parses a data frame of IEEE 802.11, section 9.2.4, that is neither encrypted nor an aggregate, with LLC
/// and SNAP after its header.
fn wireless(data: &[u8]) -> Result<Network<'_>, Reason> {
    let (&control, &flags) = (data.first().ok_or(Reason::CutShort)?, data.get(1).ok_or(Reason::CutShort)?);
    let (is_data, carries_nothing) = (control & 0b1100 == 0b1000, control & 0b0100_0000 != 0);
    if !is_data || carries_nothing {
        return Err(Reason::NotIp);
    }
    if flags & 0b0100_0000 != 0 {
        return Err(Reason::Encrypted);
    }
    let with_quality = control & 0b1000_0000 != 0;
    let mut header = 24;
    if flags & 0b11 == 0b11 {
        header += 6; // a fourth address
    }
    if with_quality {
        if data.get(header).ok_or(Reason::CutShort)? & 0b1000_0000 != 0 {
            return Err(Reason::NotIp); // several packets in one frame
        }
        header += 2;
        if flags & 0b1000_0000 != 0 {
            header += 4; // HT control
        }
    }
    let behind = rest(data, header)?;
    if !behind.starts_with(&SNAP) {
        return Err(if behind.len() < SNAP.len() { Reason::CutShort } else { Reason::NotIp });
    }
    ether_type_at(behind, 6, 8)
}

pub(super) fn rest(data: &[u8], from: usize) -> Result<&[u8], Reason> {
    data.get(from..).ok_or(Reason::CutShort)
}

/// LLC with SNAP and the organisation code of encapsulated Ethernet (RFC 1042).
const SNAP: [u8; 6] = [0xAA, 0xAA, 0x03, 0, 0, 0];

/// The upper bits of a link type describe checksums.
const LINK_TYPE_MASK: i32 = 0xFFFF;
const NULL: i32 = 0;
const ETHERNET: i32 = 1;
const PPP: i32 = 9;
const RAW_BSD: i32 = 12;
const RAW_OPENBSD: i32 = 14;
const PPP_HDLC: i32 = 50;
const PPP_ETHER: i32 = 51;
const RAW: i32 = 101;
const WIRELESS: i32 = 105;
const LOOP: i32 = 108;
const LINUX_COOKED: i32 = 113;
const RADIOTAP: i32 = 127;
const IPV4: i32 = 228;
const IPV6: i32 = 229;
const LINUX_COOKED_2: i32 = 276;
