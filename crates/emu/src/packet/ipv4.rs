//! The part of the IPv4 header (RFC 791) that the network uses.

use std::net::Ipv4Addr;

use airpath_model::Ecn;

use super::checksum::updated;

/// The fields of an IPv4 packet that the network reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4 {
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// The ECN field (RFC 3168, section 5).
    pub ecn: Ecn,
    /// Length of the IP header in bytes: 20 to 60.
    pub header_length: u8,
    /// The protocol of the payload; `None` for a fragment other than the first, which does not contain that
    /// protocol's header.
    pub protocol: Option<u8>,
}

/// Shortest IPv4 header in bytes.
const MIN_HEADER: usize = 20;
const ECN_BITS: u8 = 0b11;

impl Ipv4 {
    /// Parses an IPv4 packet that fills `bytes`; returns `None` if it is not one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let header = bytes.first_chunk::<MIN_HEADER>()?;
        let header_length = usize::from(header[0] & 0x0f) * 4;
        let total_length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let whole = header[0] >> 4 == 4
            && (MIN_HEADER..=total_length).contains(&header_length)
            && total_length == bytes.len();
        let fragment_offset = u16::from_be_bytes([header[6], header[7]]) & 0x1fff;
        whole.then(|| Self {
            source: Ipv4Addr::new(header[12], header[13], header[14], header[15]),
            destination: Ipv4Addr::new(header[16], header[17], header[18], header[19]),
            ecn: ecn_of(header[1]),
            header_length: header_length as u8,
            protocol: (fragment_offset == 0).then_some(header[9]),
        })
    }

    /// Writes the ECN field of a parsed packet, and its header checksum.
    pub fn write_ecn(bytes: &mut [u8], ecn: Ecn) {
        let Some(header) = bytes.first_chunk_mut::<MIN_HEADER>() else { return };
        let word = [header[0], header[1] & !ECN_BITS | ecn.bits()];
        write_word(header, 0, word);
    }

    /// Returns the identification of a parsed packet; zero if `bytes` is shorter than a header.
    pub fn identification(bytes: &[u8]) -> u16 {
        bytes.first_chunk::<MIN_HEADER>().map_or(0, |header| u16::from_be_bytes([header[4], header[5]]))
    }

    /// Writes the identification of a parsed packet, and its header checksum.
    pub fn write_identification(bytes: &mut [u8], identification: u16) {
        let Some(header) = bytes.first_chunk_mut::<MIN_HEADER>() else { return };
        write_word(header, 4, identification.to_be_bytes());
    }
}

/// Writes two bytes of a header, which begin at an even offset, and its checksum.
fn write_word(header: &mut [u8; MIN_HEADER], at: usize, word: [u8; 2]) {
    let old = [header[at], header[at + 1]];
    header[at..at + 2].copy_from_slice(&word);
    let checksum = updated(u16::from_be_bytes([header[10], header[11]]), &old, &word);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

fn ecn_of(traffic_class: u8) -> Ecn {
    match traffic_class & ECN_BITS {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

#[cfg(test)]
mod tests {
    use super::super::checksum::whole;
    use super::*;
    use proptest::prelude::*;

    fn packet(traffic_class: u8, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0; MIN_HEADER + payload];
        let length = (bytes.len() as u16).to_be_bytes();
        bytes[..12].copy_from_slice(&[0x45, traffic_class, length[0], length[1], 1, 2, 0x40, 0, 64, 6, 0, 0]);
        bytes[12..20].copy_from_slice(&[10, 7, 0, 1, 10, 8, 0, 1]);
        let checksum = whole(&bytes[..20]).to_be_bytes();
        bytes[10..12].copy_from_slice(&checksum);
        bytes
    }

    #[test]
    fn header_fields_are_read() {
        let read = Ipv4::read(&packet(0b1010_1001, 5)).unwrap();
        assert_eq!(read.source, Ipv4Addr::new(10, 7, 0, 1));
        assert_eq!(read.destination, Ipv4Addr::new(10, 8, 0, 1));
        assert_eq!((read.ecn, read.header_length, read.protocol), (Ecn::Ect1, 20, Some(6)));
    }

    #[test]
    fn marks_update_the_checksum_and_change_nothing_else() {
        for (from, to) in [(0b00, Ecn::Ce), (0b10, Ecn::Ce), (0b11, Ecn::NotEct), (0b01, Ecn::Ect0)] {
            let before = packet(0b1101_0100 | from, 8);
            let mut after = before.clone();
            Ipv4::write_ecn(&mut after, to);
            assert_eq!(whole(&after[..20]), 0, "the sum over a right header is zero");
            assert_eq!(after[1], 0b1101_0100 | to.bits());
            after[1] = before[1];
            after[10..12].copy_from_slice(&before[10..12]);
            assert_eq!(after, before);
        }
    }

    #[test]
    fn an_identification_is_written_and_read_again() {
        let before = packet(0b01, 8);
        let mut after = before.clone();
        Ipv4::write_identification(&mut after, 0xfffe);
        assert_eq!(whole(&after[..20]), 0);
        assert_eq!(Ipv4::identification(&after), 0xfffe);
        Ipv4::write_identification(&mut after, Ipv4::identification(&before));
        assert_eq!(after, before);
    }

    #[test]
    fn later_fragments_carry_no_protocol_header() {
        let mut bytes = packet(0, 8);
        bytes[7] = 1;
        assert_eq!(Ipv4::read(&bytes).unwrap().protocol, None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..80), ecn in 0_u8..4) {
            if let Some(read) = Ipv4::read(&bytes) {
                prop_assert!(usize::from(read.header_length) <= bytes.len());
            }
            Ipv4::write_ecn(&mut bytes, ecn_of(ecn));
        }
    }
}
