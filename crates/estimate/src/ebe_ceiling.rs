//! EBE at a sender: the window ceiling by an extended Kalman filter, and when to probe beyond it.

use airpath_model::{Duration, RttEstimate, Timestamp, WindowCeilingEstimator};

use crate::interval_means::IntervalMeans;
use crate::{
    CeilingCycle, CeilingFilter, CeilingMeasured, CeilingProfile, RttMaintainer, RttThreshold, Trigger,
};
use airpath_model::config::{ConfigError, check};

/// Parameters of [`EbeCeiling`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EbeCeilingConfig {
    /// Which reading of the paper's filter.
    pub profile: CeilingProfile,
    /// When the filter corrects the ceiling.
    pub trigger: Trigger,
    /// What the maintainer's threshold is a share of; `None` for no maintainer.
    pub maintainer: Option<RttThreshold>,
    /// The maintainer's threshold as that share, in (0, 1]: 0.15 (EBE-J, section III-C).
    pub threshold: f64,
    /// Υ ≥ 1: 2.0 (EBE-J, section III-C).
    pub upsilon: f64,
    /// For how many round trips after a loss the maintainer rests, at least 0: 1. Not in the paper.
    pub hold_off: f64,
    /// The measurement timer, greater than zero: 10 ms (EBE-J, section III-A).
    pub sampling: Duration,
    /// The estimation timer, at least the measurement timer: 200 ms (EBE-J, section III-A).
    pub interval: Duration,
}

impl Default for EbeCeilingConfig {
    fn default() -> Self {
        Self {
            profile: CeilingProfile::default(),
            trigger: Trigger::default(),
            maintainer: Some(RttThreshold::default()),
            threshold: 0.15,
            upsilon: 2.0,
            hold_off: 1.0,
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
/// Each estimation interval the [`CeilingFilter`] corrects the ceiling that the last loss left, and the
/// [`RttMaintainer`] says whether to probe beyond it. The estimate is what the window rule uses, so that the filter's
/// measurement z, the mean of the samples of `W_max`, is its own last output; samples from before a loss are dropped.
///
/// What is registered at a loss stays over timeouts: `W_max` and `R_max` are those of the last loss, however long ago.
#[derive(Clone, Debug)]
pub struct EbeCeiling {
    filter: CeilingFilter,
    maintainer: Option<RttMaintainer>,
    hold_off: f64,
    interval: Duration,
    means: IntervalMeans,
    /// Before it the maintainer rests.
    rests_until: Timestamp,
    latest: Option<Latest>,
}

/// What the last interval left, to be reported.
#[derive(Clone, Copy, Debug)]
struct Latest {
    mean_rtt: f64,
    cycle: Option<CeilingCycle>,
}

impl EbeCeiling {
    /// Fails when a parameter is outside the range stated in [`EbeCeilingConfig`].
    pub fn new(config: EbeCeilingConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            filter: CeilingFilter::new(config.profile, config.trigger),
            maintainer: config
                .maintainer
                .map(|threshold| RttMaintainer::new(threshold, config.threshold, config.upsilon)),
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
