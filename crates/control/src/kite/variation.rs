//! How much the capacity varies between round trips.

use super::capacity::{Arrival, Interval, SHORTEST};

/// Variation up to which a link is calm, and from which it moves. Several flows on a fixed link have a
/// variation of about 0.05 to 0.1, traces of mobile links 0.3 or more.
const CALM: f64 = 0.1;
const MOVING: f64 = 0.25;

/// Time constant of the average, in seconds.
const TIME_CONSTANT: f64 = 2.0;

/// Change between two round trips that single packets can cause, in packets.
const PACKETS: f64 = 2.0;

/// Largest change that counts.
const LARGEST: f64 = 1.5;

/// Growth of the variation in a round trip with an empty queue.
const GROWTH: f64 = 1.25;

/// The average relative change of the delivery rate from one round trip to the next, without the changes that
/// single packets cause.
///
/// A round trip whose queue was empty throughout raises it: the capacity may be much higher than the
/// estimate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variation {
    open: Interval,
    /// The delivery rate of the previous round trip; zero if there was none.
    previous: f64,
    average: f64,
}

impl Default for Variation {
    fn default() -> Self {
        Self { open: Interval::default(), previous: 0.0, average: CALM }
    }
}

impl Variation {
    /// Returns the variation.
    pub(super) fn get(&self) -> f64 {
        self.average
    }

    /// Returns 0 on a calm link and 1 on a moving one; linear in between.
    pub(super) fn motion(&self) -> f64 {
        ((self.average - CALM) / (MOVING - CALM)).clamp(0.0, 1.0)
    }

    /// Skips a time in which the sender itself causes changes.
    pub(super) fn pause(&mut self) {
        (self.open, self.previous) = (Interval::default(), 0.0);
    }

    /// Adds an arrival.
    pub(super) fn update(&mut self, arrival: &Arrival) {
        let duration = self.open.add(arrival);
        if duration < arrival.round_trip.max(SHORTEST) {
            return;
        }
        let Interval { payload, queue, limited, .. } = self.open;
        self.open.restart(arrival.stamp);
        let previous = core::mem::replace(&mut self.previous, payload / duration);
        if previous == 0.0 || payload == 0.0 || !limited {
            return;
        }
        let change = libm::fabs(libm::log(self.previous / previous)) - PACKETS * arrival.packet / payload;
        let weight = -libm::expm1(-duration / TIME_CONSTANT);
        self.average += weight * (change.clamp(0.0, LARGEST) - self.average);
        if queue < arrival.empty {
            self.average = (self.average.max(CALM) * GROWTH).min(1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round trips of 100 ms with these numbers of packets.
    fn rounds(variation: &mut Variation, from: f64, packets: &[u32], queue: f64) {
        let mut stamp = from;
        for &count in packets {
            for _ in 0..count {
                stamp += 0.1 / f64::from(count);
                variation.update(&Arrival::of_packet(stamp + 1e-9, queue));
            }
        }
    }

    #[test]
    fn a_constant_rate_and_changes_by_two_packets_are_calm() {
        let mut variation = Variation::default();
        rounds(&mut variation, 0.0, &[20, 21, 19, 20, 21].repeat(40), 0.01);
        assert!(variation.get() < 0.02, "{}", variation.get());
        assert!(variation.motion() <= 0.0);
    }

    #[test]
    fn a_rate_that_doubles_and_halves_moves() {
        let mut variation = Variation::default();
        rounds(&mut variation, 0.0, &[50, 100].repeat(100), 0.01);
        assert!(variation.motion() >= 1.0, "{}", variation.get());
    }

    #[test]
    fn round_trips_with_an_empty_queue_raise_it() {
        let mut variation = Variation::default();
        rounds(&mut variation, 0.0, &[50; 12], 0.001);
        assert!(variation.motion() >= 1.0, "{}", variation.get());
    }
}
