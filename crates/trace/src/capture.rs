//! Packet captures: of simulated traffic (pcapng, written here), and of any traffic (pcap and pcapng,
//! [`CaptureReader`]).
//!
//! Written captures contain the full headers of each packet, as IPv4 without link layer, and omit its payload
//! (zeros), so that files stay small and every capture analyzer can be used on a simulation.

mod headers;
mod read;

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, Endianness, PcapError};
use thiserror::Error;

pub use read::{CaptureReadError, CaptureReader, ReadReport, SegmentFlags, Skipped, Stopped, TcpPacket};

/// A packet to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketDescription {
    /// IPv4 address of the sender.
    pub source: [u8; 4],
    /// IPv4 address of the receiver.
    pub destination: [u8; 4],
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
    /// Bytes of payload after the transport header; with the headers at most 65535.
    pub payload_length: u32,
    /// The transport header.
    pub kind: PacketKind,
    /// The ECN field (RFC 3168, section 5), in the two lowest bits.
    pub ecn: u8,
}

/// The transport header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// TCP (RFC 9293).
    Tcp(TcpDescription),
    /// UDP (RFC 768).
    Udp,
}

/// The fields of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TcpDescription {
    /// Sequence number of the first byte of payload.
    pub sequence: u32,
    /// The next sequence number expected from the other side.
    pub acknowledgment: u32,
    /// Control bits.
    pub flags: TcpFlags,
    /// The receive window as written in the header (unscaled).
    pub window: u16,
    /// Timestamps option: value and echo reply (RFC 7323, section 3).
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks: left and right edge (RFC 2018, section 3). Written in this order, absent ones skipped; none in a
    /// segment that opens a connection.
    pub sack: [Option<(u32, u32)>; 3],
    /// The options of a segment that opens a connection (SYN).
    pub opening: Option<OpeningOptions>,
}

/// The options that only the first segment of each side of a connection has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpeningOptions {
    /// Maximum segment size (RFC 9293, section 3.7.1).
    pub mss: u16,
    /// Window scale, 0 to 14 (RFC 7323, section 2).
    pub window_scale: u8,
    /// Whether selective acknowledgments are permitted (RFC 2018, section 2).
    pub sack_permitted: bool,
}

/// Control bits of a TCP header (RFC 9293, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TcpFlags {
    /// Accurate ECN (RFC 9768).
    pub ae: bool,
    /// Whether the acknowledgment number is valid.
    pub ack: bool,
    /// Push.
    pub psh: bool,
    /// ECN echo.
    pub ece: bool,
    /// Congestion window reduced.
    pub cwr: bool,
    /// No more data.
    pub fin: bool,
    /// Start of a connection.
    pub syn: bool,
}

/// The reason why a packet or a file could not be written.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The underlying writer failed.
    #[error("the capture could not be written: {0}")]
    Write(#[from] io::Error),
    /// There is no such interface.
    #[error("interface {found}; accepted: below {count}")]
    Interface {
        /// The requested index.
        found: usize,
        /// The number of interfaces.
        count: usize,
    },
    /// The name of an interface does not fit its field.
    #[error("an interface name of {0} bytes; accepted: at most 65535")]
    NameLength(usize),
    /// The packet is too large for IPv4.
    #[error("a packet of {0} bytes with its headers; accepted: at most 65535")]
    PacketLength(u64),
}

/// A writer of captures. Times are in nanoseconds; the file declares this unit (`if_tsresol`).
///
/// The file is complete after every packet; nothing needs to be closed. Wrap slow writers in a
/// [`std::io::BufWriter`].
pub struct CaptureWriter<W: Write> {
    blocks: PcapNgWriter<W>,
}

