//! Reconstruction of a sender's state from its observed segments and acknowledgments.

use alloc::boxed::Box;

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, Control, Controller, NullProbe, Pacing, Phase, Probe, RttEstimate,
    Timestamp,
};

use super::{Sender, State};
use crate::acknowledgment::Acknowledgment;
use crate::config::{ConfigError, SenderConfig};

/// Follows an external sender, as shown by a capture. It uses the same ledger, loss detection, round-trip and
/// delivery-rate samples as [`Sender`], so its events are those that the sender's controller would have
/// received.
///
/// Quantities that cannot be observed are inferred. A retransmission of the first outstanding segment after
/// the timer (RFC 6298, as configured) has expired indicates a timeout. An earlier retransmission of a
/// segment not yet marked as lost starts a recovery that the sender detected in some other way. Whether the
/// application limited the sender is unknown, so samples are never marked as application-limited.
///
/// Contract of the driver: times never decrease.
#[derive(Debug)]
pub struct Follower {
    sender: Sender<Recorder>,
}

/// The classification of an observed segment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ObservedSegment {
    /// Payload observed for the first time.
    pub new: Bytes,
    /// Payload before it that was never observed: lost upstream of the observer, reordered, or not captured.
    pub skipped: Bytes,
    /// Payload that was skipped before and is observed now.
    pub filled: Bytes,
    /// Retransmitted payload that was observed before and is not yet known to have arrived.
    pub again: Bytes,
    /// Payload that is retransmitted although it had arrived.
    pub needless: Bytes,
    /// The previous transmission time of the first segment of `filled` or `again`, as far as observed.
    pub before: Option<Timestamp>,
    /// The congestion event revealed by the segment, if any.
    pub congestion: Option<CongestionEvent>,
}

/// The events of an observed acknowledgment, in the order in which the sender received them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedAck {
    /// The congestion event revealed by the acknowledgment, if any.
    pub congestion: Option<CongestionEvent>,
    /// The acknowledgment itself; `None` if it acknowledges data that cannot have been sent.
    pub ack: Option<AckEvent>,
    /// Acknowledged payload that was never observed.
    pub unseen: Bytes,
}

impl Follower {
    /// Creates a follower of a connection from its beginning, or from any time at which nothing is outstanding.
    ///
    /// # Errors
    /// Returns an error if the configuration is invalid.
    pub fn new(config: SenderConfig) -> Result<Self, ConfigError> {
        Ok(Self { sender: Sender::with(config, Box::new(Recorder::default()))? })
    }

    /// Records that the sender sends a segment of `payload` bytes at `sequence`.
    pub fn on_sent(&mut self, now: Timestamp, sequence: u64, payload: u32) -> ObservedSegment {
        let mut observed = ObservedSegment::default();
        let end = sequence.saturating_add(u64::from(payload));
        let (acknowledged, next) = (self.sender.ledger.acknowledged(), self.sender.ledger.next());
        observed.needless = Bytes::new(acknowledged.min(end).saturating_sub(sequence));
        let start = sequence.max(acknowledged);
        if start < end.min(next) {
            self.sent_again(now, start, end.min(next), &mut observed);
        }
        if end > next {
            if start > next {
                observed.skipped = Bytes::new(start - next);
                self.sent_unseen(now, start);
            }
            observed.new = Bytes::new(end - start.max(next));
            self.sent_new(now, end);
        }
        observed.congestion = self.sender.controller.congestion.take();
        observed
    }

    /// Records that an acknowledgment reaches the sender.
    pub fn on_ack(&mut self, now: Timestamp, ack: &Acknowledgment) -> ObservedAck {
        if ack.cumulative > self.sender.ledger.next() {
            self.sent_unseen(now, ack.cumulative);
        }
        let unseen = Bytes::new(self.sender.ledger.unseen_below(ack.cumulative));
        self.sender.on_ack(now, ack, &mut NullProbe);
        let recorder = &mut self.sender.controller;
        ObservedAck { congestion: recorder.congestion.take(), ack: recorder.ack.take(), unseen }
    }

    /// Returns the cumulative acknowledgment.
    pub fn acknowledged(&self) -> u64 {
        self.sender.ledger.acknowledged()
    }

    /// Returns the highest offset observed or acknowledged.
    pub fn next(&self) -> u64 {
        self.sender.ledger.next()
    }

    /// Returns the number of segments kept, which bounds the memory of a follower.
    pub fn segments(&self) -> usize {
        self.sender.ledger.segments()
    }

