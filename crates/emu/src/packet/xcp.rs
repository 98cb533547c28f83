//! XCP's congestion header as a TCP option: shared experimental option 253 (RFC 6994), identifier 0x4158,
//! message type 1.
//!
//! Layout, big-endian: kind, length 20, identifier (2), type, hops, two zero bytes, round-trip time in µs
//! (u32), throughput in byte/s (u32), feedback in byte/s (i32, the only field that routers change). It may be
//! at any offset, including odd ones.

use airpath_model::{Duration, XcpHeader};

use super::Ipv4;
use super::checksum::updated;
use super::tcp::{MIN_TCP_HEADER, TCP};

/// The position of XCP's header in a packet, and its contents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct XcpOption {
    /// Offset of the TCP header in the packet, in bytes.
    tcp: u16,
    /// Offset of the feedback in the packet, in bytes.
    feedback: u16,
    /// The values written by the sender and earlier routers.
    pub header: XcpHeader,
}

const CHECKSUM_OFFSET: usize = 16;
const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const SHARED_EXPERIMENT: u8 = 253;
const EXPERIMENT: [u8; 2] = *b"AX";
const DATA_HEADER: u8 = 1;
const LENGTH: usize = 20;
/// Offsets within the option.
const RTT: usize = 8;
const THROUGHPUT: usize = 12;
const FEEDBACK: usize = 16;

impl XcpOption {
    /// Finds the option in a packet whose IP header was parsed from the same bytes. Returns `None` if there
    /// is none, or if it is malformed.
    pub fn find(ip: &Ipv4, bytes: &[u8]) -> Option<Self> {
        if ip.protocol != Some(TCP) {
            return None;
        }
        let tcp = usize::from(ip.header_length);
        let segment = bytes.get(tcp..)?;
        let header_length = usize::from(segment.get(12)? >> 4) * 4;
        let options = segment.get(MIN_TCP_HEADER..header_length)?;
        let at = position(options)?;
        let option = options.get(at..at + LENGTH)?;
        let field = |offset: usize| option.get(offset..offset + 4)?.first_chunk::<4>().copied();
        let throughput = u32::from_be_bytes(field(THROUGHPUT)?);
        let rtt = Duration::from_micros(u64::from(u32::from_be_bytes(field(RTT)?)));
        let payload = segment.len().saturating_sub(header_length);
        // The throughput counts payload. No window is below one packet, so at least one packet is sent in a
        // round trip.
        let inter_packet = if throughput == 0 {
            rtt
        } else {
            rtt.min(Duration::from_secs_f64(payload as f64 / f64::from(throughput)))
        };
        Some(Self {
            tcp: tcp as u16,                                         // at most 60
            feedback: (tcp + MIN_TCP_HEADER + at + FEEDBACK) as u16, // at most 60 + 60
            header: XcpHeader {
                rtt,
                inter_packet,
                delta_throughput: f64::from(i32::from_be_bytes(field(FEEDBACK)?)),
            },
        })
    }

    /// Writes the feedback of routers, in byte/s, into the packet in which the option was found, and updates
    /// the TCP checksum. Fractions are rounded down, and values out of range are clamped.
    pub fn write_feedback(&self, bytes: &mut [u8], delta_throughput: f64) {
        let (tcp, at) = (usize::from(self.tcp), usize::from(self.feedback));
        // A cast from a float saturates and converts NaN to zero.
        let new = (delta_throughput.floor() as i32).to_be_bytes();
        // The words of the checksum are aligned to the TCP header, which begins at an even offset.
        let (start, end) = (at & !1, (at + new.len()).next_multiple_of(2).min(bytes.len()));
        let Some(old) = bytes.get(start..end) else { return };
        if bytes.get(at..at + new.len()) == Some(&new[..]) {
            return;
        }
        let mut before = [0; 6];
        let before = &mut before[..old.len()];
        before.copy_from_slice(old);
        bytes[at..at + new.len()].copy_from_slice(&new);
        let checksum = tcp + CHECKSUM_OFFSET;
        let old = u16::from_be_bytes([bytes[checksum], bytes[checksum + 1]]);
        let fresh = updated(old, before, &bytes[start..end]);
        bytes[checksum..checksum + 2].copy_from_slice(&fresh.to_be_bytes());
    }
}

