//! Data that was sent and not yet cumulatively acknowledged, and its state.
//!
//! The scoreboard of RFC 6675, kept incrementally: an acknowledgment costs what it newly acknowledges or reveals as
//! lost, never the window. What was found lost stays so, also when blocks of short segments grow together and the
//! text's test, made anew, would fail again.

use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Reverse;

use airpath_model::{Bytes, Duration, Timestamp};

use crate::delivery_rate::SendState;
use crate::ranges::Ranges;

/// One segment that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) sequence: u64,
    pub(crate) payload: u32,
    /// Selectively acknowledged.
    pub(crate) sacked: bool,
    /// The original is believed lost.
    pub(crate) lost: bool,
    /// A retransmission of it is believed to be on its way.
    pub(crate) retransmitting: bool,
    /// It was retransmitted at least once: samples from it are ambiguous (Karn).
    pub(crate) retransmitted: bool,
    /// Nobody saw it leave: only that it must have ([`Ledger::on_unseen`]).
    pub(crate) unseen: bool,
    /// Number of its latest transmission, counted over all transmissions of the connection.
    pub(crate) order: u64,
    /// When it was sent last.
    pub(crate) sent_at: Timestamp,
    pub(crate) state: SendState,
}

/// The segments between the cumulative acknowledgment and the highest byte sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    records: VecDeque<Record>,
    /// What was selectively acknowledged.
    sacked: Ranges,
    /// SND.UNA.
    acknowledged: u64,
    /// SND.NXT.
    next: u64,
    /// Everything below it that is not acknowledged has been marked as lost.
    lost_below: u64,
    /// Pipe: bytes believed to be on their way.
    pipe: u64,
    /// Sequences of lost segments that wait to be sent again, lowest first; may hold stale entries.
    to_retransmit: BinaryHeap<Reverse<u64>>,
    /// Retransmissions in the order in which they were sent: (order, sequence); may hold stale entries.
    retransmissions: VecDeque<(u64, u64)>,
    transmissions: u64,
    /// Highest order among transmissions known to have been delivered.
    newest_delivered: u64,
    /// Blocks of the last acknowledgments that had any: nothing in them is new.
    known_blocks: [(u64, u64); 3],
}

impl Record {
    /// `SetPipe` of RFC 6675: an original that is not lost counts, and so does a retransmission under way.
    fn pipe(&self) -> u64 {
        let copies = if self.sacked { 0 } else { u64::from(!self.lost) + u64::from(self.retransmitting) };
        copies * u64::from(self.payload)
    }
}

impl Ledger {
    pub(crate) const fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// Sent and not cumulatively acknowledged.
    pub(crate) const fn outstanding(&self) -> Bytes {
        Bytes::new(self.next - self.acknowledged)
    }

    /// RFC 6675's pipe.
    pub(crate) const fn pipe(&self) -> Bytes {
        Bytes::new(self.pipe)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.iter()
    }

    /// New data leaves.
    pub(crate) fn on_sent(&mut self, now: Timestamp, payload: u32, state: SendState) {
        self.transmissions += 1;
        let record = Record {
            sequence: self.next,
            payload,
            sacked: false,
            lost: false,
            retransmitting: false,
            retransmitted: false,
            unseen: false,
            order: self.transmissions,
            sent_at: now,
            state,
        };
        self.next += u64::from(payload);
        self.pipe += record.pipe();
        self.records.push_back(record);
    }

    /// New data left before `now`, unobserved: when is not known, so it gives no samples.
    pub(crate) fn on_unseen(&mut self, now: Timestamp, payload: u32, state: SendState) {
        self.on_sent(now, payload, state);
        if let Some(record) = self.records.back_mut() {
            record.retransmitted = true;
            record.unseen = true;
        }
    }

    /// How many segments are kept.
    pub(crate) fn segments(&self) -> usize {
        self.records.len()
    }

    /// Payload below `offset` that was not seen to leave.
    pub(crate) fn unseen_below(&self, offset: u64) -> u64 {
        let below = self.records.iter().take_while(|record| record.sequence < offset);
        below
            .filter(|record| record.unseen)
            .map(|record| u64::from(record.payload).min(offset - record.sequence))
            .sum()
    }

