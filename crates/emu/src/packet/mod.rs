//! The few fields of a real packet that the network looks at, read at its entrance and written back at its exit.
//!
//! Whatever the bytes are, nothing here panics: what is not understood is left alone.

mod checksum;
mod ipv4;
mod tcp;
mod xcp;

pub use ipv4::Ipv4;
pub use tcp::Tcp;
pub use xcp::XcpOption;
