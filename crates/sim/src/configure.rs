//! From the plan of a flow's ends to the configurations of transport and controller.

mod ceiling;
mod controller;
mod estimator;
mod slow_start;
mod transport;

pub(crate) use controller::PlannedController;
pub use controller::controller;
pub(crate) use transport::{receiver_config, sender_config};
