//! One run in its own process, for measurements: `dumbbell SCHEME FLOWS MBPS SECONDS INTERVAL_MS [packets]`,
//! or `dumbbell PLAN.json`; optionally preceded by `--digest`. Writes one line of JSON: the configuration,
//! the cost, and on request a digest of all results for the comparison of two builds.
//!
//! The dumbbell is the one used to measure other simulators (`peer_dumbbell`); it is read as the text of a
//! plan. SCHEME is `sack` (NewReno over SACK) or `cubic` (that of 2008); `INTERVAL_MS` is the interval of the
//! series; with `packets` each packet that reaches its receiver has a row.
#![allow(clippy::print_stdout, reason = "a command that writes a line")]
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "a stopwatch")]

#[path = "../tests/it/common.rs"]
mod common;

use std::fs;
use std::time::Instant;

use airpath_sim::plan::{ComponentPlan, ControllerPlan, Plan, RecoveryPlan};
use airpath_sim::{Column, Outcome, RunControl, Simulation};

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let wants_digest = arguments.first().is_some_and(|first| first == "--digest");
    arguments.drain(..usize::from(wants_digest));
    let text = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [file] => fs::read_to_string(file).expect("a plan that can be read"),
        [scheme, flows, mbps, seconds, interval_ms, ref rest @ ..] => {
            let number = |text: &str| text.parse().expect("a whole number");
            let mut plan =
                dumbbell(scheme, number(flows), number(mbps), number(seconds), number(interval_ms));
            plan.record.packets = rest == ["packets"];
            serde_json::to_string(&plan).expect("a plan that can be written")
        }
        _ => panic!("dumbbell SCHEME FLOWS MBPS SECONDS INTERVAL_MS [packets], or dumbbell PLAN.json"),
    };
    let (cpu, wall) = (cpu_s(), Instant::now());
    let plan = Plan::from_json(&text).expect("a plan");
    let simulation = Simulation::new(&plan, &[], 1).expect("a runnable plan");
    drop((text, plan));
    let (setup_s, setup_wall_s) = (cpu_s() - cpu, wall.elapsed().as_secs_f64());
    let (cpu, wall) = (cpu_s(), Instant::now());
    let outcome = simulation.run(&RunControl::default()).expect("nobody stops it");
    let line = serde_json::json!({
        "flows": flows(&outcome),
        "packet_hops": outcome.counts.packet_hops,
        "events": outcome.counts.events,
        "setup_s": setup_s,
        "setup_wall_s": setup_wall_s,
        "cpu_s": cpu_s() - cpu,
        "wall_s": wall.elapsed().as_secs_f64(),
        "peak_mib": peak_mib(),
        "digest": wants_digest.then(|| format!("{:016x}", digest(&outcome))),
    });
    println!("{line}");
}

fn dumbbell(scheme: &str, flows: u64, mbps: u64, seconds: u64, interval_ms: u64) -> Plan {
    let (controller, recovery) = match scheme {
        "sack" => (ComponentPlan::named("newreno").with("counting", "acknowledgments"), RecoveryPlan::Sack),
        "cubic" => (ComponentPlan::named("cubic").with("form", "2008").with("beta", 0.8), RecoveryPlan::Prr),
        _ => panic!("the scheme is `sack` or `cubic`, not `{scheme}`"),
    };
    let controller = ControllerPlan::Declared(controller.with("slow_start", "per-acknowledgment"));
    let mut plan = common::peer_dumbbell(flows, &controller, recovery);
    for bottleneck in &mut plan.links[..2] {
        bottleneck.rate = common::mbps(mbps);
    }
    plan.links[0].queue = common::packets(5 * mbps);
    plan.duration_ns = seconds * common::SECOND;
    plan.record.interval_ns = interval_ms * common::MILLISECOND;
    plan.record.measure_from_ns = (plan.duration_ns / 6).next_multiple_of(plan.record.interval_ns);
    plan
}

fn flows(outcome: &Outcome) -> usize {
    common::table(outcome, "flows").integers("flow").len()
}

/// Computes FNV-1a over names, values and counts.
fn digest(outcome: &Outcome) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    // The series is the second table.
    let (flows, others) = outcome.tables.split_at(1);
    for table in flows.iter().chain([&outcome.flow_series.table()]).chain(others) {
        for (name, column) in &table.columns {
            add(name.as_bytes());
            match column {
                Column::I64(values) => values.iter().for_each(|value| add(&value.to_le_bytes())),
                Column::F64(values) => values.iter().for_each(|value| add(&value.to_bits().to_le_bytes())),
            }
        }
    }
    outcome.quantities.iter().for_each(|name| add(name.as_bytes()));
    add(outcome.capture.as_deref().unwrap_or_default());
    add(&outcome.counts.packet_hops.to_le_bytes());
    add(&outcome.counts.packets_inside.to_le_bytes());
    hash
}

/// Returns the processor time of this thread (Linux; zero elsewhere).
fn cpu_s() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// Returns the peak memory of this process (Linux; zero elsewhere).
fn peak_mib() -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1024.0
}
