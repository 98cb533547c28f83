//! Counts of delays by size.

/// A histogram of spans of time: bins 512 ns wide up to a millisecond, from there on at most 0.1 % wide, up to a
/// thousand seconds; far longer spans count as that. These are the bins of `HdrHistogram` with three
/// significant digits from a microsecond on.
///
/// Samples are collected, and counted in batches. A source with few packets so needs two bytes for each instead of
/// a table, and a packet touches the end of a list instead of a random place of that table.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    /// Bins of samples that are not counted yet.
    pending: Vec<u16>,
    /// The bin of the first count.
    first: usize,
    /// From `first` to the highest bin with a sample.
    counts: Vec<u32>,
}

/// Samples in one batch.
const BATCH: usize = 1024;
/// Half of the bins that divide the first span; each later span is twice as long and adds as many.
const HALF: usize = 1 << HALF_BITS;
const HALF_BITS: u32 = 10;
/// The width of the first bins is two to the power of this many nanoseconds.
const WIDTH_BITS: u32 = 9;
/// How many such spans there are: the bins end at 2^40 ns.
const SPANS: usize = 40 - (WIDTH_BITS + HALF_BITS) as usize;
/// What spans for which there is no bin count as, in nanoseconds.
const LONGEST: u64 = 1_000_000_000_000;

impl Histogram {
    /// Counts a span.
    pub(crate) fn record(&mut self, nanos: u64) {
        if self.pending.len() == BATCH {
            self.count();
        }
        self.pending.push(bin(nanos) as u16); // at most (SPANS + 1) * HALF
    }

    /// The largest span of each bin that is not empty, in nanoseconds, and its count; ascending.
    pub(crate) fn bins(&mut self) -> impl Iterator<Item = (u64, u32)> {
        self.count();
        let filled = (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0);
        filled.map(|(bin, count)| (largest(bin), *count))
    }

    fn count(&mut self) {
        let bins = self.pending.iter().map(|bin| usize::from(*bin));
        let (Some(lowest), Some(highest)) = (bins.clone().min(), bins.max()) else { return };
        if self.counts.is_empty() {
            self.first = lowest;
        }
        if lowest < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - lowest));
            self.first = lowest;
        }
        self.counts.resize(self.counts.len().max(highest + 1 - self.first), 0);
        for bin in self.pending.drain(..) {
            let count = &mut self.counts[usize::from(bin) - self.first];
            *count = count.saturating_add(1);
        }
    }
}

/// The bin of a span.
fn bin(nanos: u64) -> usize {
    if nanos >> (WIDTH_BITS + HALF_BITS) as usize + SPANS > 0 {
        return bin(LONGEST);
    }
    // How often the first span doubles until it holds this one.
    let doublings = (nanos >> (WIDTH_BITS + HALF_BITS + 1)).checked_ilog2().map_or(0, |log| log + 1);
    doublings as usize * HALF + (nanos >> (WIDTH_BITS + doublings)) as usize
}

/// The largest span of a bin, in nanoseconds.
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
        for (count, longest_bits) in [(10, 20), (3 * BATCH, 40), (10 * BATCH, 26), (20_000, 44), (5000, 63)] {
            let mut histogram = Histogram::default();
            let mut reference = Reference::<u32>::new_with_bounds(1_000, 1_000_000_000_000, 3).unwrap();
            for _ in 0..count {
                // Spans of every order of magnitude.
                let nanos = (stream.bits() >> 1) >> (63 - longest_bits) >> (stream.bits() % longest_bits);
                histogram.record(nanos);
                reference.saturating_record(nanos);
            }
            let theirs: Vec<_> = reference
                .iter_recorded()
                .map(|bin| (bin.value_iterated_to(), bin.count_at_value()))
                .collect();
            assert!(histogram.bins().eq(theirs), "{count} spans of up to {longest_bits} bits");
        }
    }

    #[test]
    fn an_empty_one_has_no_bins() {
        assert_eq!(Histogram::default().bins().count(), 0);
    }
}
