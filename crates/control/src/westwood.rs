//! Westwood: a loss sets the window to a measured value instead of to half.

use airpath_model::{
    AckEvent, AckRateEstimator, Bytes, CongestionEvent, CongestionSignal, Duration, Probe, Requirements,
};

use crate::{Counting, NewReno, ThresholdUnit, WindowRule};

/// Parameters of [`Westwood`]; the defaults are those of 2001.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct WestwoodConfig {
    /// Whether a loss can only lower the window (Westwood 2001, the ns-2 module of 2002, SARBE); otherwise it
    /// may raise it to bandwidth times RTT (the text of GM; Linux).
    pub guard: bool,
    /// When a loss sets the window: `at-loss`, or `after-recovery`, with half of the flight until then
    /// (Linux).
    pub reduction: WestwoodReduction,
    /// RTT by which the bandwidth is multiplied: the smallest `of-flow`, or the smallest `since-timeout`,
    /// because the path may have changed (Linux). Westwood+ has its own rule.
    pub minimum_rtt: MinimumRtt,
    /// Unit of bandwidth times RTT: whole `segments`, rounded down (the ns-2 module of 2002, Linux), or
    /// `bytes`, without rounding (the papers' formula).
    pub threshold_unit: ThresholdUnit,
    /// The unit by which the window grows in congestion avoidance, as for NewReno.
    pub counting: Counting,
}

impl Default for WestwoodConfig {
    fn default() -> Self {
        Self {
            guard: true,
            reduction: WestwoodReduction::default(),
            minimum_rtt: MinimumRtt::default(),
            threshold_unit: ThresholdUnit::Segments,
            counting: Counting::default(),
        }
    }
}

/// When a loss sets the window to bandwidth times RTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum WestwoodReduction {
    /// At once (Mascolo et al. 2001; GM; SARBE).
    #[default]
    AtLoss,
    /// After every loss of the event is repaired, with the estimate at that time; until then half of the
    /// flight, as in `NewReno` (Linux). The response to a CE echo is immediate.
    AfterRecovery,
}

/// The RTT samples over which the smallest is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum MinimumRtt {
    /// All samples (the papers).
    #[default]
    OfFlow,
    /// All samples since the last timeout, after which the path may be different (Linux).
    SinceTimeout,
}

/// Westwood's adaptive decrease with any ACK-rate estimator (Mascolo et al. 2001; GM, section 2; SARBE eq.
/// 6).
///
/// Grows as [`NewReno`]. A loss or a CE echo sets threshold and window to B `RTT_min`; a timeout sets only
/// the threshold. Before the first estimate they are set to half of the flight.
#[derive(Clone, Debug)]
pub struct Westwood<E> {
    config: WestwoodConfig,
    estimator: E,
    growth: NewReno,
    minimum_rtt: Option<Duration>,
    /// Whether the next RTT sample replaces the smallest.
    relearn: bool,
}

impl<E: AckRateEstimator> Westwood<E> {
    /// Creates the rule with `estimator`.
    pub fn new(estimator: E, config: WestwoodConfig) -> Self {
        Self { config, estimator, growth: NewReno::new(config.counting), minimum_rtt: None, relearn: false }
    }

    /// Returns B `RTT_min`.
    fn bandwidth_times_rtt(&self, mss: Bytes) -> Option<Bytes> {
        let rtt = self.estimator.minimum_rtt().or(self.minimum_rtt)?;
        let bytes = self.estimator.bandwidth()? * rtt.as_secs_f64();
        // A float-to-integer conversion with `as` saturates.
        Some(self.config.threshold_unit.round(Bytes::new(bytes as u64), mss))
    }
}

impl<E: AckRateEstimator + Clone> WindowRule for Westwood<E> {
    fn on_ack(&mut self, _window: Bytes, event: &AckEvent, probe: &mut dyn Probe) {
        if let Some(sample) = event.rtt_sample {
            let known = self.minimum_rtt.filter(|_| !self.relearn);
            self.minimum_rtt = Some(known.map_or(sample, |known| known.min(sample)));
            self.relearn = false;
        }
        self.estimator.on_ack(event, probe);
    }

    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        self.growth.congestion_avoidance(window, event)
    }

    fn reduce(&mut self, window: Bytes, event: &CongestionEvent, probe: &mut dyn Probe) -> Bytes {
        let half = self.growth.reduce(window, event, probe);
        let ssthresh = self.bandwidth_times_rtt(event.mss).unwrap_or(half);
        self.estimator.on_congestion(event);
        if event.signal == CongestionSignal::Timeout {
            self.relearn = self.config.minimum_rtt == MinimumRtt::SinceTimeout;
        }
        let later = self.config.reduction == WestwoodReduction::AfterRecovery;
        if later && event.signal == CongestionSignal::Loss { half } else { ssthresh }
    }

    fn window_after_loss(&self, window: Bytes, ssthresh: Bytes) -> Bytes {
        let raise = !self.config.guard && self.config.reduction == WestwoodReduction::AtLoss;
        if raise { ssthresh } else { window.min(ssthresh) }
    }

    fn window_after_recovery(&self, window: Bytes, event: &AckEvent) -> Option<Bytes> {
        let measured = match self.config.reduction {
            WestwoodReduction::AtLoss => None,
            WestwoodReduction::AfterRecovery => self.bandwidth_times_rtt(event.mss),
        }?;
        Some(if self.config.guard { measured.min(window) } else { measured })
    }

    fn requirements(&self) -> Requirements {
        let needs = self.estimator.requirements();
        Requirements {
            receiver_time: needs.receiver_time,
            rate_samples: needs.rate_samples,
            ..Requirements::default()
        }
    }
}

#[cfg(test)]
mod tests;
