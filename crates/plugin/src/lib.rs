//! Congestion controllers as shared libraries.
//!
//! Implement [`Plugin`] and export it with [`export!`] from a crate of type `cdylib`. The library then runs wherever a
//! scheme is expected: `airpath compare ./libmine.so:keep=0.8 cubic`.
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
//! The interface is that of the header `airpath_controller.h` for authors in C. A library works with every airpath of the
//! same major version of the interface ([`abi::MAJOR`]). It does not carry the headers that routers write, so a controller
//! that needs them (XCP) does not run as a library.

pub mod abi;
mod events;
mod export;
mod parameter;

use std::ffi::CStr;

pub use airpath_model as model;
use airpath_model::{Bytes, Controller, Duration, RandomStream};
pub use export::table;
pub use parameter::{Parameter, Values};

/// A controller that a library exports.
pub trait Plugin: 'static {
    /// The controller of a connection.
    type Controller: Controller;
    /// The name in figures.
    const TITLE: &'static CStr;
    /// What it does, in one line.
    const DESCRIPTION: &'static CStr;
    /// The parameters, in the order in which users see them.
    const PARAMETERS: &'static [Parameter] = &[];
    /// The names of the quantities that the controller records ([`model::Measurement::Named`]), with spaces between them.
    const QUANTITIES: &'static CStr = c"";

    /// Constructs the controller of a connection.
    ///
    /// # Errors
    /// The values do not fit together, in words.
    fn build(facts: Facts, values: &Values<'_>) -> Result<Self::Controller, String>;
}

/// The properties of a connection that are known before its first packet.
#[derive(Debug)]
#[non_exhaustive]
pub struct Facts {
    /// The initial window.
    pub initial_window: Bytes,
    /// The largest payload of one packet.
    pub mss: Bytes,
    /// The round-trip time of the handshake; `None` if there was none.
    pub handshake_rtt: Option<Duration>,
    /// Random numbers that follow from the seed of the run.
    pub random: RandomStream,
}

/// Exports a [`Plugin`] as the controller of this library. A crate can export one.
#[macro_export]
macro_rules! export {
    ($plugin:ty) => {
        #[cfg(panic = "abort")]
        compile_error!("a panic would end airpath: remove `panic = \"abort\"` from the profile");

        /// Returns the table of the controller (`airpath_controller.h`).
        #[unsafe(no_mangle)]
        pub extern "C" fn airpath_controller(_host_abi: u32) -> *const $crate::abi::Controller {
            $crate::table::<$plugin>()
        }
    };
}
