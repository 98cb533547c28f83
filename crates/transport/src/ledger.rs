//! The data that was sent but not yet cumulatively acknowledged, and its state.
//!
//! This is the scoreboard of RFC 6675, kept incrementally: the cost of an acknowledgment is proportional to
//! the data that it newly acknowledges or reveals as lost, not to the window. A segment that was marked as
//! lost stays lost, even if blocks of short segments merge and the RFC's test, evaluated again, would fail.

use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Reverse;

use airpath_model::{Bytes, Duration, Timestamp};

use crate::delivery_rate::SendState;
use crate::ranges::Ranges;

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) sequence: u64,
    pub(crate) payload: u32,
    /// Whether it was selectively acknowledged.
    pub(crate) sacked: bool,
    /// Whether the original is marked as lost.
    pub(crate) lost: bool,
    /// Whether a retransmission is in flight.
    pub(crate) retransmitting: bool,
    /// Whether it was retransmitted at least once; its samples are then ambiguous (Karn).
    pub(crate) retransmitted: bool,
    /// Whether its transmission was inferred but not observed ([`Ledger::on_unseen`]).
    pub(crate) unseen: bool,
    /// The number of its latest transmission, counted over all transmissions of the connection.
    pub(crate) order: u64,
    /// The time of its latest transmission.
    pub(crate) sent_at: Timestamp,
    pub(crate) state: SendState,
}

/// The segments between the cumulative acknowledgment and the highest byte sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    records: VecDeque<Record>,
    /// The selectively acknowledged ranges.
    sacked: Ranges,
    /// SND.UNA.
    acknowledged: u64,
    /// SND.NXT.
    next: u64,
    /// All unacknowledged data below this offset has been marked as lost.
    lost_below: u64,
    /// Pipe: the bytes estimated to be in flight.
    pipe: u64,
    /// The sequences of lost segments that wait for retransmission, lowest first; may contain stale entries.
    to_retransmit: BinaryHeap<Reverse<u64>>,
    /// The retransmissions in the order in which they were sent: (order, sequence); may contain stale
    /// entries.
    retransmissions: VecDeque<(u64, u64)>,
    transmissions: u64,
    /// The highest order among the transmissions known to be delivered.
    newest_delivered: u64,
    /// The blocks of the last acknowledgment that had any: they contain nothing new.
    known_blocks: [(u64, u64); 3],
}

impl Record {
    /// Returns the contribution to RFC 6675's `SetPipe`: an original that is not lost, and a retransmission
    /// in flight.
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

    /// Returns the bytes sent but not cumulatively acknowledged.
    pub(crate) const fn outstanding(&self) -> Bytes {
        Bytes::new(self.next - self.acknowledged)
    }

    /// Returns RFC 6675's pipe.
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

    /// Records the transmission of new data.
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

    /// Records an unobserved transmission of new data before `now`. Its time is unknown, so it yields no
    /// samples.
    pub(crate) fn on_unseen(&mut self, now: Timestamp, payload: u32, state: SendState) {
        self.on_sent(now, payload, state);
        if let Some(record) = self.records.back_mut() {
            record.retransmitted = true;
            record.unseen = true;
        }
    }

    /// Returns the number of segments in the ledger.
    pub(crate) fn segments(&self) -> usize {
        self.records.len()
    }

    /// Returns the payload below `offset` whose transmission was not observed.
    pub(crate) fn unseen_below(&self, offset: u64) -> u64 {
        let below = self.records.iter().take_while(|record| record.sequence < offset);
        below
            .filter(|record| record.unseen)
            .map(|record| u64::from(record.payload).min(offset - record.sequence))
            .sum()
    }

    /// Returns the first outstanding segment.
    pub(crate) fn first(&self) -> Option<&Record> {
        self.records.front()
    }

    /// Returns the first segment that ends above `offset`.
    pub(crate) fn first_above(&self, offset: u64) -> Option<&Record> {
        let index =
            self.records.partition_point(|record| record.sequence + u64::from(record.payload) <= offset);
        self.records.get(index)
    }

