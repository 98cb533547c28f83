//! What sources tell of themselves.

use airpath_model::{Bytes, Timestamp};
use airpath_network::{FlowState, FlowSummary};

use crate::tcp_info::TcpInfo;

/// What happened at the ends of a flow, for whoever records the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Report {
    /// What receivers handed to their application since the last such report.
    Goodput {
        /// Number of the flow in the plan.
        flow: u32,
        /// Bytes.
        bytes: u64,
    },
    /// An interval is about to end.
    Interval {
        /// Number of the flow in the plan.
        flow: u32,
        /// What the kernel says of its connection. Of several at the same time, only that they are.
        state: FlowState,
    },
    /// The warm-up is about to end.
    Counted {
        /// Number of the flow in the plan.
        flow: u32,
        /// What its sources have counted since they began.
        summary: FlowSummary,
    },
    /// A transfer is complete.
    Completion {
        /// Number of the flow in the plan.
        flow: u32,
        /// 0, 1, … within the flow.
        transfer: u32,
        /// When it began: its sender asked for the connection.
        start: Timestamp,
        /// When its sender knew that all had been received.
        end: Timestamp,
        /// Its size.
        size: Bytes,
    },
}

/// What there is to tell at the end of a run.
#[derive(Clone, Debug)]
pub struct SourceSummary {
    /// Each flow of the plan.
    pub flows: Vec<FlowSummary>,
    /// What went wrong at connections, each sentence once: the run is not what the plan asked for.
    pub faults: Vec<String>,
    /// How long the receivers' windows held senders up, seconds: the longest of any connection.
    pub receive_window_limited_s: f64,
    /// How long the send buffers did, seconds: the longest of any connection.
    pub send_buffer_limited_s: f64,
    /// The latest that a datagram left after its instant, seconds.
    pub datagram_lateness_s: f64,
    /// Transfers that were begun, of each flow.
    pub(super) transfers: Vec<u32>,
}

/// Faults that are kept; one alone says that a run is not what was asked for.
const MAX_FAULTS: usize = 20;

impl SourceSummary {
    /// Of flows that begin at these instants.
    pub(crate) fn new(starts: &[Timestamp]) -> Self {
        Self {
            flows: starts.iter().map(|&start| FlowSummary::begun(start)).collect(),
            faults: Vec::new(),
            receive_window_limited_s: 0.0,
            send_buffer_limited_s: 0.0,
            datagram_lateness_s: 0.0,
            transfers: vec![0; starts.len()],
        }
    }

    /// Something went wrong at a connection.
    pub(super) fn fault(&mut self, flow: usize, what: &str) {
        let sentence = format!("flow number {flow}: {what}");
        if self.faults.len() < MAX_FAULTS && !self.faults.contains(&sentence) {
            self.faults.push(sentence);
        }
    }

    /// The number of a transfer that begins.
    pub(super) fn begin_transfer(&mut self, flow: usize) -> u32 {
        let number = self.transfers[flow];
        self.transfers[flow] += 1;
        number
    }

    /// Counts a connection that ends.
    pub(super) fn add(&mut self, flow: usize, info: &TcpInfo) {
        add_connection(&mut self.flows[flow], info);
        let longest = |so_far: f64, now: Option<u64>| so_far.max(now.and_then(seconds).unwrap_or_default());
        self.receive_window_limited_s =
            longest(self.receive_window_limited_s, info.receive_window_limited_us);
        self.send_buffer_limited_s = longest(self.send_buffer_limited_s, info.send_buffer_limited_us);
    }

    /// Counts a datagram.
    pub(super) fn add_datagram(&mut self, flow: usize, lateness_s: f64) {
        self.flows[flow].sent_packets += 1;
        self.datagram_lateness_s = self.datagram_lateness_s.max(lateness_s);
    }
}

/// Counts a connection, as the kernel tells of it, in what is known of its flow.
pub(crate) fn add_connection(summary: &mut FlowSummary, info: &TcpInfo) {
    summary.sent_packets += u64::from(info.data_segments_sent.unwrap_or_default());
    summary.retransmitted_packets += u64::from(info.retransmissions);
    summary.timeouts += u64::from(info.timeouts.unwrap_or_default());
    summary.srtt_s = seconds(u64::from(info.smoothed_rtt_us)).unwrap_or(summary.srtt_s);
    if let Some(minimum) = info.minimum_rtt_us.and_then(|rtt| seconds(u64::from(rtt))) {
        summary.min_rtt_s = summary.min_rtt_s.min(minimum); // of NaN and a number, the number
    }
}

/// Seconds of microseconds; `None` for zero, which stands for "no sample yet".
fn seconds(microseconds: u64) -> Option<f64> {
    (microseconds > 0).then_some(microseconds as f64 * 1e-6)
}
