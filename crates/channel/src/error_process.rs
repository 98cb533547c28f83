//! Whether packets arrive undamaged.

use core::fmt::Debug;

use airpath_model::{Bytes, Damage, RandomStream, Timestamp, Transmission};

use crate::InvalidChannel;

/// Decides for each packet whether it arrives undamaged.
///
/// Asked once for each packet that leaves, in the order of leaving; a process with memory catches up with silent
/// periods by itself.
pub trait ErrorProcess: Debug + Send {
    /// What a packet of `size` bytes takes on the link, with what a code adds to it.
    fn size_on_link(&self, size: Bytes) -> Bytes {
        size
    }

    /// Whether the packet that left as `transmission` until `departs` arrives undamaged; the size is its own.
    fn arrives(&mut self, transmission: &Transmission, departs: Timestamp) -> bool;

    /// The probability that the packet for which [`ErrorProcess::arrives`] is asked next is damaged, given the fates of all
    /// packets before it and the states in which they found the process; the last of them had left at `before`, the
    /// beginning if there was none. Draws nothing.
    fn damage_probability(
        &mut self,
        transmission: &Transmission,
        departs: Timestamp,
        before: Timestamp,
    ) -> f64;

    /// As [`Channel::damage`](airpath_model::Channel::damage).
    fn damage(&self) -> Option<Damage> {
        None
    }
}

/// Every packet arrives.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoErrors;

impl ErrorProcess for NoErrors {
    fn arrives(&mut self, _transmission: &Transmission, _departs: Timestamp) -> bool {
        true
    }

    fn damage_probability(&mut self, _: &Transmission, _departs: Timestamp, _before: Timestamp) -> f64 {
        0.0
    }
}

/// Each packet is damaged with the same probability, whatever its size and independently of all others.
#[derive(Clone, Debug)]
pub struct Bernoulli {
    loss: f64,
    stream: RandomStream,
}

impl Bernoulli {
    /// Damages packets with probability `loss`, from 0 to 1, by one draw of `stream` for each.
    pub fn new(loss: f64, stream: RandomStream) -> Result<Self, InvalidChannel> {
        if (0.0..=1.0).contains(&loss) {
            Ok(Self { loss, stream })
        } else {
            Err(InvalidChannel::NotAProbability(loss))
        }
    }
}

impl ErrorProcess for Bernoulli {
    fn arrives(&mut self, _transmission: &Transmission, _departs: Timestamp) -> bool {
        !self.stream.chance(self.loss)
    }

    fn damage_probability(&mut self, _: &Transmission, _departs: Timestamp, _before: Timestamp) -> f64 {
        self.loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_model::Bytes;

    fn arrivals(loss: f64, packets: u32) -> u32 {
        let mut errors = Bernoulli::new(loss, RandomStream::new(11, "loss")).unwrap();
        let packet = Transmission { start: Timestamp::ZERO, size: Bytes::new(1500), continues: false };
        (0..packets).map(|_| u32::from(errors.arrives(&packet, Timestamp::ZERO))).sum()
    }

    #[test]
    fn damaged_share_is_the_probability() {
        let packets = 100_000;
        let lost = f64::from(packets - arrivals(0.02, packets));
        // Five standard deviations of the binomial distribution.
        let tolerance = 5.0 * libm::sqrt(f64::from(packets) * 0.02 * 0.98);
        assert!((lost - f64::from(packets) * 0.02).abs() < tolerance, "{lost}");
    }

    #[test]
    fn certainty_is_certain() {
        assert_eq!(arrivals(0.0, 10_000), 10_000);
        assert_eq!(arrivals(1.0, 10_000), 0);
    }

    #[test]
    fn only_probabilities_are_accepted() {
        for loss in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                Bernoulli::new(loss, RandomStream::new(0, "loss")),
                Err(InvalidChannel::NotAProbability(_))
            ));
        }
    }
}
