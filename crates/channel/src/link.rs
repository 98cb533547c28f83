//! A channel composed of its two processes.

use airpath_model::{Channel, Damage, Passage, Timestamp, Transmission};

use crate::{ErrorProcess, RateProcess};

/// A channel made of a rate process and an error process.
#[derive(Clone, Debug)]
pub struct LinkChannel<E> {
    rate: RateProcess,
    /// A second copy of the rate process, for measurement only. Transmitting advances to the future (up to
    /// when the last bit leaves), so one copy cannot serve both.
    meter: RateProcess,
    errors: E,
}

impl<E: ErrorProcess> LinkChannel<E> {
    /// Creates a channel at the start of a run.
    pub fn new(rate: RateProcess, errors: E) -> Self {
        Self { meter: rate.clone(), rate, errors }
    }
}

impl<E: ErrorProcess> Channel for LinkChannel<E> {
    #[inline]
    fn transmit(&mut self, transmission: &Transmission) -> Passage {
        let size = self.errors.size_on_link(transmission.size);
        let departs = self.rate.departs(&Transmission { size, ..*transmission });
        // A packet that never leaves takes no sample of the error process.
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
