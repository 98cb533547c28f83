//! Sources of traffic and their transport.

use airpath_model::declare::{JsonSchema, defaults};
use airpath_model::{Bytes, Duration, Rate};
use serde::{Deserialize, Serialize};

use super::{ControllerPlan, Draw};

/// A source of traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowPlan {
    /// Unique name; also the path of its random streams (`flow/NAME/…`).
    pub name: String,
    /// Links from the sender to the receiver, in order.
    pub path: Vec<usize>,
    /// Links from the receiver back to the sender.
    pub reverse_path: Vec<usize>,
    /// The link at whose exit throughput is measured: an element of `path`.
    pub measured_at: usize,
    /// Start time, nanoseconds.
    pub start_ns: Draw,
    /// Time at which the flow stops sending new data, nanoseconds; `None` for the end of the run.
    pub stop_ns: Option<Draw>,
    /// The traffic that it sends.
    pub traffic: TrafficPlan,
    /// The congestion controller; absent for datagrams.
    pub controller: Option<ControllerPlan>,
    /// The transport; absent for datagrams.
    pub transport: Option<TransportPlan>,
    /// Estimators of the plan that the sender runs alongside the controller, each once; they control nothing.
    pub estimators: Vec<u16>,
}

/// The traffic of a source. Each variant declares its parameters: see [`crate::Components::schemas`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficPlan {
    /// Always more data: a long-lived flow. Short form: `traffic = "bulk"`.
    Bulk,
    /// One file.
    File {
        /// Size of the file, without headers.
        #[serde(rename = "size")]
        #[schemars(with = "Bytes", extend("exclusiveMinimum" = 0), example = 100_000)]
        bytes: u64,
    },
    /// Files one after the other over new connections, with a pause between.
    Repeated {
        /// Size of each file, without headers.
        #[serde(rename = "size")]
        #[schemars(with = "Bytes", extend("exclusiveMinimum" = 0, "x-draw" = true), example = A_SIZE)]
        bytes: Draw,
        /// Pause between the end of one file and the start of the next.
        #[serde(rename = "pause", default = "default::pause")]
        #[schemars(with = "Duration", extend("x-draw" = true))]
        pause_ns: Draw,
    },
    /// Data that an application writes to one connection at intervals, such as a video or a call: the
    /// application limits the flow. The first write is at the start; data that does not fit into the window waits.
    Writes {
        /// Size of each write, without headers.
        #[serde(rename = "size")]
        #[schemars(with = "Bytes", extend("exclusiveMinimum" = 0, "x-draw" = true), example = A_SIZE)]
        bytes: Draw,
        /// Time from one write to the next.
        #[serde(rename = "interval")]
        #[schemars(with = "Duration", extend("exclusiveMinimum" = 0, "x-draw" = true), example = AN_INTERVAL)]
        interval_ns: Draw,
    },
    /// Files that arrive in a Poisson process, each a separate flow.
    Arrivals {
        /// Size of each file, without headers.
        #[serde(rename = "size")]
        #[schemars(with = "Bytes", extend("exclusiveMinimum" = 0, "x-draw" = true), example = A_SIZE)]
        bytes: Draw,
        /// Mean time between arrivals.
        #[serde(rename = "mean_interval")]
        #[schemars(with = "Duration", extend("exclusiveMinimum" = 0), example = 100_000_000)]
        mean_interval_ns: f64,
    },
    /// Datagrams (UDP) at a constant bit rate, with optional silent periods.
    ConstantBitRate {
        /// Rate on the wire while on.
        #[serde(rename = "rate")]
        #[schemars(with = "Rate", extend("exclusiveMinimum" = 0), example = 1_000_000)]
        bps: u64,
        /// Size of one datagram on the wire.
        #[serde(rename = "packet", default = "default::packet")]
        #[schemars(with = "Bytes", extend("exclusiveMinimum" = 0))]
        packet_bytes: u64,
        /// Length of an on period; always on if absent.
        #[serde(rename = "on", default)]
        #[schemars(with = "Option<Duration>", extend("x-draw" = true))]
        on_ns: Option<Draw>,
        /// Length of an off period; given together with `on`.
        #[serde(rename = "off", default)]
        #[schemars(with = "Option<Duration>", extend("x-draw" = true))]
        off_ns: Option<Draw>,
        /// Begin with an off period.
        #[serde(default)]
        start_off: bool,
    },
    /// Datagrams (UDP) that arrive in a Poisson process.
    PoissonDatagrams {
        /// Mean rate on the wire.
        #[serde(rename = "rate")]
        #[schemars(with = "Rate", extend("exclusiveMinimum" = 0), example = 1_000_000)]
        bps: u64,
        /// Size of one datagram on the wire.
        #[serde(rename = "packet", default = "default::drawn_packet")]
        #[schemars(with = "Bytes", extend("exclusiveMinimum" = 0, "x-draw" = true))]
        packet_bytes: Draw,
    },
}

