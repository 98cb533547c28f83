//! Stretches of a flow without pauses, kept packet by packet for the test of policing.

use std::mem;

use super::policer::{Passing, Policer, policed};

/// A pause between data packets that ends a stretch.
const PAUSE_NS: u64 = 500_000_000;
/// Packets of a stretch. A longer one is tested, and the next begins where it ended.
const MOST_PACKETS: usize = 8192;
/// A stretch that loses nothing in its first bytes is not policed. A loss is seen a round trip later, so that more are kept
/// than the test reads.
const MOST_BEFORE_LOSS: u64 = 4_000_000;
/// Policers that are kept of a flow.
const MOST_FOUND: usize = 256;

/// Collects the packets of the current stretch, and tests it where it ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretches {
    packets: Vec<Passing>,
    bytes: u64,
    lost: bool,
    last_ns: Option<u64>,
    /// The rest of the stretch is not kept.
    skipping: bool,
    pub(super) found: Vec<Policer>,
}

impl Stretches {
    /// New data of `bytes` bytes leaves at `sequence`.
    pub(super) fn on_sent(&mut self, now_ns: u64, sequence: u64, bytes: u32, round_trip: f32) {
        let pause = self.last_ns.replace(now_ns).is_some_and(|last| now_ns.saturating_sub(last) > PAUSE_NS);
        if pause || self.packets.len() == MOST_PACKETS {
            self.end();
            self.skipping &= !pause;
        }
        if self.skipping {
            return;
        }
        self.packets.push(Passing { at_ns: now_ns, sequence, bytes, lost: false, round_trip });
        self.bytes += u64::from(bytes);
        if !self.lost && self.bytes > MOST_BEFORE_LOSS {
            self.skipping = true;
            self.packets = Vec::new();
            self.bytes = 0;
        }
    }

    /// The data from `start` to `end` was lost, or was not after all.
    pub(super) fn on_loss(&mut self, start: u64, end: u64, lost: bool) {
        let first = self.packets.partition_point(|packet| packet.sequence + u64::from(packet.bytes) <= start);
        for packet in self.packets[first..].iter_mut().take_while(|packet| packet.sequence < end) {
            packet.lost = lost;
            self.lost |= lost;
        }
    }

    /// A packet that left at `at_ns` was lost.
    pub(super) fn on_loss_at(&mut self, at_ns: u64) {
        let first = self.packets.partition_point(|packet| packet.at_ns < at_ns);
        let same = self.packets[first..].iter_mut().take_while(|packet| packet.at_ns == at_ns);
        if let Some(packet) = same.into_iter().find(|packet| !packet.lost) {
            packet.lost = true;
            self.lost = true;
        }
    }

    /// Ends the current stretch.
    pub(super) fn end(&mut self) {
        let packets = mem::take(&mut self.packets);
        (self.bytes, self.lost) = (0, false);
        if self.found.len() < MOST_FOUND {
            self.found.extend(policed(&packets));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_a_stretch_and_one_without_losses_is_not_kept() {
        let mut stretches = Stretches::default();
        for number in 0..5_000_u64 {
            stretches.on_sent(number * 1_000_000, number * 1_000, 1_000, 0.1);
        }
        assert!(stretches.skipping && stretches.packets.is_empty());
        stretches.on_sent(60_000_000_000, 5_000_000, 1_000, 0.1);
        assert!(!stretches.skipping && stretches.packets.len() == 1);
        stretches.on_loss(5_000_000, 5_001_000, true);
        assert!(stretches.lost && stretches.packets[0].lost);
    }
}
