//! One TCP header.

use std::net::{IpAddr, SocketAddr};

use etherparse::{TcpHeader, TcpHeaderSlice, TcpOptionElement, TcpOptionsIterator};

use super::reason::Reason;

/// A TCP packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPacket {
    /// Capture time, nanoseconds since 1970.
    pub time_ns: u64,
    /// Capture interface: a number for each interface of the file. Linux cooked captures of version 2 state
    /// the interface in the packet; it is part of the number.
    pub interface: u32,
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver.
    pub destination: SocketAddr,
    /// The identification field of IPv4.
    pub identification: Option<u16>,
    /// The ECN field (RFC 3168, section 5).
    pub ecn: u8,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgment number; valid if `flags.ack` is set.
    pub acknowledgment: u32,
    /// Control bits.
    pub flags: SegmentFlags,
    /// The receive window as written in the header (unscaled).
    pub window: u16,
    /// Bytes of payload according to the length fields, captured or not.
    pub payload: u32,
    /// Maximum segment size option (RFC 9293, section 3.7.1).
    pub mss: Option<u16>,
    /// Window scale option (RFC 7323, section 2).
    pub window_scale: Option<u8>,
    /// The SACK-permitted option (RFC 2018, section 2).
    pub sack_permitted: bool,
    /// SACK blocks (RFC 2018, section 3): left and right edge.
    pub sack: [Option<(u32, u32)>; 4],
    /// Timestamps option: value and echo reply (RFC 7323, section 3).
    pub timestamps: Option<(u32, u32)>,
}

/// Control bits of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SegmentFlags {
    /// Accurate ECN (RFC 9768); formerly the nonce sum.
    pub ae: bool,
    /// Congestion window reduced.
    pub cwr: bool,
    /// ECN echo.
    pub ece: bool,
    /// Whether the acknowledgment number is valid.
    pub ack: bool,
    /// Reset.
    pub rst: bool,
    /// Start of a connection.
    pub syn: bool,
    /// No more data.
    pub fin: bool,
}

/// The fields of the network layer.
pub(super) struct Addresses {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) identification: Option<u16>,
    pub(super) ecn: u8,
}

/// Reads the header at the beginning of `bytes`, whose options may be truncated in the capture; `length` is
/// the length of header and payload on the wire.
pub(super) fn tcp(addresses: &Addresses, bytes: &[u8], length: u64) -> Result<TcpPacket, Reason> {
    if bytes.len() < TcpHeader::MIN_LEN {
        return Err(Reason::CutShort);
    }
    let header_length = usize::from(bytes[12] >> 4) * 4;
    let mut padded = [0; TcpHeader::MAX_LEN];
    let kept = bytes.len().min(header_length.max(TcpHeader::MIN_LEN));
    padded[..kept].copy_from_slice(&bytes[..kept]);
    let header = TcpHeaderSlice::from_slice(&padded).map_err(|_| Reason::Malformed)?;
    let payload = length.checked_sub(header_length as u64).ok_or(Reason::Malformed)?;
    let mut packet = TcpPacket {
        time_ns: 0,
        interface: 0,
        source: SocketAddr::new(addresses.source, header.source_port()),
        destination: SocketAddr::new(addresses.destination, header.destination_port()),
        identification: addresses.identification,
        ecn: addresses.ecn,
        sequence: header.sequence_number(),
        acknowledgment: header.acknowledgment_number(),
        flags: SegmentFlags {
            ae: header.ns(),
            cwr: header.cwr(),
            ece: header.ece(),
            ack: header.ack(),
            rst: header.rst(),
            syn: header.syn(),
            fin: header.fin(),
        },
        window: header.window_size(),
        payload: u32::try_from(payload).map_err(|_| Reason::Malformed)?,
        mss: None,
        window_scale: None,
        sack_permitted: false,
        sack: [None; 4],
        timestamps: None,
    };
    // Options truncated by the capture are omitted, not read as zeros.
    read_options(&bytes[TcpHeader::MIN_LEN..kept], &mut packet);
    Ok(packet)
}

/// Reads the options. A malformed or unknown option does not end the list: stacks experiment (kinds 253 and
/// 254), and the options after it are still valid.
fn read_options(mut options: &[u8], packet: &mut TcpPacket) {
    while !options.is_empty() {
        let mut iterator = TcpOptionsIterator::from_slice(options);
        match iterator.next() {
            None => return,
            Some(Ok(element)) => {
                options = iterator.rest();
                read_option(&element, packet);
            }
            Some(Err(_)) => {
                let length = options.get(1).map_or(0, |length| usize::from(*length));
                options = if length < 2 { &[] } else { options.get(length..).unwrap_or(&[]) };
            }
        }
    }
}

fn read_option(element: &TcpOptionElement, packet: &mut TcpPacket) {
    match *element {
        TcpOptionElement::Noop => {}
        TcpOptionElement::MaximumSegmentSize(mss) => packet.mss = Some(mss),
        // A larger shift counts as 14 (RFC 7323, section 2.3).
        TcpOptionElement::WindowScale(shift) => packet.window_scale = Some(shift.min(14)),
        TcpOptionElement::SelectiveAcknowledgementPermitted => packet.sack_permitted = true,
        TcpOptionElement::SelectiveAcknowledgement(first, others) => {
            packet.sack[0] = Some(first);
            packet.sack[1..].copy_from_slice(&others);
        }
        TcpOptionElement::Timestamp(value, echo) => packet.timestamps = Some((value, echo)),
    }
}
