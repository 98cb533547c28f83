//! The packet pool: fixed-size slots for packets, to which the network refers by number.

/// Largest packet in a slot, in bytes. Devices deliver no larger ones (`MTU`).
pub(crate) const SLOT: usize = 1536;

/// A pool of slots, identified by number.
#[derive(Debug)]
pub(crate) struct Slots {
    places: Vec<Place>,
    free: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Place {
    length: u16,
    bytes: [u8; SLOT],
}

impl Slots {
    /// Creates a pool of `places` slots; further ones are added if all are taken, which takes time.
    pub(crate) fn new(places: usize) -> Self {
        let mut slots = Self { places: Vec::new(), free: Vec::new() };
        slots.grow(places);
        slots
    }

    /// Takes a slot. Set its length by [`Slots::keep`] or give it back.
    pub(crate) fn take(&mut self) -> u32 {
        loop {
            if let Some(place) = self.free.pop() {
                return place;
            }
            self.grow(GROWTH);
        }
    }

    /// Returns the whole slot, for writing.
    pub(crate) fn place(&mut self, slot: u32) -> &mut [u8; SLOT] {
        &mut self.places[slot as usize].bytes
    }

    /// Sets the length of the packet in a slot.
    pub(crate) fn keep(&mut self, slot: u32, length: usize) {
        self.places[slot as usize].length = length.min(SLOT) as u16;
    }

    /// Returns the packet in a slot.
    pub(crate) fn packet(&mut self, slot: u32) -> &mut [u8] {
        let place = &mut self.places[slot as usize];
        &mut place.bytes[..usize::from(place.length)]
    }

    /// Frees a slot.
    pub(crate) fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Returns the number of slots that are taken.
    pub(crate) fn taken(&self) -> usize {
        self.places.len() - self.free.len()
    }

    fn grow(&mut self, by: usize) {
        let first = self.places.len() as u32;
        // Filled, so that the memory is mapped before packets arrive.
        self.places.resize(self.places.len() + by, Place { length: 0, bytes: [0xff; SLOT] });
        self.free.reserve(self.places.len());
        self.free.extend((first..self.places.len() as u32).rev());
    }
}

/// Number of slots that are added at a time.
const GROWTH: usize = 1024;
