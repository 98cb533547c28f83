//! State that only the endpoints of a flow know.

use airpath_model::{Bytes, Duration, Phase, Rate, Timestamp};

/// The state of a flow's endpoints at the end of an interval, for its row in the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowState {
    /// Whether the flow has data to send. An inactive flow without any recorded event gets no row.
    pub active: bool,
    /// Congestion window.
    pub cwnd: Option<Bytes>,
    /// Slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// Bytes sent and neither acknowledged nor lost.
    pub in_flight: Option<Bytes>,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Pacing rate.
    pub pacing_rate: Option<Rate>,
    /// Phase of the controller.
    pub phase: Phase,
}

impl FlowState {
    /// Creates the state of a flow of which only the activity is known.
    pub const fn unknown(active: bool) -> Self {
        Self {
            active,
            cwnd: None,
            ssthresh: None,
            in_flight: None,
            srtt: None,
            pacing_rate: None,
            phase: Phase::Steady,
        }
    }
}

/// Counters of a flow's endpoints since its start, for its row in the table `flows`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSummary {
    /// The number within the flow of the plan; nonzero only if that describes several flows.
    pub instance: u32,
    /// Start time.
    pub start: Timestamp,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Retransmissions, included in `sent_packets`.
    pub retransmitted_packets: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries.
    pub recoveries: u64,
    /// Window reductions after ECN echoes.
    pub ecn_reductions: u64,
    /// Timeouts that proved spurious.
    pub spurious_timeouts: u64,
    /// Smoothed round-trip time, seconds; NaN without a sample.
    pub srtt_s: f64,
    /// The smallest round-trip time, seconds; NaN without a sample.
    pub min_rtt_s: f64,
}

impl FlowSummary {
    /// Creates the totals of a flow of which only the start time is known.
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

    /// Returns the summary with only the counts after `earlier`.
    pub(crate) const fn since(self, earlier: &Self) -> Self {
        Self {
            sent_packets: self.sent_packets.saturating_sub(earlier.sent_packets),
            retransmitted_packets: self.retransmitted_packets.saturating_sub(earlier.retransmitted_packets),
            timeouts: self.timeouts.saturating_sub(earlier.timeouts),
            recoveries: self.recoveries.saturating_sub(earlier.recoveries),
            ecn_reductions: self.ecn_reductions.saturating_sub(earlier.ecn_reductions),
            spurious_timeouts: self.spurious_timeouts.saturating_sub(earlier.spurious_timeouts),
            ..self
        }
    }
}
