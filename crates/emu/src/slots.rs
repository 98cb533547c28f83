//! Where packets wait while the network has their numbers: places of fixed size that are used again.

/// Largest packet that is kept, bytes. Devices give no larger ones (`MTU`).
pub(crate) const SLOT: usize = 1536;

/// Places for packets, known by their number.
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
    /// That many places; more are made when they are all taken, which costs time.
    pub(crate) fn new(places: usize) -> Self {
        let mut slots = Self { places: Vec::new(), free: Vec::new() };
        slots.grow(places);
        slots
    }

    /// Takes a place. Give its length by [`Slots::keep`] or give it back.
    pub(crate) fn take(&mut self) -> u32 {
        loop {
            if let Some(place) = self.free.pop() {
                return place;
            }
            self.grow(GROWTH);
        }
    }

    /// The whole place, to be written.
    pub(crate) fn place(&mut self, slot: u32) -> &mut [u8; SLOT] {
        &mut self.places[slot as usize].bytes
    }

    /// The packet in a place is that long.
    pub(crate) fn keep(&mut self, slot: u32, length: usize) {
        self.places[slot as usize].length = length.min(SLOT) as u16;
    }

    /// The packet in a place.
    pub(crate) fn packet(&mut self, slot: u32) -> &mut [u8] {
        let place = &mut self.places[slot as usize];
        &mut place.bytes[..usize::from(place.length)]
    }

    /// The place is free again.
    pub(crate) fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Places that are taken.
    pub(crate) fn taken(&self) -> usize {
        self.places.len() - self.free.len()
    }

    fn grow(&mut self, by: usize) {
        let first = self.places.len() as u32;
        // Written, so that the memory is there before packets come.
        self.places.resize(self.places.len() + by, Place { length: 0, bytes: [0xff; SLOT] });
        self.free.reserve(self.places.len());
        self.free.extend((first..self.places.len() as u32).rev());
    }
}

/// How many places are made at a time when there are too few.
const GROWTH: usize = 1024;
