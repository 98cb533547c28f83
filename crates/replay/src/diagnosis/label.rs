//! The possible limits of a flow.

/// The limit of a flow during a window of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// A queue persists at a link of the forward path, or congestion is marked: the link is full.
    Bottleneck,
    /// The window recovers from losses of a queue that overflowed: a short buffer or active queue management.
    Overflow,
    /// Losses without a queue: radio, corruption.
    RandomLoss,
    /// A token bucket drops traffic in excess of its rate.
    Policer,
    /// The sending application has nothing to send.
    Application,
    /// The receiver's window.
    Receiver,
    /// The window of the sender, limited neither by the receiver nor by losses: the send buffer, a clamp.
    SenderWindow,
    /// The congestion window grows, and nothing else is a limit yet.
    StartUp,
    /// Acknowledgments wait in a queue of the reverse path.
    ReversePath,
    /// Data is outstanding and no acknowledgment arrives: an outage.
    Stall,
}

impl Label {
    /// All labels, in the order of tables.
    pub const ALL: [Self; 10] = [
        Self::Bottleneck,
        Self::Overflow,
        Self::RandomLoss,
        Self::Policer,
        Self::Application,
        Self::Receiver,
        Self::SenderWindow,
        Self::StartUp,
        Self::ReversePath,
        Self::Stall,
    ];

    /// Returns the name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bottleneck => "bottleneck",
            Self::Overflow => "overflow",
            Self::RandomLoss => "random-loss",
            Self::Policer => "policer",
            Self::Application => "application",
            Self::Receiver => "receiver-window",
            Self::SenderWindow => "sender-window",
            Self::StartUp => "start-up",
            Self::ReversePath => "reverse-path",
            Self::Stall => "stall",
        }
    }

    /// Returns whether the delivered rate is the bandwidth that the path gave the flow.
    pub const fn is_full(self) -> bool {
        matches!(self, Self::Bottleneck | Self::Policer)
    }
}