/// Returns the offset of XCP's header among TCP options.
fn position(options: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match *options.get(at..)? {
            [] | [END_OF_OPTIONS, ..] => return None,
            [NO_OPERATION, ..] => at += 1,
            [SHARED_EXPERIMENT, length, first, second, DATA_HEADER, ..]
                if [first, second] == EXPERIMENT && usize::from(length) == LENGTH =>
            {
                return Some(at);
            }
            [_, length, ..] if length >= 2 => at += usize::from(length),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::checksum::whole;
    use super::*;
    use proptest::prelude::*;

    const OPTION: [u8; 20] =
        [253, 20, 0x41, 0x58, 1, 0, 0, 0, 0, 0, 0x9c, 0x40, 0, 0x12, 0xd6, 0x87, 0xff, 0xff, 0xff, 0x38];

    /// Returns a TCP segment in an IPv4 packet with these options (padded) and this payload.
    fn packet(options: &[u8], payload: &[u8]) -> Vec<u8> {
        let padded = options.len().next_multiple_of(4);
        let length = 40 + padded + payload.len();
        let mut bytes = vec![0; length];
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        bytes[9] = TCP;
        bytes[12..20].copy_from_slice(&[10, 7, 0, 1, 10, 8, 0, 1]);
        bytes[32] = ((20 + padded) as u8) << 2;
        bytes[40..40 + options.len()].copy_from_slice(options);
        bytes[40 + padded..].copy_from_slice(payload);
        let checksum = tcp_sum(&bytes).to_be_bytes();
        bytes[36..38].copy_from_slice(&checksum);
        bytes
    }

    /// Returns the checksum over pseudo header and segment; zero if the one in the header is right.
    fn tcp_sum(bytes: &[u8]) -> u16 {
        let mut covered = bytes[12..20].to_vec();
        covered.extend([0, TCP]);
        covered.extend(((bytes.len() - 20) as u16).to_be_bytes());
        covered.extend(&bytes[20..]);
        whole(&covered)
    }

    fn found(bytes: &[u8]) -> Option<XcpOption> {
        XcpOption::find(&Ipv4::read(bytes)?, bytes)
    }

    #[test]
    fn reads_the_fields() {
        let bytes = packet(&OPTION, &[1; 1000]);
        let header = found(&bytes).unwrap().header;
        assert_eq!(header.rtt, Duration::from_millis(40));
        assert_eq!(header.inter_packet, Duration::from_secs_f64(1000.0 / 1_234_567.0));
        assert!((header.delta_throughput - -200.0).abs() < 1e-9);
    }

    #[test]
    fn packet_spacing_is_at_most_the_round_trip_time() {
        let mut option = OPTION;
        for throughput in [0_u32, 1] {
            option[THROUGHPUT..THROUGHPUT + 4].copy_from_slice(&throughput.to_be_bytes());
            let header = found(&packet(&option, &[1; 1000])).unwrap().header;
            assert_eq!(header.inter_packet, header.rtt);
        }
    }

    proptest! {
        /// After any number of no-operations, so at even and odd offsets, with payloads of even and odd
        /// length.
        #[test]
        fn feedback_is_written_with_the_right_checksum(
            padding in 0_usize..17,
            payload in prop::collection::vec(any::<u8>(), 0..40),
            feedback in -3e9..3e9_f64,
        ) {
            let mut options = vec![NO_OPERATION; padding];
            options.extend(OPTION);
            let before = packet(&options, &payload);
            let mut after = before.clone();
            let option = found(&before).unwrap();
            option.write_feedback(&mut after, feedback);
            prop_assert_eq!(tcp_sum(&after), 0);
            let read = found(&after).unwrap().header;
            let expected = feedback.floor().clamp(f64::from(i32::MIN), f64::from(i32::MAX));
            prop_assert!((read.delta_throughput - expected).abs() < 1e-9);
            prop_assert_eq!((read.rtt, read.inter_packet), (option.header.rtt, option.header.inter_packet));
            let at = usize::from(option.feedback);
            let elsewhere = |index: &usize| !(at..at + 4).contains(index) && !(36..38).contains(index);
            for index in (0..before.len()).filter(elsewhere) {
                prop_assert_eq!(before[index], after[index]);
            }
        }

        #[test]
        fn arbitrary_options_do_not_panic(options in prop::collection::vec(any::<u8>(), 0..40), claimed in 0_u8..16) {
            let mut bytes = packet(&options, &[]);
            bytes[32] = claimed << 4;
            if let Some(option) = found(&bytes) {
                option.write_feedback(&mut bytes, 5.0);
            }
        }

        /// Corruptions of a valid packet: each read ends, and each write stays inside.
        #[test]
        fn corrupted_packets_do_not_panic(
            damage in prop::collection::vec((0_usize..70, any::<u8>()), 0..6),
            keep in 0_usize..71,
        ) {
            let mut bytes = packet(&OPTION, &[7; 10]);
            for (at, value) in damage {
                bytes[at] = value;
            }
            bytes.truncate(keep);
            if let Some(option) = found(&bytes) {
                option.write_feedback(&mut bytes, f64::NAN);
            }
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            found(&bytes);
        }
    }
}
