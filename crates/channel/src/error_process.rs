//! Corruption of packets.

use core::fmt::Debug;

use airpath_model::{Bytes, Damage, RandomStream, Timestamp, Transmission};

use crate::InvalidChannel;

/// A process that decides for each packet whether it arrives uncorrupted.
///
/// Called once for each departing packet, in order of departure; a process with memory catches up with idle
/// periods by itself.
pub trait ErrorProcess: Debug + Send {
    /// Returns the size of a packet of `size` bytes on the link, including the parity of a code.
    fn size_on_link(&self, size: Bytes) -> Bytes {
        size
    }

    /// Returns whether the packet that left as `transmission` until `departs` arrives uncorrupted; its size
    /// excludes parity.
    fn arrives(&mut self, transmission: &Transmission, departs: Timestamp) -> bool;

    /// Returns the probability that the packet of the next call of [`ErrorProcess::arrives`] is corrupted,
    /// given the fates of all previous packets and the states in which they found the process. The last of
    /// these packets left at `before`, which is the start time if there was none. Takes no random samples.
    fn damage_probability(
        &mut self,
        transmission: &Transmission,
        departs: Timestamp,
        before: Timestamp,
    ) -> f64;

    /// Returns the actual and the expected corruption, as
    /// [`Channel::damage`](airpath_model::Channel::damage).
    fn damage(&self) -> Option<Damage> {
        None
    }
}

/// A process without corruption.
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

/// A process that corrupts each packet with the same probability, independently of its size and of all other
/// packets.
#[derive(Clone, Debug)]
pub struct Bernoulli {
    loss: f64,
    stream: RandomStream,
}

impl Bernoulli {
    /// Creates a process with corruption probability `loss`, from 0 to 1, which takes one sample of `stream`
    /// per packet.
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
    fn the_share_of_corrupted_packets_is_the_probability() {
        let packets = 100_000;
        let lost = f64::from(packets - arrivals(0.02, packets));
        // Five standard deviations of the binomial distribution.
        let tolerance = 5.0 * libm::sqrt(f64::from(packets) * 0.02 * 0.98);
        assert!((lost - f64::from(packets) * 0.02).abs() < tolerance, "{lost}");
    }

    #[test]
    fn probabilities_of_zero_and_one_are_certain() {
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
