//! CUBIC whose plateau follows an estimate.

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Measurement, Probe, SendEvent, WindowCeilingEstimator,
};

use crate::{Cubic, WindowRule};

/// The quantity that the estimator's Υ multiplies while it probes. EBE-J, section III-C, specifies "cwnd", on
/// its estimation timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum ProbingGrowth {
    /// The window, over a round trip: Υ − 1 segments for each acknowledged one, or CUBIC's growth if that is
    /// larger.
    #[default]
    Acknowledged,
    /// The window, at the end of each estimation interval: the paper read literally. Over a round trip of 500
    /// ms Υ = 2 multiplies it by 5.7.
    Interval,
    /// CUBIC's growth.
    Increment,
    /// `W_max`.
    Ceiling,
}

/// [`Cubic`] with `W_max` from an estimator (EBE-J, sections II-A and III-C).
///
/// At a loss CUBIC sets its `W_max` as usual, and the estimator registers it. From then on `W_max` is the
/// estimate: at each change, the curve of the current epoch is recomputed for the new plateau, with the same
/// start and clock. The estimate persists over a timeout, after which plain CUBIC has no `W_max`. While the
/// estimator probes, the window grows according to [`ProbingGrowth`], except in slow start.
///
/// Telemetry, at the end of each estimation interval: `w_max` in segments and the quantities that the
/// estimator reports; at each loss `w_max`, as for CUBIC.
#[derive(Clone, Debug)]
pub struct CubicEbe<E> {
    cubic: Cubic,
    estimator: E,
    growth: ProbingGrowth,
    /// Whether an estimation interval has ended whose growth has not been applied yet
    /// ([`ProbingGrowth::Interval`]).
    due: bool,
}

impl<E: WindowCeilingEstimator> CubicEbe<E> {
    /// Combines CUBIC with an estimator of `W_max`.
    pub const fn new(cubic: Cubic, estimator: E, growth: ProbingGrowth) -> Self {
        Self { cubic, estimator, growth, due: false }
    }

    fn is_probing(&self) -> bool {
        self.estimator.probing() > 1.0
    }

    fn follow_estimate(&mut self) {
        if let Some(ceiling) = self.estimator.ceiling() {
            let factor = if self.growth == ProbingGrowth::Ceiling { self.estimator.probing() } else { 1.0 };
            self.cubic.set_w_max(factor * ceiling);
        }
    }
}

impl<E: WindowCeilingEstimator> WindowRule for CubicEbe<E> {
    fn on_sent(&mut self, event: &SendEvent) {
        self.cubic.on_sent(event);
    }

    fn on_ack(&mut self, window: Bytes, event: &AckEvent, probe: &mut dyn Probe) {
        self.cubic.on_ack(window, event, probe);
        let segments = window.as_f64() / event.mss.as_f64();
        if self.estimator.on_ack(event.now, segments, &event.rtt) {
            self.due = self.is_probing();
            self.follow_estimate();
            let mut record = |name, value| probe.record(event.now, Measurement::Named(name, value));
            if let Some(w_max) = self.cubic.w_max() {
                record("w_max", w_max);
            }
            self.estimator.observe(&mut record);
        }
    }

    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        let cubic = self.cubic.congestion_avoidance(window, event);
        let due = core::mem::take(&mut self.due);
        if !self.is_probing() {
            return cubic;
        }
        let upsilon = self.estimator.probing();
        match self.growth {
            ProbingGrowth::Acknowledged => cubic.max(window + event.acked.mul_f64(upsilon - 1.0)),
            ProbingGrowth::Interval if due => cubic.max(window.mul_f64(upsilon)),
            ProbingGrowth::Increment => window + (cubic - window).mul_f64(upsilon),
            ProbingGrowth::Interval | ProbingGrowth::Ceiling => cubic,
        }
    }

    fn reduce(&mut self, window: Bytes, event: &CongestionEvent, probe: &mut dyn Probe) -> Bytes {
        let reduced = self.cubic.reduce(window, event, probe);
        self.due = false;
        if event.signal == CongestionSignal::Timeout {
            self.follow_estimate();
        } else if let Some(w_max) = self.cubic.w_max() {
            self.estimator.on_loss(event.now, w_max, &event.rtt);
        }
        reduced
    }
}

#[cfg(test)]
mod tests;
