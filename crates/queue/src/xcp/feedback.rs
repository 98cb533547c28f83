//! The distribution of the aggregate feedback of an interval over the packets of the next.

/// The residues R+ and R−, which are still to be distributed, and the shares Cp and Cn of one packet.
///
/// Residues are those of ns-2.35 (`xcp/xcpq.cc`, lines 20 to 31): the shares of a packet are clipped to them
/// *before* its feedback is formed, which the draft does not do. No interval therefore gives more feedback
/// than it has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct XcpFeedback {
    /// R+: positive feedback still to be distributed, byte/s.
    pub residue_positive: f64,
    /// R−: negative feedback still to be distributed, byte/s.
    pub residue_negative: f64,
    /// Cp: positive feedback per second of X, byte/s².
    pub per_x: f64,
    /// Cn: negative feedback per byte of a packet, 1/s.
    pub per_byte: f64,
}

impl XcpFeedback {
    /// Distributes `aggregate` (F, byte/s) and the shuffled traffic h = max(0, `shuffled` − |F|) (byte/s)
    /// over packets like those of the last interval: Σ X = `sum_x` seconds, and `bytes` over which negative
    /// feedback is shared.
    ///
    /// If no flow with an RTT was observed, there is no positive feedback; ns-2 divides by one second in this
    /// case.
    pub fn new(aggregate: f64, shuffled: f64, sum_x: f64, bytes: f64) -> Self {
        let shuffled = (shuffled - aggregate.abs()).max(0.0);
        let residue_positive = shuffled + aggregate.max(0.0);
        let residue_negative = shuffled + (-aggregate).max(0.0);
        let share = |residue: f64, total: f64| if total > 0.0 { residue / total } else { 0.0 };
        Self {
            residue_positive,
            residue_negative,
            per_x: share(residue_positive, sum_x),
            per_byte: share(residue_negative, bytes),
        }
    }

    /// Returns the same feedback without residues: every packet gets its share, regardless of the number of
    /// packets.
    #[must_use]
    pub const fn without_residues(self) -> Self {
        Self { residue_positive: f64::MAX, residue_negative: f64::MAX, ..self }
    }

    /// Returns the feedback of a packet with inter-packet time `x` (seconds) and `size` bytes, in byte/s. It
    /// is at most `requested`, the request of the sender as reduced by earlier routers. A request that is not
    /// a number counts as no limit.
    pub fn give(&mut self, x: f64, size: f64, requested: f64) -> f64 {
        let mut positive = (self.per_x * x).min(self.residue_positive);
        let mut negative = (self.per_byte * size).min(self.residue_negative);
        let mut feedback = positive - negative;
        if requested < feedback {
            // Another hop is tighter: the difference counts here as negative feedback.
            negative = (negative + (feedback - requested)).min(self.residue_negative);
            positive = requested + negative;
            feedback = requested;
        }
        self.residue_positive = (self.residue_positive - positive).max(0.0);
        self.residue_negative = (self.residue_negative - negative).max(0.0);
        if self.residue_positive <= 0.0 {
            self.per_x = 0.0;
        }
        if self.residue_negative <= 0.0 {
            self.per_byte = 0.0;
        }
        feedback
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNLIMITED: f64 = 1e24;

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-9 * right.abs().max(1.0)
    }

    #[test]
    fn positive_feedback_is_proportional_to_x_and_negative_to_bytes() {
        // F = 1000: h = 1500 − 1000 = 500, R+ = 1500, R− = 500; Σ X = 0.3 s, 2000 bytes.
        let mut feedback = XcpFeedback::new(1000.0, 1500.0, 0.3, 2000.0);
        assert!(close(feedback.give(0.1, 1500.0, UNLIMITED), 500.0 - 375.0));
        assert!(close(feedback.give(0.2, 500.0, UNLIMITED), 1000.0 - 125.0));
        // All feedback has been distributed.
        assert!(close(feedback.give(0.1, 1500.0, UNLIMITED), 0.0));
    }

    #[test]
    fn negative_feedback_without_shuffling_is_proportional_to_bytes() {
        let mut feedback = XcpFeedback::new(-1000.0, 100.0, 0.3, 2000.0);
        assert!(close(feedback.give(0.1, 1500.0, UNLIMITED), -750.0));
        assert!(close(feedback.give(0.2, 500.0, UNLIMITED), -250.0));
        assert!(close(feedback.give(0.2, 500.0, UNLIMITED), 0.0));
    }

    #[test]
    fn allocated_feedback_never_exceeds_the_residue() {
        let mut feedback = XcpFeedback::new(1000.0, 0.0, 0.1, 1000.0);
        assert!(close(feedback.give(0.05, 500.0, UNLIMITED), 500.0));
        assert!(close(feedback.give(5.0, 500.0, UNLIMITED), 500.0));
        assert!(close(feedback.give(5.0, 500.0, UNLIMITED), 0.0));
    }

    #[test]
    fn without_residues_packets_always_get_their_share() {
        let mut feedback = XcpFeedback::new(1000.0, 1500.0, 0.3, 2000.0).without_residues();
        for _ in 0..10 {
            // 1500 / 0.3 s times 0.1 s, minus 500 / 2000 bytes times 1500 bytes.
            assert!(close(feedback.give(0.1, 1500.0, UNLIMITED), 500.0 - 375.0));
            assert!(close(feedback.give(0.1, 1500.0, 50.0), 50.0), "another hop is tighter");
        }
        let mut nothing = XcpFeedback::new(0.0, 0.0, 0.3, 2000.0).without_residues();
        assert!(close(nothing.give(0.1, 1500.0, UNLIMITED), 0.0));
    }

    #[test]
    fn feedback_of_a_tighter_hop_stays_and_leaves_more_for_others() {
        let mut feedback = XcpFeedback::new(1000.0, 1500.0, 0.2, 2000.0);
        // The share of the packet would be 750 − 250. Another hop allows 100, so that 400 more of R− are
        // taken, of which 500 are left: 250 + 250 = 500 at most.
        assert!(close(feedback.give(0.1, 1000.0, 100.0), 100.0));
        assert!(close(feedback.residue_negative, 0.0));
        assert!(close(feedback.residue_positive, 1500.0 - 600.0));
        // F is conserved: the rest is F minus the given feedback.
        assert!(close(feedback.residue_positive - feedback.residue_negative, 1000.0 - 100.0));
    }

    #[test]
    fn without_flows_or_bytes_no_feedback_is_allocated() {
        let mut nobody = XcpFeedback::new(1000.0, 0.0, 0.0, 40.0);
        assert!(close(nobody.give(0.1, 1500.0, UNLIMITED), 0.0));
        let mut nothing = XcpFeedback::default();
        assert!(close(nothing.give(0.1, 1500.0, UNLIMITED), 0.0));
        assert!(close(nothing.give(0.1, 1500.0, -3.0), -3.0));
    }

    #[test]
    fn a_nan_request_is_harmless() {
        let mut feedback = XcpFeedback::new(1000.0, 1500.0, 0.2, 2000.0);
        assert!(close(feedback.give(0.1, 1000.0, f64::NAN), 500.0));
        assert!(feedback.give(0.1, 1000.0, f64::NEG_INFINITY).is_infinite());
        assert!(!feedback.give(0.1, 1000.0, UNLIMITED).is_nan());
    }
}
