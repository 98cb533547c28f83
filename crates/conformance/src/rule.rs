//! The rules, and their breaches.

use serde::{Deserialize, Serialize};

/// The rules for the window that a controller follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Follows {
    /// The rules of RFC 5681 for the growth and reduction of the window.
    #[default]
    Rfc5681,
    /// The same, but the window is set to a measured value when a recovery ends (Westwood+ in Linux).
    Rfc5681UntilRecoveryEnds,
    /// The same, but one acknowledgment may open the window by more than it acknowledges (Hybla).
    Faster,
    /// The rules of RFC 5681 outside recovery; in recovery the window follows the feedback of routers (XCP in
    /// ns-2.35, ABC).
    Routers,
    /// None of the rules: the window follows a model of the path (BBR, Copa).
    Model,
}

/// The meaning of a breach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// The driver depends on the rule: a controller that breaks it is faulty.
    Interface,
    /// Most controllers follow the rule, which is from RFC 5681; some have reasons not to.
    GoodSense,
}

/// A rule that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The controller raises no error and does not panic.
    NoError,
    /// Two instances with the same operations give the same answers.
    SameAnswers,
    /// Repeated requests for an answer do not change it.
    AskingChangesNothing,
    /// Answers change only by events, not by time.
    EventsOnly,
    /// The window is at least one segment and at most 1 GiB.
    Window,
    /// The burst limit is at least one segment and at most 1 GiB.
    Quantum,
    /// Timers are not in the past, and their number is bounded.
    Timer,
    /// The window is at most the window that the operations could have earned.
    EarnedWindow,
    /// The window does not grow when a packet is sent.
    Sending,
    /// The window does not grow while a loss is repaired.
    Recovery,
    /// The window does not grow if it did not limit the sender.
    UnusedWindow,
    /// The window does not grow by an acknowledgment without new data.
    Duplicate,
    /// The window does not shrink by an acknowledgment in slow start.
    SlowStartShrinks,
    /// The window grows by at most the acknowledged data in slow start.
    SlowStartGrows,
    /// The window does not grow at a congestion signal.
    Signal,
    /// The slow-start threshold after a signal is at least two segments.
    Threshold,
    /// Repeated timeouts do not move the slow-start threshold.
    RepeatedTimeout,
    /// A loss or timeout that is dismissed as an error of the path changes nothing; a mark is never dismissed.
    DismissedSignal,
    /// The window is restored after a signal that proves spurious.
    Undo,
}

impl Rule {
    /// All rules, those of the interface first.
    pub const ALL: [Self; 19] = [
        Self::NoError,
        Self::SameAnswers,
        Self::AskingChangesNothing,
        Self::EventsOnly,
        Self::Window,
        Self::Quantum,
        Self::Timer,
        Self::EarnedWindow,
        Self::Sending,
        Self::Recovery,
        Self::UnusedWindow,
        Self::Duplicate,
        Self::SlowStartShrinks,
        Self::SlowStartGrows,
        Self::Signal,
        Self::Threshold,
        Self::RepeatedTimeout,
        Self::DismissedSignal,
        Self::Undo,
    ];

    /// Returns a short description of the rule, for tables.
    pub const fn text(self) -> &'static str {
        match self {
            Self::NoError => "no error",
            Self::SameAnswers => "same operations, same answers",
            Self::AskingChangesNothing => "asking changes nothing",
            Self::EventsOnly => "only events change answers",
            Self::Window => "window from one segment to 1 GiB",
            Self::Quantum => "quantum from one segment to 1 GiB",
            Self::Timer => "timers in the future",
            Self::EarnedWindow => "window of at most what can be earned",
            Self::Sending => "no growth by sending",
            Self::Recovery => "no growth in recovery",
            Self::UnusedWindow => "no growth of an unused window",
            Self::Duplicate => "no growth by duplicates",
            Self::SlowStartShrinks => "no reduction by acknowledgments in slow start",
            Self::SlowStartGrows => "growth in slow start by at most what is acknowledged",
            Self::Signal => "no growth at a congestion signal",
            Self::Threshold => "threshold of at least two segments",
            Self::RepeatedTimeout => "threshold unmoved by repeated timeouts",
            Self::DismissedSignal => "dismissed signals change nothing",
            Self::Undo => "window restored after a spurious signal",
        }
    }

    /// Returns the meaning of a breach of the rule.
    pub const fn grade(self) -> Grade {
        match self {
            Self::NoError
            | Self::SameAnswers
            | Self::AskingChangesNothing
            | Self::EventsOnly
            | Self::Window
            | Self::Quantum
            | Self::Timer => Grade::Interface,
            _ => Grade::GoodSense,
        }
    }

    /// Returns whether this rule binds a controller that follows the rules `follows` for the window.
    pub const fn binds(self, follows: Follows) -> bool {
        match self {
            Self::EarnedWindow => !matches!(follows, Follows::Faster),
            Self::SlowStartGrows => !matches!(follows, Follows::Faster | Follows::Model),
            Self::Recovery => !matches!(follows, Follows::Routers | Follows::Model),
            Self::Sending | Self::UnusedWindow | Self::Duplicate | Self::SlowStartShrinks => {
                !matches!(follows, Follows::Model)
            }
            _ => true,
        }
    }
}

/// A rule that a controller broke.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Breach {
    /// The rule.
    pub rule: Rule,
    /// Description of the breach.
    pub message: String,
    /// Index of the operation at which the rule was broken; `None` at the start of the connection.
    pub operation: Option<usize>,
}
