//! Handmade packets, with an independent computation of their checksums.

/// The contents of a TCP packet.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) ipv6: bool,
    pub(crate) ecn: u8,
    pub(crate) options: Vec<u8>,
    pub(crate) payload: usize,
}

impl Default for Segment {
    fn default() -> Self {
        Self { ipv6: false, ecn: 1, options: Vec::new(), payload: 1000 }
    }
}

/// Bytes before the IP header.
pub(crate) const ETHERNET: usize = 14;
/// IP protocol numbers.
const TCP: u8 = 6;
const UDP: u8 = 17;

impl Segment {
    /// Returns the frame with correct checksums. Options are padded with NOPs at the end.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut options = self.options.clone();
        options.resize(options.len().next_multiple_of(4), 1);
        let tcp = 20 + options.len();
        let mut frame = before_transport(self.ipv6, self.ecn, TCP, tcp + self.payload);
        let transport = frame.len();
        frame.extend([
            0x9c,
            0x40,
            0x14,
            0x51,
            1,
            2,
            3,
            4,
            5,
            6,
            7,
            8,
            (tcp as u8 / 4) << 4,
            0x18,
            1,
            0,
            0,
            0,
            0,
            0,
        ]);
        frame.extend(&options);
        frame.extend(pattern(self.payload));
        let sum = !transport_sum(&frame, self.ipv6);
        frame[transport + 16..transport + 18].copy_from_slice(&sum.to_be_bytes());
        frame
    }

    /// Returns the offset of the TCP options.
    pub(crate) fn options_at(&self) -> usize {
        ETHERNET + if self.ipv6 { 40 } else { 20 } + 20
    }
}

/// Returns a UDP datagram with correct checksums. If it were parsed as TCP, its payload would contain a
/// header length.
pub(crate) fn datagram(ipv6: bool, ecn: u8, payload: usize) -> Vec<u8> {
    let length = 8 + payload;
    let mut frame = before_transport(ipv6, ecn, UDP, length);
    let transport = frame.len();
    frame.extend([0x9c, 0x40, 0x14, 0x51]);
    frame.extend((length as u16).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(pattern(payload));
    if let Some(length) = frame.get_mut(transport + 12) {
        *length = 5 << 4;
    }
    let sum = !transport_sum(&frame, ipv6);
    frame[transport + 6..transport + 8].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// Returns the Ethernet and IP headers of a packet with `length` bytes of that protocol.
fn before_transport(ipv6: bool, ecn: u8, protocol: u8, length: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    frame.extend(if ipv6 { [0x86, 0xdd] } else { [8, 0] });
    if ipv6 {
        frame.extend([0x60, ecn << 4, 0, 0]);
        frame.extend((length as u16).to_be_bytes());
        frame.extend([protocol, 64]);
        frame.extend((0..32).map(|byte| byte * 7));
    } else {
        frame.extend([0x45, 0xb8 | ecn]);
        frame.extend((length as u16 + 20).to_be_bytes());
        frame.extend([0x12, 0x34, 0x40, 0, 64, protocol, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2]);
        let sum = !fold(&frame[ETHERNET..ETHERNET + 20], 0);
        frame[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&sum.to_be_bytes());
    }
    frame
}

fn pattern(length: usize) -> impl Iterator<Item = u8> {
    (0..length).map(|byte| (byte % 251) as u8)
}

/// Returns whether both checksums of a frame are correct.
pub(crate) fn checksums_hold(frame: &[u8]) -> bool {
    let ipv6 = frame[ETHERNET] >> 4 == 6;
    (ipv6 || fold(&frame[ETHERNET..ETHERNET + 20], 0) == 0xffff) && transport_sum(frame, ipv6) == 0xffff
}

/// Returns the ECN field of a frame.
pub(crate) fn ecn(frame: &[u8]) -> u8 {
    let byte = frame[ETHERNET + 1];
    if frame[ETHERNET] >> 4 == 6 { byte >> 4 & 3 } else { byte & 3 }
}

/// Returns the XCP header of docs/reference/linux/wire.md.
pub(crate) fn xcp_option(rtt_us: u32, throughput: u32, feedback: i32) -> Vec<u8> {
    let mut option = vec![253, 20, 0x41, 0x58, 1, 0, 0, 0];
    option.extend(rtt_us.to_be_bytes());
    option.extend(throughput.to_be_bytes());
    option.extend(feedback.to_be_bytes());
    option
}

/// Returns the sum of the segment or datagram with its pseudo-header: all ones if its checksum is correct.
fn transport_sum(frame: &[u8], ipv6: bool) -> u16 {
    let (addresses, protocol, transport) = if ipv6 {
        (&frame[ETHERNET + 8..ETHERNET + 40], frame[ETHERNET + 6], ETHERNET + 40)
    } else {
        (&frame[ETHERNET + 12..ETHERNET + 20], frame[ETHERNET + 9], ETHERNET + 20)
    };
    let segment = &frame[transport..];
    let pseudo = u32::from(fold(addresses, 0)) + u32::from(protocol) + segment.len() as u32;
    fold(segment, pseudo)
}

/// Returns the ones' complement sum of 16-bit words (RFC 1071).
fn fold(bytes: &[u8], start: u32) -> u16 {
    let mut sum = start;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
    }
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Returns the range of the option of docs/reference/linux/wire.md in a frame of TCP over IPv4.
pub(crate) fn our_option(frame: &[u8]) -> Option<std::ops::Range<usize>> {
    let mut at = options(frame)?;
    while at.len() >= 2 {
        let length = match frame[at.start] {
            0 => return None,
            1 => 1,
            _ => usize::from(frame[at.start + 1]),
        };
        if length == 0 || length > at.len() {
            return None;
        }
        let option = at.start..at.start + length;
        if frame[option.clone()].starts_with(&[253]) && frame[option.start + 2..].starts_with(&[0x41, 0x58]) {
            return Some(option);
        }
        at.start += length;
    }
    None
}

/// Returns the range of the TCP options in a frame of TCP over IPv4.
pub(crate) fn options(frame: &[u8]) -> Option<std::ops::Range<usize>> {
    let transport = ETHERNET + 20;
    if frame.len() < transport + 20 || frame[ETHERNET] != 0x45 || frame[ETHERNET + 9] != 6 {
        return None;
    }
    Some(transport + 20..transport + usize::from(frame[transport + 12] >> 4) * 4)
}

/// Corrects the TCP checksum of a frame over IPv4.
pub(crate) fn restore_checksum(frame: &mut [u8]) {
    let at = ETHERNET + 20 + 16;
    frame[at..at + 2].fill(0);
    let sum = !transport_sum(frame, false);
    frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
}

/// Marks an IPv4 frame as a router would instead of dropping it (RFC 3168). Returns false if the packet is
/// not ECN-capable.
pub(crate) fn mark(frame: &mut [u8]) -> bool {
    if ecn(frame) == 0 {
        return false;
    }
    frame[ETHERNET + 1] |= 3;
    frame[ETHERNET + 10..ETHERNET + 12].fill(0);
    let sum = !fold(&frame[ETHERNET..ETHERNET + 20], 0);
    frame[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&sum.to_be_bytes());
    true
}

/// Returns four bytes of a frame as a number.
pub(crate) fn number(frame: &[u8], at: usize) -> i32 {
    i32::from_be_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]])
}
