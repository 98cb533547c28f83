//! The long-term model: the amount in flight that the path carried without much loss.

use airpath_model::Bytes;

use super::MIN_PIPE_SEGMENTS;

/// `inflight_longterm`, and its growth during a probe (section 5.3.3.9).
#[derive(Clone, Copy, Debug)]
pub(super) struct LongTerm {
    /// `inflight_longterm`, or [`Bytes::MAX`] if no limit was found.
    pub(super) inflight: Bytes,
    /// `probe_up_acked_per_inc`: acknowledged bytes per additional segment.
    acked_per_segment: Bytes,
    /// `bw_probe_up_acked`.
    acked: Bytes,
    /// `bw_probe_up_rounds`.
    rounds: u32,
}

impl Default for LongTerm {
    fn default() -> Self {
        Self { inflight: Bytes::MAX, acked_per_segment: Bytes::MAX, acked: Bytes::ZERO, rounds: 0 }
    }
}

impl LongTerm {
    /// Stops growth until the next probe.
    pub(super) fn stop_growth(&mut self) {
        self.acked_per_segment = Bytes::MAX;
    }

    /// Restarts with slow growth for the next probe.
    pub(super) fn restart_growth(&mut self) {
        self.rounds = 0;
        self.acked = Bytes::ZERO;
    }

    /// Implements `RaiseInflightLongtermSlope`: each round of a probe adds twice as many segments as the
    /// previous one.
    pub(super) fn raise_slope(&mut self, window: Bytes, mss: Bytes) {
        let growth = 1_u64 << self.rounds;
        self.rounds = (self.rounds + 1).min(30);
        self.acked_per_segment = Bytes::new(window.get() / growth).max(mss);
    }

    /// Implements `ProbeInflightLongtermUpward`. Call only while the limit is in use.
    pub(super) fn grow(&mut self, acked: Bytes, mss: Bytes) {
        self.acked += acked;
        let segments = self.acked.get() / self.acked_per_segment.get();
        self.acked -= self.acked_per_segment * segments;
        self.inflight += mss * segments;
    }

    /// Returns `InflightWithHeadroom`, which is below the limit to leave room for other flows.
    pub(super) fn with_headroom(&self, headroom: f64, mss: Bytes) -> Bytes {
        if self.inflight == Bytes::MAX {
            return Bytes::MAX;
        }
        let room = self.inflight.mul_f64(headroom).max(mss);
        (self.inflight - room).max(mss * MIN_PIPE_SEGMENTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1000);

    #[test]
    fn growth_doubles_each_round() {
        let mut model = LongTerm { inflight: MSS * 64, ..LongTerm::default() };
        for segments in [1, 2, 4, 8] {
            let before = model.inflight;
            model.raise_slope(MSS * 64, MSS);
            for _ in 0..64 {
                model.grow(MSS, MSS);
            }
            assert_eq!(model.inflight - before, MSS * segments);
        }
        model.restart_growth();
        model.stop_growth();
        let before = model.inflight;
        model.grow(MSS * 1000, MSS);
        assert_eq!(model.inflight, before);
    }

    /// `StartProbeBW_REFILL`: data acknowledged in the previous probe no longer counts.
    #[test]
    fn a_new_probe_starts_its_count_at_zero() {
        let mut model = LongTerm { inflight: MSS * 64, ..LongTerm::default() };
        model.raise_slope(MSS * 64, MSS);
        model.grow(MSS * 63, MSS);
        model.restart_growth();
        model.raise_slope(MSS * 64, MSS);
        model.grow(MSS * 63, MSS);
        assert_eq!(model.inflight, MSS * 64);
        model.grow(MSS, MSS);
        assert_eq!(model.inflight, MSS * 65);
    }

    #[test]
    fn headroom_is_a_share_of_at_least_a_segment_and_leaves_four() {
        let mut model = LongTerm::default();
        assert_eq!(model.with_headroom(0.15, MSS), Bytes::MAX);
        for (inflight, left) in [(100, 85), (6, 5), (4, 4)] {
            model.inflight = MSS * inflight;
            assert_eq!(model.with_headroom(0.15, MSS), MSS * left);
        }
    }
}
