//! The measurements that the estimate is averaged over.

use super::noise::Level;

/// Weight of the initial estimate, in seconds.
const FIRST_WEIGHT_S: f64 = 1e-6;
/// Dispersion of a link without noise, in seconds.
const LEAST_DISPERSION_S: f64 = 1e-5;
/// Shortest and longest memory, in seconds of backlogged time.
const SHORTEST_S: f64 = 0.1;
const LONGEST_S: f64 = 1.0;
/// Relative deviation that is never a jump.
const TOLERANCE: f64 = 0.02;
/// Numbers of the last intervals that are tested together for a jump.
const TESTED: [usize; 3] = [1, 5, 20];

/// Bytes that a link sent, and the backlogged time that they took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sent {
    pub(super) bytes: f64,
    /// In seconds.
    pub(super) busy_s: f64,
}

impl Sent {
    pub(super) const NONE: Self = Self { bytes: 0.0, busy_s: 0.0 };

    /// Returns the rate, byte/s.
    pub(super) fn rate(self) -> f64 {
        self.bytes / self.busy_s
    }

    /// Returns the possible rate that is closest to `expected`, if the time has an error of up to `resolution_s` seconds.
    fn nearest_rate(self, expected: f64, resolution_s: f64) -> f64 {
        if self.rate() > expected {
            (self.bytes / (self.busy_s + resolution_s)).max(expected)
        } else if self.busy_s > resolution_s {
            (self.bytes / (self.busy_s - resolution_s)).min(expected)
        } else {
            expected
        }
    }

    fn plus(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, busy_s: self.busy_s + other.busy_s }
    }

    fn times(self, factor: f64) -> Self {
        Self { bytes: factor * self.bytes, busy_s: factor * self.busy_s }
    }
}

/// A sum of measurements whose ratio is the estimate: a Kalman filter for ln C in information form, with the
/// measurement variance g/B.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    sum: Sent,
    /// The last intervals, the newest first.
    last: [Sent; TESTED[2]],
    intervals: usize,
}

impl Memory {
    /// Creates a memory whose estimate is `capacity`, until the first measurement.
    pub(super) fn new(capacity: f64) -> Self {
        let sum = Sent { bytes: capacity * FIRST_WEIGHT_S, busy_s: FIRST_WEIGHT_S };
        Self { sum, last: [Sent::NONE; TESTED[2]], intervals: 0 }
    }

    /// Returns the estimate, byte/s.
    pub(super) fn rate(&self) -> f64 {
        self.sum.rate()
    }

    /// Returns the estimate as if `sent` had been measured, too.
    pub(super) fn rate_with(&self, sent: Sent) -> f64 {
        self.sum.plus(sent).rate()
    }

    /// Reduces the weight of what is known after `idle_s` seconds without a measurement.
    pub(super) fn fade(&mut self, idle_s: f64, noise: Level) {
        let growth = noise.fluctuation * idle_s * self.sum.busy_s / (noise.dispersion_s + LEAST_DISPERSION_S);
        self.sum = self.sum.times(1.0 / (1.0 + growth));
    }

    /// Adds a measurement; if the last ones deviate from the estimate by more than `sigmas` standard deviations,
    /// they become the memory. The times at which a measurement begins and ends are known up to `resolution_s`.
    pub(super) fn add(&mut self, sent: Sent, noise: Level, sigmas: f64, resolution_s: f64) {
        self.last.rotate_right(1);
        self.last[0] = sent;
        self.intervals = (self.intervals + 1).min(self.last.len());
        if let Some(jumped) = self.jump(noise, sigmas, resolution_s) {
            self.sum = jumped;
            self.intervals = 0;
            return;
        }
        let longest_s = libm::sqrt(noise.dispersion_s / noise.fluctuation).clamp(SHORTEST_S, LONGEST_S);
        let kept = ((longest_s - sent.busy_s) / self.sum.busy_s).clamp(0.0, 1.0);
        self.sum = self.sum.times(kept).plus(sent);
    }

    /// Multiplies the estimate.
    pub(super) fn grow(&mut self, factor: f64) {
        self.sum.bytes *= factor;
    }

    /// Returns the sum of the last measurements if they contradict the estimate.
    fn jump(&self, noise: Level, sigmas: f64, resolution_s: f64) -> Option<Sent> {
        if sigmas <= 0.0 {
            return None;
        }
        let estimate = self.rate();
        TESTED.iter().filter(|&&count| count <= self.intervals).find_map(|&count| {
            let tested = self.last[..count].iter().fold(Sent::NONE, |sum, &one| sum.plus(one));
            let nearest = tested.nearest_rate(estimate, resolution_s);
            let deviation = libm::log(nearest / estimate);
            let expected_s = tested.busy_s.min(tested.bytes / estimate);
            let variance = (noise.dispersion_s + LEAST_DISPERSION_S) / expected_s
                + TOLERANCE * TOLERANCE
                + noise.fluctuation * self.sum.busy_s;
            (deviation * deviation > sigmas * sigmas * variance).then_some(tested)
        })
    }
}
