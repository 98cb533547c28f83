//! How VCP's increases are scaled, so that flows with different round-trip times grow alike.

use airpath_model::{Duration, RttEstimate};

/// Which round-trip time scales the increases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RttScaling {
    /// The smallest one seen. The default: the queue that an increase makes does not speed up the increase.
    #[default]
    Minimum,
    /// The smoothed one, as the authors' code. A queue of a second lets each flow add several packets a round trip,
    /// more than the decreases take away.
    Smoothed,
    /// None: the increases are those of a flow with a round-trip time of `t_ρ`.
    Unscaled,
}

/// How far scaling goes, and to which round-trip time additive increase refers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VcpBounds {
    /// The paper's reference `t_ρ` with the break points of the authors' code: a flow with a round-trip time of `t_ρ`
    /// adds α packets a round trip.
    #[default]
    Paper,
    /// The authors' code: additive increase refers to 100 ms, so that it is four times as fast at 200 ms.
    Authors,
}

/// The additive increase of the authors' code refers to this round-trip time.
const AUTHORS_REFERENCE: Duration = Duration::from_millis(100);

/// Below this round-trip time additive increase is proportional to it.
const LOWER_BREAK: Duration = Duration::from_millis(20);

/// Above this round-trip time additive increase grows linearly.
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
/// ```
///
/// Before the first sample of the round-trip time both are zero.
#[derive(Clone, Debug)]
pub(crate) struct Scaling {
    by: RttScaling,
    bounds: VcpBounds,
    interval: Duration,
    /// The last power taken: its base minus 1 and round-trip time, and `ξ_s`. Both seldom change.
    last: (f64, Duration, f64),
}

impl Scaling {
    /// For the load-factor interval `interval` (`t_ρ`), not zero.
    pub(crate) const fn new(by: RttScaling, bounds: VcpBounds, interval: Duration) -> Self {
        Self { by, bounds, interval, last: (0.0, Duration::ZERO, 0.0) }
    }

    /// `ξ_s` for the gain ξ ≥ 0 of one `t_ρ`: the relative growth of one round trip.
    pub(crate) fn multiplicative(&mut self, gain: f64, rtt: &RttEstimate) -> f64 {
        let Some(rtt) = self.rtt(rtt) else { return gain };
        let same = self.last.0.to_bits() == gain.to_bits() && self.last.1 == rtt;
        if !same {
            let exponent = rtt.ratio(self.interval).min(LARGEST_EXPONENT);
            self.last = (gain, rtt, libm::pow(1.0 + gain, exponent) - 1.0);
        }
        self.last.2
    }

    /// `α_s` for the increase α ≥ 0 of one `t_ρ`: packets for one round trip.
    pub(crate) fn additive(&self, alpha: f64, rtt: &RttEstimate) -> f64 {
        let Some(rtt) = self.rtt(rtt) else { return alpha };
        let reference = match self.bounds {
            VcpBounds::Paper => self.interval,
            VcpBounds::Authors => AUTHORS_REFERENCE,
        };
        let (x, lower, upper) =
            (rtt.ratio(reference), LOWER_BREAK.ratio(reference), UPPER_BREAK.ratio(reference));
        let factor = if x <= lower {
            lower * x
        } else if x <= upper {
            x * x
        } else {
            x - upper + upper * upper
        };
        alpha * factor
    }

    /// The round-trip time that counts; `None` when none does.
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
        Scaling::new(rtt_scaling, bounds, Duration::from_millis(200))
    }

    /// An estimate whose smallest round-trip time is `minimum` and whose smoothed one is `smoothed`, in ms.
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
        // Another gain at the same round-trip time is another power.
        close(scaling.multiplicative(0.25, &rtt(80, 900)), 0.093_362_073_943_278_11);
    }

    #[test]
    fn the_exponent_ends_at_two_and_a_half() {
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
        // Their g: 0.2 x up to 0.2, x² up to 5, x − 5 + 25 above.
        let scaling = scaling(RttScaling::Minimum, VcpBounds::Authors);
        close(scaling.additive(1.0, &rtt(10, 900)), 0.02);
        close(scaling.additive(1.0, &rtt(20, 900)), 0.04);
        close(scaling.additive(1.0, &rtt(100, 900)), 1.0);
        close(scaling.additive(1.0, &rtt(200, 900)), 4.0);
        close(scaling.additive(1.0, &rtt(500, 900)), 25.0);
        close(scaling.additive(1.0, &rtt(600, 900)), 26.0);
    }

    #[test]
    fn the_round_trip_time_that_counts_is_a_choice() {
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
