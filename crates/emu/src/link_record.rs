//! Configured and achieved properties of the links of an emulation.

use airpath_model::Damage;
use airpath_network::{Outcome, long_run_loss};
use airpath_plan::Plan;

use crate::address::Side;

/// Configured and achieved properties of one link, over the whole emulation.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRecord {
    /// Its index in the plan.
    pub link: usize,
    /// Its capacity in bit/s; infinite without a limit.
    pub configured_bps: f64,
    /// The rate that it carried, in bit/s of IP packets.
    pub carried_bps: f64,
    /// Its propagation delay in seconds.
    pub configured_delay_s: f64,
    /// The propagation delay plus the median lateness of packets to the host at its end, in seconds: the
    /// median delay in real time. NaN without packets there. The host is that of the plan's first flow over
    /// the link.
    pub achieved_delay_s: f64,
    /// Expected long-term share of corrupted packets: for their mean size if it depends on the size, and
    /// after all link-layer repeats. NaN if bursts of losses coincide with repeats.
    pub configured_loss: f64,
    /// Share of packets that were corrupted; NaN if none was sent.
    pub achieved_loss: f64,
    /// Counted and expected corruptions since the start of the emulation, including link-layer repeats;
    /// `None` for links without corruption.
    pub damage: Option<Damage>,
}

/// The natural logarithm of one over the probability that losses exceed their bound by chance alone: once in
/// a million links, in either direction.
const BEYOND_CHANCE: f64 = 14.508_657_738_524_22;

impl LinkRecord {
    /// Returns why the losses are not those of the link, if they are not.
    pub(crate) fn loss_problem(&self, name: &str) -> Option<String> {
        let Damage { packets, damaged, expected, variance } = self.damage?;
        let bound = bound(variance);
        ((damaged as f64 - expected).abs() > bound).then(|| {
            format!(
                "link {name}: {damaged} of {packets} packets were damaged, which is more than {bound:.1} away from the {expected:.1} that were to be expected"
            )
        })
    }
}

/// Returns the largest difference from the expected losses by chance, except for one link in a million.
///
/// Losses minus the sum of their probabilities are a martingale, whose steps are at most 1. By Freedman's
/// inequality (1975; in the form of J. A. Tropp, 2011, theorem 1.1), it is ever above a, while the sum of
/// variances is at most v, with a probability of at most exp(-a²/(2 (v + a/3))). The inequality needs v
/// beforehand, but the variance depends on the packets: so v is the next of 1, 2, 4, …, of which the k-th has
/// the share 1/(k (k + 1)) of the probability.
fn bound(variance: f64) -> f64 {
    let (mut v, mut k) = (1.0, 1.0);
    while v < variance {
        (v, k) = (2.0 * v, k + 1.0);
    }
    let exponent = BEYOND_CHANCE + libm::log(k * (k + 1.0));
    let third = exponent / 3.0;
    third + (third * third + 2.0 * exponent * v).sqrt()
}

/// Returns the records of all recorded links. `median_s` is the median lateness of packets to both sides,
/// `damage` the corruption counts of each link of the plan.
pub(crate) fn link_records(
    plan: &Plan,
    outcome: &Outcome,
    median_s: [f64; 2],
    damage: &[Option<Damage>],
) -> Vec<LinkRecord> {
    let Some(table) = outcome.tables.iter().find(|table| table.name == "links") else { return Vec::new() };
    let Some(series) = outcome.tables.iter().find(|table| table.name == "link_series") else {
        return Vec::new();
    };
    // Rows of the series extend to the end of the last interval; summaries count from the end of the warm-up.
    let end = series.reals("time_s").iter().copied().fold(0.0, f64::max);
    let span = end - plan.record.measure_from_ns as f64 / 1e9;
    let column = |name: &str, row: usize| table.integers(name).get(row).copied().unwrap_or_default();
    let real = |name: &str, row: usize| table.reals(name).get(row).copied().unwrap_or(f64::NAN);
    let record = |(row, &link): (usize, &i64)| {
        let link = link as usize;
        let planned = plan.links.get(link)?;
        let (packets, damaged) = (column("departed_packets", row), column("dropped_packets_corruption", row));
        let bytes = column("departed_bytes", row);
        let offered = real("offered_bytes", row);
        let delay = real("delay_s", row);
        let size = bytes.checked_div(packets).unwrap_or_default() as u64;
        Some(LinkRecord {
            link,
            configured_bps: if offered.is_nan() { f64::INFINITY } else { 8.0 * offered / span },
            carried_bps: 8.0 * bytes as f64 / span,
            configured_delay_s: delay,
            achieved_delay_s: delay + end_of(plan, link).map_or(f64::NAN, |side| median_s[side.index()]),
            configured_loss: long_run_loss(planned, size).unwrap_or(f64::NAN),
            achieved_loss: damaged as f64 / packets as f64,
            damage: damage[link],
        })
    };
    table.integers("link").iter().enumerate().filter_map(record).collect()
}

/// Returns the side at which the first flow over a link delivers its packets.
fn end_of(plan: &Plan, link: usize) -> Option<Side> {
    plan.flows.iter().find_map(|flow| {
        let ways = [(&flow.path, Side::Receivers), (&flow.reverse_path, Side::Senders)];
        ways.into_iter().find_map(|(path, side)| path.contains(&link).then_some(side))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_problem(packets: u64, probability: f64, damaged: u64) -> bool {
        let expected = packets as f64 * probability;
        let record = LinkRecord {
            link: 0,
            configured_bps: f64::INFINITY,
            carried_bps: 0.0,
            configured_delay_s: 0.0,
            achieved_delay_s: 0.0,
            configured_loss: f64::NAN,
            achieved_loss: f64::NAN,
            damage: Some(Damage { packets, damaged, expected, variance: expected * (1.0 - probability) }),
        };
        record.loss_problem("there").is_some()
    }

    #[test]
    fn losses_beyond_chance_are_a_problem() {
        // 100 of 10 000 are expected; v is 128, the eighth, which adds ln 72 to the exponent: 6.3 for the
        // skew and 69.6.
        for (damaged, expected) in [(100, false), (175, false), (177, true), (25, false), (23, true)] {
            assert_eq!(is_problem(10_000, 0.01, damaged), expected, "{damaged}");
        }
        assert!(!is_problem(0, 0.01, 0), "nothing was sent");
        assert!(!is_problem(100, 1e-6, 1), "one loss against the odds is none");
        assert!(!is_problem(10_000, 0.0, 0));
        // The variance is 1: 5.1 and 7.5 standard deviations.
        assert!(!is_problem(10_000, 0.0, 12) && is_problem(10_000, 0.0, 13));
    }
}
