//! Packets as a capture tool at the entrance of a link would see them.

use airpath_model::Timestamp;
use airpath_plan::LinkPlan;
use airpath_trace::capture::{CaptureWriter, PacketDescription, PacketKind, TcpDescription, TcpFlags};
use airpath_transport::{Acknowledgment, Segment};

use crate::external_packet::{Captured, ExternalPacket};
use crate::packet::{Body, Packet};

/// A capture in memory; writes nothing when no link is observed.
pub(crate) struct Capture {
    /// The capture interface that observes each link.
    interfaces: Vec<Option<usize>>,
    writer: Option<CaptureWriter<Vec<u8>>>,
    /// External packets, whose headers the caller keeps, until they are returned to it.
    external: Vec<Captured>,
}

impl Capture {
    /// Creates a capture at the entrances of some links; each becomes an interface with the link's name.
    pub(crate) fn new(observed: &[usize], links: &[LinkPlan]) -> Result<Self, String> {
        if observed.is_empty() {
            return Ok(Self { interfaces: Vec::new(), writer: None, external: Vec::new() });
        }
        let mut interfaces = vec![None; links.len()];
        let mut names = Vec::new();
        for &link in observed {
            if interfaces[link].is_none() {
                interfaces[link] = Some(names.len());
                names.push(links[link].name.as_str());
            }
        }
        let writer = CaptureWriter::new(Vec::new(), &names).map_err(|error| error.to_string())?;
        Ok(Self { interfaces, writer: Some(writer), external: Vec::new() })
    }

    /// Captures a packet at the entrance of a link.
    #[inline]
    pub(crate) fn on_arrival(&mut self, link: u32, now: Timestamp, packet: &Packet) {
        if self.writer.is_some() {
            self.observe(link, now, packet);
        }
    }

    #[cold]
    fn observe(&mut self, link: u32, now: Timestamp, packet: &Packet) {
        let (Some(writer), Some(interface)) = (&mut self.writer, self.interfaces[link as usize]) else {
            return;
        };
        if let Some(external) = ExternalPacket::of(packet) {
            self.external.push(Captured { at: now, link, packet: external });
        } else if let Some(description) = describe(packet) {
            // Writing to memory cannot fail; only packets larger than IPv4 allows can. Such a packet is left
            // out: a capture cannot show it.
            let _ = writer.packet(interface, now.as_nanos(), &description);
        }
    }

    /// Returns the external packets that arrived at observed links since the last call, in the order of time.
    pub(crate) fn external(&mut self) -> impl Iterator<Item = Captured> {
        self.external.drain(..)
    }

    /// Returns the file, if links were observed.
    pub(crate) fn finish(self) -> Option<Vec<u8>> {
        self.writer.map(CaptureWriter::into_inner)
    }
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture").field("interfaces", &self.interfaces).finish_non_exhaustive()
    }
}

fn describe(packet: &Packet) -> Option<PacketDescription> {
    let (near, far) = (address(10, packet.flow), address(11, packet.flow));
    let near_port = 10_000 + (packet.connection % 50_000) as u16;
    let towards_receiver = |payload_length, kind| PacketDescription {
        source: near,
        destination: far,
        source_port: near_port,
        destination_port: SERVER_PORT,
        payload_length,
        kind,
        ecn: packet.ecn().bits(),
    };
    Some(match &packet.body {
        Body::Segment { segment, .. } => {
            towards_receiver(segment.payload, PacketKind::Tcp(data_header(segment)))
        }
        Body::Datagram { .. } => towards_receiver(packet.size.saturating_sub(UDP_HEADERS), PacketKind::Udp),
        Body::Acknowledgment(acknowledgment) => PacketDescription {
            source: far,
            destination: near,
            source_port: SERVER_PORT,
            destination_port: near_port,
            payload_length: 0,
            kind: PacketKind::Tcp(acknowledgment_header(acknowledgment)),
            ecn: packet.ecn().bits(),
        },
        Body::External(_) => return None,
    })
}

fn data_header(segment: &Segment) -> TcpDescription {
    TcpDescription {
        sequence: wire_sequence(segment.sequence),
        acknowledgment: 1,
        flags: TcpFlags { ack: true, cwr: segment.cwr, ..TcpFlags::default() },
        window: u16::MAX,
        timestamps: segment
            .timestamp
            .map(|sent| (milliseconds(sent), segment.timestamp_echo.map_or(0, milliseconds))),
        sack: [None; 3],
    }
}

fn acknowledgment_header(acknowledgment: &Acknowledgment) -> TcpDescription {
    let mut sack = [None; 3];
    for (slot, (left, right)) in sack.iter_mut().zip(acknowledgment.sack_ranges()) {
        *slot = Some((wire_sequence(left), wire_sequence(right)));
    }
    TcpDescription {
        sequence: 1,
        acknowledgment: wire_sequence(acknowledgment.cumulative),
        flags: TcpFlags { ack: true, ece: acknowledgment.ece, ..TcpFlags::default() },
        window: u16::try_from(acknowledgment.receive_window.get()).unwrap_or(u16::MAX),
        timestamps: acknowledgment
            .timestamp_echo
            .map(|echo| (acknowledgment.timestamp.map_or(0, milliseconds), milliseconds(echo))),
        sack,
    }
}

/// Sequence numbers on the wire begin at 1 and wrap.
fn wire_sequence(offset: u64) -> u32 {
    (offset + 1) as u32 // modulo 2^32, as TCP does
}

/// Timestamps on the wire tick once a millisecond and wrap (RFC 7323).
fn milliseconds(time: Timestamp) -> u32 {
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
