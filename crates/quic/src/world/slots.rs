//! The datagrams inside the network: the simulator moves sizes and handles; the bytes are stored here.

use bytes::BytesMut;

/// A datagram inside the network.
#[derive(Debug)]
pub(super) enum Inside {
    /// A packet of a connection of that source.
    Quic {
        /// The index of the source.
        source: usize,
        /// The index of the connection among the source's.
        transfer: u32,
        /// Its content.
        bytes: BytesMut,
    },
    /// A datagram without a controller.
    Plain,
}

/// A pool of datagrams, identified by handles.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Option<Inside>>,
    free: Vec<u32>,
}

impl Slots {
    /// Stores a datagram; returns its handle.
    pub(super) fn keep(&mut self, datagram: Inside) -> u32 {
        if let Some(handle) = self.free.pop() {
            self.slots[handle as usize] = Some(datagram);
            return handle;
        }
        self.slots.push(Some(datagram));
        (self.slots.len() - 1) as u32 // far fewer than 2^32 are inside at one time
    }

    /// Returns a datagram and frees its handle.
    pub(super) fn take(&mut self, handle: u32) -> Option<Inside> {
        let datagram = self.slots.get_mut(handle as usize)?.take();
        if datagram.is_some() {
            self.free.push(handle);
        }
        datagram
    }
}
