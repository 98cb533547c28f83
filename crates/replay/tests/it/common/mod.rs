//! Small captures, built byte by byte.
#![allow(dead_code, reason = "the bench and the fuzz target use a part of it")]

pub(crate) mod damage;
pub(crate) mod estimators;
pub(crate) mod qlog_damage;
pub(crate) mod recordings;

/// The container format of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Micro { big: bool },
    Nano { big: bool },
    Ng { big: bool },
}

pub(crate) const CONTAINERS: [Container; 6] = [
    Container::Micro { big: false },
    Container::Micro { big: true },
    Container::Nano { big: false },
    Container::Nano { big: true },
    Container::Ng { big: false },
    Container::Ng { big: true },
];

/// The link-layer header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Ethernet,
    Vlan,
    QinQ,
    Raw,
    Cooked,
    Cooked2,
    Null,
    Loop,
    Wireless,
    Radiotap,
    PppoeInVlan,
    Mpls,
    Ppp,
    PppHdlc,
    PppEther,
}

pub(crate) const LINKS: [Link; 15] = [
    Link::Ethernet,
    Link::Vlan,
    Link::QinQ,
    Link::Raw,
    Link::Cooked,
    Link::Cooked2,
    Link::Null,
    Link::Loop,
    Link::Wireless,
    Link::Radiotap,
    Link::PppoeInVlan,
    Link::Mpls,
    Link::Ppp,
    Link::PppHdlc,
    Link::PppEther,
];

impl Link {
    fn number(self) -> u32 {
        match self {
            Self::Ethernet | Self::Vlan | Self::QinQ | Self::PppoeInVlan | Self::Mpls => 1,
            Self::Raw => 101,
            Self::Cooked => 113,
            Self::Cooked2 => 276,
            Self::Null => 0,
            Self::Loop => 108,
            Self::Wireless => 105,
            Self::Radiotap => 127,
            Self::Ppp => 9,
            Self::PppHdlc => 50,
            Self::PppEther => 51,
        }
    }

    fn header(self, ether_type: u16) -> Vec<u8> {
        let number = ether_type.to_be_bytes();
        let tag = |kind: u16| [kind.to_be_bytes().as_slice(), &[0, 42]].concat();
        let wireless = |control: [u8; 2]| {
            let mut frame = control.to_vec();
            frame.extend([0; 22]);
            frame.extend([0, 0]); // quality of service
            frame.extend([0xAA, 0xAA, 3, 0, 0, 0]);
            frame.extend(number);
            frame
        };
        let ppp: u8 = if ether_type == 0x0800 { 0x21 } else { 0x57 };
        let pppoe = [0x11, 0, 0, 1, 5, 0xDC, 0, ppp]; // session 1; the length follows from the TCP payload
        match self {
            Self::Ethernet => [[2; 12].as_slice(), &number].concat(),
            Self::Vlan => [[2; 12].as_slice(), &tag(0x8100), &number].concat(),
            Self::QinQ => [[2; 12].as_slice(), &tag(0x88A8), &tag(0x8100), &number].concat(),
            Self::Raw => Vec::new(),
            Self::Cooked => [[0; 14].as_slice(), &number].concat(),
            Self::Cooked2 => [number.as_slice(), &[0, 0, 0, 0, 0, 3], &[0; 12]].concat(),
            Self::Null => vec![2, 0, 0, 0],
            Self::Loop => vec![0, 0, 0, 2],
            Self::Wireless => wireless([0x88, 0x01]),
            Self::Radiotap => [[0, 0, 8, 0, 0, 0, 0, 0].as_slice(), &wireless([0x88, 0x02])].concat(),
            Self::PppoeInVlan => {
                [[2; 12].as_slice(), &tag(0x8100), &0x8864_u16.to_be_bytes(), &pppoe].concat()
            }
            // Two labels, the second at the bottom of the stack.
            Self::Mpls => {
                [[2; 12].as_slice(), &0x8847_u16.to_be_bytes(), &[0, 1, 0, 64], &[0, 2, 1, 64]].concat()
            }
            Self::Ppp => vec![ppp], // with a compressed protocol field
            Self::PppHdlc => vec![0xFF, 0x03, 0, ppp],
            Self::PppEther => pppoe.to_vec(),
        }
    }
}

/// One packet: time (ns), sender (0 or 1), sequence, acknowledgment, payload, flags, options.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) time_ns: u64,
    pub(crate) side: u8,
    pub(crate) sequence: u32,
    pub(crate) acknowledgment: u32,
    pub(crate) payload: u16,
    pub(crate) flags: u16,
    pub(crate) ecn: u8,
    pub(crate) options: Vec<u8>,
}

pub(crate) const SYN: u16 = 0x02;
pub(crate) const ACK: u16 = 0x10;
pub(crate) const FIN: u16 = 0x01;

/// Returns a timestamps option after two no-operations.
pub(crate) fn stamps(value: u32, echo: u32) -> Vec<u8> {
    [[1, 1, 8, 10].as_slice(), &value.to_be_bytes(), &echo.to_be_bytes()].concat()
}

