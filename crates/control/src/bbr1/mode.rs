//! The modes, their gains, and the cycle of gains while the bandwidth is probed.

use airpath_model::{Phase, RandomStream, Timestamp};

/// `bbr_high_gain`, 2/ln 2: the smallest gain that doubles the delivery rate in each round.
pub(super) const HIGH_GAIN: f64 = 2.885;

/// The pacing gains of `ProbeBW`: probe for more bandwidth, drain the queue of the probe, cruise.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// A mode of the state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Startup,
    Drain,
    ProbeBandwidth(Cycle),
    ProbeRtt,
}

/// The current phase of the cycle of gains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cycle {
    index: usize,
    pub(super) since: Timestamp,
}

impl Cycle {
    /// Starts at a random phase, but not at that of the low gain: the queue has just been drained.
    pub(super) fn new(now: Timestamp, random: &mut RandomStream) -> Self {
        let skipped = random.uniform(0.0, 7.0) as usize;
        Self { index: (CYCLE.len() - skipped) % CYCLE.len(), since: now }
    }

    /// Returns the next phase.
    pub(super) fn next(self, now: Timestamp) -> Self {
        Self { index: (self.index + 1) % CYCLE.len(), since: now }
    }

    /// Returns whether this is the phase that probes for more bandwidth.
    pub(super) fn is_probing(self) -> bool {
        self.index == 0
    }
}

impl Mode {
    /// Returns the ratio of the pacing rate to the estimated bandwidth, if no policer was detected.
    pub(super) fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => HIGH_GAIN,
            Self::Drain => 1.0 / HIGH_GAIN,
            Self::ProbeBandwidth(cycle) => CYCLE[cycle.index],
            Self::ProbeRtt => 1.0,
        }
    }

    /// Returns the ratio of the window to the estimated bandwidth-delay product.
    pub(super) const fn window_gain(self) -> f64 {
        match self {
            Self::Startup | Self::Drain => HIGH_GAIN,
            Self::ProbeBandwidth(_) => 2.0,
            Self::ProbeRtt => 1.0,
        }
    }

    /// Returns the phase for telemetry. `gain` is the pacing gain.
    pub(super) fn phase(self, gain: f64) -> Phase {
        match self {
            Self::Startup => Phase::SlowStart,
            Self::Drain => Phase::Drain,
            Self::ProbeBandwidth(_) if gain > 1.0 => Phase::ProbeUp,
            Self::ProbeBandwidth(_) if gain < 1.0 => Phase::ProbeDown,
            Self::ProbeBandwidth(_) => Phase::ProbeCruise,
            Self::ProbeRtt => Phase::ProbeRtt,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn the_cycle_starts_at_each_phase_but_that_of_the_low_gain_equally_often() {
        let mut random = RandomStream::new(1, "flow/test/controller");
        let mut starts = BTreeMap::new();
        for _ in 0..7000 {
            *starts.entry(Cycle::new(Timestamp::ZERO, &mut random).index).or_insert(0_u32) += 1;
        }
        assert_eq!(starts.keys().copied().collect::<Vec<_>>(), [0, 2, 3, 4, 5, 6, 7]);
        // Standard deviation of a count: √(7000/7 · 6/7) = 29.
        assert!(starts.values().all(|count| count.abs_diff(1000) < 150), "{starts:?}");
    }

    #[test]
    fn the_gains_of_a_cycle_average_to_one() {
        let mut cycle = Cycle { index: 0, since: Timestamp::ZERO };
        let gains: Vec<_> = (0..9)
            .map(|_| {
                let gain = Mode::ProbeBandwidth(cycle).pacing_gain();
                cycle = cycle.next(Timestamp::ZERO);
                gain
            })
            .collect();
        assert_eq!(gains, [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.25]);
    }
}
