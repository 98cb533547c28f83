//! What happened at a link in one step of a run that is driven step by step.

/// What happened at a link in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkStep {
    /// What the link could have carried, bytes on the wire; NaN without a limit.
    pub offered_bytes: f64,
    /// What it did carry, of all flows.
    pub departed_bytes: i64,
    /// Packets lost there, of all flows.
    pub dropped_packets: i64,
    /// Waiting at the end of the step.
    pub queue_bytes: i64,
}
