//! EBE, the bandwidth estimator on an extended Kalman filter, at a router.

use airpath_model::{
    Backlog, Bytes, CapacitySource, ControlInterval, Duration, QueueUnit, Rate, Spare, Timestamp,
};

use crate::{
    Cycle, LinkCapacityMonitor, Maintenance, Measured, Monitor, MonitorInput, Predictor, Profile,
    QueueMaintainer, RunningVariance, report,
};
use airpath_model::config::{ConfigError, check, check_timer};

/// Which queue of an estimation interval is the measurement z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampledQueue {
    /// The mean of the samples (EBE-J, section III-A).
    #[default]
    Mean,
    /// The shortest of the interval: what persists over it.
    Minimum,
    /// The one with which the interval ends.
    Last,
}

/// Whose arrivals y are taken off the capacity where a protocol asks for spare bandwidth, Υ C − y.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpareArrivals {
    /// Those of the protocol's control interval.
    #[default]
    Protocol,
    /// Those of EBE's estimation interval: S is the monitor's own, −(x1 − previous x1)/τ, while nothing bounds C or probes.
    Estimator,
}

/// Parameters of [`Ebe`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EbeConfig {
    /// Which reading of the papers' filter.
    pub profile: Profile,
    /// Which queue of an interval is measured.
    pub sampled_queue: SampledQueue,
    /// How capacity follows from the filter.
    pub monitor: Monitor,
    /// How the queue maintainer acts.
    pub maintenance: Maintenance,
    /// Whose arrivals are taken off the capacity for XCP.
    pub spare_arrivals: SpareArrivals,
    /// The maintainer's threshold as a share of the buffer, in (0, 1]: 0.15 (EBE-J, section III-C), 0.20 (EBE-C).
    pub threshold: f64,
    /// Υ ≥ 1: 1.40 for XCP, 1.14 for VCP (EBE-J, section III-C).
    pub upsilon: f64,
    /// First estimate: 10 Mbit/s, what the papers configure.
    pub initial: Rate,
    /// Lower bound of the estimate, greater than zero: 40 kbit/s, 5 packets/s.
    pub minimum: Rate,
    /// Upper bound of the estimate: 8 Tbit/s, 1e9 packets/s.
    pub maximum: Rate,
    /// What queue and arrivals are counted in.
    pub unit: QueueUnit,
    /// Size of one packet in the filter, greater than zero: 1000 B (EBE-J, section IV).
    pub packet: Bytes,
    /// Size of the buffer, greater than zero: 575 kB (EBE-J, section IV).
    pub buffer: Bytes,
    /// The measurement timer, greater than zero: 10 ms (EBE-J, section III-A).
    pub sampling: Duration,
    /// The estimation timer, at least the measurement timer: 200 ms (EBE-J, section III-A).
    pub interval: Duration,
}

impl Default for EbeConfig {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            sampled_queue: SampledQueue::default(),
            monitor: Monitor::default(),
            maintenance: Maintenance::default(),
            spare_arrivals: SpareArrivals::default(),
            threshold: 0.15,
            upsilon: 1.40,
            initial: Rate::from_bps(10_000_000),
            minimum: Rate::from_bps(40_000),
            maximum: Rate::from_bps(8_000_000_000_000),
            unit: QueueUnit::Bytes,
            packet: Bytes::new(1000),
            buffer: Bytes::new(575_000),
            sampling: Duration::from_millis(10),
            interval: Duration::from_millis(200),
        }
    }
}

impl EbeConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let positive = "greater than zero";
        check(
            self.threshold > 0.0 && self.threshold <= 1.0,
            "threshold",
            "greater than zero and at most one",
            self.threshold,
        )?;
        check(
            self.upsilon >= 1.0 && self.upsilon.is_finite(),
            "upsilon",
            "at least one and finite",
            self.upsilon,
        )?;
        check(self.minimum > Rate::ZERO, "minimum", positive, self.minimum.as_bps_f64())?;
        check(
            self.minimum <= self.initial && self.initial <= self.maximum,
            "initial",
            "between minimum and maximum",
            self.initial.as_bps_f64(),
        )?;
        check(self.maximum < Rate::UNLIMITED, "maximum", "finite", self.maximum.as_bps_f64())?;
        check(!self.packet.is_zero(), "packet", positive, self.packet.as_f64())?;
        check(!self.buffer.is_zero(), "buffer", positive, self.buffer.as_f64())?;
        check_timer(self.sampling, "sampling")?;
        check(
            self.interval >= self.sampling,
            "interval",
            "at least as long as sampling",
            self.interval.as_secs_f64(),
        )
    }
}

