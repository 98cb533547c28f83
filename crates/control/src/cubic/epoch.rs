//! One period of congestion avoidance: the curve, its clock, and the corresponding window of Reno.

use airpath_model::{Duration, Timestamp};

use super::CubicConfig;

/// Smax of the 2008 form: the largest growth of the window in 100 ms, in segments, once the plateau is
/// reached.
const MAX_INCREMENT: f64 = 16.0;

/// Windows in segments, times in seconds.
#[derive(Clone, Debug)]
pub(super) struct Epoch {
    /// t: the counted time in congestion avoidance.
    elapsed: Duration,
    /// The time up to which the clock has counted or skipped.
    counted_to: Timestamp,
    c: f64,
    /// `cwnd_epoch`: the window at the start of the epoch.
    cwnd_start: f64,
    /// K: the time at which the curve reaches `origin`.
    k: f64,
    /// `W_max`, the plateau of the curve (`bic_origin_point` in Linux).
    origin: f64,
    /// `W_est` (`tcp_cwnd` in Linux).
    w_est: f64,
}

impl Epoch {
    pub(super) fn new(now: Timestamp, cwnd: f64, w_max: Option<f64>, c: f64) -> Self {
        let mut epoch = Self {
            elapsed: Duration::ZERO,
            counted_to: now,
            c,
            cwnd_start: cwnd,
            k: 0.0,
            origin: cwnd,
            w_est: cwnd,
        };
        if let Some(w_max) = w_max {
            epoch.redraw(w_max);
        }
        epoch
    }

    /// Changes the plateau of the curve with the same start; time and `W_est` are unchanged.
    pub(super) fn redraw(&mut self, w_max: f64) {
        self.origin = w_max.max(self.cwnd_start);
        self.k = libm::cbrt((self.origin - self.cwnd_start) / self.c);
    }

    /// Counts the time up to `now`.
    pub(super) fn advance(&mut self, now: Timestamp) {
        self.elapsed += now.since(self.counted_to);
        self.counted_to = now;
    }

    /// Skips the time up to `now` without counting it.
    pub(super) fn skip_to(&mut self, now: Timestamp) {
        self.counted_to = now;
    }

    /// Returns the growth for `acked` segments by RFC 9438, sections 4.2 to 4.5.
    pub(super) fn growth_rfc9438(
        &mut self,
        config: &CubicConfig,
        prior: f64,
        cwnd: f64,
        acked: f64,
        srtt: Duration,
    ) -> f64 {
        let alpha = if self.w_est < prior { alpha(config.beta) } else { 1.0 };
        self.w_est += alpha * acked / cwnd;
        if config.reno_friendly && self.w_cubic(Duration::ZERO) < self.w_est {
            return (self.w_est - cwnd).max(0.0);
        }
        let target = self.w_cubic(srtt).clamp(cwnd, 1.5 * cwnd);
        // The window does not exceed the target, no matter how much data one acknowledgment covers.
        (target - cwnd) * (acked / cwnd).min(1.0)
    }

    /// Returns the growth for `acked` segments by the paper of 2008 and Linux 2.6.22.
    pub(super) fn growth_linux2008(
        &mut self,
        config: &CubicConfig,
        loss_seen: bool,
        cwnd: f64,
        acked: f64,
        rtt_min: Duration,
    ) -> f64 {
        self.w_est += alpha(config.beta) * acked / cwnd;
        let ahead = self.w_cubic(rtt_min) - cwnd;
        let mut cnt = if ahead > 0.0 { cwnd / ahead } else { 100.0 * cwnd };
        // Below the plateau the curve is followed regardless of its slope.
        if !rtt_min.is_zero() && (self.elapsed + rtt_min).as_secs_f64() >= self.k {
            cnt = cnt.max(cwnd / (10.0 * MAX_INCREMENT * rtt_min.as_secs_f64()));
        }
        if !loss_seen {
            cnt = 50.0;
        }
        if config.reno_friendly && self.w_est > cwnd {
            cnt = cnt.min(cwnd / (self.w_est - cwnd));
        }
        acked / cnt.max(1.0)
    }

    /// Returns the value of the curve `ahead` after the current time.
    fn w_cubic(&self, ahead: Duration) -> f64 {
        let offset = (self.elapsed + ahead).as_secs_f64() - self.k;
        self.c * offset * offset * offset + self.origin
    }
}

