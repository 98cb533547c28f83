//! The headers of captured packets.

use airpath_model::Timestamp;
use airpath_trace::capture::{PacketDescription, PacketKind, TcpDescription, TcpFlags};
use airpath_transport::{Acknowledgment, Segment};

use crate::packet::{Body, Packet};

/// The parameters that both endpoints of a connection know after its handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreed {
    /// Window scale of the receiver.
    pub(super) window_scale: u8,
    pub(super) ecn: Ecn,
}

/// The congestion feedback of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ecn {
    /// Off.
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 9768.
    Accurate,
}

/// Describes a packet; `None` for external packets, whose headers the caller keeps.
pub(super) fn describe(packet: &Packet, agreed: Agreed) -> Option<PacketDescription> {
    let ecn = packet.ecn().bits();
    Some(match &packet.body {
        Body::Segment { segment, .. } => {
            PacketDescription { ecn, ..between(packet, true, segment.payload, data_header(segment, agreed)) }
        }
        Body::Datagram { .. } => {
            let payload = packet.size.saturating_sub(UDP_HEADERS);
            let described = between(packet, true, payload, TcpDescription::default());
            PacketDescription { kind: PacketKind::Udp, ecn, ..described }
        }
        Body::Acknowledgment(acknowledgment) => {
            let header = acknowledgment_header(acknowledgment, agreed);
            PacketDescription { ecn, ..between(packet, false, 0, header) }
        }
        Body::External(_) => return None,
    })
}

/// Describes a TCP packet between the endpoints of `packet`'s connection.
pub(super) fn between(
    packet: &Packet,
    towards_receiver: bool,
    payload_length: u32,
    header: TcpDescription,
) -> PacketDescription {
    let sender = (address(10, packet.flow), 10_000 + (packet.connection % 50_000) as u16);
    let receiver = (address(11, packet.flow), SERVER_PORT);
    let (from, to) = if towards_receiver { (sender, receiver) } else { (receiver, sender) };
    PacketDescription {
        source: from.0,
        destination: to.0,
        source_port: from.1,
        destination_port: to.1,
        payload_length,
        kind: PacketKind::Tcp(header),
        ecn: 0,
    }
}

fn data_header(segment: &Segment, agreed: Agreed) -> TcpDescription {
    let flags = TcpFlags { ack: true, cwr: segment.cwr, ..TcpFlags::default() };
    TcpDescription {
        sequence: wire_sequence(segment.sequence),
        acknowledgment: 1,
        flags: if agreed.ecn == Ecn::Accurate { counted(flags, 0) } else { flags },
        window: u16::MAX,
        timestamps: segment
            .timestamp
            .map(|sent| (milliseconds(sent), segment.timestamp_echo.map_or(0, milliseconds))),
        ..TcpDescription::default()
    }
}

fn acknowledgment_header(acknowledgment: &Acknowledgment, agreed: Agreed) -> TcpDescription {
    let mut sack = [None; 3];
    for (slot, (left, right)) in sack.iter_mut().zip(acknowledgment.sack_ranges()) {
        *slot = Some((wire_sequence(left), wire_sequence(right)));
    }
    let flags = TcpFlags { ack: true, ece: acknowledgment.ece, ..TcpFlags::default() };
    // Rounded up: data up to the exact window must not exceed the written one.
    let window = acknowledgment.receive_window.get().div_ceil(1 << agreed.window_scale);
    TcpDescription {
        sequence: 1,
        acknowledgment: wire_sequence(acknowledgment.cumulative),
        flags: if agreed.ecn == Ecn::Accurate { counted(flags, acknowledgment.marked) } else { flags },
        window: u16::try_from(window).unwrap_or(u16::MAX),
        timestamps: acknowledgment
            .timestamp_echo
            .map(|echo| (acknowledgment.timestamp.map_or(0, milliseconds), milliseconds(echo))),
        sack,
        ..TcpDescription::default()
    }
}

/// Returns the flags with the counter of accurate ECN: three bits, starting at 5 (RFC 9768, section 3.2.1).
fn counted(flags: TcpFlags, marked: u16) -> TcpFlags {
    let counter = marked.wrapping_add(5);
    TcpFlags { ae: counter & 4 != 0, cwr: counter & 2 != 0, ece: counter & 1 != 0, ..flags }
}

/// Returns the sequence number on the wire, which starts at 1 and wraps.
fn wire_sequence(offset: u64) -> u32 {
    (offset + 1) as u32 // modulo 2^32, as TCP does
}

/// Returns the timestamp on the wire, which ticks once per millisecond and wraps (RFC 7323).
pub(super) fn milliseconds(time: Timestamp) -> u32 {
    (time.as_nanos() / 1_000_000) as u32
}

/// Returns the private address of an endpoint of a flow.
fn address(network: u8, flow: u32) -> [u8; 4] {
    let [_, high, middle, low] = flow.to_be_bytes();
    [network, high, middle, low]
}

/// The port of all receivers.
const SERVER_PORT: u16 = 5_001;

/// Size of IPv4 and UDP headers in bytes.
const UDP_HEADERS: u32 = 28;
