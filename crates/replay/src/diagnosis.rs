//! Diagnosis of a flow from its acknowledgments: its limit over time, and its bandwidth.
//!
//! [`Observations`] collects local sums in one pass: windows of half a second, which are merged in long
//! flows, so that memory is bounded. [`Observations::finish`] evaluates them. The thresholds depend on the
//! whole flow (its smallest round trip, its jitter), so the windows store quantiles instead of samples.

mod answer;
mod bootstrap;
mod confidence;
mod delivery;
mod evidence;
mod grid;
mod history;
mod host;
mod label;
mod loss_evidence;
mod losses;
mod observations;
mod pairs;
mod policer;
mod policing;
mod result;
mod rules;
mod samples;
mod transmissions;
mod window;

pub use answer::{Answer, Bin, Headline};
pub use host::{HostSum, sums_of_hosts};
pub use label::Label;
pub use losses::LossSummary;
pub(crate) use observations::{Acked, Observations, Sent};
pub use policer::Policer;
pub(crate) use policing::{note_policer, note_policers};
pub use result::{Diagnosis, LimitWindow};
