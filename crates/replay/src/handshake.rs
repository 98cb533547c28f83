//! The handshake of a connection.

use airpath_trace::capture::{SegmentFlags, TcpPacket};

use crate::ecn::EcnUse;

/// The contents of SYN and SYN-ACK, by side (the index in the flow's pair of endpoints).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Handshake {
    syn: [Option<Syn>; 2],
    /// The side that opened the connection.
    client: Option<usize>,
    /// The time from SYN to SYN-ACK, and from that to the last step, by the responding side.
    answers_ns: [Option<u64>; 2],
    complete: bool,
}

#[derive(Clone, Copy, Debug)]
struct Syn {
    time_ns: u64,
    sequence: u32,
    flags: SegmentFlags,
    mss: Option<u16>,
    window_scale: Option<u8>,
    sack: bool,
    timestamps: bool,
    repeated: bool,
}

impl Handshake {
    /// Processes a packet of `side`.
    pub(crate) fn on_packet(&mut self, side: usize, packet: &TcpPacket) {
        if packet.flags.syn {
            let syn = Syn {
                time_ns: packet.time_ns,
                sequence: packet.sequence,
                flags: packet.flags,
                mss: packet.mss,
                window_scale: packet.window_scale,
                sack: packet.sack_permitted,
                timestamps: packet.timestamps.is_some(),
                repeated: self.syn[side].is_some(),
            };
            self.syn[side] = Some(syn);
            if !packet.flags.ack {
                self.client = Some(side);
            } else if let Some(asked) = self.syn[1 - side].filter(|asked| !asked.repeated && !syn.repeated) {
                self.answers_ns[side] = packet.time_ns.checked_sub(asked.time_ns);
            }
        } else if !self.complete && packet.flags.ack {
            if let Some(asked) =
                self.syn[1 - side].filter(|asked| self.client == Some(side) && !asked.repeated)
            {
                self.answers_ns[side] = packet.time_ns.checked_sub(asked.time_ns);
            }
            self.complete = true;
        }
    }

    /// Returns whether a SYN of `side` with this number opens another connection: a repeated SYN has the
    /// number of the first.
    pub(crate) fn is_of_another(&self, side: usize, sequence: u32) -> bool {
        self.syn[side].map_or(self.syn[1 - side].is_none(), |syn| syn.sequence != sequence)
    }

    /// Returns whether both SYN and SYN-ACK were captured.
    pub(crate) fn is_known(&self) -> bool {
        self.syn.iter().all(Option::is_some)
    }

    /// Returns whether `side` opened the connection.
    pub(crate) fn opened_by(&self, side: usize) -> bool {
        self.client == Some(side)
    }

    /// Returns whether the packet is a SYN-ACK that was captured at the instant of its SYN. A simulation
    /// writes this if the flow starts with the run; its time and its timestamps then measure nothing.
    pub(crate) fn answers_at_once(&self, packet: &TcpPacket) -> bool {
        let [Some(first), Some(second)] = self.syn else { return false };
        packet.flags.syn && packet.flags.ack && first.time_ns == second.time_ns
    }

    /// Returns the response time of `side`, if it was captured; `None` if both sides responded in zero time.
    pub(crate) fn answer_ns(&self, side: usize) -> Option<u64> {
        self.answers_ns[side].filter(|_| self.complete && self.answers_ns != [Some(0); 2])
    }

    /// Returns the window scale of `side` if both endpoints use the option.
    pub(crate) fn window_scale(&self, side: usize) -> Option<u8> {
        let [Some(first), Some(second)] = self.syn else { return None };
        first.window_scale.and(second.window_scale)?;
        self.syn[side]?.window_scale
    }

    /// Returns whether SACK was negotiated; `None` without a handshake.
    pub(crate) fn sack(&self) -> Option<bool> {
        let [Some(first), Some(second)] = self.syn else { return None };
        Some(first.sack && second.sack)
    }

    /// Returns the largest payload of a segment according to the options of both endpoints.
    pub(crate) fn largest_payload(&self) -> Option<u64> {
        let [Some(first), Some(second)] = self.syn else { return None };
        let mss = u64::from(first.mss?.min(second.mss?));
        // Timestamps take 12 bytes of each segment (RFC 6691).
        Some(mss.saturating_sub(if first.timestamps && second.timestamps { 12 } else { 0 }))
    }

    /// Returns the negotiated use of ECN.
    pub(crate) fn ecn(&self) -> EcnUse {
        match (self.client.and_then(|side| self.syn[side]), self.client.and_then(|side| self.syn[1 - side])) {
            (Some(syn), Some(answer)) => EcnUse::negotiated(syn.flags, answer.flags),
            _ => EcnUse::Unknown,
        }
    }
}
