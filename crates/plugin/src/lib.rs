//! Congestion controllers, ACK-rate estimators, capacity sources and queue disciplines as shared libraries.
//!
//! Implement [`Plugin`] and export it with [`export!`] from a crate of type `cdylib`. The library then runs wherever a
//! scheme is expected: `airpath compare ./libmine.so:keep=0.8 cubic`. [`EstimatorPlugin`], [`SourcePlugin`] and
//! [`QueuePlugin`] are the same for the other kinds.
//!
//! ```
//! use std::ffi::CStr;
//!
//! use airpath_plugin::model::{AckEvent, Bytes, CongestionEvent, Control, Controller, Pacing, Phase, Probe};
//! use airpath_plugin::{Facts, Parameter, Plugin, Values};
//!
//! /// Additive increase, multiplicative decrease.
//! #[derive(Debug)]
//! struct Aimd {
//!     window: Bytes,
//!     mss: Bytes,
//!     keep: f64,
//! }
//!
//! impl Controller for Aimd {
//!     fn on_ack(&mut self, ack: &AckEvent, _: &mut dyn Probe) {
//!         if ack.window_limited && !ack.in_recovery {
//!             self.window = self.window + self.mss.mul_f64(ack.acked.as_f64() / self.window.as_f64());
//!         }
//!     }
//!
//!     fn on_congestion(&mut self, congestion: &CongestionEvent, _: &mut dyn Probe) {
//!         self.window = congestion.flight_size.mul_f64(self.keep).max(self.mss * 2);
//!     }
//!
//!     fn control(&self) -> Control {
//!         Control { window: self.window, pacing: Pacing::FromWindow, quantum: self.mss * 2 }
//!     }
//!
//!     fn phase(&self) -> Phase {
//!         Phase::CongestionAvoidance
//!     }
//! }
//!
//! struct Mine;
//!
//! impl Plugin for Mine {
//!     type Controller = Aimd;
//!     const TITLE: &'static CStr = c"AIMD";
//!     const DESCRIPTION: &'static CStr = c"Additive increase, multiplicative decrease.";
//!     const PARAMETERS: &'static [Parameter] =
//!         &[Parameter::number(c"keep", c"Share of the flight that remains after a loss.", 0.5)
//!             .more_than(0.0)
//!             .less_than(1.0)];
//!
//!     fn build(facts: Facts, values: &Values<'_>) -> Result<Aimd, String> {
//!         Ok(Aimd { window: facts.initial_window, mss: facts.mss, keep: values.number("keep") })
//!     }
//! }
//!
//! airpath_plugin::export!(Mine);
//! # fn main() {}
//! ```
//!
//! A panic ends the run in which it occurs, with its message. This needs unwinding: the profile must not contain
//! `panic = "abort"`.
//!
//! The interface is that of the headers `airpath_controller.h` and `airpath_components.h` for authors in C. A library works
//! with every airpath of the same major version of the interface ([`abi::MAJOR`]). It does not carry the headers that
//! routers write, so a controller or a queue that needs them (XCP) does not run as a library.

pub mod abi;
mod events;
#[doc(hidden)]
pub mod export;
mod link;
mod parameter;
mod plugins;

pub use airpath_model as model;
pub use link::{LinkFacts, QueuedPacket};
pub use parameter::{Parameter, Values};
pub use plugins::{EstimatorPlugin, Facts, Plugin, QueuePlugin, SourcePlugin};

/// Exports a component of this library: `export!(Mine)` a controller ([`Plugin`]), `export!(estimator: Mine)` an ACK-rate
/// estimator ([`EstimatorPlugin`]), `export!(source: Mine)` a capacity source ([`SourcePlugin`]), `export!(queue: Mine)` a
/// queue discipline ([`QueuePlugin`]). A crate can export one of each kind.
#[macro_export]
macro_rules! export {
    (estimator: $plugin:ty) => {
        $crate::export!(@ $plugin, airpath_estimator, Estimator, estimator);
    };
    (source: $plugin:ty) => {
        $crate::export!(@ $plugin, airpath_source, Source, source);
    };
    (queue: $plugin:ty) => {
        $crate::export!(@ $plugin, airpath_queue, Queue, queue);
    };
    (@ $plugin:ty, $entry:ident, $table:ident, $of:ident) => {
        #[cfg(panic = "abort")]
        compile_error!("a panic would end airpath: remove `panic = \"abort\"` from the profile");

        /// Returns the table of the component (`airpath_controller.h`, `airpath_components.h`).
        #[unsafe(no_mangle)]
        pub extern "C" fn $entry(_host_abi: u32) -> *const $crate::abi::$table {
            $crate::export::$of::<$plugin>()
        }
    };
    ($plugin:ty) => {
        $crate::export!(@ $plugin, airpath_controller, Controller, controller);
    };
}
