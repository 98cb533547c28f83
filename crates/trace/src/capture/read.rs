//! Reading captures: pcap and pcapng of either byte order, plain or compressed by gzip, as a stream.
//!
//! Memory is bounded by the largest block of the file, at most 16 MiB. No input causes a panic: a truncated
//! or corrupted file yields the part before the break, and [`ReadReport::stopped`] contains the place and the
//! reason.

mod between;
mod decode;
mod link_layer;
mod reason;
mod source;
mod tcp;

use std::io::Read;

use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};
use thiserror::Error;

use source::{Account, Source};

pub use decode::Skipped;
pub use tcp::{SegmentFlags, TcpPacket};

/// The reason why a file is not a capture.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CaptureReadError {
    /// The file is empty.
    #[error("the file is empty; accepted: a pcap or pcapng capture, plain or compressed by gzip")]
    Empty,
    /// The file is a capture of Solaris `snoop` (RFC 1761).
    #[error(
        "the file is a Solaris snoop capture; accepted: a pcap or pcapng capture, to which `editcap -F pcap IN OUT` \
         converts it"
    )]
    Snoop,
    /// The first bytes are not those of a capture.
    #[error("the file begins with {0}; accepted: a pcap or pcapng capture, plain or compressed by gzip")]
    NotACapture(String),
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Unreadable(String),
}

/// The point at which reading ended before the end of the file, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Bytes of the (uncompressed) capture that were parsed.
    pub at_byte: u64,
    /// The reason.
    pub reason: String,
}

/// Counts of the packets read so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// Packets of the capture.
    pub packets: u64,
    /// Bytes of the (uncompressed) capture that were parsed.
    pub bytes: u64,
    /// TCP packets returned.
    pub tcp_packets: u64,
    /// Skipped packets, by reason.
    pub skipped: Skipped,
    /// Set if reading ended before the end of the file.
    pub stopped: Option<Stopped>,
}

/// A reader that returns the TCP packets of a capture one by one.
pub struct CaptureReader {
    blocks: Box<dyn PcapReaderIterator + Send>,
    account: Account,
    interfaces: Vec<Interface>,
    capacity: usize,
    report: ReadReport,
}

/// The properties that an interface of a capture declares for its packets.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: i32,
    /// Ticks per second; zero if the file states an impossible value.
    resolution: u64,
    offset_s: i64,
}

/// The result of reading one block.
enum Step {
    Packet(Box<TcpPacket>),
    Other,
}

impl CaptureReader {
    /// Opens a capture.
    ///
    /// # Errors
    /// [`CaptureReadError`] if the input is not a capture.
    pub fn new(reader: impl Read + Send + 'static) -> Result<Self, CaptureReadError> {
        let (source, account) = Source::new(reader)?;
        let blocks = create_reader(FIRST_CAPACITY, source).map_err(|refusal| match refusal {
            PcapError::Eof => CaptureReadError::Empty,
            _ => match account.failure() {
                Some(failure) => CaptureReadError::Unreadable(failure),
                None if account.is_snoop() => CaptureReadError::Snoop,
                None => CaptureReadError::NotACapture(account.beginning()),
            },
        })?;
        Ok(Self {
            blocks,
            account,
            interfaces: Vec::new(),
            capacity: FIRST_CAPACITY,
            report: ReadReport::default(),
        })
    }

    /// Returns the counts so far, and the reason why reading ended.
    pub fn report(&self) -> &ReadReport {
        &self.report
    }

    /// Returns the next TCP packet; `None` if there are no more packets or nothing more can be read.
    pub fn next_packet(&mut self) -> Option<TcpPacket> {
        while self.report.stopped.is_none() {
            let available = self.blocks.data().len();
            let failure = match self.blocks.next() {
                Ok((length, block)) => {
                    let step = take(&block, &mut self.interfaces, &mut self.report);
                    self.blocks.consume(length);
                    self.report.bytes += length as u64;
                    match step {
                        Step::Packet(packet) => return Some(*packet),
                        Step::Other => continue,
                    }
                }
                Err(PcapError::Eof) => {
                    self.stop_if_broken();
                    return None;
                }
                Err(PcapError::Incomplete(_)) => None,
                Err(PcapError::BufferTooSmall) => {
                    if self.capacity >= LARGEST_BLOCK {
                        Some(format!("a block of more than {} MiB", LARGEST_BLOCK >> 20))
                    } else {
                        self.capacity *= 2;
                        self.blocks.grow(self.capacity);
                        None
                    }
                }
                Err(PcapError::UnexpectedEof) => Some("the file ends inside a block".to_owned()),
                Err(error) => Some(describe(&error)),
            };
            match failure {
                Some(reason) => self.stop(reason),
                None if self.blocks.refill().is_err() => self.stop("the file cannot be read".to_owned()),
                None if self.blocks.data().len() == available && !self.blocks.reader_exhausted() => {
                    // No data although there is room: the block declares more than the maximum length.
                    self.capacity = (self.capacity * 2).min(LARGEST_BLOCK);
                    if !self.blocks.grow(self.capacity) {
                        self.stop("a block that does not end".to_owned());
                    }
                }
                None => {}
            }
        }
        None
    }

