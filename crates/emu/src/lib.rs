//! The link emulator: the simulator's network between real hosts, driven by the real clock.
//!
//! Two hosts, [`Side::Senders`] and [`Side::Receivers`], are network namespaces with a TUN device each. One thread reads
//! the packets of both, hands them to the network of a plan at the instant at which it read them, and writes them to the
//! other host at the instant at which the network lets them out. The network counts in logical time: however late the
//! thread is, queues, channels and routers compute as if it had been on time.
//!
//! Works on Linux; elsewhere only what needs no kernel is built.

pub mod address;
mod error;
pub mod packet;

#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod hosts;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
pub mod source;
#[cfg(target_os = "linux")]
mod tcp_info;
#[cfg(target_os = "linux")]
mod tun;

pub use address::Side;
#[cfg(target_os = "linux")]
pub use clock::Clock;
pub use error::EmulationError;
#[cfg(target_os = "linux")]
pub use host::{DEVICE, Host, MTU};
#[cfg(target_os = "linux")]
pub use hosts::Hosts;
#[cfg(target_os = "linux")]
pub use namespace::{NetworkNamespace, become_root_in_user_namespace};
#[cfg(target_os = "linux")]
pub use tcp_info::TcpInfo;
#[cfg(target_os = "linux")]
pub use tun::{Tun, device_file};
