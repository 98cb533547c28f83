//! Time series of a flow, in bins that are merged as the flow grows longer.

use airpath_model::{Bytes, Duration, Timestamp};

/// Maximum number of bins of a series. If a flow outlasts them, adjacent bins are merged.
const MOST_BINS: usize = 1024;
/// Width of the first bins.
const FIRST_WIDTH: Duration = Duration::from_millis(10);

/// The time series of a flow. Every column has one entry per bin.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The start of the first bin, in nanoseconds since the first packet of the capture.
    pub start_ns: u64,
    /// The width of each bin, in nanoseconds.
    pub width_ns: u64,
    /// Payload newly acknowledged, bytes.
    pub acked: Vec<u64>,
    /// Payload inferred as lost, bytes.
    pub lost: Vec<u64>,
    /// Retransmitted segments.
    pub retransmitted: Vec<u64>,
    /// Congestion marks, as reported by the acknowledgments.
    pub marks: Vec<u64>,
    /// Smallest RTT sample, nanoseconds; `u64::MAX` without a sample.
    pub rtt_min_ns: Vec<u64>,
    /// Sum of the RTT samples, nanoseconds.
    pub rtt_sum_ns: Vec<u64>,
    /// Number of RTT samples.
    pub rtt_samples: Vec<u64>,
    /// The last estimate of each estimator in the bin, bit/s; NaN if no acknowledgment arrived.
    pub estimates: Vec<Vec<f64>>,
}

impl Series {
    pub(crate) fn new(start: Timestamp, estimators: usize) -> Self {
        Self {
            start_ns: start.as_nanos(),
            width_ns: FIRST_WIDTH.as_nanos(),
            acked: Vec::new(),
            lost: Vec::new(),
            retransmitted: Vec::new(),
            marks: Vec::new(),
            rtt_min_ns: Vec::new(),
            rtt_sum_ns: Vec::new(),
            rtt_samples: Vec::new(),
            estimates: vec![Vec::new(); estimators],
        }
    }

    /// Returns the number of bins.
    pub fn len(&self) -> usize {
        self.acked.len()
    }

    /// Returns whether the series has no bins.
    pub fn is_empty(&self) -> bool {
        self.acked.is_empty()
    }

    /// Returns the bin of `now`, which may be a new one.
    pub(crate) fn bin(&mut self, now: Timestamp) -> usize {
        let since = now.as_nanos().saturating_sub(self.start_ns);
        while since / self.width_ns >= MOST_BINS as u64 {
            self.halve();
        }
        let bin = (since / self.width_ns) as usize; // below MOST_BINS
        while self.len() <= bin {
            self.acked.push(0);
            self.lost.push(0);
            self.retransmitted.push(0);
            self.marks.push(0);
            self.rtt_min_ns.push(u64::MAX);
            self.rtt_sum_ns.push(0);
            self.rtt_samples.push(0);
            self.estimates.iter_mut().for_each(|column| column.push(f64::NAN));
        }
        bin
    }

    pub(crate) fn on_rtt(&mut self, bin: usize, sample: Duration) {
        self.rtt_min_ns[bin] = self.rtt_min_ns[bin].min(sample.as_nanos());
        self.rtt_sum_ns[bin] = self.rtt_sum_ns[bin].saturating_add(sample.as_nanos());
        self.rtt_samples[bin] += 1;
    }

    pub(crate) fn on_delivered(&mut self, bin: usize, acked: Bytes, lost: Bytes, marked: bool) {
        self.acked[bin] += acked.get();
        self.lost[bin] += lost.get();
        self.marks[bin] += u64::from(marked);
    }

    fn halve(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        for column in
            [&mut self.acked, &mut self.lost, &mut self.retransmitted, &mut self.marks, &mut self.rtt_samples]
        {
            pair(column, |a, b| a + b);
        }
        pair(&mut self.rtt_sum_ns, u64::saturating_add);
        pair(&mut self.rtt_min_ns, u64::min);
        for column in &mut self.estimates {
            pair(column, |a, b| if b.is_nan() { a } else { b });
        }
    }
}

/// Merges adjacent entries.
fn pair<T: Copy>(column: &mut Vec<T>, put: impl Fn(T, T) -> T) {
    let halves = column.len().div_ceil(2);
    for k in 0..halves {
        let first = column[2 * k];
        column[k] = column.get(2 * k + 1).map_or(first, |second| put(first, *second));
    }
    column.truncate(halves);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_merged_without_losing_counts() {
        let mut series = Series::new(Timestamp::ZERO + Duration::from_secs(5), 1);
        for k in 0..100_000_u64 {
            let bin = series.bin(Timestamp::ZERO + Duration::from_secs(5) + Duration::from_millis(k));
            series.on_delivered(bin, Bytes::new(3), Bytes::ZERO, k == 7);
            series.on_rtt(bin, Duration::from_millis(20 + k));
            series.estimates[0][bin] = k as f64;
        }
        assert!(series.len() <= MOST_BINS && series.len() > MOST_BINS / 2);
        assert_eq!(series.acked.iter().sum::<u64>(), 300_000);
        assert_eq!(series.marks.iter().sum::<u64>(), 1);
        assert_eq!(series.rtt_samples.iter().sum::<u64>(), 100_000);
        assert_eq!(series.rtt_min_ns[0], 20_000_000);
        assert!(series.estimates[0].windows(2).all(|pair| pair[0] < pair[1]));
        // The last estimate of each bin is that of its last millisecond.
        assert_eq!(series.estimates[0][0] as u64, series.width_ns / 1_000_000 - 1);
    }

    #[test]
    fn the_longest_time_has_a_bin() {
        let mut series = Series::new(Timestamp::ZERO, 0);
        assert!(series.bin(Timestamp::from_nanos(u64::MAX - 2)) < MOST_BINS);
    }
}
