//! The contract of every congestion controller, as a test for any implementation of [`Controller`].
//!
//! Random lists of operations (packets leave, arrive, are lost, timers expire) are converted to the events
//! that a correct transport would deliver. After each event the rules ([`Rule`]) are checked. Rules of the
//! interface must hold: equal operations give equal answers, repeated requests change nothing, the window is at least
//! one segment. Rules of good sense are those of RFC 5681: the window does not grow by sending, by
//! duplicates, in recovery or while it is not used.
//!
//! [`check_controller`] is a test. [`Examination`] counts the broken rules over many lists, and finds a
//! short list for each.
//!
//! ```
//! use airpath_conformance::{Follows, MSS, check_controller};
//! # use airpath_model::{AckEvent, CongestionEvent, Control, Controller, Pacing, Phase, Probe};
//! # #[derive(Debug)]
//! # struct TenSegments;
//! # impl Controller for TenSegments {
//! #     fn on_ack(&mut self, _: &AckEvent, _: &mut dyn Probe) {}
//! #     fn on_congestion(&mut self, _: &CongestionEvent, _: &mut dyn Probe) {}
//! #     fn control(&self) -> Control { Control { window: MSS * 10, pacing: Pacing::Off, quantum: MSS } }
//! #     fn phase(&self) -> Phase { Phase::Steady }
//! # }
//! check_controller("ten segments", Follows::Rfc5681, || Box::new(TenSegments));
//! ```

mod contract;
mod ledger;
mod operation;
mod routers;
mod rule;
mod search;

use airpath_model::{Bytes, Controller};

pub use contract::{Contract, Failing, Step, Subject, examine, trace};
pub use ledger::Ledger;
pub use operation::{Operation, operations};
pub use rule::{Breach, Follows, Grade, Rule};
pub use search::{Examination, check};

/// Largest payload of a packet.
pub const MSS: Bytes = Bytes::new(1448);

/// Checks the strict contract with random lists of operations ([`check`]), for tests.
///
/// # Panics
/// If the controller breaks the contract. The message contains the rule and the shortest list found.
pub fn check_controller(name: &str, follows: Follows, construct: impl Fn() -> Box<dyn Controller>) {
    if let Err(failing) = check(Contract::strict(follows), &construct) {
        panic!("{name}: {failing}");
    }
}
