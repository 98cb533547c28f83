//! Recorded traffic as a world of its own: the TCP flows of a capture, or the connections of a log of QUIC, are found and each one's
//! acknowledgments are replayed into the estimators that a sender would carry.
//!
//! Memory is bounded whatever the length of a capture: so many flows at a time (the one that was silent longest goes
//! first), so many segments in flight, and series whose bins grow wider as a flow grows longer. Nothing panics.

mod analysis;
mod clock;
mod diagnosis;
mod direction;
mod ecn;
mod estimators;
mod flow;
mod handshake;
mod loss_runs;
mod measured;
mod preview;
mod qlog;
mod result;
mod sequence;
mod series;
mod stamps;
mod table;
mod vantage;

pub use analysis::{Analysis, Options, analyse, analyse_observed};
pub use diagnosis::{
    Answer, Bin, Diagnosis, Headline, HostSum, Label, LimitWindow, LossSummary, Policer, sums_of_hosts,
};
pub use ecn::EcnUse;
pub use estimators::NamedEstimator;
pub use measured::AckObserver;
pub use qlog::{LOGGED_COLUMNS, QlogAnalysis, QlogFlow, QlogObserver, analyse_qlog, analyse_qlog_observed};
pub use result::{EstimateResult, FlowResult};
pub use series::Series;
pub use vantage::Vantage;
