//! Links whose queue and rate are those of the kernel.

use std::time::Duration;

use airpath_emu::{Emulated, Options, RouterRecord, SECOND_BOUND};
use airpath_plan::*;

use crate::check::{assert_valid, check};
use crate::flood::{Received, flood, flood_while};
use crate::support::*;

/// Limit of the queue in bytes.
const LIMIT: u64 = 60_000;

fn options() -> Options {
    Options { routers: vec![0], ..Options::default() }
}

/// Returns a plan of a link with these rates whose queue is the kernel's, and a reverse path.
fn routed(seconds: u64, rate: RatePlan) -> Plan {
    let mut there = link("there", rate, 5.0, 0);
    there.queue = QueuePlan::DropTail { limit_bytes: Some(LIMIT), limit_packets: None };
    plan(seconds, vec![there, link("back", RatePlan::Unlimited, 5.0, 1000)], 1)
}

fn steps(steps: &[(u64, u64)]) -> RatePlan {
    let steps = steps.iter().map(|(second, bps)| (second * SECOND, *bps)).collect();
    RatePlan::Steps(StepsConfig { steps, repeat_after_ns: None })
}

/// Returns the reasons not to trust a run without daemons at its routers.
fn problems(emulated: &Emulated) -> Vec<String> {
    let known = |problem: &&String| !problem.contains("daemon did not answer");
    emulated.validity.problems.iter().filter(known).cloned().collect()
}

/// Returns the tolerance of a valid second: its bound, two packets, and the contents of the bucket (2 ms).
fn tolerance(bps: f64) -> f64 {
    SECOND_BOUND + 3000.0 * 8.0 / bps + 0.002
}

fn router(emulated: &Emulated) -> RouterRecord {
    emulated.validity.measured.routers[0].clone()
}

fn integers<'a>(emulated: &'a Emulated, table: &str, column: &str) -> &'a [i64] {
    emulated.outcome.tables.iter().find(|one| one.name == table).unwrap().integers(column)
}

/// Prints the measurements of a flood; fails the attempt if it is not valid.
fn assert_measured(emulated: &Emulated) {
    let problems = problems(emulated);
    eprintln!("{:?}; {:?}; {problems:?}", router(emulated), emulated.validity.measured.lateness);
    assert_valid(&problems);
}

/// Returns a valid run of a plan under datagrams at `bps` for a time.
fn flooded(plan: &Plan, bps: u64, lasting: Duration) -> Option<(Received, Emulated)> {
    let (received, emulated) = flood(emulation_with(plan, &[], &options())?, bps, 1500, lasting);
    assert_measured(&emulated);
    Some((received, emulated))
}

/// Returns the longest queue of the forward path in bytes: every other row is that of the reverse path.
fn longest_queue(emulated: &Emulated) -> i64 {
    *integers(emulated, "link_series", "queue_max_bytes").iter().step_by(2).max().unwrap()
}

#[test]
fn the_kernels_token_bucket_is_the_link() {
    check(|| {
        let plan = routed(5, steps(&[(0, 10_000_000), (2, 4_000_000)]));
        let (received, emulated) = flooded(&plan, 12_000_000, Duration::from_secs(4))?;
        let record = router(&emulated);
        assert_eq!((record.changes, record.vanished, record.strangers), (1, 0, 0));
        for (from, to, bps) in [(1.0, 2.0, 10e6), (2.1, 3.1, 4e6), (3.0, 4.0, 4e6)] {
            let error = received.rate(from, to) / bps - 1.0;
            assert!(error.abs() < tolerance(bps), "from {from} s on: {:.2} % off", 100.0 * error);
        }
        // Everything that did not fit was dropped there, at once and for that reason.
        let [sent, dropped] = ["arrived_packets", "dropped_packets_overflow"]
            .map(|column| integers(&emulated, "links", column)[0]);
        assert!(dropped > sent / 4, "{dropped} of {sent}");
        let longest = longest_queue(&emulated);
        // In addition to the queue of the kernel: the release of a full bucket, a packet that did not fit,
        // and rounding.
        assert!(
            (LIMIT as i64 - 1500..=LIMIT as i64 + 4000 + 3000).contains(&longest),
            "{longest} bytes waited"
        );
        // In this run: the bytes that had left the kernel early, and that packet.
        assert!(longest <= LIMIT as i64 + record.early_bytes as i64 + 1500, "{longest} bytes waited");
        assert_eq!(record.observed, 0, "no router daemon runs");
        Some(())
    });
}

