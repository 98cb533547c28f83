//! EBE's end-to-end filter: the window ceiling from round-trip times.

use crate::{Covariance, Estimate, Gain, Jacobian, RunningVariance};

/// Ψ of EBE-J eq. 19: process noise of the ceiling (segment²) and of the round-trip time (s²).
const PROCESS_NOISE: [f64; 2] = [1e-5, 5e-6];
/// The floor of R, segment²: R of EBE-C, table I.
const MEASUREMENT_NOISE: f64 = 1e-5;
/// The smallest measurement error that [`CeilingProfile::Recommended`] assumes, as a share of the ceiling.
const MEASUREMENT_SHARE: f64 = 0.05;
/// The largest ceiling, in segments: with [`CeilingProfile::Journal`] corrections multiply.
const LARGEST: f64 = 1e9;

/// The interpretation of the paper's filter (docs/reference/estimators/ebe-ceiling.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum CeilingProfile {
    /// R is at least (5 % of the ceiling)², P starts with a variance of (10 ms)² of the round-trip time, and eq. 23
    /// corrects at most once a round trip. Not in the paper.
    #[default]
    Recommended,
    /// As printed in EBE-J: R is the running variance of all measurements, P starts as identity, eq. 23 at
    /// each step.
    Journal,
    /// No filter: the ceiling stays at its value after the last loss.
    None,
}

/// The condition under which eq. 23 corrects the ceiling (EBE-J eq. 21).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct Trigger {
    /// epsilon: relative distance of the window from W_max within which the filter lowers W_max (EBE-J,
    /// section II-A: 0.3).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub epsilon: f64,
    /// Omega: largest relative excess over the RTT at the last loss for a lower W_max, less than nu (EBE-J:
    /// 0.2).
    #[cfg_attr(
        feature = "declare",
        schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1, "x-less-than" = "nu"))
    )]
    pub omega: f64,
    /// nu: relative distance of the RTT below that at the last loss at which the filter raises W_max (EBE-J:
    /// 0.5).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub nu: f64,
}

impl Default for Trigger {
    fn default() -> Self {
        Self { epsilon: 0.3, omega: 0.2, nu: 0.5 }
    }
}

/// Measurements of one estimation interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CeilingMeasured {
    /// z: mean of the samples of `W_max`, segments.
    pub ceiling: f64,
    /// W: the window, segments.
    pub window: f64,
    /// Mean of the samples of the round-trip time, seconds, greater than zero.
    pub rtt: f64,
    /// Length of the interval, seconds.
    pub interval: f64,
}

/// One cycle of the filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CeilingCycle {
    /// λ = RTT / `R_max` − 1.
    pub lambda: f64,
    /// Whether eq. 23 corrected.
    pub corrected: bool,
    /// f†: the correction, segments.
    pub correction: f64,
    /// First row of the Jacobian used.
    pub jacobian: Jacobian,
    /// R, segment².
    pub measurement_noise: f64,
    /// Covariance a priori.
    pub prior: Covariance,
    /// Kalman gain.
    pub gain: Gain,
    /// State [`W_max` in segments, round-trip time in seconds] and covariance a posteriori.
    pub posterior: Estimate,
}

/// The two-state filter on `W_max` and round-trip time (EBE-J eqs. 5–8 and 21–26, corrected: the page of the estimator).
#[derive(Clone, Debug)]
pub struct CeilingFilter {
    profile: CeilingProfile,
    trigger: Trigger,
    /// Of all measurements so far, including those before losses.
    measurements: RunningVariance,
    loss: Option<SinceLoss>,
    /// Seconds since the last correction by eq. 23.
    since_correction: f64,
}

/// State that is reset at each loss.
#[derive(Clone, Copy, Debug)]
struct SinceLoss {
    /// `R_max`: the round-trip time at the loss, seconds.
    rtt_max: f64,
    estimate: Estimate,
    /// x1(`t_{i−2}`), segments: the ceiling before the last step.
    before: f64,
}

