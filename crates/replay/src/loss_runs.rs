//! Numbers of consecutively lost segments.

use std::collections::BTreeMap;

use airpath_model::Bytes;

/// Runs of lost segments: adjacent segments of the stream that are retransmitted consecutively belong to one
/// run.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossRuns {
    /// The end of the run that may continue, and its bytes.
    open: Option<(u64, u64)>,
    lengths: BTreeMap<u32, u64>,
}

/// Longer runs are counted with this length, to bound the table.
const LONGEST_RUN: u64 = 10_000;

impl LossRuns {
    /// Records that [`start`, `start` + `amount`) is retransmitted because it was lost.
    pub(crate) fn on_loss(&mut self, start: u64, amount: Bytes, mss: Bytes) {
        let end = start + amount.get();
        match &mut self.open {
            Some((expected, bytes)) if *expected == start => {
                *expected = end;
                *bytes += amount.get();
            }
            _ => {
                self.close(mss);
                self.open = Some((end, amount.get()));
            }
        }
    }

    /// Returns the lengths in segments with their numbers of occurrences, ascending.
    pub(crate) fn finish(mut self, mss: Bytes) -> Vec<(u32, u64)> {
        self.close(mss);
        self.lengths.into_iter().collect()
    }

    fn close(&mut self, mss: Bytes) {
        if let Some((_, bytes)) = self.open.take() {
            let segments = bytes.div_ceil(mss.get().max(1)).min(LONGEST_RUN) as u32; // bounded
            *self.lengths.entry(segments).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_make_a_run() {
        let mut runs = LossRuns::default();
        let mss = Bytes::new(100);
        for start in [100, 200, 300, 700, 900, 1000, 100] {
            runs.on_loss(start, mss, mss);
        }
        assert_eq!(runs.finish(mss), [(1, 2), (2, 1), (3, 1)]);
    }
}
