//! The noise of the rate of departures on two time scales.

use super::memory::Sent;

/// Lengths of the windows of the two scales, in seconds of backlogged time.
const SHORT_S: f64 = 0.02;
const LONG_S: f64 = 0.2;
/// Least weights of a new value on the two scales.
const SHORT_WEIGHT: f64 = 1.0 / 32.0;
const LONG_WEIGHT: f64 = 1.0 / 8.0;
/// The least fluctuation, per second.
const LEAST_FLUCTUATION: f64 = 0.01;
/// The largest variance that one pair of windows contributes.
const LARGEST_VARIANCE: f64 = 0.5;
/// Intervals with more backlogged time than this, in seconds, are those after an outage, and do not count.
const LONGEST_INTERVAL_S: f64 = 0.5;

/// Noise of ln(bytes/busy time): over a window of b seconds, its Allan variance is g/b + q b/3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// g, the dispersion of departures, in seconds.
    pub(super) dispersion_s: f64,
    /// q, the fluctuation of the capacity, per second.
    pub(super) fluctuation: f64,
}

/// Estimates the noise by the Allan variance on two scales.
#[derive(Clone, Debug, Default)]
pub(super) struct Noise {
    short: Scale,
    long: Scale,
}

/// The Allan variance over consecutive windows of one length.
#[derive(Clone, Debug, Default)]
struct Scale {
    window: Sent,
    previous: Option<f64>,
    pairs: u32,
    variance: f64,
    mean_length_s: f64,
}

impl Scale {
    fn add(&mut self, sent: Sent, length_s: f64, least_weight: f64) {
        self.window.bytes += sent.bytes;
        self.window.busy_s += sent.busy_s;
        if self.window.busy_s < length_s {
            return;
        }
        let window = core::mem::take(&mut self.window);
        let logarithm = libm::log(window.rate());
        if let Some(previous) = self.previous.replace(logarithm) {
            self.pairs = self.pairs.saturating_add(1);
            let weight = (1.0 / f64::from(self.pairs)).max(least_weight);
            let difference = logarithm - previous;
            let variance = (difference * difference / 2.0).min(LARGEST_VARIANCE);
            self.variance += weight * (variance - self.variance);
            self.mean_length_s += weight * (window.busy_s - self.mean_length_s);
        }
    }
}

impl Noise {
    /// Processes the measurements of an interval.
    pub(super) fn add(&mut self, sent: Sent) {
        if sent.busy_s <= LONGEST_INTERVAL_S && sent.bytes > 0.0 {
            self.short.add(sent, SHORT_S, SHORT_WEIGHT);
            self.long.add(sent, LONG_S, LONG_WEIGHT);
        }
    }

    /// Returns the noise so far. Before the first pair of long windows, fluctuation cannot be separated from
    /// dispersion, and counts as the least.
    pub(super) fn level(&self) -> Level {
        let (a1, l1) = (self.short.variance, self.short.mean_length_s);
        if self.long.pairs == 0 {
            return Level { dispersion_s: a1 * l1, fluctuation: LEAST_FLUCTUATION };
        }
        let (a2, l2) = (self.long.variance, self.long.mean_length_s.max(2.0 * l1));
        let dispersion_s = ((a1 * l2 - a2 * l1) / (l2 / l1 - l1 / l2)).max(0.0);
        let fluctuation = (3.0 * (a2 - dispersion_s / l2) / l2).max(LEAST_FLUCTUATION);
        Level { dispersion_s, fluctuation }
    }
}
