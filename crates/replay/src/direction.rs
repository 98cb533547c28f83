//! The data of one direction of a flow, and its acknowledgments.

use std::collections::VecDeque;
use std::net::SocketAddr;

use airpath_model::{Bytes, Duration, PathHeader, Timestamp};
use airpath_trace::capture::{SegmentFlags, TcpPacket};
use airpath_transport::{
    Acknowledgment, EcnMode, Follower, ObservedSegment, Recovery, SackBlocks, SenderConfig,
};

use crate::diagnosis::{Acked, Diagnosis, Observations, Sent};
use crate::ecn::{EcnFeedback, EcnUse};
use crate::estimators::NamedEstimator;
use crate::loss_runs::LossRuns;
use crate::measured::{AckObserver, Measured};
use crate::sequence::Unwrapped;
use crate::stamps::Transmissions;

/// Properties that stay constant while a direction is replayed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) source: SocketAddr,
    pub(crate) destination: SocketAddr,
    pub(crate) mss: Bytes,
    /// The timestamp tick of the endpoint that sends the data, and of the other.
    pub(crate) sender_tick: Option<Duration>,
    pub(crate) receiver_tick: Option<Duration>,
    pub(crate) sack: bool,
    /// The shift of the receiver's window.
    pub(crate) window_shift: u8,
    /// Whether the handshake was captured, so that the shift is the negotiated one.
    pub(crate) window_known: bool,
    /// Whether the receiver opened the connection.
    pub(crate) receiver_opened: bool,
}

/// Tracks the data of one direction. Acknowledgments are delayed by the sender's response time, so that they
/// meet the data as they do at the sender, for any vantage point.
#[derive(Debug)]
pub(crate) struct Direction {
    facts: Facts,
    sequence: Option<Unwrapped>,
    receiver_ticks: Option<Unwrapped>,
    follower: Option<Follower>,
    pub(crate) measured: Option<Measured>,
    observations: Option<Observations>,
    stamps: Transmissions,
    held: VecDeque<Held>,
    now: Timestamp,
    end: Option<u64>,
    last_window: Option<u16>,
    hole: Option<Hole>,
    newest_stamp: Option<u32>,
    runs: LossRuns,
    feedback: EcnFeedback,
    pub(crate) counts: Counts,
}

/// Counters of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) data_packets: u64,
    pub(crate) bytes: u64,
    pub(crate) retransmitted: u64,
    pub(crate) needless: u64,
    pub(crate) reordered: u64,
    pub(crate) uncaptured: u64,
    pub(crate) ect0: u64,
    pub(crate) ect1: u64,
    pub(crate) ce: u64,
    pub(crate) window_max: u64,
    pub(crate) restarts: u64,
    pub(crate) receiver_stamps: u64,
    pub(crate) recoveries: u64,
    pub(crate) timeouts: u64,
    pub(crate) first_data: Option<Timestamp>,
}

/// An acknowledgment in flight to the sender.
#[derive(Clone, Copy, Debug)]
struct Held {
    due: Timestamp,
    /// The excess of the sender's current response time over the shortest: a part of the round trip.
    more: Duration,
    packet: TcpPacket,
}

/// Data that was not yet captured when later data was.
#[derive(Clone, Copy, Debug)]
struct Hole {
    since: Timestamp,
}

/// Data farther from the data seen than any window reaches (RFC 7323, section 2.2) does not belong to this
/// connection.
const FARTHEST: i64 = 1 << 30;
/// Maximum number of segments without an acknowledgment: beyond it, the capture contains only one direction.
pub(crate) const MOST_SEGMENTS: usize = 1 << 17;
/// Maximum number of acknowledgments in flight; further ones count as arrived.
const MOST_HELD: usize = 1 << 14;
/// Timestamps with a coarser tick cannot determine the transmission times of single segments.
const FINE_TICK: Duration = Duration::from_millis(4);
/// Receiver timestamps with a coarser tick cannot separate the delays of the two directions.
const FINEST_DELAYS: Duration = Duration::from_millis(10);
/// The longest delay of reordered segments if no round trip is known.
const REORDERING: Duration = Duration::from_millis(3);

impl Direction {
    pub(crate) fn new(facts: Facts) -> Self {
        Self {
            facts,
            sequence: None,
            receiver_ticks: None,
            follower: None,
            measured: None,
            observations: None,
            stamps: Transmissions::default(),
            held: VecDeque::new(),
            now: Timestamp::ZERO,
            end: None,
            last_window: None,
            hole: None,
            newest_stamp: None,
            runs: LossRuns::default(),
            feedback: EcnFeedback::default(),
            counts: Counts::default(),
        }
    }

