//! The datagrams inside the network: the simulator moves sizes and handles, the bytes stay here.

use bytes::BytesMut;

/// A datagram on its way.
#[derive(Debug)]
pub(super) enum Inside {
    /// Of a connection of that source.
    Quic {
        /// The number of the source.
        source: usize,
        /// Which of the source's connections, one after the other.
        transfer: u32,
        /// What it says.
        bytes: BytesMut,
    },
    /// One that nobody controls.
    Plain,
}

/// Room for all of them, by their handles.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Option<Inside>>,
    free: Vec<u32>,
}

impl Slots {
    /// Keeps a datagram; gives its handle.
    pub(super) fn keep(&mut self, datagram: Inside) -> u32 {
        if let Some(handle) = self.free.pop() {
            self.slots[handle as usize] = Some(datagram);
            return handle;
        }
        self.slots.push(Some(datagram));
        (self.slots.len() - 1) as u32 // far fewer than 2^32 are inside at one time
    }

    /// Hands a datagram out, whose handle is free then.
    pub(super) fn take(&mut self, handle: u32) -> Option<Inside> {
        let datagram = self.slots.get_mut(handle as usize)?.take();
        if datagram.is_some() {
            self.free.push(handle);
        }
        datagram
    }
}
