//! From a log of QUIC connections (qlog) to the results of each.

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

/// What a log says of one connection, told by the direction in which it logged more data.
#[derive(Clone, Debug, PartialEq)]
pub struct QlogFlow {
    /// Title of its trace.
    pub title: String,
    /// What tells it apart from others of its trace; empty where the trace has one.
    pub group: String,
    /// Which end logged: `client`, `server`, `network` or `unknown`.
    pub vantage_point: String,
    /// The end that logged sent the data. Else it received them, and nothing is known of acknowledgments at the sender.
    pub is_sender: bool,
    /// First event, nanoseconds since the first event of its trace.
    pub start_ns: u64,
    /// From the first to the last event, nanoseconds.
    pub duration_ns: u64,
    /// Packets of both directions.
    pub packets: u64,
    /// Packets with data in the direction that is told.
    pub data_packets: u64,
    /// Their bytes, QUIC's headers included.
    pub bytes: u64,
    /// Bytes of packets with data in the other direction.
    pub reverse_bytes: u64,
    /// Bytes acknowledged.
    pub acked_bytes: u64,
    /// Acknowledgments that brought something new.
    pub acks: u64,
    /// Bytes acknowledged (at a receiver: received) over the time from the first packet to the last one, bit/s.
    pub delivered_bps: Option<f64>,
    /// How many round-trip samples.
    pub rtt_samples: u64,
    /// The smallest round trip, nanoseconds.
    pub rtt_min_ns: Option<u64>,
    /// The median.
    pub rtt_median_ns: Option<u64>,
    /// The largest.
    pub rtt_max_ns: Option<u64>,
    /// The largest packet, bytes.
    pub mss: u64,
    /// Packets that were lost, as the log says, or by the thresholds of RFC 9002 where it says nothing of losses.
    pub lost_packets: u64,
    /// The log says which packets were lost.
    pub says_losses: bool,
    /// Lengths of the runs of lost packets with neighbouring numbers, and how often each came.
    pub loss_runs: Vec<(u32, u64)>,
    /// Loss events.
    pub recoveries: u64,
    /// Packets whose size the log does not say.
    pub without_size: u64,
    /// How often what was in flight was forgotten, because too much was never acknowledged.
    pub restarts: u64,
    /// One entry for each estimator asked for.
    pub estimates: Vec<crate::EstimateResult>,
    /// The connection over time. After the columns of the estimators come [`LOGGED_COLUMNS`].
    pub series: Series,
    /// What limited it, and its bandwidth; empty where the receiver logged.
    pub diagnosis: Diagnosis,
}

/// What the log itself says over time: congestion window (bytes), bytes in flight, smoothed round trip (s), pacing rate (bit/s).
pub const LOGGED_COLUMNS: [&str; 4] =
    ["congestion_window_bytes", "in_flight_bytes", "smoothed_rtt_s", "pacing_rate_bps"];

/// What a log says.
#[derive(Clone, Debug, PartialEq)]
pub struct QlogAnalysis {
    /// What was read, and where reading ended.
    pub report: QlogReport,
    /// The connections that carried data, the one with most first.
    pub flows: Vec<QlogFlow>,
    /// Events of connections that were not followed, since there were too many.
    pub not_followed: u64,
    /// Connections without data.
    pub silent: u64,
}

/// Hears every replayed acknowledgment: for whoever wants more than tables.
pub trait QlogObserver {
    /// An acknowledgment was replayed; `estimates` in byte/s, in the order in which the estimators were asked for.
    fn on_ack(&mut self, event: &AckEvent, estimates: &[Option<f64>]);
}

/// Hears nothing.
struct Unobserved;

impl QlogObserver for Unobserved {
    fn on_ack(&mut self, _: &AckEvent, _: &[Option<f64>]) {}
}

/// Reads a log and replays its connections.
///
/// # Errors
/// [`QlogReadError`] when it is none. What breaks off later gives what stands before.
pub fn analyse_qlog(
    reader: impl Read + Send + 'static,
    options: &Options,
) -> Result<QlogAnalysis, QlogReadError> {
    analyse_qlog_observed(reader, options, &mut Unobserved)
}

/// The same, with somebody who hears every acknowledgment.
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

/// Packets in flight that are kept over all connections, about 64 MB.
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