    /// Returns the number of segments kept.
    pub(crate) fn segments(&self) -> usize {
        self.follower.as_ref().map_or(0, Follower::segments)
    }

    /// Processes a packet with data, or with the start or end of the stream.
    pub(crate) fn on_data(&mut self, now: Timestamp, packet: &TcpPacket, estimators: &[NamedEstimator]) {
        self.now = self.now.max(now);
        let now = self.now;
        if packet.flags.syn {
            self.sequence.get_or_insert(Unwrapped::starting_at(packet.sequence.wrapping_add(1), 0));
            return;
        }
        if packet.payload == 0 && !packet.flags.fin {
            return;
        }
        let offset =
            self.sequence.get_or_insert(Unwrapped::starting_at(packet.sequence, 0)).offset(packet.sequence);
        let known = self.follower.as_ref().map_or(0, Follower::next);
        if offset > known as i64 + FARTHEST {
            self.restart();
            return;
        }
        if packet.flags.fin {
            self.end = u64::try_from(offset + i64::from(packet.payload)).ok();
        }
        if packet.payload == 0 {
            return;
        }
        self.counts.data_packets += 1;
        match packet.ecn {
            0b01 => self.counts.ect1 += 1,
            0b10 => self.counts.ect0 += 1,
            0b11 => self.counts.ce += 1,
            _ => {}
        }
        self.counts.first_data.get_or_insert(now);
        let late = self.arrives_late(packet, offset);
        // Data before the start of the replay was sent before it.
        let before = u32::try_from((-offset).max(0)).unwrap_or(u32::MAX);
        let start = offset.max(0) as u64; // not negative
        let payload = packet.payload.saturating_sub(before);
        if before > 0 && payload == 0 {
            self.counts.needless += 1;
            self.counts.retransmitted += 1;
            return;
        }
        self.follow(now, estimators);
        let Some(follower) = &mut self.follower else { return };
        let observed = follower.on_sent(now, start, payload);
        if let (Some(measured), Some(event)) = (&mut self.measured, &observed.congestion) {
            measured.on_congestion(event);
        }
        self.count(now, start, payload, &observed, late);
        if follower_is_full(self.follower.as_ref()) {
            self.restart();
        }
    }

    /// Processes an acknowledgment of this direction's data; the sender will take `answer` to respond,
    /// currently `more` longer.
    pub(crate) fn on_acknowledgment(
        &mut self,
        now: Timestamp,
        packet: &TcpPacket,
        answer: Duration,
        more: Duration,
    ) {
        self.held.push_back(Held { due: now + answer, more, packet: *packet });
    }

    /// Delivers the acknowledgments that are due by `now` to the sender.
    pub(crate) fn arrive(&mut self, now: Timestamp, ecn: &mut EcnUse, observer: &mut dyn AckObserver) {
        while let Some(held) = self.held.front().copied() {
            if held.due > now && self.held.len() <= MOST_HELD {
                break;
            }
            self.held.pop_front();
            self.acknowledge(held, ecn, observer);
        }
    }

