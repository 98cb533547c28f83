//! QFCP's estimate of a wireless capacity: the output rate while the link is busy.

use airpath_model::{Backlog, Bytes, CapacitySource, Duration, Rate, Timestamp};

#[cfg(feature = "declare")]
use crate::declare::{CapacitySources, SourceContext, SourceFacts, check_order};
use crate::report;
use airpath_model::config::{ConfigError, check, check_timer};
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Values};
#[cfg(feature = "declare")]
use alloc::boxed::Box;

/// QFCP's estimator: the output rate while the link is busy, and growth while it is idle.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct QfcpConfig {
    /// The initial estimate. Default: the mean rate of the link.
    #[cfg_attr(
        feature = "declare",
        schemars(extend(
            "exclusiveMinimum" = 0,
            "exclusiveMaximum" = u64::MAX,
            "x-at-most" = "max_capacity",
            "x-default-from" = "mean_rate"
        ))
    )]
    pub capacity: Rate,
    /// Upper bound of the estimate. Default: twice `capacity` (our choice; the method needs a bound).
    #[cfg_attr(
        feature = "declare",
        schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = u64::MAX, "x-default-from" = "capacity"))
    )]
    pub max_capacity: Rate,
    /// Factor by which the estimate grows in each idle interval (our choice).
    #[cfg_attr(feature = "declare", serde(default = "growth"), schemars(range(min = 1)))]
    pub growth: f64,
    /// Time between two estimates (our choice).
    #[cfg_attr(
        feature = "declare",
        serde(default = "estimation_interval"),
        schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000))
    )]
    pub estimation_interval: Duration,
}

#[cfg(feature = "declare")]
fn growth() -> f64 {
    QfcpConfig::default().growth
}

#[cfg(feature = "declare")]
fn estimation_interval() -> Duration {
    QfcpConfig::default().estimation_interval
}

#[cfg(feature = "declare")]
impl Component<CapacitySources> for QfcpConfig {
    const ID: &'static str = "qfcp";

    fn fill_defaults(given: &mut Values, context: &SourceContext) -> Result<(), ComponentError> {
        let capacity = context.capacity(given)?;
        given.entry("max_capacity").or_insert(capacity.saturating_mul(2).into());
        Ok(())
    }

    fn check(&self) -> Result<(), ComponentError> {
        check_order("capacity", self.capacity, "max_capacity", self.max_capacity)
    }

    fn build(&self, _facts: SourceFacts<'_>) -> Result<Box<dyn CapacitySource>, ConfigError> {
        Ok(Box::new(Qfcp::new(*self)?))
    }
}

impl Default for QfcpConfig {
    fn default() -> Self {
        Self {
            capacity: Rate::from_bps(10_000_000),
            max_capacity: Rate::from_bps(20_000_000),
            growth: 1.05,
            estimation_interval: Duration::from_millis(100),
        }
    }
}

impl QfcpConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check(self.capacity > Rate::ZERO, "capacity", "greater than zero", self.capacity.as_bps_f64())?;
        check(
            self.capacity <= self.max_capacity && self.max_capacity < Rate::UNLIMITED,
            "max_capacity",
            "at least capacity and finite",
            self.max_capacity.as_bps_f64(),
        )?;
        check(
            self.growth >= 1.0 && self.growth.is_finite(),
            "growth",
            "at least one and finite",
            self.growth,
        )?;
        check_timer(self.estimation_interval, "estimation_interval")
    }
}

/// The capacity source of QFCP (Pu and Hamdi, IEEE TWC 7(6), 2008, as EBE-J describes it;
/// docs/reference/sources/qfcp.md): the output rate of an interval in which the queue was never empty;
/// otherwise the old estimate times a growth factor, up to a bound.
///
/// A busy interval without departures (an outage, or less than one packet per interval) does not mean a
/// capacity of zero: the estimate falls to at most one packet per interval, and grows or is measured again
/// from there.
#[derive(Clone, Copy, Debug)]
pub struct Qfcp {
    config: QfcpConfig,
    /// Byte/s.
    capacity: f64,
    next: Timestamp,
    began: Timestamp,
    /// Data that departed since `began`.
    departed: Bytes,
    /// Size of the last packet that departed.
    last_size: Option<Bytes>,
    /// Whether the queue was empty at some time since `began`.
    emptied: bool,
}

impl Qfcp {
    /// Creates a source whose timer starts with the run. Rejects parameters outside their ranges.
    pub fn new(config: QfcpConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            config,
            capacity: config.capacity.bytes_per_second(),
            next: Timestamp::ZERO + config.estimation_interval,
            began: Timestamp::ZERO,
            departed: Bytes::ZERO,
            last_size: None,
            emptied: true,
        })
    }

    fn bounded(&self, capacity: f64) -> f64 {
        capacity.min(self.config.max_capacity.bytes_per_second())
    }
}

