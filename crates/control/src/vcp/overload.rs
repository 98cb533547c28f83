//! What a sender may do after it backed off: freeze, then grow gently, until the network shows the effect.

use airpath_model::{Duration, Timestamp};

/// What the freeze after a decrease keeps from happening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VcpFreeze {
    /// Everything: the window does not change, and then grows additively for a round trip whatever the load (the
    /// paper's text).
    #[default]
    All,
    /// Decreases only: a load below 100 % selects its increase at once (the authors' code).
    DecreasesOnly,
}

/// What one load makes of the window, for a whole `t_ρ` or at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Region {
    /// Low load: growth by this share each `t_ρ` (MI, ξ).
    Multiplicative(f64),
    /// High load: growth by α each `t_ρ` (AI).
    Additive,
    /// Overload: the window times this factor (MD), once.
    Decrease(f64),
}

/// Senders' timers of the authors' code tick this often.
const TICK: Duration = Duration::from_millis(10);

/// Lets one decrease through, then freezes the window for `t_ρ` (the end rounded up to 10 ms), then allows additive
/// increase for one smoothed round trip; then the load decides again (SIGCOMM'05, section 3.2; authors' code).
#[derive(Clone, Debug)]
pub(crate) struct Overload {
    freeze: VcpFreeze,
    interval: Duration,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Normal,
    Frozen { until: Timestamp },
    Additive { until: Timestamp },
}

impl Overload {
    /// With a freeze of `interval` (`t_ρ`).
    pub(crate) const fn new(freeze: VcpFreeze, interval: Duration) -> Self {
        Self { freeze, interval, state: State::Normal }
    }

    /// What becomes of the wish of a load that an acknowledgment brought at `now`; `None`: the window stays. A
    /// decrease that comes back is taken as made.
    pub(crate) fn admit(&mut self, now: Timestamp, smoothed_rtt: Duration, wish: Region) -> Option<Region> {
        if let State::Frozen { until } = self.state
            && now >= until
        {
            self.state = State::Additive { until: until + smoothed_rtt };
        }
        if let State::Additive { until } = self.state
            && now >= until
        {
            self.state = State::Normal;
        }
        let decreases = matches!(wish, Region::Decrease(_));
        let suppressed = decreases || self.freeze == VcpFreeze::All;
        match self.state {
            State::Normal => {
                if decreases {
                    self.state = State::Frozen { until: next_tick(now + self.interval) };
                }
                Some(wish)
            }
            State::Frozen { .. } => (!suppressed).then_some(wish),
            State::Additive { .. } => Some(if suppressed { Region::Additive } else { wish }),
        }
    }
}

/// The first tick not before `time`.
fn next_tick(time: Timestamp) -> Timestamp {
    let ticks = time.as_nanos().div_ceil(TICK.as_nanos());
    Timestamp::ZERO + TICK * ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOW: Region = Region::Multiplicative(0.0625);
    const OVERLOAD: Region = Region::Decrease(0.875);
    const RTT: Duration = Duration::from_millis(80);

    /// What becomes of these wishes, one after the other, each at its time in ms.
    fn timeline<const N: usize>(freeze: VcpFreeze, wishes: [(u64, Region); N]) -> [Option<Region>; N] {
        let mut overload = Overload::new(freeze, Duration::from_millis(200));
        wishes
            .map(|(millis, wish)| overload.admit(Timestamp::ZERO + Duration::from_millis(millis), RTT, wish))
    }

    #[test]
    fn one_decrease_then_a_freeze_then_additive_increase_for_a_round_trip() {
        // Decrease at 1003 ms; 1203 ms is rounded up to 1210; additive until 1290.
        let outcome = timeline(
            VcpFreeze::All,
            [
                (1000, LOW),
                (1003, OVERLOAD),
                (1004, OVERLOAD),
                (1209, LOW),
                (1210, OVERLOAD),
                (1289, LOW),
                (1290, LOW),
                (1291, OVERLOAD),
            ],
        );
        let additive = Some(Region::Additive);
        let expected = [Some(LOW), Some(OVERLOAD), None, None, additive, additive, Some(LOW), Some(OVERLOAD)];
        assert_eq!(outcome, expected);
    }

    #[test]
    fn the_authors_freeze_lets_increases_through() {
        let outcome = timeline(
            VcpFreeze::DecreasesOnly,
            [
                (1000, OVERLOAD),
                (1001, LOW),
                (1002, Region::Additive),
                (1199, OVERLOAD),
                (1200, OVERLOAD),
                (1201, LOW),
                (1280, OVERLOAD),
            ],
        );
        let additive = Some(Region::Additive);
        let expected = [Some(OVERLOAD), Some(LOW), additive, None, additive, Some(LOW), Some(OVERLOAD)];
        assert_eq!(outcome, expected);
    }

    #[test]
    fn a_long_silence_ends_both() {
        let outcome = timeline(VcpFreeze::All, [(1000, OVERLOAD), (1281, OVERLOAD)]);
        assert_eq!(outcome, [Some(OVERLOAD); 2]);
    }
}
