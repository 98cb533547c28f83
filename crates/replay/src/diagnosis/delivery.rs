//! Delivered bytes over time, and the resulting bandwidth.

use super::answer::{Answer, Bin, LEAST_HALF_WIDTH, headline};
use super::label::Label;
use super::result::LimitWindow;
use super::window::{PARTS, Window};

/// Width of the bins, in nanoseconds; wider windows are bins of their own.
const WIDTH_NS: u64 = 1_000_000_000;
/// Bins with fewer acknowledgments are merged with the next.
const FEWEST_ACKS: u32 = 20;
/// The link counts as full if the confidence of its label exceeds this value. A label adopted from neighbours
/// does not.
const CREDIBLE: f64 = 0.5;
/// A bin in which a flow fills the link has less than this share of the rate of the next one.
const FILLED: f64 = 0.8;
/// Student's t for 95 % with 1 to 4 degrees of freedom.
const STUDENT: [f64; PARTS - 1] = [12.71, 4.30, 3.18, 2.78];

/// Delivery on a time grid: bytes in parts of windows, acknowledgments, and whether the link was full.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delivery {
    pub(super) width_ns: u64,
    /// The start of the first window, in widths.
    pub(super) first: u64,
    pub(super) parts: Vec<[u64; PARTS]>,
    pub(super) acks: Vec<u32>,
    pub(super) full: Vec<bool>,
    /// The times of the first data packet and of the last delivery.
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
}

impl Delivery {
    /// Creates the delivery of a flow from its windows and their limits.
    pub(super) fn new(
        windows: &[Window],
        width_ns: u64,
        first: u64,
        span: (u64, u64),
        limits: &[LimitWindow],
    ) -> Self {
        let mut delivery = Self { width_ns, first, from_ns: span.0, to_ns: span.1, ..Self::default() };
        delivery.parts = windows.iter().map(|window| window.parts).collect();
        delivery.acks = windows.iter().map(|window| window.acks).collect();
        let mut delivery = delivery.widened(WIDTH_NS.max(width_ns));
        delivery.note_full(limits);
        delivery
    }

    /// Returns the bandwidth after labels changed.
    pub(super) fn renewed(&mut self, limits: &[LimitWindow]) -> Answer {
        self.note_full(limits);
        self.answer()
    }

    fn note_full(&mut self, limits: &[LimitWindow]) {
        let place = |place| is_full(limits, self.start(place), self.start(place + 1));
        self.full = (0..self.parts.len()).map(place).collect();
        let filling: Vec<bool> = (0..self.parts.len()).map(|place| self.fills_link(limits, place)).collect();
        for (full, filling) in self.full.iter_mut().zip(filling) {
            *full &= !filling;
        }
    }

    /// Returns whether a flow that has grown fills the link only during a bin, which is therefore slower than the next one.
    fn fills_link(&self, limits: &[LimitWindow], place: usize) -> bool {
        let window = limits.partition_point(|window| window.to_ns <= self.start(place));
        let has_grown = window.checked_sub(1).is_some_and(|before| limits[before].label == Label::StartUp);
        let bytes = |place: usize| self.parts[place].iter().sum::<u64>() as f64;
        has_grown && self.full[place..].starts_with(&[true, true]) && bytes(place) < FILLED * bytes(place + 1)
    }

    /// Returns the start of a window.
    pub(super) fn start(&self, place: usize) -> u64 {
        (self.first + place as u64).saturating_mul(self.width_ns)
    }

    /// Returns the same in windows of `width_ns`, a multiple of the current width. A wide window is full if
    /// most of it is.
    pub(super) fn widened(&self, width_ns: u64) -> Self {
        let factor = (width_ns / self.width_ns.max(1)).max(1);
        let first = self.first / factor;
        let length = (self.first + self.parts.len() as u64).div_ceil(factor) - first;
        let mut wide = Self {
            width_ns: self.width_ns.saturating_mul(factor),
            first,
            parts: vec![[0; PARTS]; length as usize],
            acks: vec![0; length as usize],
            full: Vec::new(),
            ..*self
        };
        let mut full = vec![(0, 0); length as usize];
        for (place, parts) in self.parts.iter().enumerate() {
            let at = self.first + place as u64;
            let (window, inside) = ((at / factor - first) as usize, at % factor);
            for (part, bytes) in parts.iter().enumerate() {
                let place = (inside as usize * PARTS + part) / factor as usize;
                wide.parts[window][place] += bytes;
            }
            wide.acks[window] = wide.acks[window].saturating_add(self.acks[place]);
            full[window].0 += usize::from(self.full.get(place).copied().unwrap_or(false));
            full[window].1 += 1;
        }
        wide.full = full.into_iter().map(|(full, all)| 2 * full > all).collect();
        wide
    }

