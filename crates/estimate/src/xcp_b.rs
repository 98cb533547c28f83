//! XCP-b, blind XCP: spare bandwidth from how the queue moves, without any capacity.

use airpath_model::{CapacitySource, ControlInterval, Spare, Timestamp};

use crate::config::{ConfigError, check};

/// Which queue of a control interval counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueSignal {
    /// The shortest (findings-router.md, section 3: only this one sees an empty queue when κ is 0).
    #[default]
    Minimum,
    /// The mean over time.
    Mean,
    /// The last.
    Last,
}

/// Parameters of [`XcpB`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct XcpBConfig {
    /// Target queue as a share of the buffer, in [0, 1): 0 (findings-router.md, section 3; improved variant 0.05).
    pub kappa: f64,
    /// χ, the share of the buffer that is given out in one interval when the queue is empty, in (0, 1]: 0.2. No
    /// overflow is guaranteed up to 1/(5 − α − β) = 0.2286.
    pub chi: f64,
    /// Empty intervals in a row before that happens (late reaction), at least one: 2.
    pub late_reaction: u32,
    /// Which queue of an interval counts.
    pub signal: QueueSignal,
    /// α of the XCP router that asks, greater than zero: 0.4. It multiplies what this source answers, so the answer
    /// for χ has to be divided by it.
    pub alpha: f64,
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
        check(self.late_reaction >= 1, "late_reaction", "at least one", f64::from(self.late_reaction))?;
        check(self.alpha > 0.0 && self.alpha.is_finite(), "alpha", "greater than zero and finite", self.alpha)
    }
}

/// XCP-b's spare bandwidth (Abrantes and Ricardo, CCR 36(3), 2006; its text was not available, this is the
/// reconstruction of protocols.md, section 2, which meets the published bound of χ).
///
/// With Q the queue signal and d the control interval, the aggregate feedback in bytes for one interval is
///
/// - φ = −α (`Q_k` − `Q_{k−1}`) − β (`Q_k` − κ B) in general: S = −(`Q_k` − `Q_{k−1}`)/d, and a queue of `Q_k` − κ B to
///   drain, negative below the target;
/// - φ = χ B after the queue was empty (`Q_k` = `Q_{k−1}` = 0) in `late_reaction` intervals in a row: S = χ B/(α d).
///
/// It answers only [`CapacitySource::spare`]. Reports `spare_bandwidth` (byte/s) and `empty_intervals`.
#[derive(Clone, Copy, Debug)]
pub struct XcpB {
    config: XcpBConfig,
    /// `Q_{k−1}`, bytes.
    previous: f64,
    /// Intervals in a row that found the queue empty.
    empty: u32,
    /// The last answer, byte/s.
    answered: f64,
}

impl XcpB {
    /// Refuses parameters outside their ranges. The queue before the first interval counts as empty.
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
        } else if self.empty >= self.config.late_reaction {
            let bandwidth = self.config.chi * interval.buffer / (self.config.alpha * length);
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
