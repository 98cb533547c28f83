//! Round-trip times and the retransmission timer (RFC 6298).

use airpath_model::{Duration, RttEstimate, Timestamp};

use crate::{RtoFloor, SenderConfig};

/// The state of the retransmission timer: SRTT, RTTVAR, RTO with back-off, and the deadline.
///
/// The clock granularity G of RFC 6298 is one nanosecond and is neglected. Each acknowledgment that allows it
/// yields one sample, with the standard gains, as in Linux; RFC 7323, appendix G, would scale the gains down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimer {
    rtt: RttEstimate,
    sampled: bool,
    /// The RTO before back-off.
    timeout: Duration,
    backoffs: u32,
    deadline: Timestamp,
    min: Duration,
    max: Duration,
    floor: RtoFloor,
}

impl RetransmissionTimer {
    pub(crate) fn new(config: &SenderConfig) -> Self {
        Self {
            rtt: RttEstimate::default(),
            sampled: false,
            timeout: config.initial_rto,
            backoffs: 0,
            deadline: Timestamp::NEVER,
            min: config.min_rto,
            max: config.max_rto,
            floor: config.rto_floor,
        }
    }

    /// Adds a round-trip time sample (rules 2.2 and 2.3). Ends the back-off (rule 5.7 and Karn).
    pub(crate) fn on_sample(&mut self, sample: Duration) {
        self.rtt.on_sample(sample, !self.sampled);
        self.sampled = true;
        let rtt = self.rtt;
        let spread = rtt.variation * 4;
        let timeout = match self.floor {
            RtoFloor::OnTimeout => (rtt.smoothed + spread).max(self.min),
            RtoFloor::OnVariance => rtt.smoothed + spread.max(self.min),
        };
        self.timeout = timeout.min(self.max);
        self.backoffs = 0;
    }

    /// Doubles the timeout after the timer has fired (rule 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoffs = (self.backoffs + 1).min(MOST_BACKOFFS);
    }

    /// Starts or restarts the timer (rules 5.1 and 5.3).
    pub(crate) fn restart(&mut self, now: Timestamp) {
        self.deadline = now + self.timeout();
    }

    /// Starts the timer if it is not running (rule 5.1).
    pub(crate) fn start(&mut self, now: Timestamp) {
        if !self.deadline.is_scheduled() {
            self.restart(now);
        }
    }

    /// Stops the timer (rule 5.2).
    pub(crate) fn stop(&mut self) {
        self.deadline = Timestamp::NEVER;
    }

    /// Returns the deadline of the timer.
    pub(crate) const fn deadline(&self) -> Timestamp {
        self.deadline
    }

    pub(crate) const fn rtt(&self) -> RttEstimate {
        self.rtt
    }

    /// Returns the current timeout, back-off included.
    pub(crate) fn timeout(&self) -> Duration {
        (self.timeout * (1 << self.backoffs)).min(self.max)
    }
}

/// After this many doublings any timeout has reached its ceiling.
const MOST_BACKOFFS: u32 = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(floor: RtoFloor) -> RetransmissionTimer {
        RetransmissionTimer::new(&SenderConfig { rto_floor: floor, ..SenderConfig::default() })
    }

    #[test]
    fn the_timer_follows_rfc_6298() {
        let mut timer = timer(RtoFloor::OnTimeout);
        assert_eq!(timer.timeout(), Duration::from_secs(1), "rule 2.1, with the initial timeout of the RFC");
        timer.on_sample(Duration::from_millis(100));
        // Rule 2.2: SRTT = R, RTTVAR = R/2, RTO = R + 4 R/2.
        assert_eq!(timer.timeout(), Duration::from_millis(300));
        timer.on_sample(Duration::from_millis(140));
        // Rule 2.3: RTTVAR = 3/4 50 + 1/4 |100 - 140| = 47.5; SRTT = 7/8 100 + 1/8 140 = 105; RTO = 105 + 190.
        assert_eq!(timer.rtt().variation, Duration::from_micros(47_500));
        assert_eq!(timer.rtt().smoothed, Duration::from_millis(105));
        assert_eq!(timer.timeout(), Duration::from_millis(295));
        assert_eq!(timer.rtt().minimum, Duration::from_millis(100));
        assert_eq!(timer.rtt().latest, Duration::from_millis(140));
    }

    #[test]
    fn the_floor_bounds_the_timeout_or_the_variance() {
        let (mut on_timeout, mut on_variance) = (timer(RtoFloor::OnTimeout), timer(RtoFloor::OnVariance));
        for _ in 0..200 {
            on_timeout.on_sample(Duration::from_millis(50));
            on_variance.on_sample(Duration::from_millis(50));
        }
        assert_eq!(on_timeout.timeout(), Duration::from_millis(200));
        assert_eq!(on_variance.timeout(), Duration::from_millis(250));
    }

    #[test]
    fn the_timeout_doubles_up_to_the_ceiling_and_a_sample_resets_it() {
        let mut timer = timer(RtoFloor::OnTimeout);
        timer.on_sample(Duration::from_millis(100));
        for expected_ms in [600, 1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 60_000, 60_000] {
            timer.back_off();
            assert_eq!(timer.timeout(), Duration::from_millis(expected_ms));
        }
        timer.on_sample(Duration::from_millis(100));
        assert!(timer.timeout() < Duration::from_millis(300));
    }

    #[test]
    fn the_smallest_round_trip_is_kept_and_the_timeout_has_a_ceiling() {
        let mut timer = timer(RtoFloor::OnTimeout);
        for (seconds, minimum) in [(100, 100), (90, 90), (110, 90)] {
            timer.on_sample(Duration::from_secs(seconds));
            assert_eq!(timer.rtt().minimum, Duration::from_secs(minimum));
            assert_eq!(timer.timeout(), Duration::from_secs(60));
        }
    }
}
