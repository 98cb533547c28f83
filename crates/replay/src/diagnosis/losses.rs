//! Loss episodes: which of them occurred at a queue, and which retransmissions were unnecessary.

use std::collections::VecDeque;

use super::history::History;

/// Maximum number of episodes. Beyond it every second one is discarded, which preserves shares and
/// deviations.
const MOST_EPISODES: usize = 4096;
/// Maximum number of retransmissions that wait for their acknowledgment, or afterwards for a duplicate
/// report.
const MOST_RETRANSMISSIONS: usize = 1024;
/// An acknowledgment that follows a retransmission sooner than this share of the smallest round trip belongs
/// to the original.
const TOO_EARLY: f64 = 0.75;

/// Losses of segments that were sent within one and a half round trips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Episode {
    /// The first transmission time of the first lost segment.
    pub(super) at_ns: u64,
    /// The bytes in flight at that time.
    pub(super) flight: f32,
    /// The median round trip of segments sent within half a base round trip of it, in seconds.
    pub(super) round_trip: Option<f32>,
    /// The number of lost segments.
    pub(super) segments: u32,
}

/// A retransmitted segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retransmission {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) at_ns: u64,
    /// The previous transmission time.
    pub(super) before_ns: u64,
    pub(super) segments: u32,
}

/// Summary of the losses of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossSummary {
    /// Lost segments, excluding those with an unnecessary retransmission.
    pub segments: u64,
    /// Loss episodes: losses of segments that were sent within one and a half round trips.
    pub episodes: u64,
    /// Segments retransmitted although the original arrived.
    pub needless: u64,
    /// Median queueing delay of segments sent around the start of episodes, in seconds.
    pub queue_s: Option<f64>,
    /// Share of the episodes with a long queue; `None` without episodes, or without packets of the receiver.
    pub at_queue: Option<f64>,
    /// Coefficient of variation of the bytes in flight at the start of episodes; `None` below four episodes.
    pub flight_variation: Option<f64>,
    /// Whether a queue caused the losses, according to both criteria; `None` if `at_queue` is.
    pub by_queue: Option<bool>,
}

/// Collects the losses of a flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    pub(super) episodes: Vec<Episode>,
    pub(super) segments: u64,
    pub(super) count: u64,
    pub(super) needless: u64,
    /// The latest first transmission time of a lost segment.
    newest_ns: Option<u64>,
    /// The number of episodes whose nearby round trips have been recorded.
    noted: usize,
    waiting: VecDeque<Retransmission>,
    acknowledged: VecDeque<Retransmission>,
}

impl Losses {
    /// Records a retransmission.
    pub(super) fn on_retransmitted(&mut self, loss: Retransmission, base_ns: u64, flights: &History) {
        self.on_loss(loss.before_ns, loss.segments, base_ns, flights);
        if self.waiting.len() == MOST_RETRANSMISSIONS {
            self.waiting.pop_front();
        }
        self.waiting.push_back(loss);
    }

    /// Records the loss of segments that had been sent at `before_ns`.
    pub(super) fn on_loss(&mut self, before_ns: u64, segments: u32, base_ns: u64, flights: &History) {
        self.segments += u64::from(segments);
        let apart = base_ns + base_ns / 2;
        let begins = self.newest_ns.is_none_or(|newest| before_ns > newest.saturating_add(apart));
        self.newest_ns = self.newest_ns.max(Some(before_ns));
        if begins {
            if self.episodes.len() == MOST_EPISODES {
                let mut number = 0_usize;
                self.episodes.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.noted = self.episodes.len();
            }
            self.count += 1;
            let flight = flights.at(before_ns).unwrap_or(0.0);
            self.episodes.push(Episode { at_ns: before_ns, flight, round_trip: None, segments });
        } else if let Some(episode) = self.episodes.last_mut() {
            episode.segments = episode.segments.saturating_add(segments);
        }
    }

    /// Records the round trips near episodes as soon as a segment sent after them, at `sent_ns`, is
    /// acknowledged.
    pub(super) fn note_round_trips(&mut self, sent_ns: u64, base_ns: u64, round_trips: &History) {
        while let Some(episode) = self.episodes.get_mut(self.noted) {
            let to = episode.at_ns.saturating_add(base_ns / 2);
            if to > sent_ns {
                break;
            }
            episode.round_trip = round_trips.median(episode.at_ns.saturating_sub(base_ns / 2), to);
            self.noted += 1;
        }
    }