    /// Returns the payload estimated to be in flight.
    pub fn in_flight(&self) -> Bytes {
        self.sender.in_flight()
    }

    /// Returns the round-trip time estimates.
    pub fn rtt(&self) -> RttEstimate {
        self.sender.rtt()
    }

    /// Returns the payload known to have reached the receiver.
    pub fn delivered(&self) -> Bytes {
        self.sender.delivered()
    }

    /// Returns the counts of inferred timeouts and recoveries.
    pub fn counters(&self) -> super::Counters {
        self.sender.counters()
    }

    fn sent_new(&mut self, now: Timestamp, end: u64) {
        let sender = &mut self.sender;
        let mss = sender.config.mss.get().max(1);
        while sender.ledger.next() < end {
            let payload = (end - sender.ledger.next()).min(mss) as u32; // a segment's, at most 2^32 - 1
            let in_flight = sender.in_flight() + Bytes::new(u64::from(payload));
            let state = sender.rate.on_sent(now, sender.ledger.is_empty(), in_flight);
            sender.ledger.on_sent(now, payload, state);
            sender.counters.sent_packets += 1;
        }
        sender.timer.start(now);
        sender.largest_flight = sender.largest_flight.max(sender.in_flight());
    }

    /// Records that all data up to `end` must have been sent.
    fn sent_unseen(&mut self, now: Timestamp, end: u64) {
        let sender = &mut self.sender;
        let missing = end - sender.ledger.next();
        let mss = sender.config.mss.get().max(1);
        let most = if missing > MOST_UNSEEN_SEGMENTS * mss { u64::from(u32::MAX) } else { mss };
        while sender.ledger.next() < end {
            let payload = (end - sender.ledger.next()).min(most) as u32; // bounded by `most`
            let in_flight = sender.in_flight() + Bytes::new(u64::from(payload));
            let state = sender.rate.on_sent(now, sender.ledger.is_empty(), in_flight);
            sender.ledger.on_unseen(now, payload, state);
        }
        sender.timer.start(now);
    }

    fn sent_again(&mut self, now: Timestamp, start: u64, end: u64, observed: &mut ObservedSegment) {
        self.explain(now, start);
        let sender = &mut self.sender;
        let in_flight = sender.in_flight() + Bytes::new(end.saturating_sub(start));
        let state = sender.rate.on_sent(now, false, in_flight);
        let mut offset = start;
        while let Some(&record) = sender.ledger.first_above(offset).filter(|record| record.sequence < end) {
            let record_end = record.sequence + u64::from(record.payload);
            let amount = Bytes::new(record_end.min(end) - record.sequence.max(start));
            if record.sacked {
                observed.needless += amount;
            } else {
                observed.before.get_or_insert(record.sent_at);
                if record.unseen {
                    observed.filled += amount;
                } else {
                    observed.again += amount;
                    sender.counters.retransmitted_packets += 1;
                }
                sender.ledger.on_retransmitted(now, record.sequence, state);
            }
            offset = record_end;
        }
    }

    /// Infers the cause of a retransmission at `start`: a known loss, an expired timer, or a loss detected in
    /// some other way.
    fn explain(&mut self, now: Timestamp, start: u64) {
        let sender = &mut self.sender;
        let Some(&first) = sender.ledger.first() else { return };
        if start >= first.sequence + u64::from(first.payload) || first.unseen {
            return;
        }
        if sender.timer.deadline() <= now {
            sender.on_timeout(now, &mut NullProbe);
        } else if !first.lost {
            let lost = sender.ledger.mark_first_lost();
            sender.rate.on_lost(lost);
            if sender.state == State::Open {
                sender.enter_recovery(now, lost, &mut NullProbe);
            }
        }
    }
}

/// A larger hole, in segments, is kept as one piece.
const MOST_UNSEEN_SEGMENTS: u64 = 1024;

/// Records the last events until they are taken.
#[derive(Debug, Default)]
struct Recorder {
    congestion: Option<CongestionEvent>,
    ack: Option<AckEvent>,
}

impl Controller for Recorder {
    fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn Probe) {
        self.ack = Some(*event);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        self.congestion = Some(*event);
    }

    fn control(&self) -> Control {
        Control { window: Bytes::MAX, pacing: Pacing::Off, quantum: Bytes::MAX }
    }

    fn phase(&self) -> Phase {
        Phase::CongestionAvoidance
    }
}

#[cfg(test)]
mod tests;
