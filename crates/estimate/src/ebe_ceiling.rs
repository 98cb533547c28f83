//! EBE at a sender: the window ceiling from an extended Kalman filter, and the decision to probe beyond it.

use airpath_model::{Duration, RttEstimate, Timestamp, WindowCeilingEstimator};

use crate::interval_means::IntervalMeans;
use crate::{
    CeilingCycle, CeilingFilter, CeilingMeasured, CeilingProfile, RttMaintainer, RttThreshold, Trigger,
};
use airpath_model::config::{ConfigError, check};

/// Parameters of [`EbeCeiling`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct EbeCeilingConfig {
    /// The filter: as printed in EBE-J (`journal`), with measurement noise of at least 5 % of W_max and one
    /// correction per round trip (`recommended`; ours), or `none`.
    pub profile: CeilingProfile,
    /// The RTT maintainer: whether the window probes beyond W_max if the queue is short.
    pub maintainer: RttMaintenance,
    /// Reference of the maintainer's threshold: the `queueing-delay` at the last loss, above the smallest
    /// RTT, or the whole RTT (`literal`: EBE-J as printed, which a long path never meets).
    pub rtt_threshold: RttThreshold,
    /// The maintainer's threshold as a share of that reference (EBE-J, section III-C: 0.15).
    #[cfg_attr(feature = "declare", schemars(range(max = 1), extend("exclusiveMinimum" = 0)))]
    pub threshold: f64,
    /// Upsilon (EBE-J, section III-C: 2.0); 1.2 to 1.4 lose less.
    #[cfg_attr(feature = "declare", schemars(range(min = 1)))]
    pub upsilon: f64,
    /// Number of RTTs after a loss during which the maintainer is inactive; ours.
    #[cfg_attr(feature = "declare", schemars(range(min = 0)))]
    pub hold_off: f64,
    /// The condition under which the filter corrects the ceiling.
    #[cfg_attr(feature = "declare", serde(flatten))]
    pub trigger: Trigger,
    /// The measurement timer, greater than zero: 10 ms (EBE-J, section III-A).
    #[cfg_attr(feature = "declare", serde(skip))]
    pub sampling: Duration,
    /// The estimation timer, at least the measurement timer: 200 ms (EBE-J, section III-A).
    #[cfg_attr(feature = "declare", serde(skip))]
    pub interval: Duration,
}

/// The choice of an RTT maintainer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum RttMaintenance {
    /// The window probes beyond the ceiling if the queue is short.
    #[default]
    On,
    /// No maintainer.
    Off,
}

impl Default for EbeCeilingConfig {
    fn default() -> Self {
        Self {
            profile: CeilingProfile::default(),
            maintainer: RttMaintenance::default(),
            rtt_threshold: RttThreshold::default(),
            threshold: 0.15,
            upsilon: 2.0,
            hold_off: 1.0,
            trigger: Trigger::default(),
            sampling: Duration::from_millis(10),
            interval: Duration::from_millis(200),
        }
    }
}

impl EbeCeilingConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let Trigger { epsilon, omega, nu } = self.trigger;
        check(epsilon > 0.0 && epsilon.is_finite(), "epsilon", "greater than 0 and finite", epsilon)?;
        check(omega > 0.0 && omega < nu, "omega", "greater than 0 and less than nu", omega)?;
        check(nu < 1.0, "nu", "less than 1", nu)?;
        check(
            self.threshold > 0.0 && self.threshold <= 1.0,
            "threshold",
            "greater than 0 and at most 1",
            self.threshold,
        )?;
        check(
            self.upsilon >= 1.0 && self.upsilon.is_finite(),
            "upsilon",
            "at least 1 and finite",
            self.upsilon,
        )?;
        check(
            self.hold_off >= 0.0 && self.hold_off.is_finite(),
            "hold_off",
            "at least 0 and finite",
            self.hold_off,
        )?;
        check(!self.sampling.is_zero(), "sampling", "greater than 0", self.sampling.as_secs_f64())?;
        check(
            self.interval >= self.sampling,
            "interval",
            "at least as long as sampling",
            self.interval.as_secs_f64(),
        )
    }
}

