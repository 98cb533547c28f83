//! XCP-b, blind XCP: spare bandwidth from the variation of the queue, without a capacity.

use airpath_model::{CapacitySource, ControlInterval, Spare, Timestamp};

#[cfg(feature = "declare")]
use crate::declare::{CapacitySources, SourceFacts, SourceNeeds};
use airpath_model::config::{ConfigError, check};
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, defaults};
#[cfg(feature = "declare")]
use alloc::boxed::Box;

/// The statistic of the queue over a control interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum QueueSignal {
    /// The shortest queue (the only statistic that detects an empty queue if κ is 0).
    #[default]
    Minimum,
    /// The time average.
    Mean,
    /// The last value.
    Last,
}

/// XCP-b: spare bandwidth from the variation of the queue; for the protocol `xcp` only.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct XcpBConfig {
    /// Target queue as a share of the buffer. 0 reproduces the EBE papers' ordering of schemes; 0.05 with
    /// `signal = "mean"` and `chi` 0.05 performs better.
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::kappa"),
        schemars(range(min = 0), extend("exclusiveMaximum" = 1))
    )]
    pub kappa: f64,
    /// Probing step as a share of the buffer; the buffer does not overflow up to 1/(5 - alpha - beta) = 0.2286.
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::chi"),
        schemars(range(max = 1), extend("exclusiveMinimum" = 0))
    )]
    pub chi: f64,
    /// Number of successive control intervals with an empty queue before an interval that probes; 0 probes at
    /// once.
    #[cfg_attr(feature = "declare", serde(default = "default::late_reaction"))]
    pub late_reaction: u32,
    /// Statistic of the queue over a control interval: its `minimum`, its `mean` over time, or the `last`
    /// value.
    #[cfg_attr(feature = "declare", serde(default))]
    pub signal: QueueSignal,
    /// α of the XCP router that uses the source, greater than zero: 0.4. The router multiplies the result of
    /// this source by α, so the term with χ has to be divided by it. Not a parameter of the source.
    #[cfg_attr(feature = "declare", serde(skip))]
    pub alpha: f64,
}

#[cfg(feature = "declare")]
defaults! {
    kappa: f64 = 0.0;
    chi: f64 = 0.2;
    late_reaction: u32 = 2;
}

#[cfg(feature = "declare")]
impl Component<CapacitySources> for XcpBConfig {
    const ID: &'static str = "xcp-b";

    fn needs(&self) -> SourceNeeds {
        SourceNeeds { limit: true, xcp: Some("XCP-b's capacity source serves XCP only") }
    }

    fn build(&self, facts: SourceFacts<'_>) -> Result<Box<dyn CapacitySource>, ConfigError> {
        // Without XCP a driver has rejected this source because of its needs.
        let alpha = facts.xcp_alpha.unwrap_or(f64::NAN);
        Ok(Box::new(XcpB::new(Self { alpha, ..*self })?))
    }
}

impl Default for XcpBConfig {
    fn default() -> Self {
        Self { kappa: 0.0, chi: 0.2, late_reaction: 2, signal: QueueSignal::default(), alpha: 0.4 }
    }
}

impl XcpBConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check((0.0..1.0).contains(&self.kappa), "kappa", "at least zero and less than one", self.kappa)?;
        check(self.chi > 0.0 && self.chi <= 1.0, "chi", "greater than zero and at most one", self.chi)?;
        check(self.alpha > 0.0 && self.alpha.is_finite(), "alpha", "greater than zero and finite", self.alpha)
    }
}

/// XCP-b's spare bandwidth (Abrantes and Ricardo, CCR 36(3), 2006). Its text was not available; this is a
/// reconstruction, which satisfies the published bound of χ.
///
/// With Q the queue signal and d the control interval, the aggregate feedback in bytes for one interval is
///
/// - φ = −α (`Q_k` − `Q_{k−1}`) − β (`Q_k` − κ B) in general: S = −(`Q_k` − `Q_{k−1}`)/d, and a queue of `Q_k` − κ B to
///   drain, negative below the target;
/// - φ = χ B if the queue was empty (`Q_k` = `Q_{k−1}` = 0), also in the `late_reaction` intervals before:
///   S = χ B/(α d).
///
/// Implements only [`CapacitySource::spare`]. Reports `spare_bandwidth` (byte/s) and `empty_intervals`.
#[derive(Clone, Copy, Debug)]
pub struct XcpB {
    config: XcpBConfig,
    /// `Q_{k−1}`, bytes.
    previous: f64,
    /// Number of successive intervals with an empty queue.
    empty: u32,
    /// The last returned value, byte/s.
    answered: f64,
}

