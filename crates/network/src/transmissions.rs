//! Packet events as observed by the sender of a flow, from which flow logs (qlog) are written.

use airpath_model::Timestamp;

/// A packet event as observed by the sender. Each transmission is a separate packet, numbered from 0 within
/// the flow, as in QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// The packet is sent.
    Sent {
        /// Its number.
        packet: u64,
        /// The bytes counted by congestion control: payload for the simulator's transport, the whole packet
        /// for QUIC.
        bytes: u32,
        /// Whether an earlier packet had the same data. Which of them arrives, and so the round-trip time, is
        /// then ambiguous.
        again: bool,
    },
    /// An acknowledgment arrives; the packets that it newly acknowledges follow.
    Acknowledgment {
        /// Its size on the wire, if known.
        bytes: Option<u32>,
    },
    /// The preceding acknowledgment reports that the packet has arrived.
    Acknowledged {
        /// Its number.
        packet: u64,
    },
    /// The packet is considered lost.
    Lost {
        /// Its number.
        packet: u64,
    },
}

/// The events of the packets of one flow, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transmissions {
    /// The flow.
    pub flow: u32,
    /// Events with their times.
    pub entries: Vec<(Timestamp, Transmission)>,
    /// The time from which entries are omitted because there are too many.
    pub full_at: Option<Timestamp>,
    most: usize,
}

/// The maximum number of flows per run whose transmissions are recorded.
const MOST_LOGGED_FLOWS: usize = 64;

/// The maximum number of entries per run, 24 bytes each.
const MOST_ENTRIES: usize = 1 << 21;

impl Transmissions {
    /// Creates the record of one flow; `flows` is the number of flows that share the limit of entries.
    pub fn new(flow: u32, flows: usize) -> Self {
        Self { flow, entries: Vec::new(), full_at: None, most: MOST_ENTRIES / flows.max(1) }
    }

    /// Records an entry if there is room.
    pub fn push(&mut self, now: Timestamp, what: Transmission) {
        if self.full_at.is_some() {
            return;
        }
        // An acknowledgment is recorded with everything it reports, or not at all.
        if self.entries.len() >= self.most && !matches!(what, Transmission::Acknowledged { .. }) {
            self.full_at = Some(now);
            return;
        }
        self.entries.push((now, what));
    }
}

/// Returns for each flow whether its transmissions are recorded, at most 64. `flows` contains whether each
/// flow uses connections, and its number within its source. The first flow of each source comes first, then
/// the second, …
pub fn logged_flows(flows: impl Iterator<Item = (bool, u32)>) -> Vec<bool> {
    let flows: Vec<(bool, u32)> = flows.collect();
    let mut candidates: Vec<usize> = (0..flows.len()).filter(|&flow| flows[flow].0).collect();
    candidates.sort_by_key(|&flow| (flows[flow].1, flow));
    let mut chosen = vec![false; flows.len()];
    candidates.iter().take(MOST_LOGGED_FLOWS).for_each(|&flow| chosen[flow] = true);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_nanos(ms * 1_000_000)
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
    fn the_log_is_bounded_and_acknowledgments_are_complete() {
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
