//! Whether an emulation behaved as configured: comparison of configured and achieved values.

use airpath_model::Damage;
use airpath_network::Outcome;
use airpath_os_linux::Scheduling;
use airpath_plan::Plan;

use crate::address::Side;
use crate::exchange::PacketCounts;
use crate::link_record::{LinkRecord, link_records};
use crate::router::RouterRecord;
use crate::timing::{LATE, Lateness, Second};

/// The record of an emulation's accuracy.
#[derive(Clone, Debug, PartialEq)]
pub struct Validity {
    /// Why the results should not be trusted, in words; empty if they can be trusted.
    pub problems: Vec<String>,
    /// The measurements of the link thread.
    pub measured: Measured,
    /// Configured and achieved properties of each recorded link.
    pub links: Vec<LinkRecord>,
}

impl Validity {
    /// Returns whether the results can be trusted.
    pub fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Largest tolerated median lateness of packets to a host, in seconds: the delays of their links are longer
/// by this time.
pub const MEDIAN_BOUND_S: f64 = 0.2e-3;
/// Largest tolerated share of packets that are later than [`LATE`], and of the time in which they wait as
/// long to be read.
pub const LATE_SHARE_BOUND: f64 = 0.01;
/// Largest tolerated relative difference of the bytes of one second.
pub const SECOND_BOUND: f64 = 0.01;
/// Longest tolerated time in which the link thread does not poll the devices, in seconds: half of the
/// kernel's smallest retransmission timeout, beyond which the emulator itself could cause timeouts.
pub const GAP_BOUND_S: f64 = 0.1;

/// The measurements of a link thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The scheduling that the link thread was granted.
    pub scheduling: Scheduling,
    /// Lateness of packets to hosts.
    pub lateness: Lateness,
    /// The median lateness of packets to [`Side::Senders`] and to [`Side::Receivers`], seconds; NaN without any.
    pub median_s: [f64; 2],
    /// The longest time for which the link thread did not read the clock and poll the devices, in seconds;
    /// including sleeps, which are at most 5 ms.
    pub longest_gap_s: f64,
    /// The share of the time in which the link thread did not poll the devices for more than [`LATE`],
    /// without sleeps that a packet would have ended: packets that arrive then wait to be read.
    pub unseen_share: f64,
    /// Counts of packets by outcome.
    pub packets: PacketCounts,
    /// Packets that the kernel dropped at the device of senders and of receivers because they were not read
    /// in time.
    pub device_drops: [u64; 2],
    /// The largest relative difference within one second between the bytes that should have been delivered to
    /// a host and those that were, beyond one packet, for [`Side::Senders`] and [`Side::Receivers`].
    pub worst_second: [f64; 2],
    /// Measurements of the routers of the kernel.
    pub routers: Vec<RouterRecord>,
}

impl Validity {
    /// Evaluates a run. `damage` contains the corruption counts of each link of the plan.
    pub(crate) fn new(plan: &Plan, outcome: &Outcome, measured: Measured, damage: &[Option<Damage>]) -> Self {
        let links = link_records(plan, outcome, measured.median_s, damage);
        let mut problems = problems(&measured);
        problems.extend(
            measured.routers.iter().flat_map(|router| router.problems(&plan.links[router.link].name)),
        );
        problems.extend(links.iter().filter_map(|link| link.loss_problem(&plan.links[link.link].name)));
        if !problems.is_empty() && !measured.scheduling.refused.is_empty() {
            problems.push(format!("not granted: {}", measured.scheduling.refused));
        }
        Self { problems, measured, links }
    }
}

