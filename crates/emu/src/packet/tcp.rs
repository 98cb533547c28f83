//! The part of the TCP header (RFC 9293) that identifies the connection of a packet.

use super::Ipv4;

/// The fields of a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Number of bytes of data.
    pub payload: u16,
    /// The sequence number of the first byte, if the segment opens a connection: SYN without ACK.
    pub opens: Option<u32>,
}

/// Protocol number in IP headers.
pub(super) const TCP: u8 = 6;
/// Shortest header in bytes.
pub(super) const MIN_TCP_HEADER: usize = 20;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

impl Tcp {
    /// Parses the segment in a packet whose IP header was parsed from the same bytes. Returns `None` if there
    /// is none, or if it is malformed.
    pub fn read(ip: &Ipv4, bytes: &[u8]) -> Option<Self> {
        if ip.protocol != Some(TCP) {
            return None;
        }
        let segment = bytes.get(usize::from(ip.header_length)..)?;
        let header = segment.first_chunk::<MIN_TCP_HEADER>()?;
        let header_length = usize::from(header[12] >> 4) * 4;
        let payload = segment.len().checked_sub(header_length.max(MIN_TCP_HEADER))?;
        let sequence = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        Some(Self {
            source: u16::from_be_bytes([header[0], header[1]]),
            destination: u16::from_be_bytes([header[2], header[3]]),
            payload: payload as u16, // shorter than an IP packet
            opens: (header[13] & (SYN | ACK) == SYN).then_some(sequence),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(flags: u8, options: usize, payload: usize) -> Vec<u8> {
        let length = ((40 + options + payload) as u16).to_be_bytes();
        let mut bytes =
            vec![0x45, 0, length[0], length[1], 1, 2, 0x40, 0, 64, 6, 0, 0, 10, 7, 0, 1, 10, 8, 0, 1];
        bytes.extend([0x10, 0x01, 0, 80, 0, 0, 1, 0, 0, 0, 0, 0, (5 + options as u8 / 4) << 4, flags]);
        bytes.resize(40 + options + payload, 0);
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Tcp> {
        Tcp::read(&Ipv4::read(bytes)?, bytes)
    }

    #[test]
    fn ports_data_and_openings_are_read() {
        let data = Tcp { source: 4097, destination: 80, payload: 7, opens: None };
        assert_eq!(read(&packet(ACK, 12, 7)), Some(data));
        assert_eq!(read(&packet(SYN, 20, 0)), Some(Tcp { payload: 0, opens: Some(256), ..data }));
        assert_eq!(read(&packet(SYN | ACK, 20, 0)), Some(Tcp { payload: 0, ..data }));
    }

    #[test]
    fn incomplete_segments_are_rejected() {
        let mut datagram = packet(0, 0, 8);
        datagram[9] = 17;
        assert_eq!(read(&datagram), None);
        let mut later_fragment = packet(ACK, 0, 8);
        later_fragment[7] = 1;
        assert_eq!(read(&later_fragment), None);
        let mut too_long_a_header = packet(ACK, 0, 8);
        too_long_a_header[32] = 15 << 4;
        assert_eq!(read(&too_long_a_header), None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes in prop::collection::vec(any::<u8>(), 20..100)) {
            let length = (bytes.len() as u16).to_be_bytes();
            bytes[0] = 0x40 | bytes[0] & 0x07;
            bytes[2..4].copy_from_slice(&length);
            bytes[9] = TCP;
            if let Some(segment) = read(&bytes) {
                prop_assert!(usize::from(segment.payload) <= bytes.len() - 40);
            }
        }
    }
}
