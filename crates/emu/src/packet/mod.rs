//! The few fields of a real packet that the network uses, read at its entrance and written back at its exit.
//!
//! Nothing here panics for any bytes: unknown contents are left unchanged.

mod checksum;
mod ipv4;
mod tcp;
mod xcp;

pub use ipv4::Ipv4;
pub use tcp::Tcp;
pub use xcp::XcpOption;