    /// Returns the bandwidth. Bins with few acknowledgments, and those cut short at the ends, are merged with
    /// neighbours.
    pub(super) fn answer(&self) -> Answer {
        let mut bins = Vec::new();
        let mut first = 0;
        for end in 1..=self.parts.len() {
            let acks: u32 = self.acks[first..end].iter().fold(0, |sum, acks| sum.saturating_add(*acks));
            let from = self.start(first).max(self.from_ns);
            let is_short = self.start(end).min(self.to_ns).saturating_sub(from) < self.width_ns / 2;
            if acks >= FEWEST_ACKS && !is_short {
                bins.push((first, end));
                first = end;
            }
        }
        if first < self.parts.len() {
            let first = bins.pop().map_or(first, |(first, _)| first);
            bins.push((first, self.parts.len()));
        }
        let bins: Vec<Bin> =
            bins.into_iter().map(|(first, end)| self.bin(first, end)).filter(|bin| bin.bytes > 0).collect();
        Answer { headline: headline(&bins), bins }
    }

    fn bin(&self, first: usize, end: usize) -> Bin {
        let from_ns = self.start(first).max(self.from_ns);
        let to_ns = self.start(end).min(self.to_ns).max(from_ns + 1);
        let bytes: u64 = self.parts[first..end].iter().flatten().sum();
        let seconds = (to_ns - from_ns) as f64 * 1e-9;
        let rate_bps = bytes as f64 * 8.0 / seconds;
        let least = LEAST_HALF_WIDTH * rate_bps;
        let half = self.half_width(first, end, (from_ns, to_ns), rate_bps).max(least);
        let full = 2 * self.full[first..end].iter().filter(|full| **full).count() > end - first;
        Bin {
            from_ns,
            to_ns,
            bytes,
            rate_bps,
            low_bps: (rate_bps - if full { half } else { least }).max(0.0),
            high_bps: rate_bps + half,
            full,
        }
    }

    /// Returns the half-width of the rate's interval, from its equal parts inside the flow.
    fn half_width(&self, first: usize, end: usize, span: (u64, u64), rate: f64) -> f64 {
        let part_ns = self.width_ns / PARTS as u64;
        let start = self.start(first);
        let parts = self.parts[first..end].iter().flatten().zip(0_u64..).filter(|(_, place)| {
            let from = start.saturating_add(place * part_ns);
            from >= span.0 && from.saturating_add(part_ns) <= span.1
        });
        let parts: Vec<f64> = parts.map(|(bytes, _)| *bytes as f64 * 8e9 / part_ns as f64).collect();
        let group = parts.len().div_ceil(PARTS).max(1);
        let rates: Vec<f64> =
            parts.chunks_exact(group).map(|group| group.iter().sum::<f64>() / group.len() as f64).collect();
        let Some(freedom) = rates.len().checked_sub(1).filter(|freedom| *freedom > 0) else { return rate };
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let square = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / freedom as f64;
        STUDENT[freedom.min(PARTS - 1) - 1] * (square / rates.len() as f64).sqrt()
    }
}

/// Returns whether the link was full for most of the time from `from` to `to` covered by the windows.
fn is_full(windows: &[LimitWindow], from: u64, to: u64) -> bool {
    let first = windows.partition_point(|window| window.to_ns <= from);
    let (mut all, mut full) = (0, 0);
    for window in windows[first..].iter().take_while(|window| window.from_ns < to) {
        let time = window.to_ns.min(to).saturating_sub(window.from_ns.max(from));
        all += time;
        full += if window.label.is_full() && window.confidence > CREDIBLE { time } else { 0 };
    }
    2 * full > all
}

#[cfg(test)]
mod tests {
    use super::super::evidence::Evidence;
    use super::super::result::limit;
    use super::super::rules::{Reason, Verdict};
    use super::*;