    fn acknowledge(&mut self, held: Held, ecn: &mut EcnUse, observer: &mut dyn AckObserver) {
        self.now = self.now.max(held.due);
        let (now, packet) = (self.now, &held.packet);
        let ticks = packet.timestamps.map(|(value, _)| {
            self.receiver_ticks.get_or_insert(Unwrapped::starting_at(value, value.into())).offset(value)
        });
        self.counts.receiver_stamps += u64::from(ticks.is_some());
        let shift = if packet.flags.syn { 0 } else { self.facts.window_shift };
        let window = u64::from(packet.window) << shift;
        self.counts.window_max = self.counts.window_max.max(window);
        let offset = self
            .sequence
            .get_or_insert(Unwrapped::starting_at(packet.acknowledgment, 0))
            .offset(packet.acknowledgment);
        if packet.flags.syn || packet.flags.rst {
            return;
        }
        if let Some(follower) = &self.follower
            && (offset < 0 || offset > follower.next() as i64 + FARTHEST)
        {
            return;
        }
        let is_bare = packet.payload == 0 && packet.sack.iter().all(Option::is_none);
        let is_first = self.facts.receiver_opened && offset == 0 && self.counts.restarts == 0;
        let ends_handshake = is_first && is_bare;
        let marked = self.feedback.on_ack(ecn, packet.flags, offset, ends_handshake);
        let moved = self.last_window.replace(packet.window) != Some(packet.window);
        let Some(follower) = &mut self.follower else { return };
        if offset < 0 {
            return;
        }
        // The end of the stream occupies one sequence number.
        let offset = offset as u64; // not negative
        let cumulative = if self.end.is_some_and(|end| offset == end + 1) { offset - 1 } else { offset };
        let sack = sack_blocks(packet, cumulative, self.sequence);
        let duplicate = packet.payload == 0 && !packet.flags.fin && !moved;
        let is_known = self.facts.window_known || packet.window < u16::MAX;
        let window_end = is_known.then_some(cumulative + window);
        if cumulative == follower.acknowledged() && sack.is_empty() && !duplicate {
            if let Some(observations) = &mut self.observations {
                observations.on_window(now, cumulative, window_end, follower.next());
            }
            return; // data of the other direction, or a new window (RFC 5681, section 2)
        }
        let fine = self.facts.sender_tick.is_some_and(|tick| tick <= FINE_TICK);
        let echo =
            packet.timestamps.and_then(|(_, echo)| self.stamps.sent_at(echo, follower.acknowledged() as i64));
        let ack = Acknowledgment {
            repeated: false,
            cumulative,
            sack,
            receive_window: Bytes::new(window),
            timestamp: ticks.zip(self.facts.receiver_tick).map(|(ticks, tick)| receiver_time(ticks, tick)),
            timestamp_echo: echo.filter(|_| fine),
            ece: marked,
            marked: 0, // its report of marks is represented as an echo
            path: PathHeader::None,
        };
        let next = follower.next();
        let told = follower.on_ack(now, &ack);
        self.counts.uncaptured += told.unseen.get();
        let Some(measured) = &mut self.measured else { return };
        if let Some(event) = &told.congestion {
            measured.on_congestion(event);
        }
        if let Some(event) = &told.ack {
            let round_trip = event.rtt_sample.map(|sample| sample + held.more);
            if let Some(observations) = &mut self.observations {
                let fine = self.facts.receiver_tick.filter(|tick| *tick <= FINEST_DELAYS);
                observations.on_ack(&Acked {
                    event,
                    round_trip,
                    cumulative,
                    window_end,
                    next,
                    echoed: ack.timestamp_echo,
                    receiver_s: ticks.zip(fine).map(|(ticks, tick)| ticks as f64 * tick.as_secs_f64()),
                });
                if let Some((left, right)) = duplicate_report(packet, cumulative, self.sequence) {
                    observations.on_duplicate(left, right);
                }
            }
            let estimates = measured.on_ack(event, round_trip);
            observer.on_ack(self.facts.source, self.facts.destination, event, estimates);
        }
    }

    /// Creates the trackers when the first data packet is captured.
    fn follow(&mut self, now: Timestamp, estimators: &[NamedEstimator]) {
        if self.measured.is_none() {
            self.measured = Some(Measured::new(now, estimators, self.facts.receiver_tick));
            self.observations = Some(Observations::new(now, self.facts.mss.get()));
        }
        if self.follower.is_none() {
            let config = SenderConfig {
                mss: self.facts.mss,
                recovery: if self.facts.sack { Recovery::Prr } else { Recovery::Newreno },
                ecn: EcnMode::Classic,
                ..SenderConfig::default()
            };
            self.follower = Follower::new(config).ok();
        }
    }

    /// Returns whether timestamps show that the packet was sent before others already captured (RFC 7323).
    fn arrives_late(&mut self, packet: &TcpPacket, offset: i64) -> Option<bool> {
        let (value, _) = packet.timestamps?;
        self.stamps.on_packet(self.now, value, offset);
        let newest = self.newest_stamp.get_or_insert(value);
        let ahead = value.wrapping_sub(*newest) as i32;
        *newest = if ahead > 0 { value } else { *newest };
        // Equal timestamps are inconclusive.
        (ahead != 0).then_some(ahead < 0)
    }

