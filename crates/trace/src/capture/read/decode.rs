//! Decoding of a packet's bytes up to its TCP header.

use std::collections::BTreeMap;
use std::net::IpAddr;

use etherparse::{IpNumber, LaxNetSlice, LaxSlicedPacket};

use super::link_layer::network;
use super::reason::Reason;
use super::tcp::{Addresses, TcpPacket, tcp};

/// Numbers of skipped packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Fewer bytes were captured than the headers need.
    pub cut_short: u64,
    /// Not IP.
    pub not_ip: u64,
    /// IP, but not TCP.
    pub not_tcp: u64,
    /// Fragments of IP packets, which are not reassembled.
    pub fragments: u64,
    /// Encrypted by the link layer.
    pub encrypted: u64,
    /// Headers with contradictory fields.
    pub malformed: u64,
    /// Packets of an interface that the file does not describe.
    pub without_interface: u64,
    /// Packets without a time (pcapng's simple packets).
    pub without_time: u64,
    /// Packets of unsupported link layers, by their number (`LINKTYPE_*`).
    pub link_types: BTreeMap<i32, u64>,
}

impl Skipped {
    pub(super) fn count(&mut self, reason: Reason) {
        *match reason {
            Reason::CutShort => &mut self.cut_short,
            Reason::NotIp => &mut self.not_ip,
            Reason::NotTcp => &mut self.not_tcp,
            Reason::Fragment => &mut self.fragments,
            Reason::Encrypted => &mut self.encrypted,
            Reason::Malformed => &mut self.malformed,
            Reason::LinkType(number) => {
                // A corrupted file could contain very many.
                if self.link_types.len() >= MOST_LINK_TYPES && !self.link_types.contains_key(&number) {
                    return;
                }
                self.link_types.entry(number).or_default()
            }
        } += 1;
    }
}

/// Returns the TCP header of a packet; `length` is its length on the wire.
pub(super) fn decode(link_type: i32, data: &[u8], length: u32) -> Result<TcpPacket, Reason> {
    let layer = network(link_type, data)?;
    let before = (data.len() - layer.bytes.len()) as u64;
    let packet = LaxSlicedPacket::from_ether_type(layer.ether_type, layer.bytes);
    let (addresses, headers, declared, payload) = match &packet.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let addresses = Addresses {
                source: IpAddr::V4(header.source_addr()),
                destination: IpAddr::V4(header.destination_addr()),
                identification: Some(header.identification()),
                ecn: header.ecn().value(),
            };
            let extensions = ip.extensions().auth.map_or(0, |auth| auth.slice().len());
            let own = header.slice().len();
            let declared = (header.total_len() > 0).then(|| u64::from(header.total_len()));
            (addresses, own + extensions, declared, ip.payload())
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let addresses = Addresses {
                source: IpAddr::V6(header.source_addr()),
                destination: IpAddr::V6(header.destination_addr()),
                identification: None,
                ecn: header.ecn().value(),
            };
            let own = header.slice().len();
            let declared =
                (header.payload_length() > 0).then(|| u64::from(header.payload_length()) + own as u64);
            (addresses, own + ip.extensions().slice().len(), declared, ip.payload())
        }
        Some(LaxNetSlice::Arp(_)) => return Err(Reason::NotIp),
        None => return Err(if packet.stop_err.is_some() { Reason::CutShort } else { Reason::NotIp }),
    };
    if payload.fragmented {
        return Err(Reason::Fragment);
    }
    if payload.ip_number != IpNumber::TCP {
        return Err(Reason::NotTcp);
    }
    // A super-segment that the network card was to split may have a length field of zero.
    let tags: usize = packet.link_exts.iter().map(etherparse::LaxLinkExtSlice::header_len).sum();
    let whole = declared.unwrap_or_else(|| u64::from(length).saturating_sub(before + tags as u64));
    let transport = whole.checked_sub(headers as u64).ok_or(Reason::Malformed)?;
    let packet = tcp(&addresses, payload.payload, transport)?;
    Ok(TcpPacket { interface: layer.interface, ..packet })
}

const MOST_LINK_TYPES: usize = 16;