    fn delivery(bytes: &[u64], full: &[bool]) -> Delivery {
        Delivery {
            width_ns: WIDTH_NS,
            first: 3,
            parts: bytes.iter().map(|bytes| [bytes / 5; PARTS]).collect(),
            acks: vec![100; bytes.len()],
            full: full.to_vec(),
            from_ns: 3_000_000_000,
            to_ns: (3 + bytes.len() as u64) * WIDTH_NS,
        }
    }

    #[test]
    fn the_headline_is_the_mean_of_full_bins() {
        let answer = delivery(&[500, 1000, 1000, 1300, 400], &[false, true, true, true, false]).answer();
        let headline = answer.headline.unwrap();
        assert!(headline.full && (headline.rate_bps - 8_800.0).abs() < 1e-6, "{headline:?}");
        assert_eq!((headline.least_bps, headline.most_bps), (8_000.0, 10_400.0));
        assert!((headline.full_share - 0.6).abs() < 1e-12);
        let bin = answer.bins[1];
        assert!((bin.high_bps / bin.rate_bps - 1.03).abs() < 1e-9, "equal parts: the smallest interval");
    }

    #[test]
    fn the_bin_in_which_a_flow_fills_the_link_does_not_count() {
        let window = |label, first: u64, end: u64| {
            let evidence =
                Evidence { from_ns: first * WIDTH_NS, to_ns: end * WIDTH_NS, ..Evidence::default() };
            limit(&evidence, &Verdict { label, margin: 1.0, reason: Reason::Window }, false)
        };
        let windows = |first| [window(first, 3, 4), window(Label::Bottleneck, 4, 8)];
        let mut grown = delivery(&[10, 600, 1000, 1000, 600], &[]);
        grown.note_full(&windows(Label::StartUp));
        assert_eq!(grown.full, [false, false, true, true, true]);
        grown.note_full(&windows(Label::Application));
        assert_eq!(grown.full, [false, true, true, true, true]);
        grown.parts[1] = [190; PARTS];
        grown.note_full(&windows(Label::StartUp));
        assert_eq!(grown.full, [false, true, true, true, true]);
    }

    #[test]
    fn too_few_full_bins_give_a_lower_bound() {
        let headline = delivery(&[500, 1000, 900], &[false, true, true]).answer().headline.unwrap();
        assert!(!headline.full && (headline.rate_bps - 0.97 * 8_000.0).abs() < 1e-6, "{headline:?}");
        // The parts of a short flow do not determine its rate, but the bytes were delivered.
        let mut brief = delivery(&[1000], &[true]);
        brief.to_ns = brief.from_ns + WIDTH_NS / 5;
        let headline = brief.answer().headline.unwrap();
        assert!(!headline.full && (headline.rate_bps - 0.97 * 40_000.0).abs() < 1e-6, "{headline:?}");
        assert_eq!(delivery(&[], &[]).answer().headline, None);
    }

    #[test]
    fn bins_with_few_acknowledgments_are_joined() {
        let mut sparse = delivery(&[500, 1000, 1500, 40], &[true, true, false, true]);
        sparse.acks = vec![5, 15, 20, 3];
        let bins = sparse.answer().bins;
        let found: Vec<_> =
            bins.iter().map(|bin| (bin.from_ns / WIDTH_NS, bin.to_ns / WIDTH_NS, bin.bytes)).collect();
        assert_eq!(found, [(3, 5, 1500), (5, 7, 1540)]);
        assert_eq!((bins[0].full, bins[1].full), (true, false));
    }

    #[test]
    fn times_at_the_end_of_their_range_have_an_interval() {
        let mut last = delivery(&[500, 1000], &[true, true]);
        last.first = u64::MAX / WIDTH_NS;
        (last.from_ns, last.to_ns) = (last.start(0), u64::MAX);
        assert_eq!(last.answer().bins.len(), 1);
    }

    #[test]
    fn wide_windows_keep_all_bytes() {
        let narrow = delivery(&[5, 10, 15, 20], &[true, true, false, false]);
        let wide = narrow.widened(4 * WIDTH_NS);
        assert_eq!((wide.first, wide.parts.len(), wide.full.clone()), (0, 2, vec![true, false]));
        assert_eq!(wide.parts.iter().flatten().sum::<u64>(), 50);
    }
}
