//! The packets that wait in a queue which is not part of this source tree.

use airpath_model::{Backlog, Packet};

/// The packets that wait. The queue knows them by numbers only.
///
/// A number is a place in the list, and how many packets had that place before: it stands for one packet until that has
/// left, and is never 0.
#[derive(Debug)]
pub struct Packets<P> {
    places: Vec<(u32, Option<P>)>,
    free: Vec<u32>,
    backlog: Backlog,
}

impl<P> Default for Packets<P> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new(), backlog: Backlog::default() }
    }
}

impl<P: Packet> Packets<P> {
    /// Returns the backlog of the queue.
    #[inline]
    pub const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Adds a packet and returns its number.
    pub fn add(&mut self, packet: P) -> u64 {
        let Backlog { bytes, packets } = self.backlog;
        self.backlog = Backlog { bytes: bytes + packet.size(), packets: packets + 1 };
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push((0, None));
            self.places.len() as u32 - 1
        });
        let (uses, kept) = &mut self.places[place as usize];
        *uses = uses.wrapping_add(1).max(1);
        *kept = Some(packet);
        u64::from(*uses) << 32 | u64::from(place)
    }

    /// Returns the packet with this number, if it waits.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut P> {
        let place = self.places.get_mut(number as u32 as usize);
        let kept = place.filter(|(uses, _)| u64::from(*uses) == number >> 32);
        kept.and_then(|(_, kept)| kept.as_mut())
    }

    /// Takes the packet with this number out of the queue, if it waits.
    pub fn take(&mut self, number: u64) -> Option<P> {
        let place = self.places.get_mut(number as u32 as usize);
        let kept = place.filter(|(uses, _)| u64::from(*uses) == number >> 32);
        let packet = kept.and_then(|(_, kept)| kept.take())?;
        self.free.push(number as u32);
        let Backlog { bytes, packets } = self.backlog;
        self.backlog = Backlog { bytes: bytes - packet.size(), packets: packets - 1 };
        Some(packet)
    }

    /// Returns the text of the error that more packets wait than fit into the buffer.
    #[cold]
    pub fn too_many(&self) -> String {
        let Backlog { bytes, packets } = self.backlog;
        format!("{} bytes in {packets} packets wait, which is more than the buffer has", bytes.get())
    }
}

#[cfg(test)]
mod tests;