/// EBE (EBE-J, sections II-B and III; EBE-C): the queue is sampled on one timer; on a slower one a filter predicts the
/// real-time queue, a monitor derives the capacity, a maintainer says whether to probe above it.
///
/// Queue and arrivals are bytes over the size of one packet (an acknowledgment that counts as a packet, with
/// [`QueueUnit::Packets`], says that much more leaves than does; a driver that tells of many packets at once has to count
/// bytes). Every arrival counts, also one that is dropped then. The queue is
/// what waits; the packet on the link, which the M/M/1 queue includes, is not seen.
///
/// Reports `capacity_estimate` (byte/s), `capacity_estimate_bps` (bit/s), `x1` (packets), `x2` (packets/s), `p11`,
/// `p12`, `p22`, `k1`, `k2`, `maintainer_on` (0 or 1), `queue_mean_packets` (z) and `arrival_rate_pps` (y).
#[derive(Clone, Debug)]
pub struct Ebe {
    predictor: Predictor,
    sampled_queue: SampledQueue,
    monitor: LinkCapacityMonitor,
    maintainer: QueueMaintainer,
    spare_arrivals: SpareArrivals,
    sampling: Duration,
    interval: Duration,
    unit: QueueUnit,
    packet: Bytes,
    next_sample: Timestamp,
    next_estimate: Timestamp,
    /// When the estimation interval began.
    began: Timestamp,
    /// What came in the interval.
    arrived: Backlog,
    /// The shortest queue of the interval.
    shortest: Backlog,
    /// Queue samples of the interval, packets.
    samples: RunningVariance,
    /// Packets/s.
    capacity: f64,
    latest: Option<Latest>,
}

/// What the last estimation saw and computed.
#[derive(Clone, Copy, Debug)]
struct Latest {
    queue: f64,
    arrival_rate: f64,
    cycle: Cycle,
}

impl Ebe {
    /// An estimator whose timers start with the run; refuses parameters outside their ranges.
    pub fn new(config: EbeConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let packet = config.packet.as_f64();
        let packets_per_second = |rate: Rate| rate.bytes_per_second() / packet;
        let capacity = packets_per_second(config.initial);
        let buffer = config.buffer.as_f64() / packet;
        let threshold = config.threshold * config.buffer.as_f64() / packet;
        Ok(Self {
            predictor: match config.profile {
                Profile::Normalised => Predictor::normalised(capacity, buffer, config.interval.as_secs_f64()),
                profile => Predictor::new(profile, capacity),
            },
            sampled_queue: config.sampled_queue,
            monitor: LinkCapacityMonitor::new(
                config.monitor,
                packets_per_second(config.minimum),
                packets_per_second(config.maximum),
            ),
            maintainer: QueueMaintainer::new(config.maintenance, threshold, config.upsilon),
            spare_arrivals: config.spare_arrivals,
            sampling: config.sampling,
            interval: config.interval,
            unit: config.unit,
            packet: config.packet,
            next_sample: Timestamp::ZERO + config.sampling,
            next_estimate: Timestamp::ZERO + config.interval,
            began: Timestamp::ZERO,
            arrived: Backlog::default(),
            shortest: Backlog::default(),
            samples: RunningVariance::new(),
            capacity,
            latest: None,
        })
    }

