//! A channel from its two parts.

use airpath_model::{Channel, Damage, Passage, Timestamp, Transmission};

use crate::{ErrorProcess, RateProcess};

/// A channel made of a rate process and an error process.
#[derive(Clone, Debug)]
pub struct LinkChannel<E> {
    rate: RateProcess,
    /// A second copy of the rate process that only measures. Transmitting looks into the future (up to when the
    /// last bit leaves), so one cursor could not do both.
    meter: RateProcess,
    errors: E,
}

impl<E: ErrorProcess> LinkChannel<E> {
    /// A channel at the start of its run.
    pub fn new(rate: RateProcess, errors: E) -> Self {
        Self { meter: rate.clone(), rate, errors }
    }
}

impl<E: ErrorProcess> Channel for LinkChannel<E> {
    #[inline]
    fn transmit(&mut self, transmission: &Transmission) -> Passage {
        let size = self.errors.size_on_link(transmission.size);
        let departs = self.rate.departs(&Transmission { size, ..*transmission });
        // What never leaves is no draw of the error process.
        let arrives = departs.is_scheduled() && self.errors.arrives(transmission, departs);
        Passage { departs, arrives }
    }

    fn offered_bits(&mut self, until: Timestamp) -> Option<f64> {
        self.meter.offered_bits(until)
    }

    fn damage(&self) -> Option<Damage> {
        self.errors.damage()
    }
}
