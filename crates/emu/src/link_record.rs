//! What the links of an emulation were to do and did.

use airpath_sim::plan::{LinkPlan, Plan};
use airpath_sim::{Outcome, long_run_loss};

use crate::address::Side;

/// What one link was to do and did, over the whole emulation.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRecord {
    /// Its number in the plan.
    pub link: usize,
    /// What it could have carried, bit/s; infinite without a limit.
    pub configured_bps: f64,
    /// What it carried, bit/s of IP packets.
    pub carried_bps: f64,
    /// Its propagation delay, seconds.
    pub configured_delay_s: f64,
    /// The same with the median lateness of packets to the host at its end, seconds: by the clock that is what a packet
    /// took at the median. NaN where no packet went there. The host is that of the plan's first flow over the link.
    pub achieved_delay_s: f64,
    /// Share of packets that should be damaged in the long run: of its mean size where that depends on the size, and after
    /// all repeats on the link. NaN where bursts meet repeats.
    pub configured_loss: f64,
    /// Share of packets that were damaged; NaN where none was sent.
    pub achieved_loss: f64,
    /// Packets that were sent over it.
    pub packets: u64,
}

/// The natural logarithm of one over the probability that losses by chance alone go beyond their bound: once in a million
/// links, in either direction.
const BEYOND_CHANCE: f64 = 14.508_657_738_524_22;

impl LinkRecord {
    /// Why the losses are not those of the link, if they are not.
    ///
    /// The bound is Bernstein's for sums of independent values. Where a chain moves with each packet, n packets count as
    /// n / `span` packets in blocks that are damaged or not as a whole, which is wider than the chain's own variance.
    pub(crate) fn loss_problem(&self, planned: &LinkPlan) -> Option<String> {
        let expected = long_run_loss(planned, 0)?;
        let (probability, span, packets) = (expected.probability, expected.span?, self.packets as f64);
        let variance = packets / span * probability * (1.0 - probability);
        let third = BEYOND_CHANCE / 3.0;
        let blocks = third + (third * third + 2.0 * BEYOND_CHANCE * variance).sqrt();
        let share = span * blocks / packets;
        // Without packets the share is NaN, and nothing is beyond it.
        ((self.achieved_loss - probability).abs() > share).then(|| {
            format!(
                "link {}: {:.3} % of {packets} packets were damaged, which is more than {:.3} % away from the configured {:.3} %",
                planned.name,
                100.0 * self.achieved_loss,
                100.0 * share,
                100.0 * probability
            )
        })
    }
}

/// The records of all recorded links. `median_s` is the median lateness of packets to both sides.
pub(crate) fn link_records(plan: &Plan, outcome: &Outcome, median_s: [f64; 2]) -> Vec<LinkRecord> {
    let Some(table) = outcome.tables.iter().find(|table| table.name == "links") else { return Vec::new() };
    let Some(series) = outcome.tables.iter().find(|table| table.name == "link_series") else {
        return Vec::new();
    };
    // Rows of the series reach to the end of the last interval; summaries count from the end of the warm-up.
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
            configured_loss: long_run_loss(planned, size).map_or(f64::NAN, |loss| loss.probability),
            achieved_loss: damaged as f64 / packets as f64,
            packets: packets as u64,
        })
    };
    table.integers("link").iter().enumerate().filter_map(record).collect()
}

/// Where the first flow over a link takes its packets.
fn end_of(plan: &Plan, link: usize) -> Option<Side> {
    plan.flows.iter().find_map(|flow| {
        let ways = [(&flow.path, Side::Receivers), (&flow.reverse_path, Side::Senders)];
        ways.into_iter().find_map(|(path, side)| path.contains(&link).then_some(side))
    })
}

#[cfg(test)]
mod tests {
    use airpath_sim::plan::{BurstPlan, ChainPlan, ClockPlan, Draw, QueuePlan, RatePlan};

    use super::*;

    fn link(loss: f64, burst: Option<(f64, ClockPlan)>) -> LinkPlan {
        let bursts = burst.map(|(burst, clock)| BurstPlan { chain: ChainPlan::Means { loss, burst }, clock });
        LinkPlan {
            name: "there".to_owned(),
            rate: RatePlan::Unlimited,
            delay_ns: Draw::Constant { value: 0.0 },
            jitter_ns: None,
            loss: if bursts.is_some() { 0.0 } else { loss },
            bursts,
            arq: None,
            queue: QueuePlan::DropTail { limit_bytes: None, limit_packets: None },
            record: true,
        }
    }

    fn is_problem(planned: &LinkPlan, packets: u64, damaged: u64) -> bool {
        let record = LinkRecord {
            link: 0,
            configured_bps: f64::INFINITY,
            carried_bps: 0.0,
            configured_delay_s: 0.0,
            achieved_delay_s: 0.0,
            configured_loss: f64::NAN,
            achieved_loss: damaged as f64 / packets as f64,
            packets,
        };
        record.loss_problem(planned).is_some()
    }

    #[test]
    fn losses_are_judged_against_chance() {
        let independent = link(0.01, None);
        // 100 of 10 000 are expected; the bound is 54 plus 5 for the skew.
        for (damaged, expected) in [(100, false), (155, false), (165, true), (45, false), (35, true)] {
            assert_eq!(is_problem(&independent, 10_000, damaged), expected, "{damaged}");
        }
        assert!(!is_problem(&independent, 0, 0), "nothing was sent");
        assert!(!is_problem(&link(1e-6, None), 100, 1), "one loss against the odds is none");
        assert!(!is_problem(&link(0.0, None), 10_000, 0));
    }

    #[test]
    fn losses_in_bursts_have_more_room_and_none_are_judged_by_time() {
        let by_packet = link(0.01, Some((10.0, ClockPlan::Packet)));
        assert!(!is_problem(&by_packet, 10_000, 165));
        assert!(is_problem(&by_packet, 10_000, 1_000));
        let by_time = link(0.01, Some((10.0, ClockPlan::Time { step_ns: 1000 })));
        assert!(!is_problem(&by_time, 10_000, 1_000));
    }
}
