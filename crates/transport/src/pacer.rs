//! Packet pacing.

use airpath_model::{Bytes, Control, Duration, Pacing, Phase, Rate, Timestamp};

/// A pacer: computes the release time of each packet from the pacing rate, with bursts of at most the
/// controller's quantum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// Whether to pace if the controller leaves pacing to the driver.
    from_window: bool,
    /// The time at which everything sent so far is paid for at the pacing rate.
    paid_until: Timestamp,
}

impl Pacer {
    pub(crate) const fn new(from_window: bool) -> Self {
        Self { from_window, paid_until: Timestamp::ZERO }
    }

    /// Returns the pacing rate; `None` if packets are not paced.
    ///
    /// A window is paced at twice the window over the smoothed RTT in slow start and 1.2 times after it
    /// (Linux, `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`), from the first RTT sample on.
    pub(crate) fn rate(
        &self,
        control: &Control,
        phase: impl FnOnce() -> Phase,
        smoothed_rtt: Duration,
    ) -> Option<Rate> {
        match control.pacing {
            Pacing::At(rate) => Some(rate),
            Pacing::FromWindow if self.from_window && !smoothed_rtt.is_zero() => {
                let gain = match phase() {
                    Phase::SlowStart | Phase::ConservativeSlowStart => 2.0,
                    _ => 1.2,
                };
                Some(Rate::over(control.window, smoothed_rtt).mul_f64(gain))
            }
            Pacing::FromWindow | Pacing::Off => None,
        }
    }

    /// Returns the release time of a packet of `payload`; [`Timestamp::NEVER`] at a rate of zero.
    pub(crate) fn release(&self, rate: Rate, quantum: Bytes, payload: Bytes) -> Timestamp {
        if rate == Rate::ZERO {
            return Timestamp::NEVER;
        }
        self.paid_until - rate.time_for(quantum - payload)
    }

    /// Records the transmission of a packet of `payload` at `now`.
    pub(crate) fn on_sent(&mut self, now: Timestamp, rate: Rate, payload: Bytes) {
        self.paid_until = self.paid_until.max(now) + rate.time_for(payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_spaced_after_a_burst_of_one_quantum() {
        let (rate, packet) = (Rate::from_bps(8_000_000), Bytes::new(1000)); // one packet per millisecond
        let mut pacer = Pacer::new(false);
        let mut left = [0_u64; 6];
        for slot in &mut left {
            let now = pacer.release(rate, packet * 3, packet).max(Timestamp::from_nanos(1_000_000_000));
            pacer.on_sent(now, rate, packet);
            *slot = now.as_nanos() / 1_000_000 - 1000;
        }
        assert_eq!(left, [0, 0, 0, 1, 2, 3]);
    }

    #[test]
    fn no_packets_are_sent_at_a_rate_of_zero() {
        let release = Pacer::new(false).release(Rate::ZERO, Bytes::new(3000), Bytes::new(1000));
        assert_eq!(release, Timestamp::NEVER);
    }

    #[test]
    fn windows_are_paced_with_the_gain_of_the_phase() {
        let control =
            Control { window: Bytes::new(100_000), pacing: Pacing::FromWindow, quantum: Bytes::new(1) };
        let rtt = Duration::from_millis(100);
        let rate = |pacer: Pacer, phase: Phase, rtt| pacer.rate(&control, || phase, rtt).map(Rate::as_bps);
        assert_eq!(rate(Pacer::new(true), Phase::SlowStart, rtt), Some(16_000_000));
        assert_eq!(rate(Pacer::new(true), Phase::CongestionAvoidance, rtt), Some(9_600_000));
        assert_eq!(rate(Pacer::new(true), Phase::SlowStart, Duration::ZERO), None);
        assert_eq!(rate(Pacer::new(false), Phase::SlowStart, rtt), None);
    }
}
