//! Counters of one link.

use airpath_model::{Backlog, DropReason, Timestamp};

use super::rows::{LinkRow, LinkSeriesRow};

/// Counters of one link over one interval.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkCounters {
    arrived_bytes: u64,
    arrived_packets: u64,
    departed_bytes: u64,
    departed_packets: u64,
    dropped_packets: [u64; DropReason::NAMES.len()],
    dropped_bytes: [u64; DropReason::NAMES.len()],
    marked_packets: u64,
    retransmitted_packets: u64,
    retransmitted_bytes: u64,
    queue_max: Backlog,
    /// Integrals of the queue over time: byte-nanoseconds and packet-nanoseconds.
    queue_bytes_time: u128,
    queue_packets_time: u128,
    offered_bits: f64,
}

/// The size of a buffer, in the unit of its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffer {
    Bytes(u64),
    Packets(u64),
    Unlimited,
}

/// The record of one link.
#[derive(Debug)]
pub(crate) struct LinkMeter {
    pub(crate) recorded: bool,
    buffer: Buffer,
    limited: bool,
    interval: LinkCounters,
    interval_began: Timestamp,
    measured: LinkCounters,
    measured_from: Timestamp,
    backlog: Backlog,
    backlog_since: Timestamp,
    dropped_packets_total: u64,
}

impl LinkMeter {
    pub(crate) fn new(recorded: bool, buffer: Buffer) -> Self {
        Self {
            recorded,
            buffer,
            limited: true,
            interval: LinkCounters::default(),
            interval_began: Timestamp::ZERO,
            measured: LinkCounters::default(),
            measured_from: Timestamp::ZERO,
            backlog: Backlog::default(),
            backlog_since: Timestamp::ZERO,
            dropped_packets_total: 0,
        }
    }

    pub(crate) fn on_arrival(&mut self, bytes: u64) {
        self.interval.arrived_bytes += bytes;
        self.interval.arrived_packets += 1;
    }

    pub(crate) fn on_departure(&mut self, bytes: u64) {
        self.interval.departed_bytes += bytes;
        self.interval.departed_packets += 1;
    }

    pub(crate) fn on_drop(&mut self, bytes: u64, reason: DropReason) {
        self.interval.dropped_packets[reason.index()] += 1;
        self.interval.dropped_bytes[reason.index()] += bytes;
        self.dropped_packets_total += 1;
    }

    pub(crate) fn on_retransmission(&mut self, bytes: u64) {
        self.interval.retransmitted_packets += 1;
        self.interval.retransmitted_bytes += bytes;
    }

    pub(crate) fn on_mark(&mut self) {
        self.interval.marked_packets += 1;
    }

    /// Records the current backlog of the queue.
    pub(crate) fn on_backlog(&mut self, now: Timestamp, backlog: Backlog) {
        if backlog == self.backlog {
            return;
        }
        self.integrate(now);
        self.backlog = backlog;
        let max = &mut self.interval.queue_max;
        max.bytes = max.bytes.max(backlog.bytes);
        max.packets = max.packets.max(backlog.packets);
    }

    /// Ends an interval at `now` and returns its row.
    pub(crate) fn end_interval(
        &mut self,
        link: u32,
        now: Timestamp,
        offered_bits: Option<f64>,
    ) -> LinkSeriesRow {
        self.integrate(now);
        self.limited = offered_bits.is_some();
        self.interval.offered_bits = offered_bits.unwrap_or(f64::NAN);
        let span = now.since(self.interval_began).as_nanos();
        let mean_bytes = mean(self.interval.queue_bytes_time, span);
        let mean_packets = mean(self.interval.queue_packets_time, span);
        let row = LinkSeriesRow {
            link: i64::from(link),
            time_s: now.as_secs_f64(),
            offered_bytes: self.interval.offered_bits / 8.0,
            arrived_bytes: self.interval.arrived_bytes as i64,
            departed_bytes: self.interval.departed_bytes as i64,
            dropped_packets: self.interval.dropped_packets.iter().sum::<u64>() as i64,
            marked_packets: self.interval.marked_packets as i64,
            retransmitted_packets: self.interval.retransmitted_packets as i64,
            queue_mean_bytes: mean_bytes,
            queue_mean_packets: mean_packets,
            queue_max_bytes: self.interval.queue_max.bytes.get() as i64,
            queue_bytes: self.backlog.bytes.get() as i64,
            queue_packets: self.backlog.packets as i64,
            queue_share: match self.buffer {
                Buffer::Bytes(limit) => mean_bytes / limit as f64,
                Buffer::Packets(limit) => mean_packets / limit as f64,
                Buffer::Unlimited => f64::NAN,
            },
        };
        self.measured.add(&self.interval);
        self.interval = LinkCounters { queue_max: self.backlog, ..LinkCounters::default() };
        self.interval_began = now;
        row
    }

