//! δ, and the detection of competing flows that fill the buffer.

use super::CopaConfig;
use super::delay::Delays;

/// Number of round trips without a nearly empty queue after which Copa concludes that other flows fill it
/// (section 2.2). Copa flows alone empty it once in five round trips. The count is in whole packet-timed
/// rounds. Unlike the smoothed RTT, they do not get shorter while the queue drains; with the smoothed RTT,
/// Copa flows would occasionally mistake each other for buffer-filling flows.
const ROUNDS: u64 = 5;

/// The default mode with its δ, and the competitive mode in which 1/δ is the window of an AIMD flow (section
/// 2.2).
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    config: CopaConfig,
    /// The last round in which the queue was nearly empty; `None` before the first check.
    empty_round: Option<u64>,
    /// 1/δ in competitive mode; `None` in the default mode.
    inverse_delta: Option<f64>,
    /// [`airpath_model::AckEvent::round`] of the current round.
    round: u64,
}

impl Mode {
    pub(super) fn new(config: CopaConfig) -> Self {
        Self { config, empty_round: None, inverse_delta: None, round: 0 }
    }

    /// Processes an acknowledgment of this round: switches the mode if necessary, and increases 1/δ by one
    /// per round.
    pub(super) fn update(&mut self, round: u64, slow_start: bool, delays: &Delays) {
        if !self.config.competitive {
            return;
        }
        let empty = slow_start || delays.get().is_none_or(|delay| delay.is_nearly_empty());
        if empty || self.empty_round.is_none() {
            self.empty_round = Some(round);
        }
        let competing = self.empty_round.is_some_and(|empty| round > empty + ROUNDS);
        let next_round = core::mem::replace(&mut self.round, round) != round;
        self.inverse_delta = match self.inverse_delta {
            Some(inverse) if competing => Some(if next_round { inverse + 1.0 } else { inverse }),
            None if competing => Some(1.0 / self.config.delta),
            _ => None,
        };
    }

    /// Halves 1/δ after a loss event, down to that of the default mode at most.
    pub(super) fn on_loss(&mut self) {
        if let Some(inverse) = &mut self.inverse_delta {
            *inverse = (*inverse / 2.0).max(1.0 / self.config.delta);
        }
    }

    /// Returns the current δ.
    pub(super) fn delta(&self) -> f64 {
        self.inverse_delta.map_or(self.config.delta, |inverse| 1.0 / inverse)
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::{Duration, Timestamp};

    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    /// Updates the mode in rounds of 100 ms with these queueing delays, of 0 to 100 ms.
    fn rounds(mode: &mut Mode, delays: &mut Delays, first: u64, queueing: &[u64]) -> f64 {
        for (round, &queueing) in (first..).zip(queueing) {
            let now = at(100 * round);
            delays.update(now, RTT + Duration::from_millis(queueing), RTT);
            mode.update(round, false, delays);
        }
        mode.delta()
    }

    #[test]
    fn five_round_trips_with_a_full_queue_start_competitive_mode_and_an_empty_queue_ends_it() {
        let mut mode = Mode::new(CopaConfig { delta: 0.5, competitive: true });
        let mut delays = Delays::default();
        let same = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        same(rounds(&mut mode, &mut delays, 0, &[0, 100, 90, 80, 90, 80]), 0.5);
        same(rounds(&mut mode, &mut delays, 6, &[90, 80, 85]), 0.25);
        same(rounds(&mut mode, &mut delays, 9, &[80, 80]), 1.0 / 6.0);
        mode.on_loss();
        same(mode.delta(), 1.0 / 3.0);
        mode.on_loss();
        same(mode.delta(), 0.5);
        same(rounds(&mut mode, &mut delays, 11, &[80, 5]), 0.5);
        same(rounds(&mut mode, &mut delays, 13, &[80]), 0.5);
    }

    #[test]
    fn without_the_option_delta_is_constant() {
        let mut mode = Mode::new(CopaConfig::default());
        let mut delays = Delays::default();
        let delta = rounds(&mut mode, &mut delays, 0, &[0, 90, 90, 90, 90, 90, 90, 90, 90]);
        assert_eq!(delta.to_bits(), 0.5_f64.to_bits());
    }
}
