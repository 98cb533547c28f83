//! Whether an emulation was what it says: what was configured against what was achieved.

use airpath_sim::Outcome;
use airpath_sim::plan::Plan;

use crate::address::Side;
use crate::exchange::PacketCounts;
use crate::scheduling::Scheduling;
use crate::timing::{LATE, Lateness, Second};

/// The record of an emulation's accuracy.
#[derive(Clone, Debug, PartialEq)]
pub struct Validity {
    /// Why the results should not be trusted, in words; empty when they may be.
    pub problems: Vec<String>,
    /// What the link thread was granted.
    pub scheduling: Scheduling,
    /// How late packets went to hosts.
    pub lateness: Lateness,
    /// The longest time for which the link thread did not look at the clock and the devices, seconds; sleeps included,
    /// which are at most 5 ms.
    pub longest_gap_s: f64,
    /// Where packets went.
    pub packets: PacketCounts,
    /// Packets that the kernel dropped at a device because they were not read in time, of senders and receivers.
    pub device_drops: [u64; 2],
    /// The largest relative difference within one second between the bytes that should have gone to a host and those
    /// that did, beyond one packet, for [`Side::Senders`] and [`Side::Receivers`].
    pub worst_second: [f64; 2],
    /// What each recorded link was to do and did.
    pub links: Vec<LinkRecord>,
}

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
    /// Probability of damage by the plan; NaN where losses come in bursts.
    pub configured_loss: f64,
    /// Share of packets that were damaged; NaN where none was sent.
    pub achieved_loss: f64,
}

impl Validity {
    /// Whether the results may be trusted.
    pub fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Half of the packets may be later than this, seconds.
pub const MEDIAN_BOUND_S: f64 = 0.2e-3;
/// This share of packets may be later than [`LATE`].
pub const LATE_SHARE_BOUND: f64 = 0.01;
/// So much may the bytes of one second differ.
pub const SECOND_BOUND: f64 = 0.01;

/// What a link thread measured.
pub(crate) struct Measured {
    pub(crate) scheduling: Scheduling,
    pub(crate) lateness: Lateness,
    pub(crate) longest_gap_s: f64,
    pub(crate) packets: PacketCounts,
    pub(crate) device_drops: [u64; 2],
    /// The worst seconds of both sides.
    pub(crate) worst_second: [f64; 2],
}

impl Validity {
    pub(crate) fn new(plan: &Plan, outcome: &Outcome, measured: Measured) -> Self {
        let Measured { scheduling, lateness, longest_gap_s, packets, device_drops, worst_second } = measured;
        let mut problems = Vec::new();
        for side in Side::BOTH {
            let (name, drops) = (side.name(), device_drops[side.index()]);
            if drops > 0 {
                problems.push(format!(
                    "{drops} packets of {name} were lost before they were read; the link thread had too little time"
                ));
            }
            let worst = worst_second[side.index()];
            if worst > SECOND_BOUND {
                problems.push(format!(
                    "in one second {:.1} % more or fewer bytes than modelled went to {name}",
                    100.0 * worst
                ));
            }
        }
        if lateness.refused_packets > 0 {
            problems.push(format!("hosts did not take {} packets", lateness.refused_packets));
        }
        if lateness.p50_s > MEDIAN_BOUND_S {
            problems.push(format!("half of the packets came {:.3} ms late or more", 1e3 * lateness.p50_s));
        }
        let late_share = lateness.late_packets as f64 / lateness.packets.max(1) as f64;
        if late_share > LATE_SHARE_BOUND {
            problems.push(format!(
                "{:.1} % of packets came more than {} ms late",
                100.0 * late_share,
                LATE.as_nanos() / 1_000_000
            ));
        }
        if !problems.is_empty() && !scheduling.refused.is_empty() {
            problems.push(format!("not granted: {}", scheduling.refused));
        }
        Self {
            problems,
            scheduling,
            lateness,
            longest_gap_s,
            packets,
            device_drops,
            worst_second,
            links: links(plan, outcome),
        }
    }
}

/// The largest relative difference within one second, beyond one packet of that many bytes. The last second, which the
/// end cuts off, is left out.
pub(crate) fn worst_second(seconds: &[Second], packet: u64) -> f64 {
    let whole = seconds.split_last().map_or(seconds, |(_, whole)| whole);
    let difference = |second: &Second| {
        let beyond = second.modelled.abs_diff(second.achieved).saturating_sub(packet);
        if beyond == 0 { 0.0 } else { beyond as f64 / second.modelled.max(packet) as f64 }
    };
    whole.iter().map(difference).fold(0.0, f64::max)
}

fn links(plan: &Plan, outcome: &Outcome) -> Vec<LinkRecord> {
    let Some(table) = outcome.tables.iter().find(|table| table.name == "links") else { return Vec::new() };
    let Some(series) = outcome.tables.iter().find(|table| table.name == "link_series") else {
        return Vec::new();
    };
    // Rows of the series reach to the end of the last interval; summaries count from the end of the warm-up.
    let end = series.reals("time_s").iter().copied().fold(0.0, f64::max);
    let span = end - plan.record.measure_from_ns as f64 / 1e9;
    let column = |name: &str, row: usize| table.integers(name).get(row).copied().unwrap_or_default() as f64;
    let real = |name: &str, row: usize| table.reals(name).get(row).copied().unwrap_or(f64::NAN);
    let record = |(row, &link): (usize, &i64)| {
        let planned = plan.links.get(link as usize)?;
        let (departed, damaged) =
            (column("departed_packets", row), column("dropped_packets_corruption", row));
        let offered = real("offered_bytes", row);
        Some(LinkRecord {
            link: link as usize,
            configured_bps: if offered.is_nan() { f64::INFINITY } else { 8.0 * offered / span },
            carried_bps: 8.0 * column("departed_bytes", row) / span,
            configured_delay_s: real("delay_s", row),
            configured_loss: if planned.bursts.is_some() { f64::NAN } else { planned.loss },
            achieved_loss: damaged / departed,
        })
    };
    table.integers("link").iter().enumerate().filter_map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_at_the_edge_of_a_second_is_no_difference() {
        let seconds = |achieved| [Second { modelled: 15_000, achieved }, Second { modelled: 1, achieved: 0 }];
        assert!(worst_second(&seconds(13_500), 1500) < 1e-12);
        assert!((worst_second(&seconds(12_000), 1500) - 0.1).abs() < 1e-12);
        assert!(worst_second(&[], 1500) < 1e-12);
    }
}
