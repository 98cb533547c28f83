//! The short-term model: limits from losses outside of probes.

use airpath_model::{Bytes, Rate, RateSample};

/// `bw_shortterm` and `inflight_shortterm`, the measurements of the last round from which they are derived,
/// and the rounds in which losses are counted (section 5.5.10.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortTerm {
    /// `bw_shortterm`; unlimited if not set.
    pub(super) bandwidth: Rate,
    /// `inflight_shortterm`; [`Bytes::MAX`] if not set.
    pub(super) inflight: Bytes,
    bw_latest: Rate,
    /// `inflight_latest`: the largest amount delivered in a sample of this round.
    pub(super) inflight_latest: Bytes,
    loss_round_delivered: Bytes,
    /// `loss_round_start`: whether the current acknowledgment ended a round of losses.
    pub(super) loss_round_start: bool,
    /// Acknowledgments and timeouts of this round that revealed losses. They represent discontiguous ranges,
    /// as in Linux.
    pub(super) loss_events: u32,
}

impl Default for ShortTerm {
    fn default() -> Self {
        Self {
            bandwidth: Rate::UNLIMITED,
            inflight: Bytes::MAX,
            bw_latest: Rate::ZERO,
            inflight_latest: Bytes::ZERO,
            loss_round_delivered: Bytes::ZERO,
            loss_round_start: false,
            loss_events: 0,
        }
    }
}

impl ShortTerm {
    /// Implements `NoteLoss` for a loss after `delivered` bytes. Returns whether it is the first of this
    /// round.
    pub(super) fn note_loss(&mut self, delivered: Bytes) -> bool {
        let first = self.loss_events == 0;
        if first {
            self.loss_round_delivered = delivered;
        }
        self.loss_events += 1;
        first
    }

