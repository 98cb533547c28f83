//! The start of a flow, examined before the flow is replayed: its properties are taken from the handshake, or
//! inferred without one.

use std::collections::BTreeMap;

use airpath_model::{Bytes, Duration};
use airpath_trace::capture::TcpPacket;

use crate::clock::ClockRate;
use crate::handshake::Handshake;

/// Number of packets after which a flow is replayed, if the clocks have ticked.
const ENOUGH_PACKETS: usize = 512;
/// Maximum number of packets kept.
const MOST_PACKETS: usize = 4096;
/// Duration of a flow after which it is replayed.
const ENOUGH_NS: u64 = 1_000_000_000;
/// Minimum number of ticks for an estimate of the clock.
const ENOUGH_TICKS: i64 = 4;
/// The default segment size: Ethernet with timestamps.
const USUAL_MSS: u64 = 1448;
/// Larger payloads are super-segments that a network card splits or merges: longer than any jumbo frame.
const LARGEST_SEGMENT: u32 = 9000;
/// A rarer payload may be an application message: using it as the full segment size would split real segments
/// in two, while a value that is slightly too large has little effect.
const ENOUGH_SEGMENTS: u32 = 8;
/// Shorter payloads are not the full segment of any path (RFC 9293, section 3.7.1, with room for options).
const SMALLEST_MSS: u64 = 256;

/// Buffers the first packets of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Preview {
    packets: Vec<(usize, TcpPacket)>,
    clocks: [ClockRate; 2],
    /// The payload sizes of each side up to that of a jumbo frame, with their numbers of occurrences.
    payloads: [BTreeMap<u32, u32>; 2],
    sack_seen: bool,
}

/// Properties of a flow, determined before it is replayed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    /// The full segment size of each side's data.
    pub(crate) mss: [Bytes; 2],
    /// The tick of each side's timestamps.
    pub(crate) ticks: [Option<Duration>; 2],
    /// The rate of each side's timestamps, 1/s.
    pub(crate) clock_hz: [Option<f64>; 2],
    pub(crate) sack: bool,
}

impl Preview {
    /// Buffers a packet that the handshake has processed already. Returns whether the preview is complete.
    pub(crate) fn on_packet(&mut self, side: usize, packet: &TcpPacket, handshake: &Handshake) -> bool {
        let is_measured = !packet.flags.rst && !handshake.answers_at_once(packet);
        if let Some((value, _)) = packet.timestamps.filter(|_| is_measured) {
            self.clocks[side].on_packet(packet.time_ns, value);
        }
        if packet.payload > 0 && packet.payload <= LARGEST_SEGMENT {
            *self.payloads[side].entry(packet.payload).or_default() += 1;
        }
        self.sack_seen |= packet.sack[0].is_some();
        self.packets.push((side, *packet));
        let first = self.packets[0].1.time_ns;
        let ticked = self.clocks.iter().all(|clock| clock.ticks() >= ENOUGH_TICKS);
        let packets = self.packets.len();
        packets >= MOST_PACKETS
            || packets >= ENOUGH_PACKETS && ticked
            || packet.time_ns.saturating_sub(first) >= ENOUGH_NS
    }

    /// Ends the preview; returns the properties and the buffered packets.
    pub(crate) fn finish(&mut self, handshake: &Handshake) -> (Traits, Vec<(usize, TcpPacket)>) {
        let traits = Traits {
            mss: [self.mss(0, handshake), self.mss(1, handshake)],
            ticks: self.clocks.map(|clock| clock.tick()),
            clock_hz: self.clocks.map(|clock| clock.rate()),
            // Without a handshake, SACK is assumed, because it is widely deployed and does no harm if it is
            // unused.
            sack: self.sack_seen || handshake.sack().unwrap_or(true),
        };
        (traits, std::mem::take(&mut self.packets))
    }

    /// Returns the most frequent payload among those that can be full segments: the options of segments may
    /// differ from those of the handshake.
    fn mss(&self, side: usize, handshake: &Handshake) -> Bytes {
        let agreed = handshake.largest_payload();
        let likely = |payload: u64| {
            payload >= agreed.map_or(SMALLEST_MSS, |agreed| agreed / 2).max(1)
                && agreed.is_none_or(|agreed| payload <= agreed)
        };
        let usual = self.payloads[side]
            .iter()
            .filter(|(payload, count)| **count >= ENOUGH_SEGMENTS && likely(u64::from(**payload)))
            .max_by_key(|(payload, count)| (**count, **payload));
        let mss = usual.map(|(payload, _)| u64::from(*payload)).or(agreed).unwrap_or(USUAL_MSS);
        Bytes::new(mss.max(MINIMUM_MSS))
    }
}

/// Bounds the number of segments into which a super-segment is split.
const MINIMUM_MSS: u64 = 64;