    fn estimate(&mut self, now: Timestamp, backlog: Backlog) {
        // A late driver makes a longer interval, not a wrong rate. The interval after it may be too short for a sample.
        if self.samples.count() == 0 {
            self.samples.push(self.packets(backlog));
        }
        let interval = now.since(self.began).as_secs_f64();
        let last_queue = self.packets(backlog);
        let measured = Measured {
            queue: match self.sampled_queue {
                SampledQueue::Mean => self.samples.mean(),
                SampledQueue::Minimum => self.packets(self.shortest),
                SampledQueue::Last => last_queue,
            },
            queue_variance: self.samples.population_variance(),
            last_queue,
            arrival_rate: self.packets(self.arrived) / interval,
            service_rate: self.capacity,
            interval,
        };
        let cycle = self.predictor.step(&measured);
        self.capacity = self.monitor.capacity(&MonitorInput {
            arrival_rate: measured.arrival_rate,
            previous_queue: cycle.previous_queue,
            queue: cycle.posterior.x[0],
            length: interval,
            idle: cycle.idle,
            emptied: self.shortest.bytes.is_zero(),
            previous_capacity: self.capacity,
        });
        self.maintainer.update(measured.queue);
        self.latest = Some(Latest { queue: measured.queue, arrival_rate: measured.arrival_rate, cycle });

        self.began = now;
        self.arrived = Backlog::default();
        self.shortest = backlog;
        self.samples = RunningVariance::new();
    }

    fn packets(&self, backlog: Backlog) -> f64 {
        self.unit.packets(backlog, self.packet)
    }

    /// Packets of the filter in bytes.
    fn bytes(&self, packets: f64) -> f64 {
        packets * self.packet.as_f64()
    }
}

impl CapacitySource for Ebe {
    fn on_arrival(&mut self, _now: Timestamp, size: Bytes, _backlog: Backlog) {
        self.arrived.bytes += size;
        self.arrived.packets += 1;
    }

    fn on_departure(&mut self, _now: Timestamp, _size: Bytes, backlog: Backlog) {
        self.shortest.bytes = self.shortest.bytes.min(backlog.bytes);
        self.shortest.packets = self.shortest.packets.min(backlog.packets);
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        // Where both timers meet, the sample belongs to the interval that ends (samples at 10 … 200 ms).
        if self.next_sample <= now {
            self.samples.push(self.packets(backlog));
            self.next_sample = following(self.next_sample, self.sampling, now);
        }
        if self.next_estimate <= now {
            self.estimate(now, backlog);
            self.next_estimate = following(self.next_estimate, self.interval, now);
        }
    }

    fn next_timer(&self) -> Timestamp {
        self.next_sample.min(self.next_estimate)
    }

    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        Some(self.bytes(self.capacity))
    }

    fn probing(&self) -> f64 {
        self.maintainer.factor()
    }

    fn spare(&mut self, interval: &ControlInterval) -> Spare {
        let arrivals = match (self.spare_arrivals, &self.latest) {
            (SpareArrivals::Estimator, Some(latest)) => self.bytes(latest.arrival_rate),
            // Before the first estimate nothing else is known.
            (SpareArrivals::Protocol, _) | (SpareArrivals::Estimator, None) => interval.input_rate,
        };
        let bandwidth = interval.probing * self.bytes(self.capacity) - arrivals;
        Spare { bandwidth, queue: interval.queue }
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report::capacity(report, self.bytes(self.capacity));
        report("maintainer_on", f64::from(u8::from(self.maintainer.is_on())));
        if let Some(Latest { queue, arrival_rate, cycle }) = &self.latest {
            report("x1", cycle.posterior.x[0]);
            report("x2", cycle.posterior.x[1]);
            report("p11", cycle.posterior.p.p11);
            report("p12", cycle.posterior.p.p12);
            report("p22", cycle.posterior.p.p22);
            report("k1", cycle.gain.k1);
            report("k2", cycle.gain.k2);
            report("queue_mean_packets", *queue);
            report("arrival_rate_pps", *arrival_rate);
        }
    }
}

/// The timer after `due` that lies after `now`: on the grid, unless the driver missed a whole period.
fn following(due: Timestamp, period: Duration, now: Timestamp) -> Timestamp {
    let next = due + period;
    if next > now { next } else { now + period }
}
