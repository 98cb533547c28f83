//! Expected and actual corruption.

use alloc::boxed::Box;

use airpath_model::{Bytes, Damage, Timestamp, Transmission};

use crate::ErrorProcess;

/// An error process with the sum of its probabilities, packet by packet. The fates of packets are those of
/// the process alone.
///
/// The actual minus the expected corruption is a martingale, regardless of how senders respond to losses. The
/// two can therefore be compared even if long-run probabilities do not apply, as for a chain that moves while
/// nothing is sent.
#[derive(Debug)]
pub struct Expected {
    errors: Box<dyn ErrorProcess>,
    damage: Damage,
    /// Departure time of the last packet.
    before: Timestamp,
}

impl Expected {
    /// Wraps a process before its first packet.
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