/// Returns the packet from its network layer on, with its payload.
pub(crate) fn network(packet: &Packet, six: bool) -> Vec<u8> {
    assert!(packet.options.len().is_multiple_of(4));
    let mut tcp = Vec::new();
    let ports: [u16; 2] = if packet.side == 0 { [4000, 80] } else { [80, 4000] };
    tcp.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
    tcp.extend(packet.sequence.to_be_bytes());
    tcp.extend(packet.acknowledgment.to_be_bytes());
    let words = (20 + packet.options.len()) as u16 / 4;
    tcp.extend((words << 12 | packet.flags).to_be_bytes());
    tcp.extend(1000_u16.to_be_bytes());
    tcp.extend([0; 4]);
    tcp.extend(&packet.options);
    let length = tcp.len() as u16 + packet.payload;
    tcp.extend(vec![0; usize::from(packet.payload)]);
    let (near, far) = (packet.side + 1, 2 - packet.side);
    let mut ip = Vec::new();
    if six {
        ip.extend([0x60, packet.ecn << 4, 0, 0]);
        ip.extend((length + 8).to_be_bytes());
        ip.extend([60, 64]); // destination options come first
        for end in [near, far] {
            ip.extend([0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, end]);
        }
        ip.extend([6, 0, 1, 4, 0, 0, 0, 0]);
    } else {
        ip.extend([0x45, packet.ecn]);
        ip.extend((20 + length).to_be_bytes());
        ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, near, 10, 0, 0, far]);
    }
    ip.extend(tcp);
    ip
}

/// Returns a capture of these packets, each truncated to `snap` bytes.
pub(crate) fn capture(
    container: Container,
    link: Link,
    six: bool,
    snap: usize,
    packets: &[Packet],
) -> Vec<u8> {
    let frames: Vec<(u64, Vec<u8>)> = packets
        .iter()
        .map(|packet| {
            let header = link.header(if six { 0x86DD } else { 0x0800 });
            (packet.time_ns, [header, network(packet, six)].concat())
        })
        .collect();
    pack(container, link.number(), snap, &frames)
}

/// Returns a capture of these frames.
pub(crate) fn pack(container: Container, link: u32, snap: usize, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let (big, unit) = match container {
        Container::Micro { big } => (big, 1_000),
        Container::Nano { big } | Container::Ng { big } => (big, 1),
    };
    let long = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let short = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut file = Vec::new();
    if let Container::Ng { .. } = container {
        file.extend(long(0x0A0D_0D0A));
        file.extend([long(28), long(0x1A2B_3C4D)].concat());
        file.extend([short(1), short(0)].concat());
        file.extend([0xFF; 8]);
        file.extend(long(28));
        file.extend([long(1), long(32)].concat());
        file.extend([short(link as u16), short(0)].concat());
        file.extend(long(0));
        file.extend([short(9), short(1)].concat()); // if_tsresol: nanoseconds
        file.extend([9, 0, 0, 0, 0, 0, 0, 0]);
        file.extend(long(32));
        for (time, frame) in frames {
            let kept = &frame[..frame.len().min(snap)];
            let padded = kept.len().div_ceil(4) * 4;
            let total = (32 + padded) as u32;
            file.extend([long(6), long(total), long(0)].concat());
            file.extend([long((time >> 32) as u32), long(*time as u32)].concat());
            file.extend([long(kept.len() as u32), long(frame.len() as u32)].concat());
            file.extend(kept);
            file.extend(vec![0; padded - kept.len()]);
            file.extend(long(total));
        }
        return file;
    }
    file.extend(long(if unit == 1 { 0xA1B2_3C4D } else { 0xA1B2_C3D4 }));
    file.extend([short(2), short(4)].concat());
    file.extend([long(0), long(0), long(snap as u32), long(link)].concat());
    for (time, frame) in frames {
        let kept = &frame[..frame.len().min(snap)];
        let seconds = time / 1_000_000_000;
        file.extend([long(seconds as u32), long((time % 1_000_000_000 / unit) as u32)].concat());
        file.extend([long(kept.len() as u32), long(frame.len() as u32)].concat());
        file.extend(kept);
    }
    file
}

/// Returns a connection of `segments` segments of 1000 bytes, one per millisecond from 10.0.0.1, each
/// acknowledged `delay_ms` later, after a handshake. Sequence numbers wrap.
pub(crate) fn conversation(segments: u32, delay_ms: u64) -> Vec<Packet> {
    let ms = |time: u64| 1_600_000_000_000_000_000 + time * 1_000_000;
    let isn = u32::MAX - 2_500;
    let (own, other) = (|time: u64| 7_000 + time as u32, |time: u64| 500_000 + time as u32);
    let packet = |time: u64, side, sequence, acknowledgment, payload, flags, options| Packet {
        time_ns: ms(time),
        side,
        sequence,
        acknowledgment,
        payload,
        flags,
        ecn: 2,
        options,
    };
    let opening = |stamp: Vec<u8>| [[2, 4, 0x05, 0xB4, 4, 2, 1, 1].as_slice(), &stamp].concat();
    let mut packets = vec![
        packet(0, 0, isn, 0, 0, SYN, opening(stamps(own(0), 0))),
        packet(delay_ms, 1, 99, isn.wrapping_add(1), 0, SYN | ACK, opening(stamps(other(delay_ms), own(0)))),
        packet(delay_ms, 0, isn.wrapping_add(1), 100, 0, ACK, stamps(own(delay_ms), other(delay_ms))),
    ];
    for k in 0..segments {
        let sent = delay_ms + u64::from(k);
        let sequence = isn.wrapping_add(1 + 1000 * k);
        let echo = if sent >= 2 * delay_ms { other(sent) } else { other(delay_ms) };
        packets.push(packet(sent, 0, sequence, 100, 1000, ACK, stamps(own(sent), echo)));
        let arrived = sent + delay_ms;
        let next = sequence.wrapping_add(1000);
        packets.push(packet(arrived, 1, 100, next, 0, ACK, stamps(other(arrived), own(sent))));
    }
    packets.sort_by_key(|packet| (packet.time_ns, u8::from(packet.side == 0)));
    packets
}
