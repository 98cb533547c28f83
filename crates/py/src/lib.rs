//! The Python module `airpath._core`: convert, call, convert. No logic lives here.

use pyo3::prelude::*;

mod capture;
mod channel;
mod components;
mod conformance;
mod diagnosis;
#[cfg(target_os = "linux")]
mod emulated_run;
#[cfg(target_os = "linux")]
mod emulation;
mod episodes;
mod link_log;
mod plugins;
mod qlog;
mod simulation;
mod trace;

/// The engine of airpath.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::capture::{CaptureFormatError, analyse_capture};
    #[pymodule_export]
    use super::channel::{independent_packet_loss, mean_rate, packet_loss, rate_changes};
    #[pymodule_export]
    use super::components::{ComponentError, complete_component, component_schemas, table_descriptions};
    #[pymodule_export]
    use super::conformance::Conformance;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::emulated_run::{EmulatedRun, kernel_congestion_controls};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::emulation::{
        EmulatedProcess, Emulation, EmulationFailed, become_root_in_user_namespace, held_up,
        try_emulated_hosts, try_emulation_scheduling, try_kernel_router,
    };
    #[pymodule_export]
    use super::episodes::Episodes;
    #[pymodule_export]
    use super::link_log::{LinkLogFormatError, read_link_log};
    #[pymodule_export]
    use super::plugins::{
        Ack, CapacitySource, Controller, Estimator, Facts, Interval, Library, LibraryError, LinkFacts,
        PluginFailed, Queue, QueuedPacket, Sent, Signal, Waiting,
    };
    #[pymodule_export]
    use super::qlog::{analyse_qlog, is_qlog};
    #[pymodule_export]
    use super::simulation::{PlanError, RunCancelled, Simulation, rewritten_plan};
    #[pymodule_export]
    use super::trace::{Trace, TraceFormatError};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python packages use")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// The commit that it was built from; empty outside a checkout.
    #[pymodule_export]
    const COMMIT: &str = env!("AIRPATH_COMMIT");

    /// The compiler that built it.
    #[pymodule_export]
    const RUSTC: &str = env!("AIRPATH_RUSTC");
}
