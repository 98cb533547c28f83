//! The delay curve: which delay belongs to which window.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// The largest window of the curve, in segments (authors' sender).
const LARGEST: usize = 40_000;

/// Weight of the old value in the delay of a window (authors' sender).
const OLD_WEIGHT: f32 = 0.875;

/// The largest number of windows that share a knot, and the smallest number of knots (authors' spline).
const WINDOWS_PER_KNOT: usize = 15;
const FEWEST_KNOTS: usize = 5;

/// A piecewise linear curve of the delay in seconds over the window in segments.
#[derive(Clone)]
pub(super) struct Curve {
    /// The averaged delay of each window in seconds; negative if there is none.
    delays: Box<[f32]>,
    largest: usize,
    /// Window and delay, by window. Allocated once.
    knots: Vec<(f64, f64)>,
}

impl Default for Curve {
    fn default() -> Self {
        let knots = Vec::with_capacity(LARGEST / WINDOWS_PER_KNOT + FEWEST_KNOTS + 2);
        Self { delays: vec![-1.0; LARGEST + 1].into_boxed_slice(), largest: 0, knots }
    }
}

impl fmt::Debug for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.delays[..=self.largest].iter().filter(|&&delay| delay >= 0.0);
        let sum: f32 = known.sum();
        write!(f, "Curve {{ largest: {}, sum: {sum}, knots: {:?} }}", self.largest, self.knots)
    }
}

impl Curve {
    /// Adds a delay, in seconds, of a packet that left with `window`.
    pub(super) fn add(&mut self, window: usize, delay: f64) {
        let window = window.min(LARGEST);
        let entry = &mut self.delays[window];
        let delay = delay as f32;
        *entry = if *entry < 0.0 { delay } else { OLD_WEIGHT * *entry + (1.0 - OLD_WEIGHT) * delay };
        self.largest = self.largest.max(window);
    }

    /// Removes the windows from `window` on.
    pub(super) fn truncate(&mut self, window: usize) {
        let window = window.min(self.largest + 1);
        self.delays[window..=self.largest].fill(-1.0);
        self.largest = window.saturating_sub(1);
    }

    /// Removes everything.
    pub(super) fn clear(&mut self) {
        self.truncate(0);
        self.delays[0] = -1.0;
        self.knots.clear();
    }

    /// Computes the knots from the averaged delays: one is the mean of neighbouring windows.
    pub(super) fn fit(&mut self) {
        self.knots.clear();
        let group = (self.largest / FEWEST_KNOTS).clamp(1, WINDOWS_PER_KNOT);
        let delays = &self.delays[1..=self.largest];
        for (index, group_delays) in delays.chunks(group).enumerate() {
            let (mut count, mut windows, mut sum) = (0.0, 0.0, 0.0);
            for (offset, &delay) in group_delays.iter().enumerate().filter(|(_, delay)| **delay >= 0.0) {
                count += 1.0;
                windows += (1 + index * group + offset) as f64;
                sum += f64::from(delay);
            }
            if count > 0.0 {
                self.knots.push((windows / count, sum / count));
            }
        }
    }

    /// Returns the delay that belongs to `window`; `None` without a curve.
    pub(super) fn delay(&self, window: f64) -> Option<f64> {
        let after = self.knots.partition_point(|&(knot, _)| knot <= window);
        let slope = self.slope(after)?;
        let (from, delay) = self.knots[after.saturating_sub(1)];
        Some(delay + slope * (window - from))
    }

    /// Returns the window below the first one whose delay exceeds `delay`, in whole segments; `None` if
    /// there is none or the curve does not increase there.
    pub(super) fn window(&self, delay: f64) -> Option<f64> {
        let after = self.knots.iter().position(|&(_, knot)| knot > delay).unwrap_or(self.knots.len());
        let slope = self.slope(after)?;
        let (from, begin) = self.knots[after.saturating_sub(1)];
        if slope <= 0.0 {
            return if after == 0 { Some(1.0) } else { None };
        }
        let exact = from + (delay - begin) / slope;
        Some(libm::floor(exact).clamp(1.0, LARGEST as f64))
    }

    /// Returns the slope of the segment before the knot `after`; beyond the ends, that of the whole curve.
    fn slope(&self, after: usize) -> Option<f64> {
        let (first, last) = (self.knots.first()?, self.knots.last()?);
        let (left, right) = match after {
            _ if self.knots.len() < 2 => return None,
            inner if inner > 0 && inner < self.knots.len() => (&self.knots[inner - 1], &self.knots[inner]),
            _ => (first, last),
        };
        Some((right.1 - left.1) / (right.0 - left.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delays of 40 ms up to window 30, then 1 ms more for each segment.
    fn curve() -> Curve {
        let mut curve = Curve::default();
        for window in 1..=150 {
            curve.add(window, 0.04 + 0.001 * (window as f64 - 30.0).max(0.0));
        }
        curve.fit();
        curve
    }

    #[test]
    fn the_curve_maps_windows_to_delays_and_back() {
        let curve = curve();
        for (window, delay) in [(15.0, 0.04), (60.0, 0.07), (100.0, 0.11)] {
            assert!((curve.delay(window).unwrap() - delay).abs() < 1e-6, "{:?}", curve.delay(window));
        }
        for (delay, window) in [(0.0705, 60.0), (0.1105, 100.0)] {
            assert!((curve.window(delay).unwrap() - window).abs() < 1e-9, "{:?}", curve.window(delay));
        }
        assert_eq!(curve.window(0.01).map(|window| window as u32), Some(1));
        // The means of 1 to 15 and 136 to 150 are 8 and 143, with 40 and 153 ms; 0.837 ms for a segment.
        assert!((curve.delay(200.0).unwrap() - (0.153 + 57.0 * 0.113 / 135.0)).abs() < 1e-6);
        assert_eq!(curve.window(0.2).map(|window| window as u32), Some(199));
    }

    #[test]
    fn delays_are_averaged_and_can_be_removed() {
        let mut curve = curve();
        curve.add(60, 0.15);
        assert!((curve.delays[60] - (0.875 * 0.07 + 0.125 * 0.15)).abs() < 1e-6);
        curve.truncate(100);
        assert_eq!(curve.largest, 99);
        assert!(curve.delays[100] < 0.0);
        curve.clear();
        assert_eq!((curve.window(0.1), curve.delay(10.0)), (None, None));
    }
}
