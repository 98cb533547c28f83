//! The states and their gains.

use airpath_model::Phase;

/// A state of the machine (draft-ietf-ccwg-bbr, section 5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    ProbeDown,
    ProbeCruise,
    ProbeRefill,
    ProbeUp,
    ProbeRtt,
}

impl State {
    /// `pacing_gain`, the ratio of the pacing rate to the estimated bandwidth (section 5.6.1).
    pub(super) const fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => 2.77,
            Self::Drain => 0.5,
            Self::ProbeDown => 0.9,
            Self::ProbeCruise | Self::ProbeRefill | Self::ProbeRtt => 1.0,
            Self::ProbeUp => 1.25,
        }
    }

    /// `cwnd_gain`, the ratio of the window to the estimated bandwidth-delay product (section 5.6.1).
    pub(super) const fn cwnd_gain(self) -> f64 {
        match self {
            Self::ProbeUp => 2.25,
            Self::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    /// Implements `IsInAProbeBWState`.
    pub(super) const fn is_probe_bandwidth(self) -> bool {
        matches!(self, Self::ProbeDown | Self::ProbeCruise | Self::ProbeRefill | Self::ProbeUp)
    }

    /// Implements `IsProbingBW`: returns whether the flow accelerates in this state or is about to.
    pub(super) const fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::ProbeRefill | Self::ProbeUp)
    }

    pub(super) const fn phase(self) -> Phase {
        match self {
            Self::Startup => Phase::SlowStart,
            Self::Drain => Phase::Drain,
            Self::ProbeDown => Phase::ProbeDown,
            Self::ProbeCruise => Phase::ProbeCruise,
            Self::ProbeRefill => Phase::ProbeRefill,
            Self::ProbeUp => Phase::ProbeUp,
            Self::ProbeRtt => Phase::ProbeRtt,
        }
    }
}