impl CapacitySource for Qfcp {
    fn on_departure(&mut self, _now: Timestamp, size: Bytes, backlog: Backlog) {
        self.departed += size;
        // A driver that samples a queue also reports departures of zero bytes.
        if !size.is_zero() {
            self.last_size = Some(size);
        }
        self.emptied |= backlog.bytes.is_zero();
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        if now < self.next {
            return;
        }
        self.next = now + self.config.estimation_interval;
        let elapsed = now.since(self.began).as_secs_f64();
        self.capacity = if self.emptied {
            self.bounded(self.capacity * self.config.growth)
        } else if self.departed.is_zero() {
            let packet = self.last_size.map_or(f64::INFINITY, Bytes::as_f64);
            self.capacity.min(packet / elapsed)
        } else {
            self.bounded(self.departed.as_f64() / elapsed)
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: QfcpConfig = QfcpConfig {
        capacity: Rate::from_bps(10_000_000),
        max_capacity: Rate::from_bps(20_000_000),
        growth: 1.05,
        estimation_interval: Duration::from_millis(200),
    };

    fn backlog(packets: u64) -> Backlog {
        Backlog { bytes: Bytes::new(packets * 1000), packets }
    }

    fn at(milliseconds: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(milliseconds)
    }

    /// Returns the estimate in bit/s after the interval that ends at `milliseconds`.
    fn after(source: &mut Qfcp, milliseconds: u64, packets: u64) -> f64 {
        source.on_timer(at(milliseconds), backlog(packets));
        8.0 * source.capacity(at(milliseconds)).unwrap()
    }

    #[test]
    fn the_estimate_grows_when_idle_and_is_measured_when_busy() {
        let mut source = Qfcp::new(CONFIG).unwrap();
        assert!((after(&mut source, 200, 100) - 10.5e6).abs() < 1.0);
        for departure in 0..50 {
            source.on_departure(at(210 + departure), Bytes::new(1000), backlog(99 - departure));
        }
        assert!((after(&mut source, 400, 50) - 2e6).abs() < 1.0);
        // The last departure emptied the queue.
        source.on_departure(at(410), Bytes::new(1000), backlog(0));
        assert!((after(&mut source, 600, 5) - 2.1e6).abs() < 1.0);
        // Busy without departures: at most one packet per interval.
        assert!((after(&mut source, 800, 5) - 40e3).abs() < 1.0);
        assert!((after(&mut source, 1000, 5) - 40e3).abs() < 1.0);
    }

    #[test]
    fn growth_and_measurement_stop_at_the_bound() {
        let mut source = Qfcp::new(CONFIG).unwrap();
        for interval in 1..100 {
            after(&mut source, 200 * interval, 0);
        }
        assert!((after(&mut source, 20_000, 1) - 20e6).abs() < 1.0);
        source.on_departure(at(20_100), Bytes::new(100_000_000), backlog(1));
        assert!((after(&mut source, 20_200, 1) - 20e6).abs() < 1.0);
    }

    #[test]
    fn impossible_parameters_are_rejected_by_name() {
        let refused = |change: fn(&mut QfcpConfig)| {
            let mut config = QfcpConfig::default();
            change(&mut config);
            Qfcp::new(config).unwrap_err().parameter
        };
        assert_eq!(refused(|config| config.capacity = Rate::ZERO), "capacity");
        assert_eq!(refused(|config| config.max_capacity = Rate::from_bps(1)), "max_capacity");
        assert_eq!(refused(|config| config.max_capacity = Rate::UNLIMITED), "max_capacity");
        assert_eq!(refused(|config| config.growth = 0.99), "growth");
        assert_eq!(refused(|config| config.estimation_interval = Duration::ZERO), "estimation_interval");
    }

    #[test]
    fn samples_without_departures_count_no_packets() {
        let mut qfcp = Qfcp::new(CONFIG).unwrap();
        qfcp.on_departure(at(10), Bytes::new(1000), backlog(5));
        qfcp.on_timer(at(200), backlog(5));
        for sample in 21..=40 {
            qfcp.on_departure(at(10 * sample), Bytes::ZERO, backlog(5));
        }
        qfcp.on_timer(at(400), backlog(5));
        assert_eq!(qfcp.capacity(at(400)), Some(5000.0), "one packet in 200 ms, not zero forever");
    }

    #[test]
    fn the_timer_fires_one_interval_after_it_fired() {
        let mut source = Qfcp::new(CONFIG).unwrap();
        assert_eq!(source.next_timer(), at(200));
        assert!((after(&mut source, 199, 0) - 10e6).abs() < 1.0, "too early");
        assert!((after(&mut source, 230, 1) - 10.5e6).abs() < 1.0);
        assert_eq!(source.next_timer(), at(430));
        source.on_departure(at(300), Bytes::new(25_000), backlog(1));
        assert!((after(&mut source, 430, 1) - 1e6).abs() < 1.0, "25 kB in 200 ms");
    }
}