    /// The first outstanding segment.
    pub(crate) fn first(&self) -> Option<&Record> {
        self.records.front()
    }

    /// The first segment that ends above `offset`.
    pub(crate) fn first_above(&self, offset: u64) -> Option<&Record> {
        let index =
            self.records.partition_point(|record| record.sequence + u64::from(record.payload) <= offset);
        self.records.get(index)
    }

    /// The segment at `sequence` leaves again.
    pub(crate) fn on_retransmitted(&mut self, now: Timestamp, sequence: u64, state: SendState) {
        self.transmissions += 1;
        let order = self.transmissions;
        self.update(sequence, |record| {
            record.retransmitting = true;
            record.retransmitted = true;
            record.unseen = false;
            record.order = order;
            record.sent_at = now;
            record.state = state;
        });
        self.retransmissions.push_back((order, sequence));
    }

    /// Everything below `cumulative` has arrived. Calls `delivered` for segments that were not known to have.
    pub(crate) fn acknowledge(&mut self, cumulative: u64, mut delivered: impl FnMut(&Record)) {
        while let Some(record) = self.records.front() {
            if record.sequence + u64::from(record.payload) > cumulative {
                break;
            }
            self.pipe -= record.pipe();
            if !record.sacked {
                delivered(record);
            }
            self.records.pop_front();
        }
        self.acknowledged = self.acknowledged.max(cumulative);
        self.lost_below = self.lost_below.max(cumulative);
        self.sacked.remove_below(cumulative);
        // The list must not grow without bound even if lost retransmissions are not searched for.
        while self.retransmissions.front().is_some_and(|&(_, sequence)| sequence < self.acknowledged) {
            self.retransmissions.pop_front();
        }
    }

    /// These blocks stand in an acknowledgment. Most of them stood in the one before, and are passed over. Calls `delivered` for
    /// segments that were not known to have arrived.
    pub(crate) fn sack_blocks(
        &mut self,
        blocks: impl Iterator<Item = (u64, u64)>,
        mut delivered: impl FnMut(&Record),
    ) {
        let before = self.known_blocks;
        for (block, known) in blocks.zip(0..) {
            if !before.contains(&block) {
                self.sack(block.0, block.1, &mut delivered);
            }
            // What reaches above all that was sent may say more when more was sent.
            self.known_blocks[known] = if block.1 <= self.next { block } else { (0, 0) };
        }
    }

    /// [`left`, `right`) has arrived out of order. Calls `delivered` for segments that were not known to have.
    fn sack(&mut self, left: u64, right: u64, mut delivered: impl FnMut(&Record)) {
        let (left, right) = (left.max(self.acknowledged), right.min(self.next));
        if left >= right {
            return;
        }
        let Self { records, sacked, pipe, .. } = self;
        sacked.insert(left, right, |from, to| {
            let first = index_of(records, from);
            for record in records.range_mut(first..) {
                if record.sequence + u64::from(record.payload) > to {
                    break;
                }
                if !record.sacked {
                    *pipe -= record.pipe();
                    record.sacked = true;
                    delivered(record);
                }
            }
        });
    }

    /// Marks what RFC 6675's `IsLost` finds lost: segments below data of which more than two segments' worth, or
    /// three separate blocks, were selectively acknowledged. Gives the bytes newly lost.
    pub(crate) fn mark_lost_by_sack(&mut self, mss: Bytes) -> Bytes {
        self.mark_lost_below(self.lost_by_sack(mss))
    }

    /// Below which offset that finds segments lost; 0 if none.
    pub(crate) fn lost_by_sack(&self, mss: Bytes) -> u64 {
        let mut above = 0;
        for (blocks, (left, right)) in self.sacked.iter().rev().enumerate() {
            above += right - left;
            if blocks + 1 >= DUPLICATE_THRESHOLD || above > (DUPLICATE_THRESHOLD as u64 - 1) * mss.get() {
                return left;
            }
        }
        0
    }

