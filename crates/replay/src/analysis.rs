//! From a capture to the results of its flows.

use std::io::Read;

use airpath_trace::capture::{CaptureReadError, CaptureReader, ReadReport};

use crate::diagnosis::note_policers;
use crate::estimators::NamedEstimator;
use crate::flow::Context;
use crate::measured::{AckObserver, Unobserved};
use crate::result::FlowResult;
use crate::table::FlowTable;

/// What to do with a capture.
#[derive(Clone, Debug)]
pub struct Options {
    /// The estimators, in the order of results. None if nothing is said.
    pub estimators: Vec<NamedEstimator>,
    /// The most flows that are followed at a time, and the most results. The flow that was silent longest makes room.
    pub most_flows: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { estimators: Vec::new(), most_flows: 1024 }
    }
}

/// What a capture says.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// What was read, and where reading ended.
    pub report: ReadReport,
    /// The first TCP packet, nanoseconds since 1970. Results count from there.
    pub start_ns: u64,
    /// The flows that carried data, the one with most payload first.
    pub flows: Vec<FlowResult>,
    /// Flows that were ended early because others needed their place.
    pub evicted: u64,
    /// Flows whose results gave way to those of larger ones.
    pub dropped: u64,
    /// Flows without data.
    pub silent: u64,
}

/// Reads a capture and replays its flows.
///
/// # Errors
/// [`CaptureReadError`] when it is none. What breaks off later gives what stands before.
pub fn analyse(reader: impl Read + Send + 'static, options: &Options) -> Result<Analysis, CaptureReadError> {
    analyse_observed(reader, options, &mut Unobserved)
}

/// The same, with somebody who hears every acknowledgment.
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
