//! The results of a flow.

use std::net::SocketAddr;

use crate::diagnosis::Diagnosis;
use crate::ecn::EcnUse;
use crate::series::Series;
use crate::vantage::Vantage;

/// The result of an estimator for a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimateResult {
    /// The estimator.
    pub name: String,
    /// Mean of the estimate over the time since its first, bit/s.
    pub mean_bps: Option<f64>,
    /// The last estimate, bit/s.
    pub last_bps: Option<f64>,
    /// Why there is no estimate.
    pub missing: Option<&'static str>,
}

/// A TCP flow, described by the direction in which it carried more payload.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowResult {
    /// The endpoint that sent the data.
    pub source: SocketAddr,
    /// The endpoint that received the data.
    pub destination: SocketAddr,
    /// First packet, nanoseconds since the first packet of the capture.
    pub start_ns: u64,
    /// From the first to the last packet, nanoseconds.
    pub duration_ns: u64,
    /// Packets of both directions.
    pub packets: u64,
    /// The vantage point of the capture.
    pub vantage: Vantage,
    /// The shortest time in which the sender answered at the point of capture, nanoseconds.
    pub sender_answer_ns: Option<u64>,
    /// The same of the receiver.
    pub receiver_answer_ns: Option<u64>,
    /// The handshake was captured.
    pub handshake: bool,
    /// Both ends scaled their windows; the receiver's shift.
    pub window_scale: Option<u8>,
    /// The largest receive window, bytes; unscaled when the handshake was not captured.
    pub window_max: u64,
    /// Selective acknowledgments were agreed or seen.
    pub sack: bool,
    /// The receiver sent timestamps.
    pub timestamps: bool,
    /// Ticks in a second of the receiver's timestamp clock, as seen at the beginning of the flow.
    pub clock_hz: Option<f64>,
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Data packets, and payload bytes captured for the first time.
    pub data_packets: u64,
    /// Payload, each byte once.
    pub bytes: u64,
    /// Payload of the other direction.
    pub reverse_bytes: u64,
    /// Payload acknowledged.
    pub acked_bytes: u64,
    /// Acknowledgments replayed.
    pub acks: u64,
    /// Payload acknowledged over the time from the first data to the last new acknowledgment, bit/s.
    pub delivered_bps: Option<f64>,
    /// RTT samples and their smallest, median (to 1 %) and largest, nanoseconds.
    pub rtt_samples: u64,
    /// The smallest.
    pub rtt_min_ns: Option<u64>,
    /// The median.
    pub rtt_median_ns: Option<u64>,
    /// The largest.
    pub rtt_max_ns: Option<u64>,
    /// Segments that were retransmitted, or that filled a hole too late to be merely out of order.
    pub retransmitted: u64,
    /// Of them those whose data had been acknowledged.
    pub needless: u64,
    /// Segments that arrived out of order at the point of capture.
    pub reordered: u64,
    /// Recoveries begun by acknowledgments, and timeouts, as inferred.
    pub recoveries: u64,
    /// Timeouts, as inferred.
    pub timeouts: u64,
    /// Lengths of the runs of lost segments, with their numbers of occurrences.
    pub loss_runs: Vec<(u32, u64)>,
    /// Payload that was acknowledged although the capture does not have it, bytes.
    pub uncaptured_bytes: u64,
    /// The negotiated use of ECN.
    pub ecn: EcnUse,
    /// Data packets with ECT(0).
    pub ect0: u64,
    /// Data packets with ECT(1).
    pub ect1: u64,
    /// Data packets marked CE before the point of capture.
    pub ce: u64,
    /// Acknowledgments with the classic echo.
    pub ecn_echoes: u64,
    /// Marks that the accurate counter reports.
    pub reported_marks: u64,
    /// Packets whose time lies before that of the packet before.
    pub backward_times: u64,
    /// Packets captured twice, or seen at a second interface.
    pub duplicates: u64,
    /// Number of times that tracking was restarted because too much was never acknowledged or sequence
    /// numbers were inconsistent.
    pub restarts: u64,
    /// One entry for each configured estimator.
    pub estimates: Vec<EstimateResult>,
    /// The flow over time.
    pub series: Series,
    /// What limited it, and its bandwidth.
    pub diagnosis: Diagnosis,
}