    fn count(
        &mut self,
        now: Timestamp,
        start: u64,
        payload: u32,
        observed: &ObservedSegment,
        late: Option<bool>,
    ) {
        self.counts.bytes += observed.new.get() + observed.filled.get();
        if !observed.skipped.is_zero() {
            self.hole = Some(Hole { since: now });
        }
        let mut lost = observed.again;
        if !observed.filled.is_zero() {
            let waited = self.hole.map_or(Duration::ZERO, |hole| now.since(hole.since));
            let minimum = self.follower.as_ref().map_or(Duration::ZERO, |follower| follower.rtt().minimum);
            let bound = if minimum.is_zero() { REORDERING } else { (minimum / 2).max(REORDERING) };
            if late.unwrap_or(waited < bound) {
                self.counts.reordered += 1;
            } else {
                lost += observed.filled;
            }
        }
        if let (Some(observations), Some(follower)) = (&mut self.observations, &self.follower) {
            observations.on_sent(&Sent {
                now,
                start,
                bytes: payload,
                lost_since: observed.before.filter(|_| !lost.is_zero()),
                in_flight: follower.in_flight().get(),
            });
        }
        let mss = self.facts.mss.get().max(1);
        if !lost.is_zero() {
            let segments = lost.get().div_ceil(mss);
            self.counts.retransmitted += segments;
            self.runs.on_loss(start, Bytes::new(lost.get().min(u64::from(payload))), self.facts.mss);
            if let Some(measured) = &mut self.measured {
                let bin = measured.series.bin(now);
                measured.series.retransmitted[bin] += segments;
            }
        }
        // One byte below the acknowledged data is a keep-alive probe (RFC 9293, section 3.8.4).
        if observed.needless.get() > 1 {
            let segments = observed.needless.get().div_ceil(mss);
            self.counts.needless += segments;
            self.counts.retransmitted += segments;
        }
    }

    /// Drops the data in flight and restarts tracking at the next packet.
    pub(crate) fn restart(&mut self) {
        self.counts.restarts += 1;
        self.take_counters();
        self.follower = None;
        self.sequence = None;
        self.feedback.restart();
        self.end = None;
        self.held.clear();
    }

    fn take_counters(&mut self) {
        if let Some(follower) = &self.follower {
            self.counts.recoveries += follower.counters().recoveries;
            self.counts.timeouts += follower.counters().timeouts;
        }
    }

    /// Ends the replay.
    pub(crate) fn finish(mut self) -> DirectionResult {
        self.take_counters();
        let tick = self.facts.receiver_tick.map(Duration::as_secs_f64);
        DirectionResult {
            loss_runs: self.runs.finish(self.facts.mss),
            facts: self.facts,
            counts: self.counts,
            feedback: self.feedback,
            measured: self.measured,
            diagnosis: self.observations.map(|observations| observations.finish(tick)),
        }
    }
}

/// The results of one direction; without measurements if it carried no data.
pub(crate) struct DirectionResult {
    pub(crate) facts: Facts,
    pub(crate) counts: Counts,
    pub(crate) feedback: EcnFeedback,
    pub(crate) measured: Option<Measured>,
    pub(crate) diagnosis: Option<Diagnosis>,
    pub(crate) loss_runs: Vec<(u32, u64)>,
}

fn follower_is_full(follower: Option<&Follower>) -> bool {
    follower.is_some_and(|follower| follower.segments() > MOST_SEGMENTS)
}

/// Returns the selectively acknowledged ranges above `cumulative`. Ranges below it report duplicates (RFC
/// 2883).
fn sack_blocks(packet: &TcpPacket, cumulative: u64, sequence: Option<Unwrapped>) -> SackBlocks {
    let mut blocks = SackBlocks::new();
    let Some(mut sequence) = sequence else { return blocks };
    for (left, right) in packet.sack.iter().copied().flatten() {
        let (left, right) = (sequence.offset(left), sequence.offset(right));
        if let (Ok(left), Ok(right)) = (u64::try_from(left), u64::try_from(right))
            && left < right
            && left > cumulative
        {
            blocks.push(cumulative, left, right);
        }
    }
    blocks
}

/// Returns the bytes that the receiver reports as received twice: a first block below the cumulative
/// acknowledgment or inside the second block (RFC 2883).
fn duplicate_report(packet: &TcpPacket, cumulative: u64, sequence: Option<Unwrapped>) -> Option<(u64, u64)> {
    let (mut sequence, first) = (sequence?, packet.sack[0]?);
    let mut range = |(left, right): (u32, u32)| {
        Some((u64::try_from(sequence.offset(left)).ok()?, u64::try_from(sequence.offset(right)).ok()?))
    };
    let (left, right) = range(first)?;
    let inside = |outer: (u64, u64)| outer.0 <= left && right <= outer.1;
    let repeats = right <= cumulative || packet.sack[1].and_then(range).is_some_and(inside);
    repeats.then_some((left, right))
}

/// Returns the receiver's clock. Its zero is far before the first value, so that earlier values do not become
/// negative, and a whole number of ticks away, so that a coarser clock ticks with its own timestamps.
fn receiver_time(ticks: i64, tick: Duration) -> Timestamp {
    let ticks = u64::try_from(ticks.saturating_add(2_200_000_000)).unwrap_or(0);
    Timestamp::ZERO + tick * ticks
}

/// Returns whether a packet acknowledges data.
pub(crate) fn acknowledges(flags: SegmentFlags) -> bool {
    flags.ack && !flags.rst
}
