//! The scaling of VCP's increases, with which flows with different round-trip times grow equally fast.

use airpath_model::{Duration, RttEstimate};

/// The round-trip time that scales the increases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum RttScaling {
    /// The smallest observed one (the default). The queue caused by an increase does not speed up the
    /// increase.
    #[default]
    Minimum,
    /// The smoothed one, as in the authors' code. With a queue of a second each flow adds several packets per
    /// round trip, more than the decreases remove.
    Smoothed,
    /// None: the increases are those of a flow with a round-trip time of `t_ρ`.
    Unscaled,
}

/// Dependence of additive increase on the round-trip time. Multiplicative increase is always scaled, unless
/// [`RttScaling::Unscaled`] disables all scaling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum AdditiveScaling {
    /// Its square: flows with different round-trip times get the same rate (SIGCOMM'05, section 4.2).
    #[default]
    Square,
    /// In proportion: flows add the same in the same time.
    Linear,
    /// None: α packets per round trip.
    None,
}

/// The reference round-trip time of additive increase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum VcpBounds {
    /// The paper's `t_ρ`: a flow with a round-trip time of `t_ρ` adds α packets per round trip.
    #[default]
    #[cfg_attr(feature = "declare", serde(rename = "spec"))]
    Paper,
    /// The authors' code: the reference is 100 ms, so that additive increase is four times as fast at 200 ms.
    #[cfg_attr(feature = "declare", serde(rename = "author"))]
    Authors,
}

/// The reference round-trip time of additive increase in the authors' code.
const AUTHORS_REFERENCE: Duration = Duration::from_millis(100);

/// Below this round-trip time additive increase is proportional to it.
const LOWER_BREAK: Duration = Duration::from_millis(20);

/// Above this round-trip time the square grows linearly, and the other scalings stay constant.
const UPPER_BREAK: Duration = Duration::from_millis(500);

/// The largest exponent of multiplicative increase: 500 ms over 200 ms.
const LARGEST_EXPONENT: f64 = 2.5;

/// Scales the increases of one flow (SIGCOMM'05, section 4.2; bounds: the authors' `vcp-src.cc`).
///
/// ```text
/// ξ_s = (1 + ξ)^min(rtt / t_ρ, 2.5) − 1
/// α_s = α g(rtt / t)              t = t_ρ or 100 ms, l = 20 ms / t, u = 500 ms / t
/// g(x) = l x        for x ≤ l
///        x²         for l < x ≤ u
///        x − u + u² for x > u
/// linear:   α_s = α min(x, u)
/// none:     α_s = α
/// ```
///
/// The value 2.5 is 500 ms over the `t_ρ` of 200 ms, and is also used for any other `t_ρ`. Without the cap,
/// the exponent of `ξ_s` has no bound, and g(x) = x² also above u. Before the first sample of the round-trip
/// time `ξ_s` is zero, and so is `α_s` if it is scaled.
#[derive(Clone, Debug)]
pub(crate) struct Scaling {
    by: RttScaling,
    additive: AdditiveScaling,
    reference: Duration,
    capped: bool,
    interval: Duration,
    /// The last computed power: its base minus 1, its round-trip time, and `ξ_s`. It is cached because base
    /// and round-trip time seldom change.
    last: (f64, Duration, f64),
}

impl Scaling {
    /// Creates the scaling for the load-factor interval `interval` (`t_ρ`), not zero.
    pub(crate) const fn new(
        by: RttScaling,
        additive: AdditiveScaling,
        bounds: VcpBounds,
        capped: bool,
        interval: Duration,
    ) -> Self {
        let reference = match bounds {
            VcpBounds::Paper => interval,
            VcpBounds::Authors => AUTHORS_REFERENCE,
        };
        Self { by, additive, reference, capped, interval, last: (0.0, Duration::ZERO, 0.0) }
    }

