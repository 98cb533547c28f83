//! The link emulator: the simulator's network between real hosts, in real time.
//!
//! Two hosts, [`Side::Senders`] and [`Side::Receivers`], are network namespaces with a TUN device each. One
//! thread reads the packets of both, passes them to the network of a plan with the time of reading, and
//! writes them to the other host when the network delivers them. The network counts in logical time: even if
//! the thread is late, queues, channels and routers compute as if it were on time.
//!
//! Works on Linux; on other systems only the parts that need no kernel are built.

pub mod address;
mod connection_flows;
mod error;
mod exchange;
pub mod packet;
#[cfg(all(test, target_os = "linux"))]
#[path = "../tests/support/plans.rs"]
#[allow(dead_code, clippy::wildcard_imports, reason = "shared with integration tests")]
mod plans;
mod slots;

pub use address::Side;
pub use connection_flows::{Connection, ConnectionFlow};
pub use error::EmulationError;
pub use exchange::{Exchange, PacketCounts};

/// Everything that needs namespaces, devices and schedulers.
#[cfg(target_os = "linux")]
mod linux {
    pub use airpath_os_linux::{NetworkNamespace, Scheduling, become_root_in_user_namespace};

    pub use crate::clock::Clock;
    pub use crate::emulation::{Connections, Emulated, Emulation, Options};
    pub use crate::held_up::held_up;
    pub use crate::host::{DEVICE, Host, MTU};
    pub use crate::hosts::Hosts;
    pub use crate::link_record::LinkRecord;
    pub use crate::observer::Sampled;
    pub use crate::router::{Router, RouterRecord};
    pub use crate::run::run;
    pub use crate::tcp_info::TcpInfo;
    pub use crate::timing::{LATE, Lateness};
    pub use crate::tun::{Tun, device_file};
    pub use crate::validity::{
        GAP_BOUND_S, LATE_SHARE_BOUND, MEDIAN_BOUND_S, Measured, SECOND_BOUND, Validity,
    };
}

#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod emulation;
#[cfg(target_os = "linux")]
mod held_up;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod hosts;
#[cfg(target_os = "linux")]
mod link_record;
#[cfg(target_os = "linux")]
mod link_thread;
#[cfg(target_os = "linux")]
mod observer;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod router;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod sock_diag;
#[cfg(target_os = "linux")]
pub mod source;
#[cfg(target_os = "linux")]
mod tcp_info;
#[cfg(target_os = "linux")]
mod timing;
#[cfg(target_os = "linux")]
mod tun;
#[cfg(target_os = "linux")]
mod validity;

#[cfg(target_os = "linux")]
pub use linux::*;
