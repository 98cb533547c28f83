//! From a plan to controllers and estimators.

mod ceiling;
mod controller;
mod estimator;

pub use controller::PlannedController;