    fn stop_if_broken(&mut self) {
        if let Some(reason) = self.account.failure() {
            self.stop(reason);
        }
    }

    fn stop(&mut self, reason: String) {
        // The cause (corrupted compression, a failing disk) is more useful than its consequence.
        let reason = self.account.failure().unwrap_or(reason);
        self.report.stopped = Some(Stopped { at_byte: self.report.bytes, reason });
    }
}

impl std::fmt::Debug for CaptureReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CaptureReader").field("report", &self.report).finish_non_exhaustive()
    }
}

/// Processes one block of the file.
fn take(block: &PcapBlockOwned<'_>, interfaces: &mut Vec<Interface>, report: &mut ReadReport) -> Step {
    let (index, interface, ticks, data, length) = match block {
        PcapBlockOwned::LegacyHeader(header) => {
            let resolution = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
            interfaces.push(Interface { link_type: header.network.0, resolution, offset_s: 0 });
            return Step::Other;
        }
        PcapBlockOwned::Legacy(packet) => {
            let Some(interface) = interfaces.first() else { return Step::Other };
            let ticks =
                u128::from(packet.ts_sec) * u128::from(interface.resolution) + u128::from(packet.ts_usec);
            (0, *interface, ticks, packet.data, packet.origlen)
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => {
            interfaces.clear();
            return Step::Other;
        }
        PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
            if interfaces.len() < MOST_INTERFACES {
                interfaces.push(Interface {
                    link_type: interface.linktype.0,
                    resolution: resolution(interface.if_tsresol),
                    offset_s: interface.if_tsoffset,
                });
            }
            return Step::Other;
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
            let interface =
                interfaces.get(packet.if_id as usize).filter(|interface| interface.resolution > 0);
            let Some(interface) = interface else {
                report.packets += 1;
                report.skipped.without_interface += 1;
                return Step::Other;
            };
            let ticks = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
            (packet.if_id, *interface, ticks, packet.packet_data(), packet.origlen)
        }
        PcapBlockOwned::NG(Block::SimplePacket(_)) => {
            report.packets += 1;
            report.skipped.without_time += 1;
            return Step::Other;
        }
        PcapBlockOwned::NG(_) => return Step::Other,
    };
    report.packets += 1;
    match decode::decode(interface.link_type, data, length) {
        Ok(mut packet) => {
            packet.time_ns = nanoseconds(ticks, interface);
            // The interface index inside a Linux cooked packet separates interfaces that the file's interface
            // combines.
            packet.interface = packet.interface << 16 | index & 0xFFFF;
            report.tcp_packets += 1;
            Step::Packet(Box::new(packet))
        }
        Err(reason) => {
            report.skipped.count(reason);
            Step::Other
        }
    }
}

/// Returns the ticks per second stated by `if_tsresol`: a power of ten, or with the highest bit a power of
/// two; zero if impossible.
fn resolution(stated: u8) -> u64 {
    let (base, power) = if stated & 0x80 == 0 { (10_u64, stated) } else { (2, stated & 0x7F) };
    base.checked_pow(u32::from(power)).unwrap_or(0)
}

/// Converts ticks to nanoseconds since 1970; saturates at both ends of the range.
fn nanoseconds(ticks: u128, interface: Interface) -> u64 {
    // At most 2^64 ticks: the product fits.
    let nanos = ticks * 1_000_000_000 / u128::from(interface.resolution.max(1));
    let offset = i128::from(interface.offset_s) * 1_000_000_000;
    u64::try_from(i128::try_from(nanos).unwrap_or(i128::MAX).saturating_add(offset).max(0))
        .unwrap_or(u64::MAX)
}

fn describe(error: &PcapError<&[u8]>) -> String {
    match error {
        PcapError::NomError(_, kind) | PcapError::OwnedNomError(_, kind) => {
            format!("a block that is not well formed ({})", kind.description())
        }
        PcapError::HeaderNotRecognized => "a header that is not one of a capture".to_owned(),
        other => other.to_string(),
    }
}

/// Size of the first buffer: a few hundred packets.
const FIRST_CAPACITY: usize = 1 << 18;

/// Maximum block length. No real capture approaches it; a longer block is corrupted.
const LARGEST_BLOCK: usize = 1 << 24;

/// Maximum number of interfaces per section; packets of later ones are skipped.
const MOST_INTERFACES: usize = 4096;
