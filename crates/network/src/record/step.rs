//! The state of a link in one step of a run that is driven step by step.

/// Traffic and losses at a link in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkStep {
    /// Capacity of the link in the step, bytes on the wire; NaN without a limit.
    pub offered_bytes: f64,
    /// Bytes carried by the link, over all flows.
    pub departed_bytes: i64,
    /// Packets lost at the link, over all flows.
    pub dropped_packets: i64,
    /// Backlog at the end of the step.
    pub queue_bytes: i64,
}
