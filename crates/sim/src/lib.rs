//! Discrete-event simulator: links, topologies, workloads, records.
//!
//! Contract: a run is a pure function of a [`Plan`](plan::Plan), its input traces and a seed. Nothing here reads a
//! clock, a file or a global; whoever calls follows and stops a run through a [`RunControl`], which cannot change a
//! result.

mod ahead;
mod any_link;
mod arrivals;
mod assemble;
mod capture;
mod channel;
mod check;
mod components;
mod configure;
mod control;
mod draw;
mod ends;
mod episodes;
mod event;
mod fault;
mod flow;
mod input;
mod lanes;
mod link;
mod managed;
pub mod network;
mod observers;
mod outside;
mod packet;
mod part;
mod plain_link;
pub mod plan;
mod prefetch;
mod qlog;
mod rate_steps;
mod record;
mod router;
mod simulation;
mod steps;
mod transmissions;
pub mod workload;

pub use channel::{independent_packet_loss, long_run_loss, packet_loss};
pub use components::{Components, components};
pub use configure::PlannedController;
pub use control::RunControl;
pub use episodes::{Action, Episodes, NotReady};
pub use fault::{Fault, Part, PlanError};
pub use input::Input;
pub use network::{Counts, Outcome};
pub use packet::Packet;
pub use qlog::{FlowLog, flow_logs};
pub use rate_steps::rate_steps;
pub use record::{Column, FlowSeries, Table};
pub use simulation::{Cancelled, Simulation};
pub use steps::{LinkStep, Step};
pub use transmissions::{Transmission, Transmissions, logged_flows};
