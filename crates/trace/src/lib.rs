//! File formats: readers of packet-delivery traces, rate logs, captures and qlog, and writers of traces and
//! captures.
//!
//! Readers of traces are pure functions from bytes to a [`Trace`]; readers of captures and logs read a
//! stream. No function opens a file. No input causes a panic, and allocations are bounded by the length of
//! the input. An error is a [`TraceError`] that names the line.
//!
//! ```
//! use airpath_trace::{ReadOptions, Statistics, read};
//!
//! let trace = read(b"0.0 8.0\n1.0 4.0\n", &ReadOptions::default())?;
//! assert_eq!(Statistics::of(&trace).mean_bps, 6e6);
//! # Ok::<(), airpath_trace::TraceError>(())
//! ```

pub mod capture;
mod convert;
mod decimal;
mod direction;
mod error;
mod format;
mod line;
pub mod link_log;
pub mod qlog;
mod read;
mod series;
mod source;
mod statistics;
mod trace;
mod write;

pub use convert::{ConversionError, MAX_ENTRIES, to_opportunities, to_rates};
pub use direction::Direction;
pub use error::TraceError;
pub use format::{Format, UnknownFormat, detect};
pub use read::{ReadOptions, read};
pub use statistics::{Outage, Statistics};
pub use trace::{OPPORTUNITY_BYTES, Trace};
pub use write::{write_airpath_csv, write_mahimahi};