impl<W: Write> CaptureWriter<W> {
    /// Creates a capture with one interface for each point of observation.
    pub fn new(writer: W, interfaces: &[&str]) -> Result<Self, CaptureError> {
        // The same byte order on every machine: equal runs produce equal files.
        let mut blocks = PcapNgWriter::with_endianness(writer, Endianness::Little).map_err(write_error)?;
        for name in interfaces {
            if name.len() > usize::from(u16::MAX) {
                return Err(CaptureError::NameLength(name.len()));
            }
            let options = vec![
                InterfaceDescriptionOption::IfName(Cow::Owned((*name).to_owned())),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ];
            let description = InterfaceDescriptionBlock {
                linktype: DataLink::RAW,
                snaplen: headers::MAX_LENGTH as u32,
                options,
            };
            blocks.write_pcapng_block(description).map_err(write_error)?;
        }
        Ok(Self { blocks })
    }

    /// Writes one packet observed at an interface (its index in the list of names) at `time_ns` nanoseconds
    /// since the start of the run.
    pub fn packet(
        &mut self,
        interface: usize,
        time_ns: u64,
        packet: &PacketDescription,
    ) -> Result<(), CaptureError> {
        let count = self.blocks.interfaces().len();
        if interface >= count {
            return Err(CaptureError::Interface { found: interface, count });
        }
        let headers = headers::Headers::of(packet)?;
        self.block(interface, time_ns, headers.as_slice(), headers.packet_length())
    }

    /// Writes the headers of a real IP packet, given in full, that was observed at an interface: its first
    /// bytes, up to the length of the longest headers.
    pub fn ip_packet(&mut self, interface: usize, time_ns: u64, packet: &[u8]) -> Result<(), CaptureError> {
        let count = self.blocks.interfaces().len();
        if interface >= count {
            return Err(CaptureError::Interface { found: interface, count });
        }
        let length =
            u32::try_from(packet.len()).map_err(|_| CaptureError::PacketLength(packet.len() as u64))?;
        let kept = &packet[..packet.len().min(headers::MAX_LENGTH)];
        self.block(interface, time_ns, kept, length)
    }

    fn block(
        &mut self,
        interface: usize,
        time_ns: u64,
        data: &[u8],
        original_len: u32,
    ) -> Result<(), CaptureError> {
        let block = EnhancedPacketBlock {
            interface_id: interface as u32, // counted by a list of blocks in one file
            timestamp: Duration::from_nanos(time_ns),
            original_len,
            data: Cow::Borrowed(data),
            options: Vec::new(),
        };
        self.blocks.write_pcapng_block(block).map_err(write_error)?;
        Ok(())
    }

    /// Returns the underlying writer.
    pub fn into_inner(self) -> W {
        self.blocks.into_inner()
    }
}

impl CaptureWriter<Vec<u8>> {
    /// Writes a packet in time order among those written before: after the last one that is not later. The
    /// cost is proportional to the number of later packets.
    pub fn insert(
        &mut self,
        interface: usize,
        time_ns: u64,
        packet: &PacketDescription,
    ) -> Result<(), CaptureError> {
        let end = self.blocks.get_ref().len();
        self.packet(interface, time_ns, packet)?;
        let bytes = self.blocks.get_mut();
        let mut place = end;
        while let Some((start, time)) = last_packet(&bytes[..place])
            && time > time_ns
        {
            place = start;
        }
        let length = bytes.len() - end;
        bytes[place..].rotate_right(length);
        Ok(())
    }
}

/// Returns the start and the time of the packet block at the end of a file; `None` if the last block is of
/// another kind. Every block begins with its type and length and ends with its length.
fn last_packet(bytes: &[u8]) -> Option<(usize, u64)> {
    const ENHANCED_PACKET: u32 = 6;
    let number = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let start = bytes.len().checked_sub(number(bytes.len().checked_sub(4)?)? as usize)?;
    let time = u64::from(number(start + 12)?) << 32 | u64::from(number(start + 16)?);
    (number(start)? == ENHANCED_PACKET).then_some((start, time))
}

/// `if_tsresol`: ten to the power of minus nine seconds.
const NANOSECONDS: u8 = 9;

fn write_error(error: PcapError) -> CaptureError {
    match error {
        PcapError::IoError(error) => CaptureError::Write(error),
        other => CaptureError::Write(io::Error::other(other)),
    }
}
