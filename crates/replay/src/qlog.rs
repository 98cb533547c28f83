//! Analysis of a log of QUIC connections (qlog) into results per connection.

mod connection;
mod ledger;
mod recorder;

use std::collections::BTreeMap;
use std::io::Read;

use airpath_model::AckEvent;
use airpath_trace::qlog::{QlogEvent, QlogReadError, QlogReport, QlogSink, TraceHead, read_qlog};

use crate::Options;
use crate::diagnosis::Diagnosis;
use crate::series::Series;
use connection::{Connection, Context};

/// The results of one connection, for the direction in which more data was logged.
#[derive(Clone, Debug, PartialEq)]
pub struct QlogFlow {
    /// The title of its trace.
    pub title: String,
    /// The group within its trace; empty if the trace has only one connection.
    pub group: String,
    /// The endpoint that logged: `client`, `server`, `network` or `unknown`.
    pub vantage_point: String,
    /// Whether the endpoint that logged sent the data. Otherwise it received them, and the arrival of
    /// acknowledgments at the sender is unknown.
    pub is_sender: bool,
    /// The first event, in nanoseconds since the first event of its trace.
    pub start_ns: u64,
    /// The time from the first to the last event, in nanoseconds.
    pub duration_ns: u64,
    /// Packets of both directions.
    pub packets: u64,
    /// Packets with data in the reported direction.
    pub data_packets: u64,
    /// Bytes of these packets, QUIC's headers included.
    pub bytes: u64,
    /// Bytes of packets with data in the other direction.
    pub reverse_bytes: u64,
    /// Bytes acknowledged.
    pub acked_bytes: u64,
    /// Acknowledgments of new data.
    pub acks: u64,
    /// Bytes acknowledged (at a receiver: received) divided by the time from the first packet to the last
    /// one, bit/s.
    pub delivered_bps: Option<f64>,
    /// Number of round-trip samples.
    pub rtt_samples: u64,
    /// The smallest round-trip time, in nanoseconds.
    pub rtt_min_ns: Option<u64>,
    /// The median round-trip time, in nanoseconds.
    pub rtt_median_ns: Option<u64>,
    /// The largest round-trip time, in nanoseconds.
    pub rtt_max_ns: Option<u64>,
    /// The largest packet, in bytes.
    pub mss: u64,
    /// Lost packets according to the log, or by the thresholds of RFC 9002 if the log reports no losses.
    pub lost_packets: u64,
    /// Whether the log reports lost packets.
    pub says_losses: bool,
    /// Lengths of runs of lost packets with consecutive numbers, with their numbers of occurrences.
    pub loss_runs: Vec<(u32, u64)>,
    /// Loss events.
    pub recoveries: u64,
    /// Packets without a size in the log.
    pub without_size: u64,
    /// Number of times that the packets in flight were dropped because too many were never acknowledged.
    pub restarts: u64,
    /// One entry for each configured estimator.
    pub estimates: Vec<crate::EstimateResult>,
    /// The time series of the connection. The columns of the estimators are followed by [`LOGGED_COLUMNS`].
    pub series: Series,
    /// The limits and the bandwidth of the connection; empty if the receiver logged.
    pub diagnosis: Diagnosis,
}

/// Logged quantities over time: congestion window (bytes), bytes in flight, smoothed round trip (s), pacing
/// rate (bit/s).
pub const LOGGED_COLUMNS: [&str; 4] =
    ["congestion_window_bytes", "in_flight_bytes", "smoothed_rtt_s", "pacing_rate_bps"];

/// The results of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct QlogAnalysis {
    /// The counts of the reader, and the reason for the end of reading.
    pub report: QlogReport,
    /// The connections that carried data, the one with the most data first.
    pub flows: Vec<QlogFlow>,
    /// Events of connections that were not tracked because there were too many.
    pub not_followed: u64,
    /// Connections without data.
    pub silent: u64,
}

/// An observer of every replayed acknowledgment, for callers that need more than tables.
pub trait QlogObserver {
    /// Observes a replayed acknowledgment; `estimates` are in byte/s, in the order of the configured
    /// estimators.
    fn on_ack(&mut self, event: &AckEvent, estimates: &[Option<f64>]);
}

/// An observer that does nothing.
struct Unobserved;

impl QlogObserver for Unobserved {
    fn on_ack(&mut self, _: &AckEvent, _: &[Option<f64>]) {}
}

/// Reads a log and replays its connections.
///
/// # Errors
/// [`QlogReadError`] if the input is not a log. If the log breaks off later, the part before the break is
/// analyzed.
pub fn analyse_qlog(
    reader: impl Read + Send + 'static,
    options: &Options,
) -> Result<QlogAnalysis, QlogReadError> {
    analyse_qlog_observed(reader, options, &mut Unobserved)
}

/// Analyzes a log as [`analyse_qlog`] does, and passes every acknowledgment to an observer.
///
/// # Errors
/// As [`analyse_qlog`].
pub fn analyse_qlog_observed(
    reader: impl Read + Send + 'static,
    options: &Options,
    observer: &mut dyn QlogObserver,
) -> Result<QlogAnalysis, QlogReadError> {
    let mut connections = Connections {
        context: Context { estimators: &options.estimators, observer },
        most: options.most_flows.max(1),
        head: TraceHead::default(),
        trace: 0,
        followed: BTreeMap::new(),
        packets: 0,
        not_followed: 0,
    };
    let report = read_qlog(reader, &mut connections)?;
    let Connections { mut context, followed, not_followed, .. } = connections;
    let count = followed.len() as u64;
    let mut flows: Vec<QlogFlow> =
        followed.into_values().filter_map(|connection| connection.finish(&mut context)).collect();
    flows.sort_by_key(|flow| std::cmp::Reverse(flow.bytes));
    let silent = count - flows.len() as u64;
    Ok(QlogAnalysis { report, flows, not_followed, silent })
}

/// Maximum number of packets in flight over all connections, about 64 MB.
const MOST_PACKETS: usize = 1 << 20;

/// The connections of a log, by trace and group.
struct Connections<'a> {
    context: Context<'a>,
    most: usize,
    head: TraceHead,
    trace: usize,
    followed: BTreeMap<(usize, String), Box<Connection>>,
    packets: usize,
    not_followed: u64,
}

impl QlogSink for Connections<'_> {
    fn trace(&mut self, head: &TraceHead) {
        self.trace += 1;
        self.head = head.clone();
    }

    fn event(&mut self, at_ns: u64, group: Option<&str>, event: &QlogEvent) {
        let key = (self.trace, group.unwrap_or_default().to_owned());
        if !self.followed.contains_key(&key) {
            if self.followed.len() >= self.most {
                self.not_followed += 1;
                return;
            }
            let connection = Connection::new(self.head.clone(), key.1.clone(), at_ns, &self.context);
            self.followed.insert(key.clone(), Box::new(connection));
        }
        let Some(connection) = self.followed.get_mut(&key) else { return };
        let before = connection.packets_kept();
        connection.on_event(at_ns, event, &mut self.context);
        self.packets = (self.packets + connection.packets_kept()).saturating_sub(before);
        if self.packets > MOST_PACKETS {
            self.packets = self.packets.saturating_sub(connection.packets_kept());
            connection.forget();
        }
    }
}
