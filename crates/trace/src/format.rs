//! The trace formats, their names, and their detection.

use core::fmt;
use core::str::FromStr;

use thiserror::Error;

use crate::TraceError;
use crate::line::{Line, first_line};
use crate::read::{airpath, gnettrack, mahimahi, starlink, two_column, value_unit};

/// A trace file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Packet-delivery opportunities, one integer of milliseconds per line (Mahimahi, `mm-link`).
    Mahimahi,
    /// Two columns, seconds and Mbit/s (Pensieve's cooked logs, `Lumos5G`).
    SecondsMbps,
    /// Two columns, milliseconds and kbit/s (Oboe).
    MillisecondsKbps,
    /// Headerless CSV of rate and unit, one row per second (NYU-METS).
    ValueUnitCsv,
    /// CSV with header as written by G-NetTrack (Irish 5G data set).
    GnettrackCsv,
    /// Headerless CSV of seven columns (Starlink-Emulator).
    StarlinkCsv,
    /// airpath's own CSV with the header `time_s,rate_mbps`.
    AirpathCsv,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 7] = [
        Self::Mahimahi,
        Self::SecondsMbps,
        Self::MillisecondsKbps,
        Self::ValueUnitCsv,
        Self::GnettrackCsv,
        Self::StarlinkCsv,
        Self::AirpathCsv,
    ];

    /// Returns the name in scenarios and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mahimahi => "mahimahi",
            Self::SecondsMbps => "seconds-mbps",
            Self::MillisecondsKbps => "milliseconds-kbps",
            Self::ValueUnitCsv => "value-unit-csv",
            Self::GnettrackCsv => "gnettrack-csv",
            Self::StarlinkCsv => "starlink-csv",
            Self::AirpathCsv => "airpath-csv",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not one of [`Format::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a trace format; accepted: {NAMES}")]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// Detects the format. The first line decides, by these rules in this order:
///
/// 1. the header `time_s,rate_mbps`: [`Format::AirpathCsv`];
/// 2. a header with the columns `Timestamp` and `DL_bitrate` or `UL_bitrate`: [`Format::GnettrackCsv`];
/// 3. seven numbers between commas: [`Format::StarlinkCsv`];
/// 4. a number, a comma and a unit of rate: [`Format::ValueUnitCsv`];
/// 5. one integer: [`Format::Mahimahi`];
/// 6. two numbers between white space: the median time step of the whole file decides. At least 20 means
///    [`Format::MillisecondsKbps`] (no rate log is sampled faster than every 20 ms or slower than every 20 s),
///    less means [`Format::SecondsMbps`]. A file with a single time is rejected, because it has no step;
/// 7. fields between `$`, as in a `LeoEM` path log, are rejected as delays, and everything else as unknown.
pub fn detect(bytes: &[u8]) -> Result<Format, TraceError> {
    let line = first_line(bytes, NAMES)?;
    if airpath::is_header(line) {
        Ok(Format::AirpathCsv)
    } else if gnettrack::is_header(line) {
        Ok(Format::GnettrackCsv)
    } else if starlink::is_row(line) {
        Ok(Format::StarlinkCsv)
    } else if value_unit::is_row(line) {
        Ok(Format::ValueUnitCsv)
    } else if mahimahi::is_row(line) {
        Ok(Format::Mahimahi)
    } else if two_column::is_row(line) {
        detect_two_column(bytes, line)
    } else if is_delay_log(line) {
        Err(TraceError::described(line.number, "a LeoEM path log (a delay trace, not a rate trace)", NAMES))
    } else {
        Err(line.refuse(line.text, NAMES))
    }
}

const NAMES: &str = "mahimahi, seconds-mbps, milliseconds-kbps, value-unit-csv, gnettrack-csv, starlink-csv, \
                     airpath-csv";

/// A median step of at least this many time units is in milliseconds.
const LEAST_MILLISECONDS: u64 = 20;

fn detect_two_column(bytes: &[u8], first: Line<'_>) -> Result<Format, TraceError> {
    // Six decimals of an unknown unit: fine enough to compare, and Unix times in milliseconds still fit.
    match two_column::series(bytes, 6, 0)?.median_step() {
        Some(step) if step >= LEAST_MILLISECONDS * 1_000_000 => Ok(Format::MillisecondsKbps),
        Some(_) => Ok(Format::SecondsMbps),
        None => Err(first.refuse(
            first.text,
            "two different times, whose distance tells seconds from milliseconds (or name the format)",
        )),
    }
}

/// Returns whether the line has the form `second$[nodes]$hops$[delays]$delay`.
fn is_delay_log(line: Line<'_>) -> bool {
    std::str::from_utf8(line.text).is_ok_and(|text| text.split('$').count() >= 5)
}
