//! Packets of one packet number space that were sent and are not acknowledged.

use std::collections::BTreeMap;

use airpath_model::{Duration, Timestamp};

/// A packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outstanding {
    pub(super) sent_at: Timestamp,
    pub(super) bytes: u64,
    /// Whether it was declared lost. It may still arrive.
    pub(super) lost: bool,
}

/// The packets by their number.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    packets: BTreeMap<u64, Outstanding>,
    largest_acknowledged: Option<u64>,
}

/// The number of later packets whose arrival indicates a loss (RFC 9002, section 6.1.1).
const PACKET_THRESHOLD: u64 = 3;

impl Ledger {
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Records a transmission. Returns the previous packet with this number if it was still in flight: after
    /// a restart of the log, no later event refers to it.
    pub(super) fn on_sent(&mut self, packet: u64, sent_at: Timestamp, bytes: u64) -> Option<Outstanding> {
        let earlier = self.packets.insert(packet, Outstanding { sent_at, bytes, lost: false });
        earlier.filter(|earlier| !earlier.lost)
    }

    /// Removes the newly acknowledged packets; those of one instant are in the order of their numbers.
    pub(super) fn acknowledge(&mut self, ranges: &[(u64, u64)], newly: &mut Vec<Outstanding>) {
        for &(first, last) in ranges {
            // Ranges in a log may overlap, so each number is removed once.
            while let Some((&packet, _)) = self.packets.range(first..=last).next() {
                newly.extend(self.packets.remove(&packet));
                self.largest_acknowledged = self.largest_acknowledged.max(Some(packet));
            }
        }
    }

    /// Declares a packet lost. Returns it if it was in flight.
    pub(super) fn lose(&mut self, packet: u64) -> Option<Outstanding> {
        let lost = self.packets.get_mut(&packet).filter(|packet| !packet.lost)?;
        lost.lost = true;
        Some(*lost)
    }

    /// Returns the packets lost according to the newest acknowledgment, by the thresholds of RFC 9002,
    /// section 6.1, for the round-trip time `rtt`.
    pub(super) fn find_lost(&self, now: Timestamp, rtt: Duration) -> Vec<u64> {
        let Some(largest) = self.largest_acknowledged else { return Vec::new() };
        let late = rtt + rtt / 8;
        let earlier = self.packets.range(..largest);
        let lost = earlier.filter(|(number, packet)| {
            !packet.lost && (largest - **number >= PACKET_THRESHOLD || packet.sent_at + late <= now)
        });
        lost.map(|(number, _)| *number).collect()
    }

    /// Forgets lost packets sent more than `kept` before the newest packet that has arrived.
    pub(super) fn forget_lost(&mut self, newest: Timestamp, kept: Duration) {
        while let Some(first) = self.packets.first_entry().filter(|first| {
            let packet = first.get();
            packet.lost && packet.sent_at + kept < newest
        }) {
            first.remove();
        }
    }

    pub(super) fn clear(&mut self) {
        self.packets.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn losses_are_detected_by_both_thresholds_and_counted_once() {
        let mut ledger = Ledger::default();
        for number in 0..8 {
            ledger.on_sent(number, at(number), 1000);
        }
        let mut newly = Vec::new();
        ledger.acknowledge(&[(5, 5), (2, 2), (5, 5)], &mut newly);
        assert_eq!(newly.iter().map(|packet| packet.sent_at).collect::<Vec<_>>(), [at(5), at(2)]);
        let rtt = Duration::from_millis(80);
        assert_eq!(ledger.find_lost(at(85), rtt), [0, 1], "three later ones arrived");
        assert_eq!(ledger.find_lost(at(93), rtt), [0, 1, 3], "it left 9/8 of a round trip ago");
        assert!(ledger.lose(0).is_some() && ledger.lose(0).is_none() && ledger.lose(77).is_none());
        assert_eq!(ledger.find_lost(at(85), rtt), [1]);
        newly.clear();
        ledger.acknowledge(&[(0, u64::MAX)], &mut newly);
        assert_eq!((newly.len(), newly[0].lost, ledger.len()), (6, true, 0));
    }
}
