//! Analysis of a capture into results per flow.

use std::io::Read;

use airpath_trace::capture::{CaptureReadError, CaptureReader, ReadReport};

use crate::diagnosis::note_policers;
use crate::estimators::NamedEstimator;
use crate::flow::Context;
use crate::measured::{AckObserver, Unobserved};
use crate::result::FlowResult;
use crate::table::FlowTable;

/// Options for the analysis of a capture.
#[derive(Clone, Debug)]
pub struct Options {
    /// The estimators, in the order of results. Default: none.
    pub estimators: Vec<NamedEstimator>,
    /// Maximum number of flows tracked at a time, and of results. The flow that was idle longest is evicted
    /// first.
    pub most_flows: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { estimators: Vec::new(), most_flows: 1024 }
    }
}

/// The results of a capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The counts of the reader, and the reason for the end of reading.
    pub report: ReadReport,
    /// Time of the first TCP packet, nanoseconds since 1970. Times in results are relative to it.
    pub start_ns: u64,
    /// The flows that carried data, the one with the most payload first.
    pub flows: Vec<FlowResult>,
    /// Flows that were ended early to make room for others.
    pub evicted: u64,
    /// Flows whose results were replaced by those of larger flows.
    pub dropped: u64,
    /// Flows without data.
    pub silent: u64,
}

/// Reads a capture and replays its flows.
///
/// # Errors
/// [`CaptureReadError`] if the input is not a capture. If the capture breaks off later, the part before the
/// break is analyzed.
pub fn analyse(reader: impl Read + Send + 'static, options: &Options) -> Result<Analysis, CaptureReadError> {
    analyse_observed(reader, options, &mut Unobserved)
}

/// Analyzes a capture as [`analyse`] does, and passes every acknowledgment to an observer.
///
/// # Errors
/// As [`analyse`].
pub fn analyse_observed(
    reader: impl Read + Send + 'static,
    options: &Options,
    observer: &mut dyn AckObserver,
) -> Result<Analysis, CaptureReadError> {
    let mut reader = CaptureReader::new(reader)?;
    let mut table = FlowTable::new(options.most_flows);
    let mut context = Context { estimators: &options.estimators, observer };
    while let Some(packet) = reader.next_packet() {
        table.on_packet(&packet, &mut context);
    }
    let mut flows = table.finish(&mut context);
    note_policers(&mut flows);
    Ok(Analysis {
        report: reader.report().clone(),
        start_ns: table.zero_ns().unwrap_or(0),
        flows,
        evicted: table.evicted,
        dropped: table.dropped,
        silent: table.silent,
    })
}
