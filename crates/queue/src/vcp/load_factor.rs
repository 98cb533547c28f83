//! The load of a link: the ratio of demand to the amount that the link carries.

use airpath_model::config::{check, check_timer};
#[cfg(feature = "declare")]
use airpath_model::declare::ComponentError;
use airpath_model::{Backlog, Bytes, CapacitySource, Duration, LoadCode, Packet, Timestamp};
use alloc::boxed::Box;

#[cfg(feature = "declare")]
use crate::declare::check_order;
use crate::{ConfigError, QueueSample};

/// ρ at and above which the code is high load: 80 % (SIGCOMM'05, section 3.1).
const HIGH_LOAD: f64 = 0.8;

/// ρ at and above which the code is overload: 100 %.
const OVERLOAD: f64 = 1.0;

/// Parameters of the load factor (Xia et al., SIGCOMM'05, section 4.1 and Table 2).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default)
)]
pub struct LoadFactorConfig {
    /// t_rho: interval at which routers compute the load factor, and for which senders freeze after an
    /// overload (Xia et al. 2005: 200 ms).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000)))]
    pub load_factor_interval: Duration,
    /// t_q: interval at which the queue is sampled (Xia et al. 2005: 10 ms).
    #[cfg_attr(
        feature = "declare",
        schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000, "x-at-most" = "load_factor_interval"))
    )]
    pub queue_sampling_interval: Duration,
    /// kappa_q: weight of the steady queue in the demand, which determines how fast it is drained (Xia et al.
    /// 2005: 0.5).
    #[cfg_attr(feature = "declare", schemars(range(min = 0)))]
    pub kappa_q: f64,
    /// gamma_l: the target utilisation (Xia et al. 2005: 0.98).
    #[cfg_attr(feature = "declare", schemars(range(max = 1), extend("exclusiveMinimum" = 0)))]
    pub target_utilisation: f64,
    /// Weight of the newest interval in the steady queue (the authors' code: 0.25).
    #[cfg_attr(feature = "declare", schemars(range(max = 1), extend("exclusiveMinimum" = 0)))]
    pub queue_weight: f64,
}

impl Default for LoadFactorConfig {
    fn default() -> Self {
        Self {
            load_factor_interval: Duration::from_millis(200),
            queue_sampling_interval: Duration::from_millis(10),
            kappa_q: 0.5,
            target_utilisation: 0.98,
            // From a comment in the authors' code; the paper only states that the queue is low-pass filtered.
            queue_weight: 0.25,
        }
    }
}

impl LoadFactorConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let Self {
            load_factor_interval: interval,
            queue_sampling_interval: sampling,
            kappa_q,
            target_utilisation: target,
            queue_weight,
        } = *self;
        check_timer(interval, "load_factor_interval")?;
        let range = "greater than zero and at most load_factor_interval";
        check_timer(sampling, "queue_sampling_interval")?;
        check(sampling <= interval, "queue_sampling_interval", range, sampling.as_secs_f64())?;
        check(kappa_q >= 0.0 && kappa_q.is_finite(), "kappa_q", "not negative and finite", kappa_q)?;
        let range = "greater than 0 and at most 1";
        check(target > 0.0 && target <= 1.0, "target_utilisation", range, target)?;
        check(queue_weight > 0.0 && queue_weight <= 1.0, "queue_weight", range, queue_weight)
    }

    /// Checks the order of the intervals, for [`Component::check`](airpath_model::declare::Component::check).
    #[cfg(feature = "declare")]
    pub(crate) fn check_intervals(&self) -> Result<(), ComponentError> {
        let Self { load_factor_interval, queue_sampling_interval, .. } = *self;
        check_order(
            "queue_sampling_interval",
            queue_sampling_interval,
            "load_factor_interval",
            load_factor_interval,
        )
    }
}

/// The load factor of one link, computed every `t_ρ` and constant in between (SIGCOMM'05, section 3; EBE-J
/// eq. 10):
///
/// ```text
/// ρ = (λ + κ_q q̄) / (γ_l Υ C t)
/// ```
///
/// - λ: bytes that arrived in the interval, including acknowledgments and dropped packets.
/// - q̄: the steady queue in bytes. Samples are taken every `t_q` and averaged over the interval; the
///   averages pass an exponential filter that starts from an empty queue.
/// - Υ C: the estimate of the capacity source at the end of the interval, in byte/s, times its probing
///   factor. The amount carried in an interval is at least one byte, so that the load factor of a dead link
///   is large and finite.
/// - t: the length of the interval: `t_ρ`, or more if the driver was late.
///
/// The first interval begins at time zero; ρ is 0 until it ends. The load factor owns the source and drives
/// it.
#[derive(Debug)]
pub struct LoadFactor {
    config: LoadFactorConfig,
    source: Box<dyn CapacitySource>,
    interval_began: Timestamp,
    next_sample: Timestamp,
    next_interval: Timestamp,
    /// λ of the current interval so far.
    arrived: Bytes,
    /// Sum of this interval's queue samples, bytes.
    sampled: f64,
    samples: u32,
    /// q̄, bytes.
    steady_queue: f64,
    /// Arrivals over the last interval, byte/s.
    input_rate: f64,
    /// ρ.
    load: f64,
}