impl XcpB {
    /// Creates a source. Rejects parameters outside their ranges. The queue before the first interval counts
    /// as empty.
    pub fn new(config: XcpBConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { config, previous: 0.0, empty: 0, answered: 0.0 })
    }
}

impl CapacitySource for XcpB {
    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        None
    }

    fn spare(&mut self, interval: &ControlInterval) -> Spare {
        let length = interval.length.as_secs_f64();
        let queue = match self.config.signal {
            QueueSignal::Minimum => interval.shortest_queue,
            QueueSignal::Mean => interval.mean_queue,
            QueueSignal::Last => interval.last_queue,
        };
        let previous = core::mem::replace(&mut self.previous, queue);
        self.empty = if queue <= 0.0 && previous <= 0.0 { self.empty.saturating_add(1) } else { 0 };
        let spare = if length <= 0.0 {
            Spare { bandwidth: 0.0, queue: 0.0 }
        } else if self.empty > self.config.late_reaction {
            // Distributed over the next interval, which lasts a mean RTT: `chi` of the buffer in total.
            let mean_rtt = interval.mean_rtt.as_secs_f64();
            let next = if mean_rtt > 0.0 { mean_rtt } else { length };
            let bandwidth = self.config.chi * interval.buffer / (self.config.alpha * next);
            Spare { bandwidth, queue: 0.0 }
        } else {
            Spare {
                bandwidth: (previous - queue) / length,
                queue: queue - self.config.kappa * interval.buffer,
            }
        };
        self.answered = spare.bandwidth;
        spare
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("spare_bandwidth", self.answered);
        report("empty_intervals", f64::from(self.empty));
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::Duration;

    use super::*;

    const ALPHA: f64 = 0.4;
    const BETA: f64 = 0.226;
    const BUFFER: f64 = 100_000.0;

    /// Returns φ, bytes, for an interval of 100 ms with a queue of `queue` bytes.
    fn feedback(source: &mut XcpB, queue: f64) -> f64 {
        feedback_after(source, Duration::from_millis(100), queue)
    }

    /// Returns φ, bytes, for an interval of 100 ms after one of another length.
    fn feedback_after(source: &mut XcpB, length: Duration, queue: f64) -> f64 {
        let spare = source.spare(&ControlInterval {
            now: Timestamp::ZERO,
            length,
            input_rate: 0.0,
            probing: 1.0,
            mean_rtt: Duration::from_millis(100),
            queue,
            shortest_queue: queue,
            mean_queue: 2.0 * queue,
            last_queue: 3.0 * queue,
            buffer: BUFFER,
        });
        ALPHA * 0.1 * spare.bandwidth - BETA * spare.queue
    }

    fn source(change: impl FnOnce(&mut XcpBConfig)) -> XcpB {
        let mut config = XcpBConfig::default();
        change(&mut config);
        XcpB::new(config).unwrap()
    }

    #[test]
    fn a_probe_is_a_share_of_the_buffer_for_any_previous_interval() {
        for millis in [50, 100, 400] {
            let mut source = source(|config| config.late_reaction = 0);
            let probe = feedback_after(&mut source, Duration::from_millis(millis), 0.0);
            assert!((probe - 0.2 * BUFFER).abs() < 1e-6, "{probe} after {millis} ms");
        }
    }

    #[test]
    fn an_empty_queue_is_probed_after_the_late_reaction() {
        let mut source = source(|_| {});
        assert!(feedback(&mut source, 0.0).abs() < 1e-9);
        assert!(feedback(&mut source, 0.0).abs() < 1e-9);
        assert!((feedback(&mut source, 0.0) - 0.2 * BUFFER).abs() < 1e-6);
        // One interval with a queue; the next one still observed it.
        assert!((feedback(&mut source, 1000.0) + (ALPHA + BETA) * 1000.0).abs() < 1e-6);
        assert!((feedback(&mut source, 0.0) - ALPHA * 1000.0).abs() < 1e-6);
        assert!(feedback(&mut source, 0.0).abs() < 1e-9);
        assert!(feedback(&mut source, 0.0).abs() < 1e-9);
        assert!((feedback(&mut source, 0.0) - 0.2 * BUFFER).abs() < 1e-6);
    }

    #[test]
    fn kappa_determines_the_equilibrium_queue() {
        let mut source = source(|config| config.kappa = 0.05);
        feedback(&mut source, 0.05 * BUFFER);
        assert!(feedback(&mut source, 0.05 * BUFFER).abs() < 1e-6);
        assert!(feedback(&mut source, 0.04 * BUFFER) > 0.0);
    }

    #[test]
    fn the_signal_selects_the_queue() {
        for (signal, factor) in
            [(QueueSignal::Minimum, 1.0), (QueueSignal::Mean, 2.0), (QueueSignal::Last, 3.0)]
        {
            let mut source = source(|config| config.signal = signal);
            let expected = -(ALPHA + BETA) * factor * 1000.0;
            assert!((feedback(&mut source, 1000.0) - expected).abs() < 1e-6);
        }
    }

    /// With one interval of extra feedback delay, the law, started at exactly full load, peaks at (5 − α − β)
    /// χ B, from which the published bound of χ follows.
    #[test]
    fn the_queue_peaks_at_the_published_bound() {
        let mut source = source(|config| config.late_reaction = 0);
        let (mut queue, mut excess, mut peak) = (0.0_f64, 0.0, 0.0_f64);
        let mut under_way = 0.0;
        for _ in 0..12 {
            let new = feedback(&mut source, queue);
            excess += under_way;
            under_way = new;
            queue = (queue + excess).max(0.0);
            peak = peak.max(queue);
        }
        let expected = (5.0 - ALPHA - BETA) * 0.2 * BUFFER;
        assert!((peak / expected - 1.0).abs() < 1e-9, "{peak} {expected}");
    }

    #[test]
    fn impossible_parameters_are_rejected_by_name() {
        let refused = |change: fn(&mut XcpBConfig)| {
            let mut config = XcpBConfig::default();
            change(&mut config);
            XcpB::new(config).unwrap_err().parameter
        };
        assert_eq!(refused(|config| config.kappa = 1.0), "kappa");
        assert_eq!(refused(|config| config.chi = 0.0), "chi");
        assert_eq!(refused(|config| config.alpha = 0.0), "alpha");
    }

    fn interval(length: u64, mean_rtt: u64) -> ControlInterval {
        ControlInterval {
            now: Timestamp::ZERO,
            length: Duration::from_millis(length),
            input_rate: 0.0,
            probing: 1.0,
            mean_rtt: Duration::from_millis(mean_rtt),
            queue: 0.0,
            shortest_queue: 0.0,
            mean_queue: 0.0,
            last_queue: 0.0,
            buffer: BUFFER,
        }
    }

    /// The report contains the same value.
    #[test]
    fn without_a_round_trip_time_the_next_interval_has_the_same_length() {
        let mut source = source(|config| config.late_reaction = 0);
        let spare = source.spare(&interval(50, 0));
        assert!((spare.bandwidth - 0.2 * BUFFER / (ALPHA * 0.05)).abs() < 1e-6, "{spare:?}");
        source.observe(&mut |name, value| {
            assert!(name != "spare_bandwidth" || (value - spare.bandwidth).abs() < 1e-9);
        });
    }

    #[test]
    fn an_interval_of_zero_length_has_no_spare_bandwidth() {
        let mut source = source(|config| config.late_reaction = 0);
        assert_eq!(source.spare(&interval(0, 100)), Spare { bandwidth: 0.0, queue: 0.0 });
    }
}
