//! Packet events as observed by the sender of a connection, for flow logs (qlog).

use std::collections::VecDeque;

use airpath_model::Timestamp;
use airpath_network::{Body, Packet, Transmission, Transmissions};
use airpath_transport::{Acknowledgment, Segment};

/// Converts segments to packets that are never retransmitted: the last transmission of a segment is assumed
/// to be the one that arrived; the previous transmission counts as lost once there is another.
#[derive(Debug)]
pub(crate) struct SegmentLog {
    transmissions: Transmissions,
    next: u64,
    connection: u32,
    /// Segments that are not cumulatively acknowledged, in stream order.
    outstanding: VecDeque<Outstanding>,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    sequence: u64,
    end: u64,
    packet: u64,
    arrived: bool,
}

impl SegmentLog {
    pub(crate) fn new(transmissions: Transmissions) -> Self {
        Self { transmissions, next: 0, connection: 0, outstanding: VecDeque::new() }
    }

    /// Records the transmission of a packet.
    pub(crate) fn on_packet(&mut self, now: Timestamp, packet: &Packet) {
        let Body::Segment { segment, .. } = &packet.body else { return };
        if std::mem::replace(&mut self.connection, packet.connection) != packet.connection {
            // The previous connection is closed, including its data in flight.
            self.outstanding.clear();
        }
        self.on_sent(now, segment);
    }

    fn on_sent(&mut self, now: Timestamp, segment: &Segment) {
        let packet = self.next;
        self.next += 1;
        let place = self.outstanding.partition_point(|known| known.sequence < segment.sequence);
        let known = self.outstanding.get_mut(place).filter(|known| known.sequence == segment.sequence);
        if let Some(known) = known {
            let earlier = std::mem::replace(&mut known.packet, packet);
            if !known.arrived {
                self.transmissions.push(now, Transmission::Lost { packet: earlier });
            }
        } else {
            let (sequence, end) = (segment.sequence, segment.end());
            self.outstanding.insert(place, Outstanding { sequence, end, packet, arrived: false });
        }
        self.transmissions
            .push(now, Transmission::Sent { packet, bytes: segment.payload, again: segment.retransmission });
    }

    /// Records the arrival of a connection's acknowledgment of `bytes` bytes on the wire.
    pub(crate) fn on_acknowledgment(
        &mut self,
        now: Timestamp,
        (connection, bytes): (u32, u32),
        acknowledgment: &Acknowledgment,
    ) {
        if connection != self.connection {
            return; // a leftover of a closed connection
        }
        self.transmissions.push(now, Transmission::Acknowledgment { bytes: Some(bytes) });
        while let Some(first) =
            self.outstanding.front().filter(|first| first.end <= acknowledgment.cumulative)
        {
            if !first.arrived {
                self.transmissions.push(now, Transmission::Acknowledged { packet: first.packet });
            }
            self.outstanding.pop_front();
        }
        for (left, right) in acknowledgment.sack_ranges() {
            let from = self.outstanding.partition_point(|known| known.sequence < left);
            for known in self.outstanding.range_mut(from..).take_while(|known| known.end <= right) {
                if !std::mem::replace(&mut known.arrived, true) {
                    self.transmissions.push(now, Transmission::Acknowledged { packet: known.packet });
                }
            }
        }
    }

    /// Returns the recorded events.
    pub(crate) fn finish(self) -> Transmissions {
        self.transmissions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_model::{Bytes, Duration, Ecn, PathHeader};
    use airpath_transport::SackBlocks;

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    fn segment(sequence: u64, retransmission: bool) -> Segment {
        Segment {
            sequence,
            payload: 100,
            retransmission,
            ecn: Ecn::NotEct,
            cwr: false,
            timestamp: None,
            timestamp_echo: None,
            path: PathHeader::None,
        }
    }

    fn acknowledgment(cumulative: u64, sacked: &[(u64, u64)]) -> Acknowledgment {
        let mut sack = SackBlocks::new();
        for &(left, right) in sacked {
            sack.push(cumulative, left, right);
        }
        Acknowledgment {
            repeated: false,
            cumulative,
            sack,
            receive_window: Bytes::MAX,
            timestamp: None,
            timestamp_echo: None,
            ece: false,
            marked: 0,
            path: PathHeader::None,
        }
    }

    #[test]
    fn a_retransmission_is_a_new_packet_and_the_earlier_one_is_lost() {
        let mut log = SegmentLog::new(Transmissions::new(3, 1));
        for k in 0..4 {
            log.on_sent(at(k), &segment(100 * k, false));
        }
        log.on_acknowledgment(at(10), (0, 52), &acknowledgment(100, &[(200, 400)]));
        log.on_acknowledgment(at(11), (0, 52), &acknowledgment(100, &[(200, 400)]));
        log.on_sent(at(12), &segment(100, true));
        log.on_acknowledgment(at(20), (0, 40), &acknowledgment(400, &[]));
        let Transmissions { flow, entries, full_at, .. } = log.finish();
        assert_eq!((flow, full_at), (3, None));
        let expected = [
            (at(10), Transmission::Acknowledgment { bytes: Some(52) }),
            (at(10), Transmission::Acknowledged { packet: 0 }),
            (at(10), Transmission::Acknowledged { packet: 2 }),
            (at(10), Transmission::Acknowledged { packet: 3 }),
            (at(11), Transmission::Acknowledgment { bytes: Some(52) }),
            (at(12), Transmission::Lost { packet: 1 }),
            (at(12), Transmission::Sent { packet: 4, bytes: 100, again: true }),
            (at(20), Transmission::Acknowledgment { bytes: Some(40) }),
            (at(20), Transmission::Acknowledged { packet: 4 }),
        ];
        assert_eq!(entries[4..], expected);
    }
}
