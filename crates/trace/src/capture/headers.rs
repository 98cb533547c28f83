//! The headers of one packet.

use std::io::Write;

use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, TcpOptions, UdpHeader};

use super::{CaptureError, OpeningOptions, PacketDescription, PacketKind, TcpDescription};

/// The longest headers, in bytes: IPv4 without options and TCP with all of them.
pub(super) const MAX_LENGTH: usize = Ipv4Header::MIN_LEN + TcpHeader::MAX_LEN;

/// The usual initial value, because the simulated path does not decrement it.
const TIME_TO_LIVE: u8 = 64;

/// The payload, for checksums.
static ZEROS: [u8; u16::MAX as usize] = [0; u16::MAX as usize];

/// IPv4 and transport header of one packet.
pub(super) struct Headers {
    bytes: [u8; MAX_LENGTH],
    length: usize,
    payload_length: u32,
}

impl Headers {
    pub(super) fn of(packet: &PacketDescription) -> Result<Self, CaptureError> {
        let mut headers = Self { bytes: [0; MAX_LENGTH], length: 0, payload_length: packet.payload_length };
        let mut space = &mut headers.bytes[..];
        match &packet.kind {
            PacketKind::Tcp(tcp) => {
                let tcp = tcp_header(packet, tcp);
                let (mut ip, payload) = ip_header(packet, IpNumber::TCP, tcp.header_len())?;
                ip.header_checksum = ip.calc_header_checksum();
                let checksum =
                    tcp.calc_checksum_ipv4(&ip, payload).map_err(|_| too_long(packet, tcp.header_len()))?;
                ip.write_raw(&mut space)?;
                TcpHeader { checksum, ..tcp }.write(&mut space)?;
            }
            PacketKind::Udp => {
                let (mut ip, payload) = ip_header(packet, IpNumber::UDP, UdpHeader::LEN)?;
                ip.header_checksum = ip.calc_header_checksum();
                let (source, destination) = (packet.source_port, packet.destination_port);
                let udp = UdpHeader::with_ipv4_checksum(source, destination, &ip, payload)
                    .map_err(|_| too_long(packet, UdpHeader::LEN))?;
                ip.write_raw(&mut space)?;
                udp.write(&mut space)?;
            }
        }
        space.flush()?;
        headers.length = MAX_LENGTH - space.len();
        Ok(headers)
    }

    /// Returns the headers as bytes.
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns the length of the whole packet in bytes.
    pub(super) fn packet_length(&self) -> u32 {
        self.length as u32 + self.payload_length
    }
}

/// Returns the IPv4 header for a transport header of the given length and a payload.
fn ip_header(
    packet: &PacketDescription,
    protocol: IpNumber,
    transport_length: usize,
) -> Result<(Ipv4Header, &'static [u8]), CaptureError> {
    let payload =
        ZEROS.get(..packet.payload_length as usize).ok_or_else(|| too_long(packet, transport_length))?;
    let length =
        u16::try_from(transport_length + payload.len()).map_err(|_| too_long(packet, transport_length))?;
    let mut ip = Ipv4Header::new(length, TIME_TO_LIVE, protocol, packet.source, packet.destination)
        .map_err(|_| too_long(packet, transport_length))?;
    ip.ecn = match packet.ecn & 0b11 {
        0b00 => IpEcn::NotEct,
        0b01 => IpEcn::Ect1,
        0b10 => IpEcn::Ect0,
        _ => IpEcn::CongestionExperienced,
    };
    Ok((ip, payload))
}

fn too_long(packet: &PacketDescription, transport_length: usize) -> CaptureError {
    let headers = (Ipv4Header::MIN_LEN + transport_length) as u64;
    CaptureError::PacketLength(headers + u64::from(packet.payload_length))
}

fn tcp_header(packet: &PacketDescription, tcp: &TcpDescription) -> TcpHeader {
    let mut header = TcpHeader::new(packet.source_port, packet.destination_port, tcp.sequence, tcp.window);
    header.acknowledgment_number = tcp.acknowledgment;
    header.ns = tcp.flags.ae;
    header.ack = tcp.flags.ack;
    header.psh = tcp.flags.psh;
    header.ece = tcp.flags.ece;
    header.cwr = tcp.flags.cwr;
    header.fin = tcp.flags.fin;
    header.syn = tcp.flags.syn;
    header.options = options(tcp);
    header
}

/// Returns timestamps, then SACK, each after two no-operations that align it, as most stacks write them.
fn options(tcp: &TcpDescription) -> TcpOptions {
    use TcpOptionElement::{Noop, SelectiveAcknowledgement, Timestamp};

    if let Some(opening) = tcp.opening {
        return opening_options(opening, tcp.timestamps);
    }
    let mut blocks = tcp.sack.iter().copied().flatten();
    let sack =
        blocks.next().map(|first| SelectiveAcknowledgement(first, [blocks.next(), blocks.next(), None]));
    let timestamps = tcp.timestamps.map(|(value, echo)| Timestamp(value, echo));
    let elements = match (timestamps, sack) {
        (None, None) => return TcpOptions::new(),
        (Some(only), None) | (None, Some(only)) => TcpOptions::try_from_elements(&[Noop, Noop, only]),
        (Some(first), Some(second)) => {
            TcpOptions::try_from_elements(&[Noop, Noop, first, Noop, Noop, second])
        }
    };
    elements.expect("12 bytes of timestamps and at most 28 of SACK fill the 40 bytes of options")
}

/// Returns maximum segment size, SACK permitted and timestamps or no-operations in their place, window scale:
/// the order of Linux.
fn opening_options(opening: OpeningOptions, timestamps: Option<(u32, u32)>) -> TcpOptions {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgementPermitted, Timestamp, WindowScale,
    };

    let mut elements = vec![MaximumSegmentSize(opening.mss)];
    if opening.sack_permitted {
        elements.push(SelectiveAcknowledgementPermitted);
    } else {
        elements.extend([Noop, Noop]);
    }
    match timestamps {
        Some((value, echo)) => elements.push(Timestamp(value, echo)),
        None => elements.extend([Noop, Noop]),
    }
    elements.extend([Noop, WindowScale(opening.window_scale)]);
    TcpOptions::try_from_elements(&elements).expect("20 bytes at most")
}
