//! QFCP's estimate of a wireless capacity: what leaves while the link is busy.

use airpath_model::{Backlog, Bytes, CapacitySource, Duration, Rate, Timestamp};

use crate::report;
use airpath_model::config::{ConfigError, check, check_timer};

/// Parameters of [`Qfcp`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QfcpConfig {
    /// First estimate, greater than zero.
    pub initial: Rate,
    /// Upper bound, at least the first estimate and finite: twice the nominal rate.
    pub maximum: Rate,
    /// Growth for each interval in which the link was not busy throughout, at least one: 1.05 (our
    /// choice; the paper's number is not known).
    pub growth: f64,
    /// How long the output is measured, greater than zero: 100 ms (our choice). QFCP takes the mean round trip; this source has
    /// its own timer.
    pub interval: Duration,
}

impl Default for QfcpConfig {
    fn default() -> Self {
        Self {
            initial: Rate::from_bps(10_000_000),
            maximum: Rate::from_bps(20_000_000),
            growth: 1.05,
            interval: Duration::from_millis(100),
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
        check_timer(self.interval, "interval")
    }
}

/// The capacity source of QFCP (Pu and Hamdi, IEEE TWC 7(6), 2008, as EBE-J describes it; docs/sources/qfcp.md): the
/// output rate of an interval in which packets waited all the time; otherwise the old estimate times a growth
/// factor, up to a bound.
///
/// A busy interval in which nothing left (an outage, or less than one packet an interval) is not taken for a capacity
/// of zero: the estimate falls to at most one packet an interval, and grows or is measured again from there.
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
        // Who samples a queue says also that nothing left.
        if !size.is_zero() {
            self.last_size = Some(size);
        }
        self.emptied |= backlog.bytes.is_zero();
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        if now < self.next {
            return;
        }
        self.next = now + self.config.interval;
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
        initial: Rate::from_bps(10_000_000),
        maximum: Rate::from_bps(20_000_000),
        growth: 1.05,
        interval: Duration::from_millis(200),
    };

    fn backlog(packets: u64) -> Backlog {
        Backlog { bytes: Bytes::new(packets * 1000), packets }
    }

    fn at(milliseconds: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(milliseconds)
    }

    /// The estimate in bit/s after the interval that ends at `milliseconds`.
    fn after(source: &mut Qfcp, milliseconds: u64, packets: u64) -> f64 {
        source.on_timer(at(milliseconds), backlog(packets));
        8.0 * source.capacity(at(milliseconds)).unwrap()
    }

    #[test]
    fn idle_grows_busy_measures() {
        let mut source = Qfcp::new(CONFIG).unwrap();
        assert!((after(&mut source, 200, 100) - 10.5e6).abs() < 1.0);
        for departure in 0..50 {
            source.on_departure(at(210 + departure), Bytes::new(1000), backlog(99 - departure));
        }
        assert!((after(&mut source, 400, 50) - 2e6).abs() < 1.0);
        // Emptied by the last departure.
        source.on_departure(at(410), Bytes::new(1000), backlog(0));
        assert!((after(&mut source, 600, 5) - 2.1e6).abs() < 1.0);
        // Busy, but nothing leaves: at most one packet an interval.
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
    fn impossible_parameters_are_refused_by_name() {
        let refused = |change: fn(&mut QfcpConfig)| {
            let mut config = QfcpConfig::default();
            change(&mut config);
            Qfcp::new(config).unwrap_err().parameter
        };
        assert_eq!(refused(|config| config.initial = Rate::ZERO), "initial");
        assert_eq!(refused(|config| config.maximum = Rate::from_bps(1)), "maximum");
        assert_eq!(refused(|config| config.maximum = Rate::UNLIMITED), "maximum");
        assert_eq!(refused(|config| config.growth = 0.99), "growth");
        assert_eq!(refused(|config| config.interval = Duration::ZERO), "interval");
    }

    #[test]
    fn samples_in_which_nothing_left_are_no_packets() {
        let mut qfcp = Qfcp::new(CONFIG).unwrap();
        qfcp.on_departure(at(10), Bytes::new(1000), backlog(5));
        qfcp.on_timer(at(200), backlog(5));
        for sample in 21..=40 {
            qfcp.on_departure(at(10 * sample), Bytes::ZERO, backlog(5));
        }
        qfcp.on_timer(at(400), backlog(5));
        assert_eq!(qfcp.capacity(at(400)), Some(5000.0), "one packet in 200 ms, not nothing for ever");
    }

    #[test]
    fn the_timer_comes_an_interval_after_it_came() {
        let mut source = Qfcp::new(CONFIG).unwrap();
        assert_eq!(source.next_timer(), at(200));
        assert!((after(&mut source, 199, 0) - 10e6).abs() < 1.0, "too early");
        assert!((after(&mut source, 230, 1) - 10.5e6).abs() < 1.0);
        assert_eq!(source.next_timer(), at(430));
        source.on_departure(at(300), Bytes::new(25_000), backlog(1));
        assert!((after(&mut source, 430, 1) - 1e6).abs() < 1.0, "25 kB in 200 ms");
    }
}
