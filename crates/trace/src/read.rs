//! Reading of traces.

pub(crate) mod airpath;
pub(crate) mod gnettrack;
pub(crate) mod mahimahi;
pub(crate) mod starlink;
pub(crate) mod two_column;
pub(crate) mod value_unit;

use crate::{Direction, Format, Trace, TraceError, detect};

/// Options for reading a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// The format; `None` detects it with [`detect`].
    pub format: Option<Format>,
    /// The direction, in files with both ([`Format::GnettrackCsv`], [`Format::StarlinkCsv`]).
    pub direction: Direction,
    /// Whether the rates of G-NetTrack rows with a ping result count as missing. The logger suspends its
    /// download while it pings, so most near-zero rates in such rows are a measurement artifact, not an
    /// outage.
    pub drop_ping_rows: bool,
}

/// Reads a trace. Rate series are shifted to start at zero and end one median step after their last row; a rate
/// holds until the next row, so gaps between rows keep the last known rate.
///
/// Rate logs contain the throughput of one transfer: a lower bound of the link's capacity.
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Trace, TraceError> {
    let format = match options.format {
        Some(format) => format,
        None => detect(bytes)?,
    };
    match format {
        Format::Mahimahi => mahimahi::read(bytes),
        Format::SecondsMbps => two_column::read(bytes, 9, 6),
        Format::MillisecondsKbps => two_column::read(bytes, 6, 3),
        Format::ValueUnitCsv => value_unit::read(bytes),
        Format::GnettrackCsv => gnettrack::read(bytes, options.direction, options.drop_ping_rows),
        Format::StarlinkCsv => starlink::read(bytes, options.direction),
        Format::AirpathCsv => airpath::read(bytes),
    }
}