impl CeilingFilter {
    /// Creates a filter without a loss.
    pub const fn new(profile: CeilingProfile, trigger: Trigger) -> Self {
        Self {
            profile,
            trigger,
            measurements: RunningVariance::new(),
            loss: None,
            since_correction: f64::INFINITY,
        }
    }

    /// Registers a loss at the window `w_max` (segments, not negative) and the round-trip time `rtt_max`
    /// (seconds), and resets the covariance. If the round-trip time is zero, it is unknown and the loss is
    /// ignored.
    pub fn register(&mut self, w_max: f64, rtt_max: f64) {
        if rtt_max > 0.0 {
            let rtt_variance = if self.profile == CeilingProfile::Recommended { 1e-4 } else { 1.0 };
            let p = Covariance::diagonal(1.0, rtt_variance);
            let before = w_max.min(LARGEST);
            self.loss = Some(SinceLoss { rtt_max, estimate: Estimate { x: [before, rtt_max], p }, before });
        }
    }

    /// Returns x1, segments, or `None` before the first loss.
    pub fn ceiling(&self) -> Option<f64> {
        self.loss.map(|loss| loss.estimate.x[0])
    }

    /// Returns `R_max`, seconds, or `None` before the first loss.
    pub fn rtt_max(&self) -> Option<f64> {
        self.loss.map(|loss| loss.rtt_max)
    }

    /// Executes one cycle at the end of an estimation interval. Returns `None` without a filter or before the
    /// first loss.
    ///
    /// The state of the round-trip time is set to the measured value before the prediction, as the state of
    /// the arrival rate in the router's filter. All measurements are finite and not negative.
    pub fn step(&mut self, measured: &CeilingMeasured) -> Option<CeilingCycle> {
        if self.profile == CeilingProfile::None {
            return None;
        }
        let SinceLoss { rtt_max, estimate, before } = self.loss?;
        self.measurements.push(measured.ceiling);
        self.since_correction += measured.interval;

        let lambda = measured.rtt / rtt_max - 1.0;
        let corrected = self.corrects(lambda, measured, before);
        let (correction, j12) = if corrected { (-lambda * before, -before / rtt_max) } else { (0.0, 0.0) };
        let jacobian = Jacobian { j11: 1.0, j12 };
        let x = [estimate.x[0] + correction, measured.rtt];
        let prior = estimate.predict(x, jacobian, PROCESS_NOISE);
        let measurement_noise = self.measurement_noise(estimate.x[0]);
        let (posterior, gain) = prior.update(measured.ceiling, measurement_noise);
        let mut posterior = posterior.non_negative();
        posterior.x[0] = posterior.x[0].min(LARGEST);

        self.loss = Some(SinceLoss { rtt_max, estimate: posterior, before: estimate.x[0] });
        Some(CeilingCycle {
            lambda,
            corrected,
            correction,
            jacobian,
            measurement_noise,
            prior: prior.p,
            gain,
            posterior,
        })
    }

    /// Evaluates EBE-J eq. 21: near the plateau and somewhat slower than at the loss, or much faster. Each
    /// inequality is strict.
    fn corrects(&mut self, lambda: f64, measured: &CeilingMeasured, before: f64) -> bool {
        let Trigger { epsilon, omega, nu } = self.trigger;
        let at_plateau = (measured.window - before).abs() < epsilon * before;
        let club = (at_plateau && lambda > 0.0 && lambda < omega) || -lambda > nu;
        let too_soon = self.profile == CeilingProfile::Recommended && self.since_correction < measured.rtt;
        let corrects = club && !too_soon;
        if corrects {
            self.since_correction = 0.0;
        }
        corrects
    }

