//! Counters of one flow.

use airpath_model::{Duration, Timestamp};

use super::estimate::EstimateMeters;
use super::histogram::{Bin, Histogram};
use super::quantities::LastValues;
use super::rows::{DelayKind, DelayRow};

/// Counters of one flow over one interval.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowCounters {
    pub(crate) sent_bytes: u64,
    pub(crate) arrived_bytes: u64,
    pub(crate) departed_bytes: u64,
    pub(crate) goodput_bytes: u64,
    pub(crate) lost_packets: u64,
    pub(crate) received_packets: u64,
    pub(crate) delay_sum: Duration,
    pub(crate) delay_max: Duration,
    pub(crate) queueing_sum: Duration,
}

/// The record of one flow, without the state of its sender.
#[derive(Debug)]
pub(crate) struct FlowMeter {
    /// The link at whose exit its throughput is measured.
    pub(crate) measured_at: u32,
    /// The index of the delay distribution of its source.
    pub(crate) distribution: u32,
    pub(crate) interval: FlowCounters,
    pub(crate) measured: FlowCounters,
    /// [`Timestamp::NEVER`] before the first departure.
    pub(crate) first_departure: Timestamp,
    pub(crate) last_departure: Timestamp,
    pub(crate) delay_min: Duration,
    pub(crate) estimates: EstimateMeters,
    /// The values that its controller reported in the interval.
    pub(crate) reported: LastValues,
}

impl FlowMeter {
    pub(crate) fn new(measured_at: u32, distribution: u32) -> Self {
        Self {
            measured_at,
            distribution,
            interval: FlowCounters::default(),
            measured: FlowCounters::default(),
            first_departure: Timestamp::NEVER,
            last_departure: Timestamp::NEVER,
            delay_min: Duration::MAX,
            estimates: EstimateMeters::default(),
            reported: LastValues::default(),
        }
    }

    /// Adds the interval's counters to those of the measured interval, and returns them.
    pub(crate) fn end_interval(&mut self) -> FlowCounters {
        let interval = std::mem::take(&mut self.interval);
        self.measured.add(&interval);
        interval
    }

    /// Discards all measurements so far: the warm-up is over. Call right after [`Self::end_interval`].
    pub(crate) fn begin_measuring(&mut self) {
        self.measured = FlowCounters::default();
        self.first_departure = Timestamp::NEVER;
        self.last_departure = Timestamp::NEVER;
    }
}

impl FlowCounters {
    /// Returns the mean one-way delay in seconds; NaN if nothing arrived.
    pub(crate) fn delay_mean(&self) -> f64 {
        self.mean(self.delay_sum)
    }

    /// Returns the mean time in queues in seconds; NaN if nothing arrived.
    pub(crate) fn queueing_mean(&self) -> f64 {
        self.mean(self.queueing_sum)
    }

    /// Returns the mean. Zero over zero would be a NaN whose sign depends on the processor and the compiler.
    fn mean(&self, sum: Duration) -> f64 {
        if self.received_packets > 0 { sum.as_secs_f64() / self.received_packets as f64 } else { f64::NAN }
    }

    /// Returns whether all counters are zero.
    pub(crate) fn is_silent(&self) -> bool {
        self.sent_bytes == 0
            && self.departed_bytes == 0
            && self.received_packets == 0
            && self.goodput_bytes == 0
            && self.lost_packets == 0
    }

    fn add(&mut self, other: &Self) {
        self.sent_bytes += other.sent_bytes;
        self.arrived_bytes += other.arrived_bytes;
        self.departed_bytes += other.departed_bytes;
        self.goodput_bytes += other.goodput_bytes;
        self.lost_packets += other.lost_packets;
        self.received_packets += other.received_packets;
        self.delay_sum += other.delay_sum;
        self.delay_max = self.delay_max.max(other.delay_max);
        self.queueing_sum += other.queueing_sum;
    }
}

/// The delays of all data packets of one source, in bins at most 0.1 % wide.
///
/// Samples are collected and counted in batches. A source with few packets then needs four bytes per packet
/// instead of two tables, and a packet writes to the end of a list instead of random positions in those
/// tables.
#[derive(Debug, Default)]
pub(crate) struct DelayDistribution {
    /// Bins of one-way delay and queueing delay that are not yet counted.
    pending: Vec<[Bin; 2]>,
    one_way: Histogram,
    queueing: Histogram,
}

/// The number of samples in one batch.
const BATCH: usize = 1024;

impl DelayDistribution {
    #[inline]
    pub(crate) fn record(&mut self, one_way: Duration, queueing: Duration) {
        if self.pending.len() == BATCH {
            self.count();
        }
        self.pending.push([one_way, queueing].map(|span| Bin::of(span.as_nanos())));
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn count(&mut self) {
        self.one_way.count(self.pending.iter().map(|bins| bins[0]));
        self.queueing.count(self.pending.iter().map(|bins| bins[1]));
        self.pending.clear();
    }

    /// Returns the non-empty bins in ascending order of delay.
    pub(crate) fn rows(&mut self, source: usize) -> impl Iterator<Item = DelayRow> {
        self.count();
        let kinds = [(DelayKind::OneWay, &self.one_way), (DelayKind::Queueing, &self.queueing)].into_iter();
        kinds.flat_map(move |(kind, histogram)| {
            histogram.bins().map(move |(largest, packets)| DelayRow {
                source: source as i64,
                kind: kind.index() as i64,
                delay_s: largest as f64 / 1e9,
                packets: i64::from(packets),
            })
        })
    }
}
