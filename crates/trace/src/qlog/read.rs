//! Readers of logs of any implementation: as sequences of JSON texts (RFC 7464), as lines, or as one JSON
//! document with all traces; plain or compressed by gzip, as a stream.
//!
//! Memory is bounded by the largest event, at most 16 MiB. No input causes a panic. A corrupted text of a
//! sequence is skipped; a truncated document yields the part before the break.

mod document;
mod event;
mod texts;

use std::io::{BufReader, Read};

use serde_json::Value;
use thiserror::Error;

use document::read_document;
use event::{EventReader, TraceFacts};
use texts::{Framing, Texts};

use crate::source::{NothingToRead, Source};

pub use event::{LoggedMetrics, LoggedPacket, PacketSpace, QlogEvent};

/// The reason why a file is not a log.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QlogReadError {
    /// The file is empty.
    #[error("the file is empty; accepted: {ACCEPTED}")]
    Empty,
    /// The first lines are not those of a log.
    #[error("line {line}: found {found}; accepted: {ACCEPTED}")]
    NotALog {
        /// The line, counted from 1.
        line: u64,
        /// The text found there.
        found: String,
    },
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Unreadable(String),
}

impl From<NothingToRead> for QlogReadError {
    fn from(reason: NothingToRead) -> Self {
        match reason {
            NothingToRead::Empty => Self::Empty,
            NothingToRead::Unreadable(because) => Self::Unreadable(because),
        }
    }
}

/// The accepted forms of a file, for error messages.
const ACCEPTED: &str =
    "a qlog, as a sequence of JSON texts or as one JSON document, plain or compressed by gzip";

/// A part of a file that could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The line, counted from 1.
    pub line: u64,
    /// The problem.
    pub problem: String,
}

/// The result of reading a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QlogReport {
    /// The version stated in the file; empty if it states none.
    pub version: String,
    /// Events of the log.
    pub events: u64,
    /// Events passed to the sink.
    pub given: u64,
    /// Events of supported kinds that were skipped because a field is missing or invalid.
    pub incomplete: u64,
    /// Texts of a sequence that were skipped because they are not valid JSON.
    pub broken: u64,
    /// The first of these texts.
    pub first_broken: Option<Damage>,
    /// Set if reading ended before the end of the file.
    pub stopped: Option<Damage>,
}

/// The origin of the events of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceHead {
    /// Title of the trace, or of the file.
    pub title: String,
    /// `client`, `server`, `network` or `unknown`.
    pub vantage_point: String,
}

/// A receiver of a log's contents, in the order of the file.
pub trait QlogSink {
    /// Begins a trace. Events before any trace belong to an unnamed trace.
    fn trace(&mut self, head: &TraceHead);

    /// Processes an event of the current trace, `at_ns` nanoseconds after the first event of that trace;
    /// `group` distinguishes the connections of one trace.
    fn event(&mut self, at_ns: u64, group: Option<&str>, event: &QlogEvent);
}

/// Returns whether a file that begins with these bytes, decompressed, can be a log: captures begin
/// differently.
pub fn looks_like_qlog(first: &[u8]) -> bool {
    let first = first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(first);
    first.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|byte| matches!(byte, b'{' | 0x1e))
}

pub(crate) const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// Reads a log.
///
/// # Errors
/// [`QlogReadError`] if the input is not a log. If the log breaks off later, the part before the break is
/// read.
pub fn read_qlog(
    reader: impl Read + Send + 'static,
    sink: &mut dyn QlogSink,
) -> Result<QlogReport, QlogReadError> {
    let (source, failure) = Source::new(reader)?;
    let (mut texts, framing) = Texts::new(BufReader::with_capacity(1 << 16, source));
    let mut reading = Reading { report: QlogReport::default(), events: EventReader::default(), sink };
    match framing {
        Framing::Document => read_document(texts.into_reader(), &mut reading)?,
        Framing::Texts => reading.texts(&mut texts)?,
    }
    let mut report = reading.report;
    if let Some(problem) = failure.take() {
        report.stopped.get_or_insert(Damage { line: 0, problem });
    }
    Ok(report)
}

/// The state of reading a log.
pub(crate) struct Reading<'a> {
    report: QlogReport,
    events: EventReader,
    sink: &'a mut dyn QlogSink,
}

impl Reading<'_> {
    /// Reads a sequence: a header, then events.
    fn texts<R: Read>(&mut self, texts: &mut Texts<R>) -> Result<(), QlogReadError> {
        let mut begun = false;
        while let Some((line, text)) = texts.next_text() {
            let value = text.and_then(|text| {
                serde_json::from_slice::<Value>(text.trim_ascii_end()).map_err(|error| no_json(&error))
            });
            match value {
                Ok(Value::Object(header)) if !begun => {
                    let is_log = header.keys().any(|key| HEADER_KEYS.contains(&key.as_str()));
                    if !is_log {
                        let found = "JSON without `qlog_version` or `file_schema`".to_owned();
                        return Err(QlogReadError::NotALog { line, found });
                    }
                    begun = true;
                    self.version(&header);
                    let trace = header.get("trace").cloned().unwrap_or(Value::Null);
                    self.begin_trace(&trace, header.get("title"));
                }
                Err(found) if !begun => return Err(QlogReadError::NotALog { line, found }),
                Ok(_) if !begun => {
                    return Err(QlogReadError::NotALog { line, found: "JSON that is no object".to_owned() });
                }
                Ok(event) => self.event(&event),
                Err(problem) => {
                    self.report.broken += 1;
                    self.report.first_broken.get_or_insert(Damage { line, problem });
                }
            }
        }
        if begun { Ok(()) } else { Err(QlogReadError::Empty) }
    }

    fn version(&mut self, header: &serde_json::Map<String, Value>) {
        let stated = ["qlog_version", "file_schema"].iter().find_map(|key| header.get(*key)?.as_str());
        if let Some(stated) = stated {
            stated.clone_into(&mut self.report.version);
        }
    }

    /// Begins a trace whose fields, except the events, are known.
    fn begin_trace(&mut self, trace: &Value, file_title: Option<&Value>) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let vantage_point = trace.get("vantage_point");
        let kind = vantage_point.and_then(|point| point.get("type")).or(vantage_point);
        let head = TraceHead {
            title: text(trace.get("title").or(file_title)),
            vantage_point: kind.and_then(Value::as_str).unwrap_or("unknown").to_ascii_lowercase(),
        };
        self.events = EventReader::new(TraceFacts::of(trace));
        self.sink.trace(&head);
    }

    fn event(&mut self, event: &Value) {
        self.report.events += 1;
        match self.events.read(event) {
            Ok(Some((at_ns, group, event))) => {
                self.report.given += 1;
                self.sink.event(at_ns, group, &event);
            }
            Ok(None) => {}
            Err(event::Incomplete) => self.report.incomplete += 1,
        }
    }
}

/// Returns the error in a text without its line number, which is added elsewhere.
pub(crate) fn no_json(error: &serde_json::Error) -> String {
    let said = error.to_string();
    format!("no JSON: {}", said.split(" at line ").next().unwrap_or_default())
}

/// Keys of which the header of a log has at least one.
const HEADER_KEYS: [&str; 4] = ["qlog_version", "file_schema", "qlog_format", "traces"];
