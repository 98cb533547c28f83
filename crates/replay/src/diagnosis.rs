//! What limits a flow, and which bandwidth it had, from its acknowledgments.
//!
//! [`Observations`] collects local sums in one pass: windows of half a second, which grow wider in long flows, so that
//! memory is bounded. [`Observations::finish`] evaluates them. The thresholds depend on the whole flow (its smallest
//! round trip, its jitter), so the windows keep quantiles, not samples.

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