defaults! {
    pause: Draw = Draw::Constant { value: 0.0 };
    packet: u64 = 1500;
    drawn_packet: Draw = Draw::Constant { value: 1500.0 };
}

/// An example of a size for the schema.
const A_SIZE: Draw = Draw::Constant { value: 100_000.0 };
/// An example of an interval for the schema: 1 s.
const AN_INTERVAL: Draw = Draw::Constant { value: 1e9 };

/// The transport of data (TCP).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransportPlan {
    /// Largest payload of one segment, bytes.
    pub mss_bytes: u64,
    /// Bytes of headers on each data segment (IP, TCP, options).
    pub header_bytes: u64,
    /// Size of an acknowledgment on the wire, bytes.
    pub ack_bytes: u64,
    /// Initial window, bytes.
    pub initial_window_bytes: u64,
    /// Receive window, bytes.
    pub receive_window_bytes: u64,
    /// Loss recovery.
    pub recovery: RecoveryPlan,
    /// Whether lost retransmissions are detected (as in RACK and Linux) instead of waiting for the timer.
    pub lost_retransmission_detection: bool,
    /// The rule that detects lost segments.
    #[serde(default)]
    pub loss_detection: LossDetectionPlan,
    /// Undo a timeout that timestamps prove spurious (Eifel, RFC 3522 and 4015).
    pub spurious_timeout_undo: bool,
    /// Timestamps option.
    pub timestamps: bool,
    /// Segments per acknowledgment: 1 acknowledges each segment, 2 delays acknowledgments.
    pub delayed_ack_segments: u32,
    /// The longest delay of an acknowledgment, nanoseconds.
    pub delayed_ack_timeout_ns: u64,
    /// Lower bound of the retransmission timeout, nanoseconds.
    pub min_rto_ns: u64,
    /// The quantity to which the lower bound applies.
    pub rto_floor: RtoFloorPlan,
    /// Upper bound of the retransmission timeout, nanoseconds.
    pub max_rto_ns: u64,
    /// Retransmission timeout before the first RTT sample, nanoseconds.
    pub initial_rto_ns: u64,
    /// ECN-capable data packets and echo (RFC 3168).
    pub ecn: bool,
    /// With `ecn`: ECT(1), and a count of marked data instead of the echo (accurate ECN, L4S).
    #[serde(default)]
    pub accurate_ecn: bool,
    /// Whether packets are paced at a gain times window over RTT if the controller sets no rate of its own.
    pub pacing: bool,
    /// The stack whose details the transport follows.
    #[serde(default)]
    pub stack: StackPlan,
    /// Whether an emulated host may send bursts of segments (generic segmentation offload).
    #[serde(default = "super::by_default")]
    pub gso: bool,
}

/// The stack whose details a transport follows: the start of a connection, and the resolution of timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StackPlan {
    /// The RFCs. Acknowledgments are delayed and the receive window is open from the start, timestamps are exact.
    #[default]
    Rfc,
    /// Linux. The first segments are acknowledged one by one, the receive window grows with the data received, and
    /// timestamps count milliseconds.
    Linux,
}

/// The quantity to which the lower bound of the retransmission timeout applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoFloorPlan {
    /// The timeout itself: max(SRTT + 4 RTTVAR, floor) (RFC 6298).
    Timeout,
    /// The variance term: SRTT + max(4 RTTVAR, floor) (Linux).
    Variance,
}

/// The rule that detects lost segments if selective acknowledgments are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossDetectionPlan {
    /// Enough data above the segment was delivered (RFC 6675).
    #[default]
    Threshold,
    /// The segment is late (RACK, RFC 8985).
    Rack,
}

/// The detection and repair of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryPlan {
    /// SACK with proportional rate reduction (RFC 6675 and 6937).
    Prr,
    /// SACK, pipe algorithm as in RFC 6675.
    Sack,
    /// Without SACK: RFC 6582.
    Newreno,
    /// Without SACK: RFC 5681.
    Reno,
}
