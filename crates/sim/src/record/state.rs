//! What only the ends of a flow know.

use airpath_model::{Phase, Timestamp};

/// What the ends of a flow say at the end of an interval, for its row in the series; NaN where there is no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowState {
    /// Whether it has something to send. A flow that is not active and of which nothing was seen gets no row.
    pub active: bool,
    /// Congestion window, bytes.
    pub cwnd_bytes: f64,
    /// Slow-start threshold, bytes.
    pub ssthresh_bytes: f64,
    /// Sent and neither acknowledged nor lost, bytes.
    pub in_flight_bytes: f64,
    /// Smoothed round-trip time, seconds.
    pub srtt_s: f64,
    /// Pacing rate, bit/s.
    pub pacing_rate_bps: f64,
    /// What the controller is doing.
    pub phase: Phase,
}

impl FlowState {
    /// Of a flow of which nothing is known but whether it is active.
    pub const fn unknown(active: bool) -> Self {
        Self {
            active,
            cwnd_bytes: f64::NAN,
            ssthresh_bytes: f64::NAN,
            in_flight_bytes: f64::NAN,
            srtt_s: f64::NAN,
            pacing_rate_bps: f64::NAN,
            phase: Phase::Steady,
        }
    }
}

/// What the ends of a flow say at the end of a run, for its row in the table `flows`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSummary {
    /// Its number within the flow of the plan: above zero only where that stands for several.
    pub instance: u32,
    /// When it began.
    pub start: Timestamp,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Of those, retransmissions.
    pub retransmitted_packets: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries.
    pub recoveries: u64,
    /// Reductions of the window after ECN echoes.
    pub ecn_reductions: u64,
    /// Timeouts that proved spurious.
    pub spurious_timeouts: u64,
    /// Smoothed round-trip time, seconds; NaN without a sample.
    pub srtt_s: f64,
    /// The smallest round-trip time, seconds; NaN without a sample.
    pub min_rtt_s: f64,
}

impl FlowSummary {
    /// Of a flow that began then and of which nothing else is known.
    pub const fn begun(start: Timestamp) -> Self {
        Self {
            instance: 0,
            start,
            sent_packets: 0,
            retransmitted_packets: 0,
            timeouts: 0,
            recoveries: 0,
            ecn_reductions: 0,
            spurious_timeouts: 0,
            srtt_s: f64::NAN,
            min_rtt_s: f64::NAN,
        }
    }
}
