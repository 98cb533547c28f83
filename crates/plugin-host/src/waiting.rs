//! What waits at a link, as the interface has it.

use core::mem::size_of;

use airpath_model::{Backlog, Bytes, Timestamp};
use airpath_plugin::abi;

/// Returns an instant at a link, with the packet that arrives or leaves, if there is one.
#[inline]
pub(crate) fn waiting(now: Timestamp, packet: Option<Bytes>, backlog: Backlog) -> abi::Waiting {
    abi::Waiting {
        size: size_of::<abi::Waiting>() as u32,
        reserved: 0,
        now: now.as_nanos(),
        packet: packet.map_or(0, Bytes::get),
        bytes: backlog.bytes.get(),
        packets: backlog.packets,
    }
}
