//! The response of a sender after a decrease: a freeze, then slow growth, until the network shows the effect
//! of the decrease.

use airpath_model::{Duration, Timestamp};

/// The changes that the freeze after a decrease prevents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum VcpFreeze {
    /// All changes: the window does not change, and then grows additively for a round trip regardless of the
    /// load (the paper's text).
    #[default]
    All,
    /// Decreases only: a load below 100 % selects its increase at once (the authors' code).
    DecreasesOnly,
}

/// The effect of an overload in the round trip of additive increase that follows the freeze.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum AfterFreeze {
    /// None: the window grows additively regardless of the codes (the authors' code). A cycle of decrease and
    /// growth then converges to a window of `α_s` / (1 − β), 8 `α_s`, regardless of the capacity.
    #[default]
    Author,
    /// None while the decrease exceeds the growth of a round trip, (1 − β) window > `α_s`; otherwise a
    /// further decrease (ours), so that many flows on a slow link can use smaller windows.
    Guarded,
    /// A further decrease: there is no such round trip, and codes apply as soon as the freeze ends.
    Obey,
}

/// The change of the window for one load, for a whole `t_ρ` or at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Region {
    /// Low load: growth by this share each `t_ρ` (MI, ξ).
    Multiplicative(f64),
    /// High load: growth by α each `t_ρ` (AI).
    Additive,
    /// Overload: the window times this factor (MD), once.
    Decrease(f64),
}

/// Tick of the senders' timers in the authors' code.
const TICK: Duration = Duration::from_millis(10);

/// Admits one decrease, then freezes the window for `t_ρ` (the end rounded up to 10 ms), then allows additive
/// increase for one smoothed round trip, within the limits of `AfterFreeze`; then the load applies again
/// (SIGCOMM'05, section 3.2; authors' code).
#[derive(Clone, Debug)]
pub(crate) struct Overload {
    freeze: VcpFreeze,
    after_freeze: AfterFreeze,
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
    /// Creates the state with a freeze of `interval` (`t_ρ`).
    pub(crate) const fn new(freeze: VcpFreeze, after_freeze: AfterFreeze, interval: Duration) -> Self {
        Self { freeze, after_freeze, interval, state: State::Normal }
    }

    /// Returns the change that is admitted for the change requested by the load of an acknowledgment at
    /// `now`, or `None` if the window does not change. The caller must apply a returned decrease.
    /// `takes_more` returns whether a decrease by that factor exceeds the additive increase of a round trip.
    pub(crate) fn admit(
        &mut self,
        now: Timestamp,
        smoothed_rtt: Duration,
        wish: Region,
        takes_more: impl FnOnce(f64) -> bool,
    ) -> Option<Region> {
        if let State::Frozen { until } = self.state
            && now >= until
        {
            self.state = match self.after_freeze {
                AfterFreeze::Author | AfterFreeze::Guarded => State::Additive { until: until + smoothed_rtt },
                AfterFreeze::Obey => State::Normal,
            };
        }
        if let (State::Additive { .. }, AfterFreeze::Guarded, Region::Decrease(factor)) =
            (self.state, self.after_freeze, wish)
            && !takes_more(factor)
        {
            self.state = State::Normal;
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

/// Returns the first tick not before `time`.
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

    /// Returns the admitted changes for these requests in succession, each at its time in ms.
    fn timeline<const N: usize>(freeze: VcpFreeze, wishes: [(u64, Region); N]) -> [Option<Region>; N] {
        timeline_of(Overload::new(freeze, AfterFreeze::Author, Duration::from_millis(200)), false, wishes)
    }

    fn timeline_of<const N: usize>(
        mut overload: Overload,
        takes_more: bool,
        wishes: [(u64, Region); N],
    ) -> [Option<Region>; N] {
        wishes.map(|(millis, wish)| {
            let now = Timestamp::ZERO + Duration::from_millis(millis);
            overload.admit(now, RTT, wish, |_| takes_more)
        })
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
    fn the_freeze_of_the_authors_permits_increases() {
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
    fn the_reaction_to_overload_after_the_freeze_is_configurable() {
        // Decrease at 1000 ms, frozen until 1200, additive until 1280.
        let wishes =
            [(1000, OVERLOAD), (1199, OVERLOAD), (1200, OVERLOAD), (1201, LOW), (1399, LOW), (1400, LOW)];
        let additive = Some(Region::Additive);
        let rested = [Some(OVERLOAD), None, additive, additive, Some(LOW), Some(LOW)];
        let decreased = [Some(OVERLOAD), None, Some(OVERLOAD), None, None, additive];
        let cases = [
            (AfterFreeze::Author, true, rested),
            (AfterFreeze::Author, false, rested),
            (AfterFreeze::Guarded, true, rested),
            (AfterFreeze::Guarded, false, decreased),
            (AfterFreeze::Obey, true, [Some(OVERLOAD), None, Some(OVERLOAD), None, None, Some(LOW)]),
        ];
        for (after_freeze, takes_more, expected) in cases {
            let overload = Overload::new(VcpFreeze::All, after_freeze, Duration::from_millis(200));
            assert_eq!(timeline_of(overload, takes_more, wishes), expected, "{after_freeze:?}, {takes_more}");
        }
    }

    #[test]
    fn a_long_pause_ends_freeze_and_increase() {
        let outcome = timeline(VcpFreeze::All, [(1000, OVERLOAD), (1281, OVERLOAD)]);
        assert_eq!(outcome, [Some(OVERLOAD); 2]);
    }
}
