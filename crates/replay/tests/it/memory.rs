//! Memory stays bounded for captures of any length, even if data is never acknowledged.

#![allow(clippy::print_stdout, reason = "says how much there was")]

use std::io::Read;

use crate::common::estimators::options;
use crate::common::{ACK, Packet, network, stamps};
use airpath_replay::{Analysis, analyse};

/// The maximum memory of the whole process, in MB, with the bounds stated on the page about captures.
const MOST_MB: u64 = 1024;
const PAYLOAD: u16 = 1000;

/// A capture that is generated while it is read: flows that take turns, each with one segment per turn.
struct Stream {
    flows: u64,
    /// Whether each segment is acknowledged one turn later, or never.
    acknowledged: bool,
    packets: u64,
    end: u64,
    record: Vec<u8>,
    read: usize,
    bytes: u64,
}

impl Stream {
    fn new(flows: u64, acknowledged: bool, packets: u64) -> Self {
        let mut record = Vec::new();
        record.extend(0xA1B2_3C4D_u32.to_le_bytes()); // nanoseconds
        record.extend([2, 0, 4, 0]);
        record.extend([0; 8]);
        record.extend(65_535_u32.to_le_bytes());
        record.extend(101_u32.to_le_bytes()); // raw IP
        Self { flows, acknowledged, packets: 0, end: packets, record, read: 0, bytes: 0 }
    }

    /// Generates the next packet as a record without its payload.
    fn make_record(&mut self) {
        let number = self.packets;
        self.packets += 1;
        let (turn, flow) = (number / self.flows, number % self.flows);
        let answer = self.acknowledged && turn % 2 == 1;
        let segment = if self.acknowledged { turn / 2 } else { turn };
        let sequence = (segment * u64::from(PAYLOAD)) as u32;
        let milliseconds = (number / 1_000) as u32;
        let packet = Packet {
            time_ns: number * 1_000,
            side: u8::from(answer),
            sequence: if answer { 1 } else { sequence },
            acknowledgment: if answer { sequence.wrapping_add(u32::from(PAYLOAD)) } else { 1 },
            payload: if answer { 0 } else { PAYLOAD },
            flags: ACK,
            ecn: 0,
            options: stamps(milliseconds, milliseconds),
        };
        let mut bytes = network(&packet, false);
        let long = bytes.len() as u32;
        bytes.truncate(20 + 32);
        // The client's address distinguishes flows.
        let client = if answer { 16 } else { 12 };
        bytes[client + 1..client + 3].copy_from_slice(&(flow as u16).to_be_bytes());
        self.record.clear();
        self.record.extend(((packet.time_ns / 1_000_000_000) as u32).to_le_bytes());
        self.record.extend(((packet.time_ns % 1_000_000_000) as u32).to_le_bytes());
        self.record.extend((bytes.len() as u32).to_le_bytes());
        self.record.extend(long.to_le_bytes());
        self.record.extend(bytes);
        self.read = 0;
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.read == self.record.len() {
            if self.packets == self.end {
                return Ok(0);
            }
            self.make_record();
        }
        let count = buffer.len().min(self.record.len() - self.read);
        buffer[..count].copy_from_slice(&self.record[self.read..self.read + count]);
        self.read += count;
        self.bytes += count as u64;
        Ok(count)
    }
}

/// Returns the peak memory of this process, in MB.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

/// Reads such a stream.
fn read(flows: u64, acknowledged: bool, packets: u64) -> Analysis {
    let analysis = analyse(Stream::new(flows, acknowledged, packets), &options()).unwrap();
    assert_eq!((analysis.report.stopped.as_ref(), analysis.report.tcp_packets), (None, packets));
    assert_eq!(analysis.flows.len() as u64, flows);
    println!(
        "{flows} flows, acknowledged: {acknowledged}, {packets} packets: {} MB at most so far",
        peak_mb()
    );
    analysis
}

fn restarts(analysis: &Analysis) -> u64 {
    analysis.flows.iter().map(|flow| flow.restarts).sum()
}

/// Maximum number of segments per direction of one flow: 2^17.
const OF_A_FLOW: u64 = 1 << 17;
/// Maximum number of segments over all flows.
const OF_ALL: u64 = 1 << 20;

fn both_limits(packets: u64) {
    assert_eq!(restarts(&read(1, false, OF_A_FLOW)), 0);
    assert!(restarts(&read(1, false, OF_A_FLOW + 2)) > 0, "a flow keeps no more than its limit");
    assert_eq!(restarts(&read(1_000, false, OF_ALL)), 0);
    assert!(restarts(&read(1_000, false, packets)) > 0, "all flows together keep no more than theirs");
    assert!(peak_mb() < MOST_MB, "{} MB", peak_mb());
}

#[test]
fn unacknowledged_data_is_forgotten() {
    both_limits(OF_ALL + OF_ALL / 16);
}

/// Run by `make test-memory`: takes a minute.
#[test]
#[ignore = "a minute; `make test-memory`"]
fn a_gigabyte_needs_no_more_memory() {
    both_limits(8 * OF_ALL);
    let analysis = read(1_000, true, 6_000_000);
    assert_eq!(restarts(&analysis), 0);
    assert!(peak_mb() < MOST_MB, "{} MB", peak_mb());
}
