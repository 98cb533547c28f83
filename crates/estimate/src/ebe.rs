//! EBE at a router: the bandwidth estimator based on an extended Kalman filter.

use airpath_model::{
    Backlog, Bytes, CapacitySource, ControlInterval, Duration, QueueUnit, Rate, Spare, Timestamp,
};

#[cfg(feature = "declare")]
use crate::declare::{CapacitySources, SourceContext, SourceFacts, SourceNeeds, check_order};
use crate::{
    Cycle, LinkCapacityMonitor, Maintenance, Measured, Monitor, MonitorInput, Predictor, Profile,
    QueueMaintainer, RunningVariance, report,
};
use airpath_model::config::{ConfigError, check, check_timer};
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Schema, Value, Values, defaults};
#[cfg(feature = "declare")]
use alloc::{boxed::Box, format};

/// The statistic of the queue over an estimation interval that is the measurement z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum SampledQueue {
    /// The mean of the samples (EBE-J, section III-A).
    #[default]
    Mean,
    /// The shortest queue of the interval: the part that persists over it.
    Minimum,
    /// The queue at the end of the interval.
    Last,
}

/// The arrivals y that are subtracted from the capacity if a protocol needs the spare bandwidth, Υ C − y.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum SpareArrivals {
    /// Arrivals of the protocol's control interval.
    #[default]
    Protocol,
    /// Arrivals of EBE's estimation interval. S is then the monitor's own, −(x1 − previous x1)/τ, as long as
    /// C is not bounded and the maintainer does not probe.
    Estimator,
}

/// EBE: an extended Kalman filter on queue and arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct EbeConfig {
    /// Interpretation of the filter: `icc` (R = 1e-5, EBE-C table I), `journal` (R by running variance, as
    /// printed in EBE-J), `counting` (Poisson counting noise), `normalised` (noises as shares of the buffer),
    /// `linear` (EBE-C's linear filter), `none` (no filter: the mean of the samples).
    #[cfg_attr(feature = "declare", serde(default))]
    pub profile: Profile,
    /// Statistic of the queue over an estimation interval for filter and maintainer: the `mean` of its
    /// samples (EBE-J), its `minimum` (the part that persists over the interval), or the `last` value.
    #[cfg_attr(feature = "declare", serde(default))]
    pub sampled_queue: SampledQueue,
    /// Link-capacity monitor: `plain` (arrival rate plus spare bandwidth, as in the papers), `idle-corrected`
    /// (corrected for the idle time that the filter predicts), `hold` (an empty queue may not lower the
    /// estimate).
    #[cfg_attr(feature = "declare", serde(default))]
    pub monitor: Monitor,
    /// Queue maintainer: `latch` (on and off with memory), `strict` (on only while the condition for
    /// switching on is true), `below-threshold` (on whenever the queue is below the threshold), `off`.
    #[cfg_attr(feature = "declare", serde(default))]
    pub maintainer: Maintenance,
    /// The arrivals that are subtracted from the capacity for XCP's spare bandwidth: those of XCP's control
    /// interval (`protocol`) or of EBE's estimation interval (`estimator`, under XCP only).
    #[cfg_attr(feature = "declare", serde(default))]
    pub spare_arrivals: SpareArrivals,
    /// Threshold of the maintainer as a share of the buffer (EBE-J: 0.15, of 0.13 to 0.18; EBE-C: 0.20).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::threshold"),
        schemars(range(max = 1), extend("exclusiveMinimum" = 0))
    )]
    pub threshold: f64,
    /// Upsilon, the factor on the capacity while the maintainer is on. Default: 1.40 under XCP, 1.14 under
    /// VCP and MPCP (EBE-J), and 1.14 under QFCP and ABC (our choice).
    #[cfg_attr(feature = "declare", schemars(range(min = 1), extend("x-default-from" = "protocol")))]
    pub upsilon: f64,
    /// The initial estimate. Default: the mean rate of the link.
    #[cfg_attr(
        feature = "declare",
        schemars(
            extend(
                "exclusiveMinimum" = 0,
                "exclusiveMaximum" = u64::MAX,
                "x-at-most" = "max_capacity",
                "x-default-from" = "mean_rate"
            )
        )
    )]
    pub capacity: Rate,
    /// Lower bound of the estimate. Default: one `packet` in each `estimation_interval`.
    #[cfg_attr(
        feature = "declare",
        schemars(
            extend(
                "exclusiveMinimum" = 0,
                "exclusiveMaximum" = u64::MAX,
                "x-at-most" = "capacity",
                "x-default-from" = "packet"
            )
        )
    )]
    pub min_capacity: Rate,
    /// Upper bound of the estimate. Default: 10⁹ packets per second, no bound in practice.
    #[cfg_attr(
        feature = "declare",
        schemars(
            extend("exclusiveMinimum" = 0, "exclusiveMaximum" = u64::MAX, "x-default-from" = "packet")
        )
    )]
    pub max_capacity: Rate,
    /// Unit of queue and arrivals: `bytes` divided by the size of one `packet`, or `packets` of any size, in
    /// which an acknowledgment counts as much as a data packet.
    #[cfg_attr(feature = "declare", serde(default = "default::unit"), schemars(transform = default_first))]
    pub unit: QueueUnit,
    /// Size of one packet in the filter, whose queue is counted in packets. Default: the largest packet that
    /// any flow sends.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "x-default-from" = "packet")))]
    pub packet: Bytes,
    /// Size of the buffer, greater than zero: 575 kB (EBE-J, section IV). It is that of the link, not a
    /// parameter.
    #[cfg_attr(feature = "declare", serde(skip))]
    pub buffer: Bytes,
    /// The measurement timer: interval between samples of the queue (EBE-J: 10 ms).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::measurement_interval"),
        schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000, "x-at-most" = "estimation_interval"))
    )]
    pub measurement_interval: Duration,
    /// The estimation timer: interval between cycles of the filter (EBE-J: 200 ms).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::estimation_interval"),
        schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000))
    )]
    pub estimation_interval: Duration,
}