/// The ceiling `W_max` of a window from round-trip times (EBE-J, sections II-A and III).
///
/// In each estimation interval, the [`CeilingFilter`] corrects the ceiling of the last loss, and the
/// [`RttMaintainer`] decides whether to probe beyond it. The window rule uses the estimate, so the filter's
/// measurement z, the mean of the samples of `W_max`, is its own last output. Samples from before a loss are
/// dropped.
///
/// The values registered at a loss persist over timeouts: `W_max` and `R_max` are those of the last loss,
/// regardless of its age.
#[derive(Clone, Debug)]
pub struct EbeCeiling {
    filter: CeilingFilter,
    maintainer: Option<RttMaintainer>,
    hold_off: f64,
    interval: Duration,
    means: IntervalMeans,
    /// The maintainer is inactive before this time.
    rests_until: Timestamp,
    latest: Option<Latest>,
}

/// Results of the last interval, for reports.
#[derive(Clone, Copy, Debug)]
struct Latest {
    mean_rtt: f64,
    cycle: Option<CeilingCycle>,
}

impl EbeCeiling {
    /// Creates an estimator. Fails if a parameter is outside the range stated in [`EbeCeilingConfig`].
    pub fn new(config: EbeCeilingConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            filter: CeilingFilter::new(config.profile, config.trigger),
            maintainer: (config.maintainer == RttMaintenance::On)
                .then(|| RttMaintainer::new(config.rtt_threshold, config.threshold, config.upsilon)),
            hold_off: config.hold_off,
            interval: config.interval,
            means: IntervalMeans::new(config.sampling, config.interval),
            rests_until: Timestamp::ZERO,
            latest: None,
        })
    }

    fn estimate(&mut self, ended: Timestamp, mean_rtt: f64, window: f64, rtt_min: f64) {
        let (Some(ceiling), Some(rtt_max)) = (self.filter.ceiling(), self.filter.rtt_max()) else { return };
        let interval = self.interval.as_secs_f64();
        let cycle = self.filter.step(&CeilingMeasured { ceiling, window, rtt: mean_rtt, interval });
        if let Some(maintainer) = &mut self.maintainer
            && ended >= self.rests_until
        {
            maintainer.update(mean_rtt, rtt_min, rtt_max);
        }
        self.latest = Some(Latest { mean_rtt, cycle });
    }
}

impl WindowCeilingEstimator for EbeCeiling {
    fn on_ack(&mut self, now: Timestamp, window: f64, rtt: &RttEstimate) -> bool {
        let mut ended = false;
        while let Some((end, mean_rtt)) = self.means.next(now) {
            self.estimate(end, mean_rtt, window, rtt.minimum.as_secs_f64());
            ended = true;
        }
        if !rtt.latest.is_zero() {
            self.means.hold(now, rtt.latest.as_secs_f64());
        }
        ended
    }

    fn on_loss(&mut self, now: Timestamp, w_max: f64, rtt: &RttEstimate) {
        self.filter.register(w_max, rtt.latest.as_secs_f64());
        self.rests_until = now + rtt.latest.mul_f64(self.hold_off);
        if let Some(maintainer) = &mut self.maintainer {
            maintainer.reset();
        }
    }

    fn ceiling(&self) -> Option<f64> {
        self.filter.ceiling()
    }

    fn probing(&self) -> f64 {
        self.maintainer.as_ref().map_or(1.0, RttMaintainer::factor)
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        let on = self.maintainer.as_ref().is_some_and(RttMaintainer::is_on);
        report("maintainer_on", f64::from(u8::from(on)));
        let Some(Latest { mean_rtt, cycle }) = self.latest else { return };
        report("interval_rtt_s", mean_rtt);
        if let Some(rtt_max) = self.filter.rtt_max() {
            report("rtt_max_s", rtt_max);
        }
        if let Some(cycle) = cycle {
            report("x1", cycle.posterior.x[0]);
            report("x2", cycle.posterior.x[1]);
            report("p11", cycle.posterior.p.p11);
            report("p12", cycle.posterior.p.p12);
            report("p22", cycle.posterior.p.p22);
            report("k1", cycle.gain.k1);
            report("k2", cycle.gain.k2);
        }
    }
}

#[cfg(test)]
mod tests;
