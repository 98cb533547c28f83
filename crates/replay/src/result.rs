//! The results of a flow.

use std::net::SocketAddr;

use crate::diagnosis::Diagnosis;
use crate::ecn::EcnUse;
use crate::series::Series;
use crate::vantage::Vantage;

/// The result of an estimator for a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimateResult {
    /// The name of the estimator.
    pub name: String,
    /// The mean of the estimate over the time since its first value, bit/s.
    pub mean_bps: Option<f64>,
    /// The last estimate, bit/s.
    pub last_bps: Option<f64>,
    /// The reason why there is no estimate.
    pub missing: Option<&'static str>,
}

/// A TCP flow, described by the direction in which it carried more payload.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowResult {
    /// The endpoint that sent the data.
    pub source: SocketAddr,
    /// The endpoint that received the data.
    pub destination: SocketAddr,
    /// The time of the first packet, in nanoseconds since the first packet of the capture.
    pub start_ns: u64,
    /// The time from the first to the last packet, in nanoseconds.
    pub duration_ns: u64,
    /// Packets of both directions.
    pub packets: u64,
    /// The vantage point of the capture.
    pub vantage: Vantage,
    /// The shortest response time of the sender at the point of capture, in nanoseconds.
    pub sender_answer_ns: Option<u64>,
    /// The shortest response time of the receiver at the point of capture, in nanoseconds.
    pub receiver_answer_ns: Option<u64>,
    /// Whether the handshake was captured.
    pub handshake: bool,
    /// The receiver's window shift, if both endpoints scaled their windows.
    pub window_scale: Option<u8>,
    /// The largest receive window in bytes, unscaled if the handshake was not captured.
    pub window_max: u64,
    /// Whether selective acknowledgments were negotiated or observed.
    pub sack: bool,
    /// Whether the receiver sent timestamps.
    pub timestamps: bool,
    /// The rate of the receiver's timestamp clock, in ticks per second, measured at the start of the flow.
    pub clock_hz: Option<f64>,
    /// The payload of a full segment, in bytes.
    pub mss: u64,
    /// Data packets.
    pub data_packets: u64,
    /// Payload, each byte once.
    pub bytes: u64,
    /// Payload of the other direction.
    pub reverse_bytes: u64,
    /// Payload acknowledged.
    pub acked_bytes: u64,
    /// Acknowledgments replayed.
    pub acks: u64,
    /// Payload acknowledged divided by the time from the first data to the last new acknowledgment, bit/s.
    pub delivered_bps: Option<f64>,
    /// The number of RTT samples.
    pub rtt_samples: u64,
    /// The smallest RTT, in nanoseconds.
    pub rtt_min_ns: Option<u64>,
    /// The median RTT (to 1 %), in nanoseconds.
    pub rtt_median_ns: Option<u64>,
    /// The largest RTT, in nanoseconds.
    pub rtt_max_ns: Option<u64>,
    /// Segments that were retransmitted, or that filled a hole too late for mere reordering.
    pub retransmitted: u64,
    /// Retransmitted segments whose data had been acknowledged.
    pub needless: u64,
    /// Segments that arrived out of order at the point of capture.
    pub reordered: u64,
    /// Inferred recoveries started by acknowledgments.
    pub recoveries: u64,
    /// Inferred timeouts.
    pub timeouts: u64,
    /// Lengths of the runs of lost segments, with their numbers of occurrences.
    pub loss_runs: Vec<(u32, u64)>,
    /// Payload that was acknowledged although it was not captured, in bytes.
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
    /// Marks reported by the accurate counter.
    pub reported_marks: u64,
    /// Packets with an earlier time than the previous packet.
    pub backward_times: u64,
    /// Packets captured twice, or captured at a second interface.
    pub duplicates: u64,
    /// Number of times that tracking was restarted because too much was never acknowledged or sequence
    /// numbers were inconsistent.
    pub restarts: u64,
    /// One entry for each configured estimator.
    pub estimates: Vec<EstimateResult>,
    /// The time series of the flow.
    pub series: Series,
    /// The limits of the flow, and its bandwidth.
    pub diagnosis: Diagnosis,
}