    /// Returns `ξ_s` for the gain ξ ≥ 0 of one `t_ρ`: the relative growth of one round trip.
    pub(crate) fn multiplicative(&mut self, gain: f64, rtt: &RttEstimate) -> f64 {
        let Some(rtt) = self.rtt(rtt) else { return gain };
        let same = self.last.0.to_bits() == gain.to_bits() && self.last.1 == rtt;
        if !same {
            let largest = if self.capped { LARGEST_EXPONENT } else { f64::INFINITY };
            let exponent = rtt.ratio(self.interval).min(largest);
            self.last = (gain, rtt, libm::pow(1.0 + gain, exponent) - 1.0);
        }
        self.last.2
    }

    /// Returns `α_s` for the increase α ≥ 0 of one `t_ρ`: packets per round trip.
    pub(crate) fn additive(&self, alpha: f64, rtt: &RttEstimate) -> f64 {
        let Some(rtt) = self.rtt(rtt) else { return alpha };
        let reference = self.reference;
        let (x, lower) = (rtt.ratio(reference), LOWER_BREAK.ratio(reference));
        let upper = if self.capped { UPPER_BREAK.ratio(reference) } else { f64::INFINITY };
        let factor = match self.additive {
            AdditiveScaling::None => 1.0,
            AdditiveScaling::Linear => x.min(upper),
            AdditiveScaling::Square if x <= lower => lower * x,
            AdditiveScaling::Square if x <= upper => x * x,
            AdditiveScaling::Square => x - upper + upper * upper,
        };
        alpha * factor
    }