/// Returns which measurements are outside of their tolerances.
fn problems(measured: &Measured) -> Vec<String> {
    let lateness = measured.lateness;
    let mut problems = Vec::new();
    for side in Side::BOTH {
        let (name, drops) = (side.name(), measured.device_drops[side.index()]);
        if drops > 0 {
            problems.push(format!(
                "{drops} packets of {name} were lost before they were read; the link thread had too little time"
            ));
        }
        let worst = measured.worst_second[side.index()];
        if worst > SECOND_BOUND {
            problems.push(format!(
                "in one second {:.1} % more or fewer bytes than modelled went to {name}",
                100.0 * worst
            ));
        }
        let median = measured.median_s[side.index()];
        if median > MEDIAN_BOUND_S {
            problems.push(format!(
                "half of the packets to {name} came {:.3} ms late or more: delays are longer by that",
                1e3 * median
            ));
        }
    }
    if lateness.refused_packets > 0 {
        problems.push(format!("hosts did not take {} packets", lateness.refused_packets));
    }
    let late_share = lateness.late_packets as f64 / lateness.packets.max(1) as f64;
    if late_share > LATE_SHARE_BOUND {
        problems.push(format!(
            "{:.1} % of packets came more than {} ms late",
            100.0 * late_share,
            LATE.as_nanos() / 1_000_000
        ));
    }
    if measured.unseen_share > LATE_SHARE_BOUND {
        problems.push(format!(
            "in {:.1} % of the time packets could wait more than {} ms before they were read",
            100.0 * measured.unseen_share,
            LATE.as_nanos() / 1_000_000
        ));
    }
    if measured.longest_gap_s > GAP_BOUND_S {
        problems.push(format!(
            "packets could wait {:.1} ms before they were read: for so long the link thread did not look",
            1e3 * measured.longest_gap_s
        ));
    }
    problems
}

