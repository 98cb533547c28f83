//! From the plan of a flow's ends to the configurations of transport and controller.

mod ceiling;
mod controller;
mod estimator;
mod transport;

pub use controller::PlannedController;
pub(crate) use transport::{receiver_config, sender_config};