/// The queue of a link that is always full does not grow with changes of its rate, and the link carries its
/// rate.
#[test]
fn rate_changes_never_exceed_the_rate() {
    check(|| {
        let rates = [12_000_000, 8_000_000].into_iter().cycle().take(40);
        let steps = (0..).map(|step| step * 100 * MILLISECOND).zip(rates).collect();
        let plan = routed(5, RatePlan::Steps(StepsConfig { steps, repeat_after_ns: None }));
        let (received, emulated) = flooded(&plan, 15_000_000, Duration::from_secs(4))?;
        assert_eq!(router(&emulated).changes, 39);
        let error = received.rate(1.0, 3.0) / 10e6 - 1.0;
        assert!(error.abs() < tolerance(8e6), "{:.2} % off", 100.0 * error);
        let longest = longest_queue(&emulated);
        // At each step down, the time of one packet was counted at the higher rate: it is at most a third of
        // it early.
        assert!(longest <= LIMIT as i64 + 4500 + 3000 + 20 * 500, "{longest} bytes waited");
        Some(())
    });
}

/// Packets that come back while the link thread is delayed are sent in turn: the link has no idle time, and
/// no packets wait in the network instead of in the kernel.
#[test]
fn a_link_stays_busy_while_the_link_thread_is_delayed() {
    check(|| {
        let plan = routed(5, constant(10_000_000));
        let held_up = [Duration::from_millis(1500), Duration::from_secs(2)];
        let mut coming = held_up.into_iter().peekable();
        let emulation = emulation_with(&plan, &[], &options())?;
        let lasting = Duration::from_secs(4);
        let (received, mut emulated) =
            flood_while(emulation, 12_000_000, 1500, lasting, |passed, emulation| {
                if coming.next_if(|at| *at <= passed).is_some() {
                    emulation.on_network(|_| std::thread::sleep(Duration::from_millis(9)));
                }
            });
        // The property tested below does not make the run invalid.
        emulated.validity.problems.retain(|problem| !problem.contains("bytes waited that it did not see"));
        assert_measured(&emulated);
        let lateness = emulated.validity.measured.lateness;
        assert!(lateness.max_s > 0.005, "no delay occurred: {lateness:?}");
        // Each time, 11 kB would be missing, and would wait in the network from then on: the kernel had
        // released them.
        let early = router(&emulated).early_bytes;
        assert!(early <= 4000 + 3000, "{early} bytes waited in the network");
        let longest = longest_queue(&emulated);
        assert!(longest <= LIMIT as i64 + 4000 + 3000, "{longest} bytes waited");
        // The kernel itself may also be delayed, by as much as a valid run permits.
        let error = received.rate(1.0, 3.0) / 10e6 - 1.0;
        assert!(error.abs() < tolerance(10e6), "{:.2} % off", 100.0 * error);
        Some(())
    });
}

#[test]
#[ignore = "half a minute or more: make bench-emulator"]
fn rates_up_to_a_hundred_mbps() {
    check(|| {
        for mbps in [1, 10, 50, 100] {
            let mut plan = routed(8, constant(mbps * 1_000_000));
            plan.links[0].queue =
                QueuePlan::DropTail { limit_bytes: Some(mbps * 20_000), limit_packets: None };
            let (received, _) = flooded(&plan, mbps * 1_250_000, Duration::from_secs(7))?;
            let share = received.rate(1.0, 6.0) / (mbps as f64 * 1e6);
            eprintln!("{mbps} Mbit/s: achieved {share:.4}");
            // The requirement on the emulator.
            assert!((share - 1.0).abs() < 0.01, "{mbps} Mbit/s: achieved {share:.4}");
        }
        Some(())
    });
}