#[cfg(feature = "declare")]
defaults! {
    threshold: f64 = 0.15;
    unit: QueueUnit = QueueUnit::Bytes;
    measurement_interval: Duration = Duration::from_millis(10);
    estimation_interval: Duration = Duration::from_millis(200);
}

/// Reverses the two choices of a parameter: the default of EBE's `unit` is the second variant of its type.
#[cfg(feature = "declare")]
fn default_first(schema: &mut Schema) {
    if let Some(Value::Array(choices)) = schema.get_mut("oneOf") {
        choices.reverse();
    }
}

/// The default of `max_capacity` in packets per second: the upper bound of the published test vectors.
#[cfg(feature = "declare")]
const MAX_PACKETS_PER_SECOND: f64 = 1e9;

#[cfg(feature = "declare")]
impl Component<CapacitySources> for EbeConfig {
    const ID: &'static str = "ebe";

    fn fill_defaults(given: &mut Values, context: &SourceContext) -> Result<(), ComponentError> {
        let protocol = context.protocol.as_deref();
        let own_arrivals = given.get("spare_arrivals").is_some_and(|arrivals| *arrivals == "estimator");
        if let Some(protocol) = protocol.filter(|&protocol| own_arrivals && protocol != "xcp") {
            let problem = format!(
                "spare_arrivals = \"estimator\" is for xcp, which asks for spare bandwidth; found {protocol}"
            );
            return Err(ComponentError::new("", problem));
        }
        if let Some(protocol) = protocol {
            // EBE-J, section III-C, for XCP, VCP and MPCP; our choice for the others.
            given.entry("upsilon").or_insert((if protocol == "xcp" { 1.40 } else { 1.14 }).into());
        }
        let number = |given: &Values, parameter: &str| given.get(parameter).and_then(Value::as_u64);
        let packet = number(given, "packet").unwrap_or(context.packet.get());
        given.entry("packet").or_insert(packet.into());
        let interval =
            number(given, "estimation_interval").unwrap_or_else(|| default::estimation_interval().as_nanos());
        let known = given.contains_key("capacity");
        let capacity = context.capacity(given)?;
        let smallest = libm::rint(packet as f64 * 8e9 / interval as f64).max(1.0) as u64;
        // The mean rate of a link may be below that bound.
        let smallest = if known { smallest } else { smallest.min(capacity) };
        given.entry("min_capacity").or_insert(smallest.into());
        let largest = libm::rint(MAX_PACKETS_PER_SECOND * packet as f64 * 8.0) as u64;
        given.entry("max_capacity").or_insert(largest.into());
        Ok(())
    }

    fn check(&self) -> Result<(), ComponentError> {
        if self.measurement_interval > self.estimation_interval {
            let problem = "measurement_interval must not be above estimation_interval";
            return Err(ComponentError::new("", problem));
        }
        check_order("min_capacity", self.min_capacity, "capacity", self.capacity)?;
        check_order("capacity", self.capacity, "max_capacity", self.max_capacity)
    }

    fn needs(&self) -> SourceNeeds {
        SourceNeeds {
            // The noises of the normalised filter are shares of the buffer.
            limit: self.maintainer != Maintenance::Off || self.profile == Profile::Normalised,
            xcp: (self.spare_arrivals == SpareArrivals::Estimator)
                .then_some("EBE takes off its own arrivals for XCP only"),
        }
    }

    fn build(&self, facts: SourceFacts<'_>) -> Result<Box<dyn CapacitySource>, ConfigError> {
        Ok(Box::new(Ebe::new(Self { buffer: facts.buffer, ..*self })?))
    }
}