    fn measurement_noise(&self, ceiling: f64) -> f64 {
        let variance = self.measurements.sample_variance().max(MEASUREMENT_NOISE);
        if self.profile == CeilingProfile::Recommended {
            let share = MEASUREMENT_SHARE * ceiling;
            variance.max(share * share)
        } else {
            variance
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loss at 1000 segments and a round-trip time of 1 s.
    fn after_a_loss(profile: CeilingProfile) -> CeilingFilter {
        let mut filter = CeilingFilter::new(profile, Trigger::default());
        filter.register(1000.0, 1.0);
        filter
    }

    fn corrected(filter: &mut CeilingFilter, window: f64, rtt: f64) -> bool {
        let measured = CeilingMeasured { ceiling: 1000.0, window, rtt, interval: 0.2 };
        filter.step(&measured).is_some_and(|cycle| cycle.corrected)
    }

    /// EBE-J eq. 21 with ε = 0.3, Ω = 0.2 and ν = 0.5: within 30 % of the ceiling and up to 20 % slower than
    /// at the loss, or more than 50 % faster with any window.
    #[test]
    fn the_ceiling_is_corrected_near_the_plateau_or_when_much_faster() {
        for (window, rtt, expected) in [
            (900.0, 1.1, true),
            (1290.0, 1.1, true),
            (710.0, 1.1, true),
            (1310.0, 1.1, false),
            (690.0, 1.1, false),
            (900.0, 1.0, false),
            (900.0, 0.9, false),
            (900.0, 1.19, true),
            (900.0, 1.21, false),
            (100.0, 0.51, false),
            (100.0, 0.49, true),
        ] {
            let found = corrected(&mut after_a_loss(CeilingProfile::Recommended), window, rtt);
            assert_eq!(found, expected, "window {window}, round-trip time {rtt} s");
        }
    }

    /// All inequalities of eq. 21 are strict: at a bound nothing is corrected, just within it the ceiling is
    /// corrected. The shares are powers of two, so that the bounds are exact.
    #[test]
    fn at_a_bound_of_the_trigger_there_is_no_correction() {
        let corrected_at = |window, rtt| {
            let trigger = Trigger { epsilon: 0.25, omega: 0.25, nu: 0.5 };
            let mut filter = CeilingFilter::new(CeilingProfile::Journal, trigger);
            filter.register(1024.0, 1.0);
            corrected(&mut filter, window, rtt)
        };
        for (window, rtt, within) in [
            (1280.0, 1.125, (1280.0_f64.next_down(), 1.125)),
            (768.0, 1.125, (768.0_f64.next_up(), 1.125)),
            (1024.0, 1.0, (1024.0, 1.0_f64.next_up())),
            (1024.0, 1.25, (1024.0, 1.25_f64.next_down())),
            (64.0, 0.5, (64.0, 0.5 - f64::EPSILON / 2.0)),
        ] {
            assert!(!corrected_at(window, rtt), "window {window}, round-trip time {rtt} s");
            assert!(corrected_at(within.0, within.1), "within {within:?}");
        }
    }

    /// With intervals of 0.2 s, the sixth is the first that ends after 1.1 s.
    #[test]
    fn the_recommended_profile_corrects_once_per_round_trip_and_the_journal_profile_always() {
        let mut filter = after_a_loss(CeilingProfile::Recommended);
        let corrections: [bool; 7] = [(); 7].map(|()| corrected(&mut filter, 950.0, 1.1));
        assert_eq!(corrections, [true, false, false, false, false, false, true]);
        let mut filter = after_a_loss(CeilingProfile::Journal);
        assert!((0..7).all(|_| corrected(&mut filter, 950.0, 1.1)));
    }

    #[test]
    fn no_correction_takes_the_ceiling_above_the_largest() {
        let mut filter = CeilingFilter::new(CeilingProfile::Journal, Trigger::default());
        filter.register(LARGEST, 1.0);
        let measured = CeilingMeasured { ceiling: 2.0 * LARGEST, window: 1.0, rtt: 0.1, interval: 0.2 };
        filter.step(&measured);
        assert_eq!(filter.ceiling().map(f64::to_bits), Some(LARGEST.to_bits()));
    }
}
