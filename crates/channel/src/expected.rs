//! Expected and actual corruption.

use alloc::boxed::Box;

use airpath_model::{Bytes, Damage, Timestamp, Transmission};

use crate::ErrorProcess;

/// An error process with the sum of its probabilities, packet by packet. Fates are those that it has alone.
///
/// What is damaged less what was expected is a martingale, whatever senders do when they hear of losses: so the two can be
/// held against each other where the long run says nothing, as of a chain that moves while nobody sends.
#[derive(Debug)]
pub struct Expected {
    errors: Box<dyn ErrorProcess>,
    damage: Damage,
    /// When the last packet had left.
    before: Timestamp,
}

impl Expected {
    /// With nothing sent so far.
    pub fn new(errors: impl ErrorProcess + 'static) -> Self {
        Self { errors: Box::new(errors), damage: Damage::default(), before: Timestamp::ZERO }
    }
}

impl ErrorProcess for Expected {
    fn size_on_link(&self, size: Bytes) -> Bytes {
        self.errors.size_on_link(size)
    }

    fn arrives(&mut self, transmission: &Transmission, departs: Timestamp) -> bool {
        let probability = self.damage_probability(transmission, departs, self.before);
        let arrives = self.errors.arrives(transmission, departs);
        self.before = departs;
        self.damage.count(probability, !arrives);
        arrives
    }

    fn damage_probability(
        &mut self,
        transmission: &Transmission,
        departs: Timestamp,
        before: Timestamp,
    ) -> f64 {
        self.errors.damage_probability(transmission, departs, before)
    }

    fn damage(&self) -> Option<Damage> {
        Some(self.damage)
    }
}