/// Returns the largest relative difference within one second, beyond one packet of that many bytes. The last
/// second, which is cut short, is left out.
pub(crate) fn worst_second(seconds: &[Second], packet: u64) -> f64 {
    let whole = seconds.split_last().map_or(seconds, |(_, whole)| whole);
    let difference = |second: &Second| {
        let beyond = second.modelled.abs_diff(second.achieved).saturating_sub(packet);
        if beyond == 0 { 0.0 } else { beyond as f64 / second.modelled.max(packet) as f64 }
    };
    whole.iter().map(difference).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use airpath_network::Column;

    use super::*;
    use crate::exchange::Exchange;

    /// Returns a plan of a link of 10 ms that corrupts one packet in a hundred, and its reverse path.
    fn plan() -> Plan {
        let link = |name: &str, loss: f64| {
            format!(
                r#"{{"name":"{name}","rate":{{"kind":"constant","bps":8000000}},"delay_ns":{{"kind":"constant","value":1e7}},
                "jitter_ns":null,"loss":{loss},"bursts":null,"arq":null,
                "queue":{{"kind":"drop-tail","limit_bytes":null,"limit_packets":10}},"record":true}}"#
            )
        };
        Plan::from_json(&format!(
            r#"{{"format":2,"duration_ns":1000000000,"record":{{"measure_from_ns":0,"interval_ns":100000000,"packets":false,
            "estimate_samples":false,"capture":[]}},"estimators":[],"links":[{},{}],"flows":[{{"name":"flow",
            "path":[0],"reverse_path":[1],"measured_at":0,"start_ns":{{"kind":"constant","value":0}},"stop_ns":null,
            "traffic":{{"kind":"bulk"}},"controller":null,"transport":null,"estimators":[]}}]}}"#,
            link("there", 0.01),
            link("back", 0.0)
        ))
        .unwrap()
    }

    /// Returns the tables after `packets` packets of 1000 bytes over the first link, `damaged` of them
    /// corrupted.
    fn outcome(packets: i64, damaged: i64) -> Outcome {
        let mut exchange = Exchange::new(&plan(), &[], 1, 1).unwrap();
        let end = exchange.network().end();
        exchange.advance(end, |_, _, _| ());
        let seen = exchange.summaries();
        let mut outcome = exchange.into_network().finish(&seen);
        let links = outcome.tables.iter_mut().find(|table| table.name == "links").unwrap();
        for (name, column) in &mut links.columns {
            let value = match *name {
                "departed_packets" => packets,
                "departed_bytes" => 1000 * packets,
                "dropped_packets_corruption" => damaged,
                _ => continue,
            };
            let Column::I64(values) = column else { panic!("{name} counts") };
            values[0] = value;
        }
        outcome
    }

    /// Returns the measurements of a run at the limit of every tolerance.
    fn measured() -> Measured {
        Measured {
            scheduling: Scheduling::default(),
            lateness: Lateness { packets: 1000, late_packets: 10, ..Lateness::default() },
            median_s: [MEDIAN_BOUND_S, f64::NAN],
            longest_gap_s: GAP_BOUND_S,
            unseen_share: LATE_SHARE_BOUND,
            packets: PacketCounts::default(),
            device_drops: [0, 0],
            worst_second: [SECOND_BOUND; 2],
            routers: Vec::new(),
        }
    }

    /// Returns the counts of both links' channels after `packets` packets over the first, `damaged` of them
    /// corrupted.
    fn damage(packets: i64, damaged: i64) -> [Option<Damage>; 2] {
        let expected = 0.01 * packets as f64;
        let (packets, damaged) = (packets as u64, damaged as u64);
        [Some(Damage { packets, damaged, expected, variance: 0.99 * expected }), None]
    }

    fn problems_of(measured: Measured, (packets, damaged): (i64, i64)) -> Vec<String> {
        let damage = damage(packets, damaged);
        Validity::new(&plan(), &outcome(packets, damaged), measured, &damage).problems
    }

    #[test]
    fn each_problem_is_reported_only_beyond_its_tolerance() {
        assert_eq!(problems_of(measured(), (1000, 10)), Vec::<String>::new());
        let found = |change: fn(&mut Measured), expected: &str| {
            let mut changed = measured();
            change(&mut changed);
            let problems = problems_of(changed, (1000, 10));
            assert!(matches!(&problems[..], [one] if one.contains(expected)), "{expected}: {problems:?}");
        };
        found(|m| m.device_drops[0] = 3, "3 packets of senders were lost before they were read");
        found(|m| m.device_drops[1] = 1, "1 packets of receivers were lost");
        found(|m| m.worst_second[1] = 0.02, "2.0 % more or fewer bytes than modelled went to receivers");
        found(|m| m.lateness.refused_packets = 2, "hosts did not take 2 packets");
        found(|m| m.median_s[1] = 0.25e-3, "half of the packets to receivers came 0.250 ms late");
        found(|m| m.lateness.late_packets = 11, "1.1 % of packets came more than 1 ms late");
        found(|m| m.longest_gap_s = 0.12, "wait 120.0 ms before they were read");
        found(|m| m.unseen_share = 0.02, "in 2.0 % of the time packets could wait more than 1 ms");
        let lost = problems_of(measured(), (10_000, 400));
        assert!(matches!(&lost[..], [one] if one.contains("link there: 400 of 10000 packets")), "{lost:?}");
    }

    #[test]
    fn denied_privileges_are_reported_only_with_a_problem() {
        let refused = || {
            let mut refused = measured();
            refused.scheduling.refused = "SCHED_FIFO".to_owned();
            refused
        };
        assert_eq!(problems_of(refused(), (1000, 10)), Vec::<String>::new());
        let mut late = refused();
        late.device_drops[0] = 1;
        assert_eq!(problems_of(late, (1000, 10)).last().unwrap(), "not granted: SCHED_FIFO");
    }

    #[test]
    fn a_link_reports_configured_and_achieved_values() {
        let mut changed = measured();
        changed.median_s = [0.1e-3, 0.05e-3];
        let links = Validity::new(&plan(), &outcome(1000, 12), changed, &damage(1000, 12)).links;
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
        assert!(near(links[0].configured_delay_s, 0.01) && near(links[0].achieved_delay_s, 0.01005));
        assert!(near(links[1].achieved_delay_s, 0.0101), "acknowledgments go to senders");
        assert!(near(links[0].configured_loss, 0.01) && near(links[0].achieved_loss, 0.012));
        assert!(near(links[0].configured_bps, 8e6) && near(links[0].carried_bps, 8e6));
        assert!(links[1].achieved_loss.is_nan(), "nothing was sent there");
    }

    #[test]
    fn one_packet_at_the_end_of_a_second_is_within_tolerance() {
        let seconds = |achieved| [Second { modelled: 15_000, achieved }, Second { modelled: 1, achieved: 0 }];
        assert!(worst_second(&seconds(13_500), 1500) < 1e-12);
        assert!((worst_second(&seconds(12_000), 1500) - 0.1).abs() < 1e-12);
        assert!(worst_second(&[], 1500) < 1e-12);
    }
}
