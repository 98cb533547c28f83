//! The Linux datapath: congestion controllers and routers as BPF programs, and what loads them.
//!
//! The programs are C in `bpf/`; `build.rs` compiles them with clang and makes a typed loader of each object. What they do is
//! what the algorithm crates do, in integers. Everything that is attached is held by file descriptors of this process: when it
//! ends, however it ends, the kernel takes it away.

pub mod capability;
pub mod config_file;
pub mod daemon;
mod error;
pub mod host;
pub mod native;
pub mod replay;
pub mod router;
mod tcx;
pub mod units;

pub use error::Error;
