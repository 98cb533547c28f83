//! The rate of departures while packets wait.

mod gap;
mod memory;
mod noise;
mod polls;

use airpath_model::config::{ConfigError, check, check_timer};
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Values, defaults};
use airpath_model::{Backlog, Bytes, CapacitySource, ControlInterval, Duration, Rate, Spare, Timestamp};
#[cfg(feature = "declare")]
use alloc::boxed::Box;

#[cfg(feature = "declare")]
use crate::declare::{CapacitySources, SourceContext, SourceFacts};
use crate::{queue_target, report};
use gap::Gaps;
use memory::Memory;
use noise::Noise;
use polls::Polls;

/// The rate of departures while packets wait, averaged for as long as the noise of the link requires.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct BusyConfig {
    /// The initial estimate, which the first measurement replaces. Default: the mean rate of the link.
    #[cfg_attr(
        feature = "declare",
        schemars(extend(
            "exclusiveMinimum" = 0,
            "exclusiveMaximum" = u64::MAX,
            "x-default-from" = "mean_rate"
        ))
    )]
    pub capacity: Rate,
    /// Target of the queueing delay under XCP. The dispersion of departures is added, up to 50 ms in all; the
    /// target queue is at most half the buffer.
    #[cfg_attr(feature = "declare", serde(default = "default::target"))]
    pub target: Duration,
    /// Deviation from the estimate, in standard deviations, that counts as a jump of the capacity: the memory
    /// is then replaced by the newest measurements. 0 disables the test.
    #[cfg_attr(feature = "declare", serde(default = "default::jump"), schemars(range(min = 0)))]
    pub jump: f64,
    /// Factor of the estimate after 200 ms with arrivals above 0.8 of it and without a measurement; 1 disables
    /// the growth.
    #[cfg_attr(feature = "declare", serde(default = "default::growth"), schemars(range(min = 1)))]
    pub growth: f64,
    /// Whether a wait of more than 10 ms for the next departure lowers the estimate until that departure.
    #[cfg_attr(feature = "declare", serde(default = "default::open_gaps"))]
    pub open_gaps: bool,
    /// Interval at which departed bytes and backlog are read, for a router that does not see each departure. If
    /// absent, each departure is seen.
    #[cfg_attr(
        feature = "declare",
        serde(default),
        schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000))
    )]
    pub poll_interval: Option<Duration>,
}

#[cfg(feature = "declare")]
defaults! {
    target: Duration = BusyConfig::default().target;
    jump: f64 = BusyConfig::default().jump;
    growth: f64 = BusyConfig::default().growth;
    open_gaps: bool = BusyConfig::default().open_gaps;
}

#[cfg(feature = "declare")]
impl Component<CapacitySources> for BusyConfig {
    const ID: &'static str = "busy";

    fn fill_defaults(given: &mut Values, context: &SourceContext) -> Result<(), ComponentError> {
        context.capacity(given).map(|_| ())
    }

    fn build(&self, _facts: SourceFacts<'_>) -> Result<Box<dyn CapacitySource>, ConfigError> {
        Ok(Box::new(Busy::new(*self)?))
    }
}

impl Default for BusyConfig {
    fn default() -> Self {
        Self {
            capacity: Rate::from_bps(10_000_000),
            target: Duration::from_millis(5),
            jump: 5.0,
            growth: 1.25,
            open_gaps: true,
            poll_interval: None,
        }
    }
}

impl BusyConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let capacity = self.capacity;
        let is_finite = capacity > Rate::ZERO && capacity < Rate::UNLIMITED;
        check(is_finite, "capacity", "greater than zero and finite", capacity.as_bps_f64())?;
        check(self.jump >= 0.0 && self.jump.is_finite(), "jump", "at least zero and finite", self.jump)?;
        check(
            self.growth >= 1.0 && self.growth.is_finite(),
            "growth",
            "at least one and finite",
            self.growth,
        )?;
        self.poll_interval.map_or(Ok(()), |interval| check_timer(interval, "poll_interval"))
    }
}

/// Interval between measurements.
const INTERVAL: Duration = Duration::from_millis(10);
/// Number of intervals after which arrivals without a measurement let the estimate grow.
const GROWTH_INTERVALS: u32 = 20;
/// Share of the estimate that arrivals must exceed for the estimate to grow.
const GROWTH_LOAD: f64 = 0.8;
/// The least estimate, byte/s.
const LEAST: f64 = 1e3;
/// The largest target of the queueing delay, the dispersion of departures included, in seconds.
const LARGEST_TARGET_S: f64 = 0.05;

