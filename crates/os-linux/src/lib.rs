//! Linux interfaces of the emulator and the datapath: netlink, network namespaces, scheduling.
//!
//! Every object belongs to the network namespace of the thread that created it. The crate is empty on other
//! systems.

#![cfg(target_os = "linux")]

mod awake;
mod error;
pub mod inet_diag;
mod namespace;
mod netlink;
mod route;
mod scheduling;
pub mod socket_table;

pub use awake::Awake;
pub use error::{Context, SystemError};
pub use namespace::{NetworkNamespace, become_root_in_user_namespace, in_thread, write};
pub use netlink::Netlink;
pub use route::{RootQdisc, Route, device_index};
pub use scheduling::{Scheduling, keep_off, run_observer_in_real_time, run_sources_in_real_time};
