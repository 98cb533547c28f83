//! The probability that a label is right, as a function of its margin.
//!
//! The table is an isotonic regression of the fraction of right labels on the margin, for each label, over
//! the windows of 162 simulated flows whose limits are known by construction: constant, stepwise and recorded
//! links, reverse traffic, shared links, small windows, paced applications, losses; twelve schemes. The first
//! three seconds of a flow are excluded, except for flows that are constructed to grow. `ReversePath` has the share of 4915
//! windows of 100 other flows, of eight schemes, next to an upload: BBR often fills the link nevertheless.

use super::label::Label;
use super::rules::{Reason, Verdict};

/// Probabilities by label, each from a margin on.
const BY_MARGIN: [(Label, &[(f64, f64)]); 9] = [
    (Label::Bottleneck, &[(0.0, 0.40), (0.6, 0.94), (0.7, 0.97), (0.9, 0.99)]),
    (Label::Overflow, &[(0.0, 0.28), (0.9, 0.82)]),
    (Label::RandomLoss, &[(0.0, 0.87), (0.8, 0.99)]),
    (Label::Application, &[(0.0, 0.30), (0.5, 0.81), (0.9, 0.99)]),
    (Label::Receiver, &[(0.0, 0.20), (0.4, 0.65), (0.5, 0.99)]),
    (Label::SenderWindow, &[(0.0, 0.91), (0.8, 0.99)]),
    (Label::StartUp, &[(0.0, 0.30)]),
    (Label::ReversePath, &[(0.0, 0.80)]),
    (Label::Stall, &[(0.0, 0.52)]),
];
/// Windows of a policer: none of 240 simulated flows and 12 shaped transfers without one was labelled as policed.
pub(super) const POLICED: f64 = 0.95;
/// A window that is as fast as full ones.
const AS_FAST: f64 = 0.88;
/// A window with short segments. In 0.919 of 3565 such windows of 336 simulated flows that write regularly, alone or next
/// to a bulk flow, the application was the limit for at least half of the time.
const EMPTY_BUFFER: f64 = 0.92;
/// A window that takes the label of its neighbours.
const NEIGHBOURS: f64 = 0.50;
/// A constant window between frequent acknowledgments: the window, the pacing of the sender, or a link that is full
/// without a queue. By judgment.
const FREQUENT_ACKS: f64 = 0.50;
/// A window that grows before anything else limited the flow. By judgment: the simulated flows leave their first seconds out.
const BEGINNING: f64 = 0.85;

/// Returns the probability that a label is right. `begins` is whether only start-up came before.
pub(super) fn probability(verdict: &Verdict, begins: bool) -> f64 {
    match verdict.reason {
        Reason::AsFast => AS_FAST,
        Reason::EmptyBuffer => EMPTY_BUFFER,
        Reason::Neighbours => NEIGHBOURS,
        Reason::FrequentAcks => FREQUENT_ACKS,
        Reason::Window if begins && verdict.label == Label::StartUp => BEGINNING,
        Reason::Window => {
            let table = BY_MARGIN.iter().find(|(label, _)| *label == verdict.label);
            let steps = table.map_or(&[] as &[(f64, f64)], |(_, steps)| steps);
            steps.iter().rev().find(|(margin, _)| verdict.margin >= *margin).map_or(0.0, |(_, right)| *right)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_of_every_label_grow_with_the_margin() {
        for label in Label::ALL.into_iter().filter(|label| *label != Label::Policer) {
            let of = |margin| probability(&Verdict { label, margin, reason: Reason::Window }, false);
            assert!(of(0.0) >= 0.2 && of(0.3) >= of(0.0) && of(1.0) >= of(0.3), "{label:?}");
        }
        let clear = Verdict { label: Label::Bottleneck, margin: 0.95, reason: Reason::Window };
        assert!(probability(&clear, false) > 0.98);
        let first = Verdict { label: Label::StartUp, margin: 0.7, reason: Reason::Window };
        assert!(probability(&first, true) > probability(&first, false));
    }
}