/// The rate of departures while packets wait (docs/reference/sources/busy.md).
///
/// While a packet waits, the departure rate is the capacity. The source therefore divides departed bytes by
/// backlogged time (`Gaps`), learns the noise of that ratio (`Noise`), and averages over a time that
/// depends on it (`Memory`). It needs no model of the queue, and an empty queue does not change the estimate.
///
/// With [`BusyConfig::poll_interval`], it ignores the times of departures and reads at intervals how much has
/// departed (`Polls`), so that a driver may report departures in sums.
#[derive(Clone, Debug)]
pub struct Busy {
    config: BusyConfig,
    gaps: Gaps,
    /// `None` if each departure is seen.
    polls: Option<Polls>,
    noise: Noise,
    memory: Memory,
    /// The estimate C, byte/s.
    capacity: f64,
    /// End of the current interval, and of the last one with a measurement.
    due: Timestamp,
    measured: Timestamp,
    growth: Growth,
}

/// Arrivals since the last decision about growth.
#[derive(Clone, Copy, Debug, Default)]
struct Growth {
    began: Timestamp,
    arrived: f64,
    intervals: u32,
    has_measured: bool,
}

impl Busy {
    /// Creates a source. Rejects parameters outside their ranges.
    pub fn new(config: BusyConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let capacity = config.capacity.bytes_per_second().max(LEAST);
        Ok(Self {
            config,
            gaps: Gaps::new(capacity),
            polls: config.poll_interval.map(Polls::new),
            noise: Noise::default(),
            memory: Memory::new(capacity),
            capacity,
            due: Timestamp::ZERO + INTERVAL,
            measured: Timestamp::ZERO,
            growth: Growth::default(),
        })
    }

    /// Ends an interval of measurement at `now`.
    fn end_interval(&mut self, now: Timestamp) {
        match self.gaps.take() {
            Some(sent) => {
                self.noise.add(sent);
                let noise = self.noise.level();
                // If the counters are polled, the open gap must not count as idle time: after a step, that would
                // shorten the memory to a few readings.
                let (until, resolution_s) = self
                    .polls
                    .as_ref()
                    .map_or((now, 0.0), |polls| (self.gaps.ended(), polls.resolution_s(self.capacity)));
                let idle = (until.since(self.measured).as_secs_f64() - sent.busy_s).max(0.0);
                self.memory.fade(idle, noise);
                self.memory.add(sent, noise, self.config.jump, resolution_s);
                self.capacity = self.memory.rate();
                self.measured = until;
                self.growth.has_measured = true;
            }
            None if self.config.open_gaps => {
                if let Some(sent) = self.gaps.open_since(now, INTERVAL) {
                    self.capacity = self.capacity.min(self.memory.rate_with(sent));
                }
            }
            None => {}
        }
        self.growth.intervals += 1;
        if self.growth.intervals == GROWTH_INTERVALS {
            let passed_s = now.since(self.growth.began).as_secs_f64();
            if !self.growth.has_measured && self.growth.arrived > GROWTH_LOAD * self.capacity * passed_s {
                self.memory.grow(self.config.growth);
                self.capacity *= self.config.growth;
            }
            self.growth = Growth { began: now, ..Growth::default() };
        }
        self.capacity = self.capacity.max(LEAST);
    }
}

impl CapacitySource for Busy {
    fn on_arrival(&mut self, now: Timestamp, size: Bytes, _backlog: Backlog) {
        self.growth.arrived += size.as_f64();
        if self.polls.is_none() {
            self.gaps.on_arrival(now);
        }
    }

    fn on_departure(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        let left_waiting = !backlog.bytes.is_zero();
        match &mut self.polls {
            Some(polls) => polls.on_departure(size, left_waiting),
            None => self.gaps.on_departure(now, size, left_waiting),
        }
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        if let Some(polls) = self.polls.as_mut().filter(|polls| polls.due() <= now) {
            self.gaps.on_reading(now, polls.read(now, !backlog.bytes.is_zero()));
        }
        if now < self.due {
            return;
        }
        self.end_interval(now);
        // A late timer has one interval that is longer.
        self.due = now + INTERVAL;
    }

    fn next_timer(&self) -> Timestamp {
        self.polls.as_ref().map_or(self.due, |polls| self.due.min(polls.due()))
    }

    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        Some(self.capacity)
    }

    fn spare(&mut self, interval: &ControlInterval) -> Spare {
        let delay_s =
            (self.config.target.as_secs_f64() + self.noise.level().dispersion_s).min(LARGEST_TARGET_S);
        queue_target::spare(interval, self.capacity, delay_s)
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report::capacity(report, self.capacity);
    }
}

#[cfg(test)]
mod tests;