    /// Returns the round-trip time for the scaling, or `None` if increases are not scaled.
    fn rtt(&self, rtt: &RttEstimate) -> Option<Duration> {
        match self.by {
            RttScaling::Minimum => Some(rtt.minimum),
            RttScaling::Smoothed => Some(rtt.smoothed),
            RttScaling::Unscaled => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XI: f64 = 0.0625;

    fn scaling(rtt_scaling: RttScaling, bounds: VcpBounds) -> Scaling {
        Scaling::new(rtt_scaling, AdditiveScaling::Square, bounds, true, Duration::from_millis(200))
    }

    /// Returns an estimate whose smallest round-trip time is `minimum` and whose smoothed one is `smoothed`,
    /// in ms.
    fn rtt(minimum: u64, smoothed: u64) -> RttEstimate {
        RttEstimate {
            minimum: Duration::from_millis(minimum),
            smoothed: Duration::from_millis(smoothed),
            ..RttEstimate::default()
        }
    }

    fn close(left: f64, right: f64) {
        assert!((left - right).abs() <= 1e-12, "{left} is not {right}");
    }

    #[test]
    fn multiplicative_increase_compounds_over_the_interval() {
        let mut scaling = scaling(RttScaling::Minimum, VcpBounds::Paper);
        close(scaling.multiplicative(XI, &rtt(200, 900)), 0.0625);
        close(scaling.multiplicative(XI, &rtt(400, 900)), 1.0625 * 1.0625 - 1.0);
        // (17/16)^0.4 − 1
        close(scaling.multiplicative(XI, &rtt(80, 900)), 0.024_546_267_495_198_393);
        // A different gain at the same round-trip time has a different power.
        close(scaling.multiplicative(0.25, &rtt(80, 900)), 0.093_362_073_943_278_11);
    }

    #[test]
    fn the_exponent_is_capped_at_two_and_a_half() {
        for bounds in [VcpBounds::Paper, VcpBounds::Authors] {
            let mut scaling = scaling(RttScaling::Minimum, bounds);
            let largest = scaling.multiplicative(XI, &rtt(500, 500));
            close(largest, 0.163_649_927_542_484_3);
            close(scaling.multiplicative(XI, &rtt(2_000, 2_000)), largest);
        }
    }

    #[test]
    fn additive_increase_of_the_paper_is_one_packet_at_the_interval() {
        let scaling = scaling(RttScaling::Minimum, VcpBounds::Paper);
        close(scaling.additive(1.0, &rtt(200, 900)), 1.0);
        close(scaling.additive(2.0, &rtt(200, 900)), 2.0);
        close(scaling.additive(1.0, &rtt(80, 900)), 0.16);
        close(scaling.additive(1.0, &rtt(20, 900)), 0.01);
        close(scaling.additive(1.0, &rtt(10, 900)), 0.005);
        close(scaling.additive(1.0, &rtt(500, 900)), 6.25);
        close(scaling.additive(1.0, &rtt(1_000, 1_000)), 8.75);
    }

    #[test]
    fn additive_increase_of_the_authors_refers_to_100_ms() {
        // The authors' g: 0.2 x up to 0.2, x² up to 5, x − 5 + 25 above.
        let scaling = scaling(RttScaling::Minimum, VcpBounds::Authors);
        close(scaling.additive(1.0, &rtt(10, 900)), 0.02);
        close(scaling.additive(1.0, &rtt(20, 900)), 0.04);
        close(scaling.additive(1.0, &rtt(100, 900)), 1.0);
        close(scaling.additive(1.0, &rtt(200, 900)), 4.0);
        close(scaling.additive(1.0, &rtt(500, 900)), 25.0);
        close(scaling.additive(1.0, &rtt(600, 900)), 26.0);
    }

    #[test]
    fn additive_increase_optionally_follows_the_round_trip_time() {
        let check = |additive, bounds, capped, expected: [f64; 5]| {
            let scaling =
                Scaling::new(RttScaling::Minimum, additive, bounds, capped, Duration::from_millis(200));
            for (millis, expected) in [10, 80, 200, 500, 2_000].into_iter().zip(expected) {
                close(scaling.additive(2.0, &rtt(millis, 9_000)), expected);
            }
        };
        check(AdditiveScaling::None, VcpBounds::Authors, true, [2.0; 5]);
        check(AdditiveScaling::Linear, VcpBounds::Paper, true, [0.1, 0.8, 2.0, 5.0, 5.0]);
        check(AdditiveScaling::Linear, VcpBounds::Paper, false, [0.1, 0.8, 2.0, 5.0, 20.0]);
        check(AdditiveScaling::Linear, VcpBounds::Authors, true, [0.2, 1.6, 4.0, 10.0, 10.0]);
        // Without the cap the square continues: (2000 / 200)².
        check(AdditiveScaling::Square, VcpBounds::Paper, false, [0.01, 0.32, 2.0, 12.5, 200.0]);
    }

    #[test]
    fn without_the_cap_the_exponent_is_unbounded() {
        let interval = Duration::from_millis(200);
        let mut scaling =
            Scaling::new(RttScaling::Minimum, AdditiveScaling::Linear, VcpBounds::Paper, false, interval);
        // (17/16)^10 − 1
        close(scaling.multiplicative(XI, &rtt(2_000, 2_000)), 0.833_535_771_264_905_6);
    }

    #[test]
    fn the_round_trip_time_used_is_configurable() {
        let sample = rtt(100, 400);
        close(scaling(RttScaling::Minimum, VcpBounds::Paper).additive(1.0, &sample), 0.25);
        close(scaling(RttScaling::Smoothed, VcpBounds::Paper).additive(1.0, &sample), 4.0);
        close(scaling(RttScaling::Smoothed, VcpBounds::Paper).multiplicative(XI, &sample), 0.128_906_25);
        close(scaling(RttScaling::Unscaled, VcpBounds::Paper).additive(1.0, &sample), 1.0);
        close(scaling(RttScaling::Unscaled, VcpBounds::Authors).multiplicative(XI, &sample), 0.0625);
    }

    #[test]
    fn without_a_round_trip_time_nothing_grows() {
        let mut scaling = scaling(RttScaling::Minimum, VcpBounds::Authors);
        close(scaling.multiplicative(XI, &RttEstimate::default()), 0.0);
        close(scaling.additive(1.0, &RttEstimate::default()), 0.0);
    }
}