    /// Processes an acknowledgment up to `cumulative`; `echoed_ns` is the transmission time of the segment
    /// whose timestamp is echoed. Calls `needless` for retransmissions whose original arrived (RFC 3522).
    pub(super) fn on_acknowledged(
        &mut self,
        now_ns: u64,
        cumulative: u64,
        base_ns: u64,
        echoed_ns: Option<u64>,
        mut needless: impl FnMut(&Retransmission),
    ) {
        let mut first = true;
        let mut older_stamp = false;
        while let Some(loss) = self.waiting.front().copied().filter(|loss| loss.end <= cumulative) {
            self.waiting.pop_front();
            // The receiver echoes the timestamp of the segment that filled the first hole: it is no evidence
            // about the others.
            if std::mem::take(&mut first) {
                older_stamp = echoed_ns.is_some_and(|echoed| echoed < loss.at_ns);
            }
            let early = (now_ns.saturating_sub(loss.at_ns) as f64) < TOO_EARLY * base_ns as f64;
            if early || older_stamp {
                self.cancel(&loss);
                needless(&loss);
                continue;
            }
            if self.acknowledged.len() == MOST_RETRANSMISSIONS {
                self.acknowledged.pop_front();
            }
            self.acknowledged.push_back(loss);
        }
    }

    /// Processes a report that [`left`, `right`) arrived twice (RFC 2883).
    pub(super) fn on_duplicate(&mut self, left: u64, right: u64, mut needless: impl FnMut(&Retransmission)) {
        let twice = |loss: &Retransmission| loss.start >= left && loss.end <= right;
        let Some(place) = self.acknowledged.iter().position(twice) else { return };
        if let Some(loss) = self.acknowledged.remove(place) {
            self.cancel(&loss);
            needless(&loss);
        }
    }

    fn cancel(&mut self, loss: &Retransmission) {
        self.segments = self.segments.saturating_sub(u64::from(loss.segments));
        self.needless += u64::from(loss.segments);
        let after = self.episodes.partition_point(|episode| episode.at_ns <= loss.before_ns);
        let Some(episode) = after.checked_sub(1).and_then(|place| self.episodes.get_mut(place)) else {
            return;
        };
        episode.segments = episode.segments.saturating_sub(loss.segments);
        if episode.segments == 0 {
            self.episodes.remove(after - 1);
            self.noted -= usize::from(after <= self.noted);
            self.count = self.count.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(start: u64, at_ns: u64, before_ns: u64) -> Retransmission {
        Retransmission { start, end: start + 10, at_ns, before_ns, segments: 1 }
    }

    #[test]
    fn losses_a_round_trip_apart_are_episodes() {
        let (mut losses, mut flights) = (Losses::default(), History::default());
        (50..350).for_each(|k| flights.push(2 * k, 2.0 * k as f32, 0));
        for (start, before) in [(0, 100), (10, 140), (20, 280), (30, 600)] {
            losses.on_retransmitted(loss(start, before + 150, before), 100, &flights);
        }
        let found: Vec<_> = losses.episodes.iter().map(|one| (one.at_ns, one.flight, one.segments)).collect();
        assert_eq!(found, [(100, 100.0, 3), (600, 600.0, 1)]);
        losses.note_round_trips(160, 100, &flights);
        assert_eq!((losses.episodes[0].round_trip, losses.episodes[1].round_trip), (Some(126.0), None));
    }

    #[test]
    fn spurious_retransmissions_are_not_losses() {
        let (mut losses, flights) = (Losses::default(), History::default());
        let mut needless = Vec::new();
        for (start, at, before) in
            [(0, 1_000, 500), (10, 2_000, 1_500), (20, 3_000, 2_500), (30, 4_000, 3_500)]
        {
            losses.on_retransmitted(loss(start, at, before), 100, &flights);
        }
        losses.on_acknowledged(1_050, 10, 100, None, |one| needless.push(one.start)); // too early
        losses.on_acknowledged(2_100, 20, 100, Some(1_500), |one| needless.push(one.start)); // the older timestamp
        losses.on_acknowledged(4_200, 40, 100, Some(3_000), |one| needless.push(one.start));
        assert_eq!(needless, [0, 10]);
        losses.on_duplicate(20, 30, |one| needless.push(one.start));
        losses.on_duplicate(20, 30, |one| needless.push(one.start));
        assert_eq!(needless, [0, 10, 20]);
        assert_eq!((losses.segments, losses.needless, losses.count), (1, 3, 1));
        assert_eq!(losses.episodes[0].at_ns, 3_500);
    }
}
