//! From the margin of a label to the probability that it is right.

use super::label::Label;
use super::rules::{Reason, Verdict};

/// The probability that a label is right.
pub(super) fn probability(verdict: &Verdict) -> f64 {
    match (verdict.reason, verdict.label) {
        (Reason::AsFast, _) => 0.8,
        (Reason::Neighbours, _) => 0.7,
        (Reason::Window, Label::Stall) => 0.95,
        (Reason::Window, _) => (0.6 + 0.5 * verdict.margin).min(0.97),
    }
}
