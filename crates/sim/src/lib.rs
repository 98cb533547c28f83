//! Discrete-event simulator: flows and their endpoints over the network of a plan.
//!
//! Contract: a run is a pure function of a [`Plan`](airpath_plan::Plan), its input traces and a seed. It
//! reads no clock, no file and no global variable. The caller monitors and stops a run through a
//! [`RunControl`], which cannot change a result.

mod build;
mod ends;
mod episodes;
mod flow;
mod observers;
mod simulation;
mod steps;

pub use airpath_network as network;
pub use airpath_network::{
    Column, Components, Counts, FlowLog, FlowSeries, Outcome, RunControl, Table, components, flow_logs,
    independent_packet_loss, packet_loss, rate_steps,
};
pub use airpath_plan as plan;
pub use airpath_plan::{Input, Part, PlanError};
pub use episodes::{Action, Episodes, NotReady};
pub use simulation::{Cancelled, Simulation};
pub use steps::Step;