    /// Marks everything below `frontier` that has not been acknowledged as lost. Gives the bytes newly lost.
    pub(crate) fn mark_lost_below(&mut self, frontier: u64) -> Bytes {
        if frontier <= self.lost_below {
            return Bytes::ZERO;
        }
        let first = index_of(&self.records, self.lost_below);
        let mut lost = 0;
        for record in self.records.range_mut(first..) {
            if record.sequence >= frontier {
                break;
            }
            if !record.sacked && !record.lost {
                self.pipe -= record.pipe();
                record.lost = true;
                self.pipe += record.pipe();
                lost += u64::from(record.payload);
                if !record.retransmitting {
                    self.to_retransmit.push(Reverse(record.sequence));
                }
            }
        }
        self.lost_below = frontier;
        Bytes::new(lost)
    }

    /// The transmission with this number is known to have been delivered.
    pub(crate) fn note_delivered(&mut self, order: u64) {
        self.newest_delivered = self.newest_delivered.max(order);
    }

    /// Finds retransmissions that were lost again: one of the next transmissions, at least three later, has been
    /// delivered. Searches the whole window. Gives the bytes newly lost.
    ///
    /// A lost rescue retransmission says that all originals below, which left before it, are lost as well.
    pub(crate) fn mark_lost_retransmissions(&mut self) -> Bytes {
        let mut lost = Bytes::ZERO;
        while let Some(&(order, sequence)) = self.retransmissions.front() {
            if order + DUPLICATE_THRESHOLD as u64 > self.newest_delivered {
                break;
            }
            self.retransmissions.pop_front();
            if let Some(record) = self.retransmission(order, sequence) {
                lost += self.lose_retransmission(&record);
            }
        }
        lost
    }

    /// Marks as lost what left before the transmission `newest` and more than `patience` ago (RFC 8985, section 6.2, step 5). Gives the
    /// bytes newly lost, and when the next of those before `newest` will be late.
    ///
    /// Originals leave in the order of their sequence, so that the first that is not late ends the search; what is sent
    /// again has an order of its own. After a timeout that was false the first may be one that was sent again: the others wait for
    /// it.
    pub(crate) fn mark_lost_by_time(
        &mut self,
        newest: u64,
        now: Timestamp,
        patience: Duration,
    ) -> (Bytes, Timestamp) {
        let mut due = Timestamp::NEVER;
        let mut frontier = self.next;
        for record in self.records.range(index_of(&self.records, self.lost_below)..) {
            if record.sacked || record.lost {
                continue;
            }
            let late_at = record.sent_at + patience;
            if record.order >= newest || late_at > now {
                frontier = record.sequence;
                if record.order < newest {
                    due = late_at;
                }
                break;
            }
        }
        let mut lost = self.mark_lost_below(frontier);
        while let Some(&(order, sequence)) = self.retransmissions.front() {
            if order >= newest {
                break;
            }
            if let Some(record) = self.retransmission(order, sequence) {
                let late_at = record.sent_at + patience;
                if late_at > now {
                    due = due.min(late_at);
                    break;
                }
                lost += self.lose_retransmission(&record);
            }
            self.retransmissions.pop_front();
        }
        (lost, due)
    }

    /// The segment at `sequence`, if transmission `order` of it is believed to be on its way.
    fn retransmission(&self, order: u64, sequence: u64) -> Option<Record> {
        let record = *self.find(sequence)?;
        (record.order == order && record.retransmitting && !record.sacked).then_some(record)
    }

    /// A retransmission was lost again. Gives the bytes newly lost.
    fn lose_retransmission(&mut self, record: &Record) -> Bytes {
        let lost = if record.lost {
            Bytes::new(u64::from(record.payload))
        } else {
            self.mark_lost_below(record.sequence + u64::from(record.payload))
        };
        self.update(record.sequence, |record| record.retransmitting = false);
        self.to_retransmit.push(Reverse(record.sequence));
        lost
    }