    /// Records a retransmission of the segment at `sequence`.
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

    /// Processes a cumulative acknowledgment. Calls `delivered` for each segment not known to have arrived
    /// before.
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

    /// Processes the SACK blocks of an acknowledgment, skipping those known from the previous one. Calls
    /// `delivered` for each segment not known to have arrived before.
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
            // A block that ends above the highest byte sent may cover more once more is sent.
            self.known_blocks[known] = if block.1 <= self.next { block } else { (0, 0) };
        }
    }

    /// Marks [`left`, `right`) as selectively acknowledged. Calls `delivered` for each segment not known to
    /// have arrived before.
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

    /// Marks segments as lost by RFC 6675's `IsLost`: segments below more than two segments' worth, or three
    /// separate blocks, of selectively acknowledged data. Returns the bytes newly lost.
    pub(crate) fn mark_lost_by_sack(&mut self, mss: Bytes) -> Bytes {
        self.mark_lost_below(self.lost_by_sack(mss))
    }

    /// Returns the offset below which `IsLost` holds; 0 if there is none.
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

    /// Marks all unacknowledged data below `frontier` as lost. Returns the bytes newly lost.
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

    /// Records that the transmission with number `order` was delivered.
    pub(crate) fn note_delivered(&mut self, order: u64) {
        self.newest_delivered = self.newest_delivered.max(order);
    }

    /// Marks retransmissions as lost if a transmission at least three later has been delivered. Searches the
    /// whole window. Returns the bytes newly lost.
    ///
    /// If a rescue retransmission is lost, all originals below it are lost as well, because they were sent
    /// earlier.
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

    /// Marks transmissions as lost that were sent before the transmission `newest` and more than `patience`
    /// ago (RFC 8985, section 6.2, step 5). Returns the bytes newly lost, and the time at which the next
    /// transmission before `newest` becomes overdue.
    ///
    /// Originals are sent in sequence order, so the search ends at the first one that is not overdue.
    /// Retransmissions have an order of their own. After a spurious timeout the first segment may have been
    /// retransmitted; the others then wait for it.
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

    /// Returns the segment at `sequence` if its transmission `order` is a retransmission in flight.
    fn retransmission(&self, order: u64, sequence: u64) -> Option<Record> {
        let record = *self.find(sequence)?;
        (record.order == order && record.retransmitting && !record.sacked).then_some(record)
    }

    /// Marks a retransmission as lost. Returns the bytes newly lost.
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

    /// Marks all unacknowledged data as lost after a timeout, including retransmissions. Returns the bytes
    /// newly lost.
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

    /// Undoes a spurious timeout: nothing is lost, and no retransmission is pending.
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

    /// Marks the first segment as lost (third duplicate acknowledgment, or partial acknowledgment without
    /// SACK).
    pub(crate) fn mark_first_lost(&mut self) -> Bytes {
        match self.records.front() {
            Some(first) => self.mark_lost_below(first.sequence + 1),
            None => Bytes::ZERO,
        }
    }

    /// Returns the lost segment to retransmit next, if any.
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

    /// Returns the highest unacknowledged segment, for a rescue retransmission.
    pub(crate) fn highest_unacknowledged(&self) -> Option<(u64, u32)> {
        self.records
            .iter()
            .rev()
            .find(|record| !record.sacked)
            .map(|record| (record.sequence, record.payload))
    }

    /// Returns whether the first outstanding segment is lost, retransmitted or not. If it is not, no segment
    /// is.
    pub(crate) fn first_is_lost(&self) -> bool {
        self.records.front().is_some_and(|record| record.lost)
    }

    /// Returns whether any data is selectively acknowledged.
    pub(crate) fn has_sacked(&self) -> bool {
        !self.sacked.is_empty()
    }

    /// Returns whether a retransmission of the segment at `sequence` is in flight.
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

/// Returns the index of the first segment that begins at `sequence` or above.
///
/// Nearly all segments have the length of the first, so the index is usually computed without a search. A
/// binary search in a large window touches about fifteen segments, none of which is in the processor's cache.
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
