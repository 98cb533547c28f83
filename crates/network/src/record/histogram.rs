//! Counts of delays by size.

/// A histogram of durations: bins 512 ns wide up to a millisecond, then at most 0.1 % wide, up to a thousand
/// seconds; much longer durations count as that. These are the bins of `HdrHistogram` with three significant
/// digits from a microsecond on.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    /// The bin of the first count.
    first: usize,
    /// The counts from `first` to the highest bin with a sample.
    counts: Vec<u32>,
}

/// The index of a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bin(u16);

/// Half of the bins that divide the first range; each later range is twice as long and adds as many bins.
const HALF: usize = 1 << HALF_BITS;
const HALF_BITS: u32 = 10;
/// The width of the first bins is two to the power of this many nanoseconds.
const WIDTH_BITS: u32 = 9;
/// The bins end at two to the power of this many nanoseconds.
const END_BITS: u32 = 40;
/// The duration, in nanoseconds, as which durations beyond the bins are counted.
const LONGEST: u64 = 1_000_000_000_000;

impl Histogram {
    /// Counts samples.
    pub(crate) fn count(&mut self, samples: impl Iterator<Item = Bin> + Clone) {
        let (Some(lowest), Some(highest)) = (samples.clone().min(), samples.clone().max()) else { return };
        let (lowest, highest) = (usize::from(lowest.0), usize::from(highest.0));
        if self.counts.is_empty() {
            self.first = lowest;
        }
        if lowest < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - lowest));
            self.first = lowest;
        }
        self.counts.resize(self.counts.len().max(highest + 1 - self.first), 0);
        for bin in samples {
            let count = &mut self.counts[usize::from(bin.0) - self.first];
            *count = count.saturating_add(1);
        }
    }

    /// Returns the largest duration of each non-empty bin, in nanoseconds, and its count, in ascending order.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (u64, u32)> {
        let filled = (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0);
        filled.map(|(bin, count)| (largest(bin), *count))
    }
}

impl Bin {
    /// Returns the bin of a duration.
    pub(crate) fn of(nanos: u64) -> Self {
        let nanos = if nanos >> END_BITS > 0 { LONGEST } else { nanos };
        // The number of doublings of the first range until it contains this duration.
        let doublings = (nanos >> (WIDTH_BITS + HALF_BITS + 1)).checked_ilog2().map_or(0, |log| log + 1);
        let bin = doublings as usize * HALF + (nanos >> (WIDTH_BITS + doublings)) as usize;
        Self(bin as u16) // at most 22 * HALF
    }
}

/// Returns the largest duration of a bin, in nanoseconds.
fn largest(bin: usize) -> u64 {
    let doublings = (bin / HALF).saturating_sub(1);
    (((bin - doublings * HALF) as u64 + 1) << (WIDTH_BITS as usize + doublings)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_model::RandomStream;
    use hdrhistogram::Histogram as Reference;

    #[test]
    fn agrees_with_hdrhistogram() {
        let mut stream = RandomStream::new(1, "histogram");
        for (count, longest_bits) in [(10, 20), (3000, 40), (10_000, 26), (20_000, 44), (5000, 63)] {
            let mut samples = Vec::new();
            let mut reference = Reference::<u32>::new_with_bounds(1_000, 1_000_000_000_000, 3).unwrap();
            for _ in 0..count {
                // Durations of every order of magnitude.
                let nanos = (stream.bits() >> 1) >> (63 - longest_bits) >> (stream.bits() % longest_bits);
                samples.push(Bin::of(nanos));
                reference.saturating_record(nanos);
            }
            let mut histogram = Histogram::default();
            samples.chunks(700).for_each(|batch| histogram.count(batch.iter().copied()));
            let theirs: Vec<_> = reference
                .iter_recorded()
                .map(|bin| (bin.value_iterated_to(), bin.count_at_value()))
                .collect();
            assert!(histogram.bins().eq(theirs), "{count} spans of up to {longest_bits} bits");
        }
    }

    #[test]
    fn batches_may_be_added_in_any_order() {
        let spans = [5_000_000, 7_000_000, 1_000_000, 900_000_000, 300, 6_000_000].map(Bin::of);
        let mut at_once = Histogram::default();
        at_once.count(spans.into_iter());
        let mut one_by_one = Histogram::default();
        for span in spans {
            one_by_one.count([span].into_iter());
        }
        assert_eq!(at_once.bins().count(), spans.len());
        assert!(at_once.bins().eq(one_by_one.bins()));
    }

    #[test]
    fn an_empty_histogram_has_no_bins() {
        assert_eq!(Histogram::default().bins().count(), 0);
    }
}