/// Returns the additive increase with which a flow that keeps `beta` has Reno's average window (RFC 9438,
/// section 4.3).
fn alpha(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-9 * right.abs().max(1.0)
    }

    #[test]
    fn the_curve_starts_at_the_window_and_reaches_w_max_at_k() {
        // (100 - 70) / 0.4 = 75; K = cbrt(75) = 4.217163326508746 s.
        let epoch = Epoch::new(Timestamp::ZERO, 70.0, Some(100.0), 0.4);
        assert!(close(epoch.k, 4.217_163_326_508_746));
        assert!(close(epoch.w_cubic(Duration::ZERO), 70.0));
        let at_k = epoch.w_cubic(Duration::from_secs_f64(epoch.k));
        assert!((at_k - 100.0).abs() < 1e-6, "{at_k}");
        // One second after K: 0.4 * 1^3 above.
        let past = epoch.w_cubic(Duration::from_secs_f64(epoch.k + 1.0));
        assert!((past - 100.4).abs() < 1e-6, "{past}");
    }

    #[test]
    fn without_a_saturation_point_above_the_window_the_curve_starts_at_its_plateau() {
        for w_max in [None, Some(50.0)] {
            let epoch = Epoch::new(Timestamp::ZERO, 80.0, w_max, 0.4);
            assert!(close(epoch.k, 0.0));
            assert!(close(epoch.w_cubic(Duration::from_secs(2)), 80.0 + 0.4 * 8.0));
        }
    }

    #[test]
    fn a_recomputed_curve_keeps_its_start_and_clock() {
        let second = |count| Timestamp::ZERO + Duration::from_secs(count);
        let mut epoch = Epoch::new(second(0), 70.0, Some(100.0), 0.4);
        epoch.advance(second(3));
        epoch.redraw(150.0);
        // (150 - 70) / 0.4 = 200; K = cbrt(200) = 5.848035476425733 s; W(3) = 150 - 0.4 *
        // 2.848035476425733^3.
        assert!(close(epoch.k, 5.848_035_476_425_733));
        assert!(
            close(epoch.w_cubic(Duration::ZERO), 140.759_485_015_324_3),
            "{}",
            epoch.w_cubic(Duration::ZERO)
        );
        epoch.redraw(60.0);
        assert!(close(epoch.w_cubic(Duration::ZERO), 70.0 + 0.4 * 27.0));
    }

    #[test]
    fn w_est_gains_alpha_segments_for_each_window_until_the_prior_window() {
        // alpha = 3 * 0.3 / 1.7 = 0.529411764...
        let config = CubicConfig::RFC9438;
        let mut epoch = Epoch::new(Timestamp::ZERO, 70.0, Some(100.0), config.c);
        epoch.growth_rfc9438(&config, 100.0, 70.0, 70.0, Duration::ZERO);
        assert!(close(epoch.w_est, 70.0 + 0.9 / 1.7), "{}", epoch.w_est);
        epoch.w_est = 100.0;
        epoch.growth_rfc9438(&config, 100.0, 70.0, 70.0, Duration::ZERO);
        assert!(close(epoch.w_est, 101.0), "{}", epoch.w_est);
    }

    #[test]
    fn skipped_time_is_not_counted() {
        let second = |count| Timestamp::ZERO + Duration::from_secs(count);
        let mut epoch = Epoch::new(second(1), 70.0, Some(100.0), 0.4);
        epoch.advance(second(3));
        epoch.skip_to(second(10));
        epoch.advance(second(11));
        assert_eq!(epoch.elapsed, Duration::from_secs(3));
    }

    /// Form 2008: alpha = 3 * 0.2 / 1.8 segments per window, without limit.
    #[test]
    fn w_est_grows_with_acknowledged_data() {
        let config = CubicConfig::LINUX2008;
        let mut epoch = Epoch::new(Timestamp::ZERO, 70.0, Some(100.0), config.c);
        epoch.growth_linux2008(&config, true, 70.0, 140.0, Duration::ZERO);
        assert!(close(epoch.w_est, 70.0 + 2.0 / 3.0), "{}", epoch.w_est);
    }

    /// At the start of the curve the window grows by one segment in 100 windows, or by the ten segments by
    /// which Reno's window is larger, in one window.
    #[test]
    fn w_est_is_used_only_with_reno_friendliness() {
        for (reno_friendly, expected) in [(true, 10.0), (false, 0.01)] {
            let config = CubicConfig { reno_friendly, ..CubicConfig::LINUX2008 };
            let mut epoch = Epoch::new(Timestamp::ZERO, 70.0, Some(100.0), config.c);
            epoch.w_est = 80.0 - 1.0 / 3.0;
            let growth = epoch.growth_linux2008(&config, true, 70.0, 70.0, Duration::ZERO);
            assert!(close(growth, expected), "{growth}");
        }
    }
}
