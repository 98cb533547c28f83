//! Replay of recorded traffic: finds the TCP flows of a capture, or the connections of a QUIC log, and
//! replays the acknowledgments of each into the estimators that a sender would run.
//!
//! Memory is bounded for captures of any length: by a maximum number of simultaneous flows (the one that was
//! idle longest is evicted first) and of segments in flight, and by series whose bins are merged as a flow
//! grows longer. No input causes a panic.

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