    /// The timer expired: everything not acknowledged is lost, retransmissions as well. Gives the bytes newly lost.
    pub(crate) fn mark_all_lost(&mut self) -> Bytes {
        let mut lost = 0;
        self.pipe = 0;
        self.to_retransmit.clear();
        self.retransmissions.clear();
        for record in self.records.iter_mut().filter(|record| !record.sacked) {
            if !record.lost || record.retransmitting {
                lost += u64::from(record.payload);
            }
            record.lost = true;
            record.retransmitting = false;
            self.to_retransmit.push(Reverse(record.sequence));
        }
        self.lost_below = self.next;
        Bytes::new(lost)
    }

    /// The timeout was false: nothing is lost, and what waited to be sent again need not be.
    pub(crate) fn unmark_all_lost(&mut self) {
        self.pipe = 0;
        self.to_retransmit.clear();
        self.retransmissions.clear();
        for record in &mut self.records {
            record.lost = false;
            record.retransmitting = false;
            self.pipe += record.pipe();
        }
        self.lost_below = self.acknowledged;
    }

    /// Marks the first segment as lost (third duplicate acknowledgment or partial acknowledgment without SACK).
    pub(crate) fn mark_first_lost(&mut self) -> Bytes {
        match self.records.front() {
            Some(first) => self.mark_lost_below(first.sequence + 1),
            None => Bytes::ZERO,
        }
    }

    /// The lost segment that should be sent again first, if one waits.
    #[inline]
    pub(crate) fn next_lost(&mut self) -> Option<(u64, u32)> {
        if self.to_retransmit.is_empty() { None } else { self.find_next_lost() }
    }

    fn find_next_lost(&mut self) -> Option<(u64, u32)> {
        while let Some(&Reverse(sequence)) = self.to_retransmit.peek() {
            match self.find(sequence) {
                Some(record) if record.lost && !record.sacked && !record.retransmitting => {
                    return Some((sequence, record.payload));
                }
                _ => {
                    self.to_retransmit.pop();
                }
            }
        }
        None
    }

    /// The highest segment that was not acknowledged at all, for a rescue retransmission.
    pub(crate) fn highest_unacknowledged(&self) -> Option<(u64, u32)> {
        self.records
            .iter()
            .rev()
            .find(|record| !record.sacked)
            .map(|record| (record.sequence, record.payload))
    }

    /// Whether the first outstanding segment is believed lost, sent again or not: then and only then is any.
    pub(crate) fn first_is_lost(&self) -> bool {
        self.records.front().is_some_and(|record| record.lost)
    }

    /// Whether anything was selectively acknowledged.
    pub(crate) fn has_sacked(&self) -> bool {
        !self.sacked.is_empty()
    }

    /// Whether a retransmission of the segment at `sequence` is believed to be on its way.
    pub(crate) fn is_retransmitting(&self, sequence: u64) -> bool {
        self.find(sequence).is_some_and(|record| record.retransmitting)
    }

    fn find(&self, sequence: u64) -> Option<&Record> {
        self.records.get(index_of(&self.records, sequence)).filter(|record| record.sequence == sequence)
    }

    fn update(&mut self, sequence: u64, change: impl FnOnce(&mut Record)) {
        let index = index_of(&self.records, sequence);
        if let Some(record) = self.records.get_mut(index).filter(|record| record.sequence == sequence) {
            self.pipe -= record.pipe();
            change(record);
            self.pipe += record.pipe();
        }
    }
}

/// The index of the first segment that begins at `sequence` or above.
///
/// Nearly all segments are as long as the first, so that it is found without searching: a search looks at some fifteen
/// segments all over a large window, none of which is in the processor's cache.
fn index_of(records: &VecDeque<Record>, sequence: u64) -> usize {
    let guess = records.front().map_or(0, |first| {
        (sequence.saturating_sub(first.sequence) / u64::from(first.payload.max(1))) as usize
    });
    match records.get(guess) {
        Some(record) if record.sequence == sequence => guess,
        _ => records.partition_point(|record| record.sequence < sequence),
    }
}

/// `DupThresh` of RFC 6675.
pub(crate) const DUPLICATE_THRESHOLD: usize = 3;

#[cfg(test)]
mod tests;