impl Default for EbeConfig {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            sampled_queue: SampledQueue::default(),
            monitor: Monitor::default(),
            maintainer: Maintenance::default(),
            spare_arrivals: SpareArrivals::default(),
            threshold: 0.15,
            upsilon: 1.40,
            capacity: Rate::from_bps(10_000_000),
            min_capacity: Rate::from_bps(40_000),
            max_capacity: Rate::from_bps(8_000_000_000_000),
            unit: QueueUnit::Bytes,
            packet: Bytes::new(1000),
            buffer: Bytes::new(575_000),
            measurement_interval: Duration::from_millis(10),
            estimation_interval: Duration::from_millis(200),
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
        check(self.min_capacity > Rate::ZERO, "min_capacity", positive, self.min_capacity.as_bps_f64())?;
        check(
            self.min_capacity <= self.capacity && self.capacity <= self.max_capacity,
            "capacity",
            "between min_capacity and max_capacity",
            self.capacity.as_bps_f64(),
        )?;
        check(self.max_capacity < Rate::UNLIMITED, "max_capacity", "finite", self.max_capacity.as_bps_f64())?;
        check(!self.packet.is_zero(), "packet", positive, self.packet.as_f64())?;
        check(!self.buffer.is_zero(), "buffer", positive, self.buffer.as_f64())?;
        check_timer(self.measurement_interval, "measurement_interval")?;
        check(
            self.estimation_interval >= self.measurement_interval,
            "estimation_interval",
            "at least as long as measurement_interval",
            self.estimation_interval.as_secs_f64(),
        )
    }
}

/// EBE (EBE-J, sections II-B and III; EBE-C). One timer samples the queue. On a slower timer, a filter
/// predicts the real-time queue, a monitor derives the capacity, and a maintainer decides whether to probe
/// above it.
///
/// Queue and arrivals are counted in bytes divided by the size of one packet. With [`QueueUnit::Packets`], an
/// acknowledgment counts as a full packet, so the estimated service is larger than the actual one; a driver
/// that reports many packets at once has to count bytes. Every arrival counts, including one that is then
/// dropped. The queue consists of the waiting packets; it does not include the packet in transmission, which
/// the M/M/1 queue includes.
///
/// Reports `capacity_estimate` (byte/s), `capacity_estimate_bps` (bit/s), `x1` (packets), `x2` (packets/s),
/// `p11`, `p12`, `p22`, `k1`, `k2`, `maintainer_on` (0 or 1), `queue_mean_packets` (z) and `arrival_rate_pps`
/// (y).
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
    /// The start of the estimation interval.
    began: Timestamp,
    /// Arrivals in the interval.
    arrived: Backlog,
    /// The shortest queue of the interval.
    shortest: Backlog,
    /// Queue samples of the interval, packets.
    samples: RunningVariance,
    /// Packets/s.
    capacity: f64,
    latest: Option<Latest>,
}

/// Measurements and results of the last estimation.
#[derive(Clone, Copy, Debug)]
struct Latest {
    queue: f64,
    arrival_rate: f64,
    cycle: Cycle,
}

impl Ebe {
    /// Creates an estimator whose timers start with the run. Rejects parameters outside their ranges.
    pub fn new(config: EbeConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let packet = config.packet.as_f64();
        let packets_per_second = |rate: Rate| rate.bytes_per_second() / packet;
        let capacity = packets_per_second(config.capacity);
        let buffer = config.buffer.as_f64() / packet;
        let threshold = config.threshold * config.buffer.as_f64() / packet;
        Ok(Self {
            predictor: match config.profile {
                Profile::Normalised => {
                    Predictor::normalised(capacity, buffer, config.estimation_interval.as_secs_f64())
                }
                profile => Predictor::new(profile, capacity),
            },
            sampled_queue: config.sampled_queue,
            monitor: LinkCapacityMonitor::new(
                config.monitor,
                packets_per_second(config.min_capacity),
                packets_per_second(config.max_capacity),
            ),
            maintainer: QueueMaintainer::new(config.maintainer, threshold, config.upsilon),
            spare_arrivals: config.spare_arrivals,
            sampling: config.measurement_interval,
            interval: config.estimation_interval,
            unit: config.unit,
            packet: config.packet,
            next_sample: Timestamp::ZERO + config.measurement_interval,
            next_estimate: Timestamp::ZERO + config.estimation_interval,
            began: Timestamp::ZERO,
            arrived: Backlog::default(),
            shortest: Backlog::default(),
            samples: RunningVariance::new(),
            capacity,
            latest: None,
        })
    }

    fn estimate(&mut self, now: Timestamp, backlog: Backlog) {
        // A late driver makes the interval longer but not the rate wrong. The next interval may be too short
        // for a sample.
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

    /// Converts packets of the filter to bytes.
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
        // If both timers are due, the sample belongs to the interval that ends (samples at 10 … 200 ms).
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
            // Before the first estimate no other rate is known.
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

/// Returns the first time after `now` on the timer's grid. If the driver missed a whole period, the grid is
/// shifted.
fn following(due: Timestamp, period: Duration, now: Timestamp) -> Timestamp {
    let next = due + period;
    if next > now { next } else { now + period }
}