    /// Implements `UpdateLatestDeliverySignals`, which runs near the start of an acknowledgment.
    pub(super) fn update_latest(&mut self, sample: &RateSample, delivered: Bytes) {
        self.bw_latest = self.bw_latest.max(sample.rate());
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        self.loss_round_start = sample.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = delivered;
        }
    }

    /// Implements `AdaptLowerBoundsFromCongestion`, once a round unless BBR is `probing` for bandwidth.
    /// Lowers the bounds towards the delivered amounts, by a factor `beta` at most, starting from `max_bw`
    /// and `window`.
    pub(super) fn adapt(&mut self, probing: bool, beta: f64, max_bw: Rate, window: Bytes) {
        if !self.loss_round_start {
            return;
        }
        if self.loss_events > 0 && !probing {
            if self.bandwidth == Rate::UNLIMITED {
                self.bandwidth = max_bw;
            }
            if self.inflight == Bytes::MAX {
                self.inflight = window;
            }
            self.bandwidth = self.bw_latest.max(self.bandwidth.mul_f64(beta));
            self.inflight = self.inflight_latest.max(self.inflight.mul_f64(beta));
        }
    }

    /// Implements `AdvanceLatestDeliverySignals`, which runs near the end of an acknowledgment, and restarts
    /// the count of losses.
    pub(super) fn advance_latest(&mut self, sample: &RateSample) {
        if self.loss_round_start {
            self.loss_events = 0;
            self.bw_latest = sample.rate();
            self.inflight_latest = sample.delivered;
        }
    }

    /// Processes an acknowledgment without a sample, which ends no round.
    pub(super) fn without_sample(&mut self) {
        self.loss_round_start = false;
    }

    /// Implements `ResetCongestionSignals`.
    pub(super) fn reset_signals(&mut self) {
        self.loss_events = 0;
        self.bw_latest = Rate::ZERO;
        self.inflight_latest = Bytes::ZERO;
    }

    /// Implements `ResetShortTermModel`.
    pub(super) fn reset_model(&mut self) {
        self.bandwidth = Rate::UNLIMITED;
        self.inflight = Bytes::MAX;
    }

    /// Undoes the losses of this round, which were spurious: restores the model to at least `bandwidth` and
    /// `inflight`.
    pub(super) fn undo(&mut self, bandwidth: Rate, inflight: Bytes) {
        self.loss_events = 0;
        self.bandwidth = self.bandwidth.max(bandwidth);
        self.inflight = self.inflight.max(inflight);
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::Duration;

    use super::*;

    fn sample(prior: u64, delivered: u64) -> RateSample {
        RateSample {
            delivered: Bytes::new(delivered),
            lost: Bytes::ZERO,
            interval: Duration::from_secs(1),
            prior_delivered: Bytes::new(prior),
            app_limited: false,
        }
    }

    const MAX_BW: Rate = Rate::from_bps(80_000);
    const WINDOW: Bytes = Bytes::new(20_000);

    /// Simulates one round in which `delivered` bytes per second arrive and data is lost if `lost`.
    fn round(model: &mut ShortTerm, lost: bool, delivered: u64, probing: bool, start: u64) {
        if lost {
            model.note_loss(Bytes::new(start));
        }
        model.update_latest(&sample(start - 1, delivered), Bytes::new(start + 1));
        model.adapt(probing, 0.7, MAX_BW, WINDOW);
        model.advance_latest(&sample(start - 1, delivered));
        assert_eq!(model.bandwidth == Rate::UNLIMITED, model.inflight == Bytes::MAX);
        model.update_latest(&sample(start, delivered), Bytes::new(start + 2));
        model.adapt(probing, 0.7, MAX_BW, WINDOW);
        model.advance_latest(&sample(start, delivered));
    }

    #[test]
    fn a_round_with_loss_lowers_the_model_to_the_delivered_data() {
        let mut model = ShortTerm::default();
        round(&mut model, false, 9500, false, 10);
        assert_eq!(model.bandwidth, Rate::UNLIMITED);
        round(&mut model, true, 9500, false, 20);
        assert_eq!((model.bandwidth, model.inflight), (Rate::from_bps(76_000), Bytes::new(14_000)));
    }

    #[test]
    fn a_round_lowers_the_model_by_at_most_beta() {
        let mut model = ShortTerm::default();
        round(&mut model, true, 1, false, 10);
        assert_eq!((model.bandwidth, model.inflight), (Rate::from_bps(56_000), Bytes::new(14_000)));
        round(&mut model, true, 1, false, 20);
        assert_eq!((model.bandwidth, model.inflight), (Rate::from_bps(39_200), Bytes::new(9_800)));
        model.reset_model();
        assert_eq!((model.bandwidth, model.inflight), (Rate::UNLIMITED, Bytes::MAX));
    }

    #[test]
    fn losses_while_probing_do_not_change_the_model() {
        let mut model = ShortTerm::default();
        round(&mut model, true, 9500, true, 10);
        assert_eq!((model.bandwidth, model.inflight), (Rate::UNLIMITED, Bytes::MAX));
    }

    /// `UpdateLatestDeliverySignals`: a round of losses ends with a packet sent after the end of the previous
    /// one.
    #[test]
    fn a_round_of_losses_is_a_round_trip() {
        let mut model = ShortTerm::default();
        let mut starts = |prior, delivered| {
            model.update_latest(&sample(prior, 1), Bytes::new(delivered));
            model.loss_round_start
        };
        assert!(starts(0, 10));
        assert!(!starts(9, 20));
        assert!(starts(10, 30));
        assert!(!starts(29, 40));
        assert!(starts(30, 50));
    }

    /// `AdvanceLatestDeliverySignals`: the amount delivered in the previous round has no effect on this one,
    /// and the count of losses restarts; within a round everything is kept.
    #[test]
    fn congestion_signals_are_per_round() {
        let mut model = ShortTerm::default();
        model.update_latest(&sample(0, 9000), Bytes::new(10));
        model.advance_latest(&sample(0, 500));
        model.note_loss(Bytes::new(10));
        model.update_latest(&sample(5, 700), Bytes::new(20));
        model.advance_latest(&sample(5, 600));
        assert_eq!((model.bw_latest, model.inflight_latest), (Rate::from_bps(5600), Bytes::new(700)));
        assert_eq!(model.loss_events, 1);
        model.update_latest(&sample(10, 650), Bytes::new(30));
        model.advance_latest(&sample(10, 650));
        assert_eq!((model.bw_latest, model.inflight_latest), (Rate::from_bps(5200), Bytes::new(650)));
        assert_eq!(model.loss_events, 0);
    }

    #[test]
    fn acknowledgments_without_a_sample_or_within_a_round_do_not_lower_the_model() {
        let mut model = ShortTerm::default();
        model.note_loss(Bytes::new(10));
        model.update_latest(&sample(10, 9000), Bytes::new(20));
        model.without_sample();
        model.adapt(false, 0.7, MAX_BW, WINDOW);
        model.update_latest(&sample(19, 9000), Bytes::new(30));
        model.adapt(false, 0.7, MAX_BW, WINDOW);
        assert_eq!((model.bandwidth, model.inflight), (Rate::UNLIMITED, Bytes::MAX));
    }

    /// `ResetCongestionSignals`.
    #[test]
    fn reset_signals_contain_no_loss_and_no_delivery() {
        let mut model = ShortTerm::default();
        model.note_loss(Bytes::new(10));
        model.update_latest(&sample(1, 9000), Bytes::new(11));
        model.reset_signals();
        assert_eq!(model.loss_events, 0);
        assert_eq!((model.bw_latest, model.inflight_latest), (Rate::ZERO, Bytes::ZERO));
    }

    /// `inflight_latest` and `bw_latest` are the largest values of the round, not the last.
    #[test]
    fn the_maximum_of_a_round_counts() {
        let mut model = ShortTerm::default();
        model.note_loss(Bytes::new(10));
        model.update_latest(&sample(1, 19_000), Bytes::new(11));
        model.update_latest(&sample(10, 1), Bytes::new(12));
        model.adapt(false, 0.7, MAX_BW, WINDOW);
        assert_eq!((model.bandwidth, model.inflight), (Rate::from_bps(152_000), Bytes::new(19_000)));
    }

    /// `HandleSpuriousLossDetection`: the greater of the current and the previous value.
    #[test]
    fn spurious_losses_are_undone_completely() {
        let mut model =
            ShortTerm { bandwidth: Rate::from_bps(500), inflight: Bytes::new(5), ..ShortTerm::default() };
        model.undo(Rate::from_bps(600), Bytes::new(6));
        assert_eq!((model.bandwidth, model.inflight), (Rate::from_bps(600), Bytes::new(6)));
        model.undo(Rate::from_bps(100), Bytes::new(1));
        assert_eq!((model.bandwidth, model.inflight), (Rate::from_bps(600), Bytes::new(6)));
    }
}