    /// Discards all measurements up to `now`: the warm-up is over. Call right after [`Self::end_interval`].
    pub(crate) fn begin_measuring(&mut self, now: Timestamp) {
        self.measured = LinkCounters { queue_max: self.backlog, ..LinkCounters::default() };
        self.measured_from = now;
    }

    /// Returns the summary at the end of the run. Call right after [`Self::end_interval`].
    pub(crate) fn summary(&self, link: u32, now: Timestamp, delay_s: f64) -> LinkRow {
        let measured = &self.measured;
        let span = now.since(self.measured_from).as_nanos();
        let [overflow, early, corruption] = measured.dropped_packets.map(|count| count as i64);
        let [overflow_bytes, early_bytes, corruption_bytes] =
            measured.dropped_bytes.map(|bytes| bytes as i64);
        LinkRow {
            link: i64::from(link),
            offered_bytes: if self.limited { measured.offered_bits / 8.0 } else { f64::NAN },
            arrived_bytes: measured.arrived_bytes as i64,
            departed_bytes: measured.departed_bytes as i64,
            arrived_packets: measured.arrived_packets as i64,
            departed_packets: measured.departed_packets as i64,
            dropped_packets_overflow: overflow,
            dropped_packets_early: early,
            dropped_packets_corruption: corruption,
            dropped_bytes_overflow: overflow_bytes,
            dropped_bytes_early: early_bytes,
            dropped_bytes_corruption: corruption_bytes,
            marked_packets: measured.marked_packets as i64,
            retransmitted_packets: measured.retransmitted_packets as i64,
            retransmitted_bytes: measured.retransmitted_bytes as i64,
            queue_mean_bytes: mean(measured.queue_bytes_time, span),
            queue_mean_packets: mean(measured.queue_packets_time, span),
            queue_max_bytes: measured.queue_max.bytes.get() as i64,
            queue_max_packets: measured.queue_max.packets as i64,
            dropped_packets_total: self.dropped_packets_total as i64,
            delay_s,
        }
    }

    fn integrate(&mut self, now: Timestamp) {
        let span = u128::from(now.since(self.backlog_since).as_nanos());
        self.interval.queue_bytes_time += u128::from(self.backlog.bytes.get()) * span;
        self.interval.queue_packets_time += u128::from(self.backlog.packets) * span;
        self.backlog_since = now;
    }
}

impl LinkCounters {
    fn add(&mut self, other: &Self) {
        self.arrived_bytes += other.arrived_bytes;
        self.arrived_packets += other.arrived_packets;
        self.departed_bytes += other.departed_bytes;
        self.departed_packets += other.departed_packets;
        for reason in 0..DropReason::NAMES.len() {
            self.dropped_packets[reason] += other.dropped_packets[reason];
            self.dropped_bytes[reason] += other.dropped_bytes[reason];
        }
        self.marked_packets += other.marked_packets;
        self.retransmitted_packets += other.retransmitted_packets;
        self.retransmitted_bytes += other.retransmitted_bytes;
        self.queue_max.bytes = self.queue_max.bytes.max(other.queue_max.bytes);
        self.queue_max.packets = self.queue_max.packets.max(other.queue_max.packets);
        self.queue_bytes_time += other.queue_bytes_time;
        self.queue_packets_time += other.queue_packets_time;
        self.offered_bits += other.offered_bits;
    }
}

/// Returns a time integral divided by its duration; zero if that is zero.
fn mean(integral: u128, span_ns: u64) -> f64 {
    if span_ns == 0 { 0.0 } else { integral as f64 / span_ns as f64 }
}
