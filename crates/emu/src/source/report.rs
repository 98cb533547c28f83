//! Reports of sources.

use airpath_model::{Bytes, Timestamp};
use airpath_network::{FlowState, FlowSummary, LimitedTimes};

use crate::tcp_info::TcpInfo;

/// A report on the endpoints of a flow, to be recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Report {
    /// Bytes that receivers passed to their application since the last such report.
    Goodput {
        /// Number of the flow in the plan.
        flow: u32,
        /// Bytes.
        bytes: u64,
    },
    /// The end of an interval is near.
    Interval {
        /// Number of the flow in the plan.
        flow: u32,
        /// The kernel's report on its connection. Of several simultaneous ones, only that they are active.
        state: FlowState,
        /// What has limited its sender since its start; `None` if the kernel does not report it, or the flow
        /// has several senders.
        limited: Option<LimitedTimes>,
    },
    /// The end of the warm-up is near.
    Counted {
        /// Number of the flow in the plan.
        flow: u32,
        /// Totals of its sources since they began.
        summary: FlowSummary,
    },
    /// A transfer is complete.
    Completion {
        /// Number of the flow in the plan.
        flow: u32,
        /// 0, 1, … within the flow.
        transfer: u32,
        /// Start of the transfer: its sender requested the connection.
        start: Timestamp,
        /// Time at which its sender knew that everything had been received.
        end: Timestamp,
        /// Its size.
        size: Bytes,
    },
}

/// The summary of all sources at the end of a run.
#[derive(Clone, Debug)]
pub struct SourceSummary {
    /// Summary of each flow of the plan.
    pub flows: Vec<FlowSummary>,
    /// Errors of connections, each sentence once: the run is not the one in the plan.
    pub faults: Vec<String>,
    /// Longest time, of all connections, for which a receive window limited a sender, in seconds.
    pub receive_window_limited_s: f64,
    /// Longest time, of all connections, for which a send buffer limited a sender, in seconds.
    pub send_buffer_limited_s: f64,
    /// Largest lateness of a datagram's departure, in seconds.
    pub datagram_lateness_s: f64,
    /// Number of transfers that have begun, of each flow.
    pub(super) transfers: Vec<u32>,
}

/// Largest number of faults that are kept; a single one invalidates a run.
const MAX_FAULTS: usize = 20;

impl SourceSummary {
    /// Creates the summary of flows that begin at these times.
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

    /// Records an error of a connection.
    pub(super) fn fault(&mut self, flow: usize, what: &str) {
        let sentence = format!("flow number {flow}: {what}");
        if self.faults.len() < MAX_FAULTS && !self.faults.contains(&sentence) {
            self.faults.push(sentence);
        }
    }

    /// Returns the index of a transfer that begins.
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

/// Adds the kernel's report on a connection to the summary of its flow.
pub(crate) fn add_connection(summary: &mut FlowSummary, info: &TcpInfo) {
    summary.sent_packets += u64::from(info.data_segments_sent.unwrap_or_default());
    summary.retransmitted_packets += u64::from(info.retransmissions);
    summary.timeouts += u64::from(info.timeouts.unwrap_or_default());
    summary.srtt_s = seconds(u64::from(info.smoothed_rtt_us)).unwrap_or(summary.srtt_s);
    if let Some(minimum) = info.minimum_rtt_us.and_then(|rtt| seconds(u64::from(rtt))) {
        summary.min_rtt_s = summary.min_rtt_s.min(minimum); // `min` of NaN and a number is the number
    }
}

/// Converts microseconds to seconds; returns `None` for zero, which means "no sample yet".
fn seconds(microseconds: u64) -> Option<f64> {
    (microseconds > 0).then_some(microseconds as f64 * 1e-6)
}
