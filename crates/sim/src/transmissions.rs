//! What the sender of a flow sees of each of its packets: what logs of flows (qlog) are written from.

use std::collections::VecDeque;

use airpath_model::Timestamp;
use airpath_transport::{Acknowledgment, Segment};

use crate::packet::{Body, Packet};

/// Something that happened to a packet, as its sender sees it. Each transmission is a packet of its own, numbered from 0
/// within the flow, as in QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// It leaves.
    Sent {
        /// Its number.
        packet: u64,
        /// What congestion control counts of it: payload over the simulator's transport, the whole packet over QUIC.
        bytes: u32,
        /// An earlier packet had the same data: which of them arrives, and so its round trip, is not known.
        again: bool,
    },
    /// An acknowledgment arrives; what it acknowledges for the first time follows.
    Acknowledgment {
        /// Its size on the wire, where it is known.
        bytes: Option<u32>,
    },
    /// The acknowledgment before tells that it has arrived.
    Acknowledged {
        /// Its number.
        packet: u64,
    },
    /// It is taken for lost.
    Lost {
        /// Its number.
        packet: u64,
    },
}

/// What happened to the packets of one flow, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transmissions {
    /// The flow.
    pub flow: u32,
    /// What happened, and when.
    pub entries: Vec<(Timestamp, Transmission)>,
    /// When entries began to be left out, since there were too many.
    pub full_at: Option<Timestamp>,
    most: usize,
}

/// The most flows of a run of which transmissions are kept.
const MOST_LOGGED_FLOWS: usize = 64;

/// The most entries that are kept in a run, 24 bytes each.
const MOST_ENTRIES: usize = 1 << 21;

impl Transmissions {
    /// Of a flow that shares what is kept with others, so many flows in all.
    pub fn new(flow: u32, flows: usize) -> Self {
        Self { flow, entries: Vec::new(), full_at: None, most: MOST_ENTRIES / flows.max(1) }
    }

    /// Keeps an entry, if there is room.
    pub fn push(&mut self, now: Timestamp, what: Transmission) {
        if self.full_at.is_some() {
            return;
        }
        // An acknowledgment is kept with all that it tells, or not at all.
        if self.entries.len() >= self.most && !matches!(what, Transmission::Acknowledged { .. }) {
            self.full_at = Some(now);
            return;
        }
        self.entries.push((now, what));
    }
}

/// Of which flows transmissions are kept, at most 64: of each flow it is told whether it sends over connections, and its number
/// within its source. The first of each source come first, then the second, …
pub fn logged_flows(flows: impl Iterator<Item = (bool, u32)>) -> Vec<bool> {
    let flows: Vec<(bool, u32)> = flows.collect();
    let mut candidates: Vec<usize> = (0..flows.len()).filter(|&flow| flows[flow].0).collect();
    candidates.sort_by_key(|&flow| (flows[flow].1, flow));
    let mut chosen = vec![false; flows.len()];
    candidates.iter().take(MOST_LOGGED_FLOWS).for_each(|&flow| chosen[flow] = true);
    chosen
}

/// Turns segments into packets that are never sent again: the last transmission of a segment is taken to be the one that
/// arrived, and the one before to be lost as soon as there is another.
#[derive(Debug)]
pub(crate) struct SegmentLog {
    transmissions: Transmissions,
    next: u64,
    connection: u32,
    /// Segments that are not acknowledged cumulatively, in the order of the stream.
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

    /// A packet leaves.
    #[cold]
    pub(crate) fn on_packet(&mut self, now: Timestamp, packet: &Packet) {
        let Body::Segment { segment, .. } = &packet.body else { return };
        if std::mem::replace(&mut self.connection, packet.connection) != packet.connection {
            // The connection before is gone, and what it had in flight with it.
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

    /// An acknowledgment of a connection arrives, of so many bytes on the wire.
    #[cold]
    pub(crate) fn on_acknowledgment(
        &mut self,
        now: Timestamp,
        (connection, bytes): (u32, u32),
        acknowledgment: &Acknowledgment,
    ) {
        if connection != self.connection {
            return; // a leftover of a connection that is gone
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

    /// What happened.
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
    fn a_segment_that_is_sent_again_is_another_packet_and_the_earlier_one_is_lost() {
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

    #[test]
    fn the_first_flows_of_each_source_are_logged() {
        // Two long-lived flows, datagrams, and a hundred arrivals.
        let flows = [(true, 0), (true, 0), (false, 0)].into_iter().chain((0..100).map(|k| (true, k)));
        let chosen = logged_flows(flows);
        assert_eq!(chosen[..4], [true, true, false, true]);
        assert_eq!(chosen.iter().filter(|chosen| **chosen).count(), 64);
        assert!(chosen[3..65].iter().all(|chosen| *chosen) && chosen[65..].iter().all(|chosen| !chosen));
    }

    #[test]
    fn what_is_kept_is_bounded_and_acknowledgments_are_whole() {
        let mut kept = Transmissions { most: 3, ..Transmissions::default() };
        kept.push(at(0), Transmission::Sent { packet: 0, bytes: 1, again: false });
        kept.push(at(0), Transmission::Sent { packet: 1, bytes: 1, again: false });
        kept.push(at(1), Transmission::Acknowledgment { bytes: None });
        kept.push(at(1), Transmission::Acknowledged { packet: 0 });
        kept.push(at(1), Transmission::Acknowledged { packet: 1 });
        kept.push(at(2), Transmission::Sent { packet: 2, bytes: 1, again: false });
        kept.push(at(3), Transmission::Acknowledgment { bytes: None });
        kept.push(at(3), Transmission::Acknowledged { packet: 2 });
        assert_eq!((kept.entries.len(), kept.full_at), (5, Some(at(2))));
    }
}
