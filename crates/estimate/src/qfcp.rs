//! QFCP's estimate of a wireless capacity: what leaves while the link is busy.

use airpath_model::{Backlog, Bytes, CapacitySource, Duration, Rate, Timestamp};

use crate::config::{ConfigError, check};
use crate::report;

/// Parameters of [`Qfcp`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QfcpConfig {
    /// First estimate, greater than zero.
    pub initial: Rate,
    /// Upper bound, at least the first estimate and finite: twice the nominal rate (protocols.md, section 5).
    pub maximum: Rate,
    /// Growth for each interval in which the link was not busy throughout, at least one: 1.05 (protocols.md, section
    /// 5; the paper's number is not known).
    pub growth: f64,
    /// How long the output is measured, greater than zero: 200 ms. QFCP takes the mean round trip; this source has
    /// its own timer.
    pub interval: Duration,
}

impl Default for QfcpConfig {
    fn default() -> Self {
        Self {
            initial: Rate::from_bps(10_000_000),
            maximum: Rate::from_bps(20_000_000),
            growth: 1.05,
            interval: Duration::from_millis(200),
        }
    }
}

impl QfcpConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check(self.initial > Rate::ZERO, "initial", "greater than zero", self.initial.as_bps_f64())?;
        check(
            self.initial <= self.maximum && self.maximum < Rate::UNLIMITED,
            "maximum",
            "at least initial and finite",
            self.maximum.as_bps_f64(),
        )?;
        check(
            self.growth >= 1.0 && self.growth.is_finite(),
            "growth",
            "at least one and finite",
            self.growth,
        )?;
        check(!self.interval.is_zero(), "interval", "greater than zero", self.interval.as_secs_f64())
    }
}

/// The capacity source of QFCP (Pu and Hamdi, IEEE TWC 7(6), 2008, as EBE-J describes it; protocols.md, section 5): the
/// output rate of an interval in which packets waited all the time; otherwise the old estimate times a growth
/// factor, up to a bound.
///
/// A busy interval in which nothing left is not over: it goes on until a packet leaves, so that a link slower than
/// one packet an interval is measured rightly, and meanwhile the estimate is at most one packet over the time so
/// far. So the estimate stays above zero in an outage.
#[derive(Clone, Copy, Debug)]
pub struct Qfcp {
    config: QfcpConfig,
    /// Byte/s.
    capacity: f64,
    next: Timestamp,
    began: Timestamp,
    /// Left since `began`.
    departed: Bytes,
    /// Size of the last packet that left.
    last_size: Option<Bytes>,
    /// Nothing waited at some time since `began`.
    emptied: bool,
}

impl Qfcp {
    /// Refuses parameters outside their ranges. The timer starts with the run.
    pub fn new(config: QfcpConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            config,
            capacity: config.initial.bytes_per_second(),
            next: Timestamp::ZERO + config.interval,
            began: Timestamp::ZERO,
            departed: Bytes::ZERO,
            last_size: None,
            emptied: true,
        })
    }

    fn bounded(&self, capacity: f64) -> f64 {
        capacity.min(self.config.maximum.bytes_per_second())
    }
}

impl CapacitySource for Qfcp {
    fn on_departure(&mut self, _now: Timestamp, size: Bytes, backlog: Backlog) {
        self.departed += size;
        self.last_size = Some(size);
        self.emptied |= backlog.bytes.is_zero();
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        if now < self.next {
            return;
        }
        self.next = now + self.config.interval;
        let elapsed = now.since(self.began).as_secs_f64();
        if self.emptied {
            self.capacity = self.bounded(self.capacity * self.config.growth);
        } else if self.departed.is_zero() {
            if let Some(size) = self.last_size {
                self.capacity = self.capacity.min(size.as_f64() / elapsed);
            }
            return;
        } else {
            self.capacity = self.bounded(self.departed.as_f64() / elapsed);
        }
        self.began = now;
        self.departed = Bytes::ZERO;
        self.emptied = backlog.bytes.is_zero();
    }

    fn next_timer(&self) -> Timestamp {
        self.next
    }

    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        Some(self.capacity)
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report::capacity(report, self.capacity);
    }
}