impl LoadFactor {
    /// Creates the load factor of an idle link whose capacity `source` estimates.
    ///
    /// Fails if a parameter is out of range, or if the source never returns a capacity (`xcp-b`, which
    /// estimates only spare bandwidth), because ρ is not defined without one.
    pub fn new(config: LoadFactorConfig, mut source: Box<dyn CapacitySource>) -> Result<Self, ConfigError> {
        config.check()?;
        let knows = source.capacity(Timestamp::ZERO).is_some();
        check(knows, "source", "one that estimates a capacity, not only spare bandwidth", f64::NAN)?;
        Ok(Self {
            config,
            source,
            interval_began: Timestamp::ZERO,
            next_sample: Timestamp::ZERO + config.queue_sampling_interval,
            next_interval: Timestamp::ZERO + config.load_factor_interval,
            arrived: Bytes::ZERO,
            sampled: 0.0,
            samples: 0,
            steady_queue: 0.0,
            input_rate: 0.0,
            load: 0.0,
        })
    }

    /// Returns ρ of the last interval, finite and not negative; 1 is the target utilisation.
    pub const fn value(&self) -> f64 {
        self.load
    }

    /// Returns ρ as written by VCP's routers: low load below 80 %, high load from 80 % on, overload from
    /// 100 % on.
    pub const fn code(&self) -> LoadCode {
        code(self.load)
    }

    /// Processes the arrival of a packet at the queue, before it may be dropped. `backlog` is the queue
    /// before the packet.
    pub(crate) fn on_arrival<P: Packet>(&mut self, now: Timestamp, packet: &P, backlog: Backlog) {
        self.arrived += packet.size();
        self.source.on_arrival(now, packet.size(), backlog);
    }

    /// Processes the departure of a packet from the queue. `backlog` is the queue behind the packet.
    pub(crate) fn on_departure<P: Packet>(&mut self, now: Timestamp, packet: &P, backlog: Backlog) {
        self.source.on_departure(now, packet.size(), backlog);
    }

    /// Processes the traffic since the last sample, for a router that does not observe each departure.
    pub fn on_sample(&mut self, now: Timestamp, sample: &QueueSample) {
        self.arrived += sample.arrived;
        sample.tell(now, &mut *self.source);
    }

    /// Processes the timer requested by [`LoadFactor::next_timer`]. Returns whether ρ was recomputed.
    ///
    /// The source goes first, so that an estimate whose period ends with the interval counts in it. Samples
    /// that a late driver missed are not made up for.
    pub fn on_timer(&mut self, now: Timestamp, backlog: Backlog) -> bool {
        if self.source.next_timer() <= now {
            self.source.on_timer(now, backlog);
        }
        if self.next_sample <= now {
            self.sampled += backlog.bytes.as_f64();
            self.samples += 1;
            self.next_sample = next_multiple(now, self.config.queue_sampling_interval);
        }
        if self.next_interval > now {
            return false;
        }
        self.end_interval(now);
        true
    }

    /// Returns the time at which [`LoadFactor::on_timer`] is due.
    pub fn next_timer(&self) -> Timestamp {
        self.next_sample.min(self.next_interval).min(self.source.next_timer())
    }

    /// Reports `load_factor`, `steady_queue_bytes`, `input_rate_bps` and the quantities of the source.
    pub fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("load_factor", self.load);
        report("steady_queue_bytes", self.steady_queue);
        report("input_rate_bps", self.input_rate * 8.0);
        self.source.observe(report);
    }

    fn end_interval(&mut self, now: Timestamp) {
        let length = now.since(self.interval_began).as_secs_f64();
        let arrived = self.arrived.as_f64();
        self.input_rate = arrived / length;
        if self.samples > 0 {
            let mean = self.sampled / f64::from(self.samples);
            self.steady_queue += self.config.queue_weight * (mean - self.steady_queue);
        }
        if let Some(capacity) = self.source.capacity(now) {
            let carried = self.config.target_utilisation * self.source.probing() * capacity * length;
            self.load = (arrived + self.config.kappa_q * self.steady_queue) / carried.max(1.0);
        }
        self.interval_began = now;
        self.next_interval = next_multiple(now, self.config.load_factor_interval);
        self.arrived = Bytes::ZERO;
        self.sampled = 0.0;
        self.samples = 0;
    }
}

/// Returns the code of a load factor.
const fn code(load: f64) -> LoadCode {
    if load < HIGH_LOAD {
        LoadCode::Low
    } else if load < OVERLOAD {
        LoadCode::High
    } else {
        LoadCode::Overload
    }
}

/// Returns the first multiple of `period` after `now`.
fn next_multiple(now: Timestamp, period: Duration) -> Timestamp {
    let periods = now.as_nanos() / period.as_nanos();
    Timestamp::ZERO + period * (periods + 1)
}

#[cfg(test)]
mod tests;
