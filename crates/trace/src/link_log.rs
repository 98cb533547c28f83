//! Logs of emulated links: those of Mahimahi's `mm-link`, and those of tunnels as merged by Pantheon. Each
//! line is one event:
//!
//! ```text
//! # base timestamp: 1539184020013     a header; other lines that begin with # are skipped
//! 1539184020015 # 1504                 an opportunity to deliver 1504 bytes
//! 1539184020015 + 1504                 a packet of 1504 bytes arrived at the queue
//! 1539184020016 - 1504 1               a packet left the queue, 1 ms after its arrival
//! 1539184020016 d 2 3008               2 packets were dropped, with 3008 bytes in total
//! 1539184020016 d 1504                 one packet of 1504 bytes was dropped
//! 12.345 + 1500 2                      tunnels: the last item is the number of a flow
//! 17.890 - 1500 5.545 2
//! ```
//!
//! Sources: `LinkQueue` of Mahimahi; the two forms of drops are those of its code and of the description of
//! its pull request 129; `merge_tunnel_logs.py` of Pantheon.

mod event;
mod lines;

use std::io::{BufReader, Read};

use thiserror::Error;

use crate::TraceError;
use crate::source::{NothingToRead, Source};
use event::{Event, parse_base, parse_event};
use lines::Lines;

/// Maximum number of events read from one file, at most 24 bytes each: about half an hour of a full link of
/// 36 Mbit/s.
pub const MOST_EVENTS: usize = 1 << 24;

/// Maximum distance of an event from the beginning, in nanoseconds (three years), so that sums and
/// differences of times do not overflow.
const LONGEST_NS: u64 = 100_000_000_000_000_000;
const ACCEPTED_SPAN: &str =
    "a time at most 100000000000 ms from the base timestamp, or else from the first event";

/// The reason why a file is not a log.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LinkLogError {
    /// The file is empty.
    #[error(
        "the file is empty; accepted: a log of mm-link or of a Pantheon tunnel, plain or compressed by gzip"
    )]
    Empty,
    /// A line is malformed.
    #[error(transparent)]
    Line(#[from] TraceError),
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Unreadable(String),
}

impl From<NothingToRead> for LinkLogError {
    fn from(reason: NothingToRead) -> Self {
        match reason {
            NothingToRead::Empty => Self::Empty,
            NothingToRead::Unreadable(because) => Self::Unreadable(because),
        }
    }
}

/// The point at which reading ended before the end of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The first line that was not read, counted from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// The events of a log as columns, each kind in the order of the file.
///
/// Times are nanoseconds since the base timestamp, if the log states one, and otherwise since its first
/// event; they are negative if an event is older.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkLog {
    /// The base timestamp, nanoseconds on the clock of the log, if stated; `mm-link` always states it.
    pub base_ns: Option<u64>,
    /// Whether a line names a flow; events without a flow belong to flow 0.
    pub names_flows: bool,
    /// Delivery opportunities of the link.
    pub opportunities: Opportunities,
    /// Packets that arrived at the queue.
    pub arrivals: Arrivals,
    /// Packets that left the queue.
    pub departures: Departures,
    /// Packets that were dropped.
    pub drops: Drops,
    /// Set if the file is truncated; the part before the break was read.
    pub stopped: Option<Stopped>,
}

/// Columns of delivery opportunities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opportunities {
    /// The times.
    pub time_ns: Vec<i64>,
    /// Bytes that could be delivered.
    pub bytes: Vec<u32>,
}

/// Columns of arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// The times.
    pub time_ns: Vec<i64>,
    /// Sizes of the packets.
    pub bytes: Vec<u32>,
    /// The flows, 0 if none is named.
    pub flow: Vec<u32>,
}

/// Columns of departures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Departures {
    /// The times.
    pub time_ns: Vec<i64>,
    /// Sizes of the packets.
    pub bytes: Vec<u32>,
    /// Times since arrival; negative if the clocks of the two endpoints of a tunnel differ.
    pub delay_ns: Vec<i64>,
    /// The flows, 0 if none is named.
    pub flow: Vec<u32>,
}

/// Columns of drops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// The times.
    pub time_ns: Vec<i64>,
    /// Numbers of packets.
    pub packets: Vec<u32>,
    /// Total bytes of these packets.
    pub bytes: Vec<u32>,
}

/// Reads a log, plain or compressed by gzip.
///
/// A truncated file (a last line without its end, corrupted compression) yields the part before the break.
/// Memory is bounded by [`MOST_EVENTS`] and a kilobyte per line.
///
/// # Errors
/// [`LinkLogError`] for the first line that has none of the forms above, for a second base timestamp or one
/// after an event, and for a file without events.
pub fn read_link_log(reader: impl Read + Send + 'static) -> Result<LinkLog, LinkLogError> {
    let (source, failure) = Source::new(reader)?;
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, source));
    let mut log = LinkLog::default();
    let mut origin_ns = None;
    let mut events = 0;
    while let Some(line) = lines.next_line() {
        if !line.ended {
            let reason = failure.take().unwrap_or_else(|| "the last line has no end".to_owned());
            log.stopped = Some(Stopped { line: line.number, reason });
            break;
        }
        if line.text.starts_with(b"#") {
            if let Some(base_ns) = parse_base(&line)? {
                if log.base_ns.is_some() || events > 0 {
                    return Err(line.refuse("one base timestamp, before the first event").into());
                }
                (log.base_ns, origin_ns) = (Some(base_ns), Some(base_ns));
            }
            continue;
        }
        let (time_ns, event) = parse_event(&line)?;
        if events == MOST_EVENTS {
            return Err(line.refuse("at most 16777216 events in a file").into());
        }
        events += 1;
        let since_ns = since(*origin_ns.get_or_insert(time_ns), time_ns);
        if since_ns.unsigned_abs() > LONGEST_NS {
            return Err(line.refuse(ACCEPTED_SPAN).into());
        }
        log.push(since_ns, event);
    }
    if let Some(reason) = failure.take() {
        log.stopped.get_or_insert(Stopped { line: lines.read() + 1, reason });
    }
    if events == 0 {
        let found = match &log.stopped {
            Some(stopped) => format!("no whole event ({})", stopped.reason),
            None => "no event".to_owned(),
        };
        return Err(TraceError::described(lines.read().max(1), found, event::ACCEPTED).into());
    }
    Ok(log)
}

impl LinkLog {
    fn push(&mut self, time_ns: i64, event: Event) {
        match event {
            Event::Opportunity { bytes } => {
                self.opportunities.time_ns.push(time_ns);
                self.opportunities.bytes.push(bytes);
            }
            Event::Arrival { bytes, flow } => {
                self.names_flows |= flow.is_some();
                self.arrivals.time_ns.push(time_ns);
                self.arrivals.bytes.push(bytes);
                self.arrivals.flow.push(flow.unwrap_or(0));
            }
            Event::Departure { bytes, delay_ns, flow } => {
                self.names_flows |= flow.is_some();
                self.departures.time_ns.push(time_ns);
                self.departures.bytes.push(bytes);
                self.departures.delay_ns.push(delay_ns);
                self.departures.flow.push(flow.unwrap_or(0));
            }
            Event::Drop { packets, bytes } => {
                self.drops.time_ns.push(time_ns);
                self.drops.packets.push(packets);
                self.drops.bytes.push(bytes);
            }
        }
    }
}

/// Returns the time from one instant to another, both at most [`event::LATEST_NS`].
fn since(origin_ns: u64, time_ns: u64) -> i64 {
    time_ns as i64 - origin_ns as i64
}
