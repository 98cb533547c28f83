//! A complete run of a plan in the emulator: its network, its sources, its tables.

use std::sync::Arc;

use airpath_model::Duration;
use airpath_network::{ExternalNetwork, RunControl};
use airpath_os_linux::run_sources_in_real_time;
use airpath_plan::{Input, Plan};

use crate::address::Side;
use crate::emulation::{Emulated, Emulation, Options};
use crate::error::EmulationError;
use crate::hosts::Hosts;
use crate::source::{Report, SourceSummary, Sources};

/// Largest tolerated lateness of a datagram, in seconds.
const DATAGRAM_BOUND_S: f64 = 5e-3;
/// Largest tolerated share of a run for which a receiver's window or a send buffer limits a sender.
const LIMITED_SHARE_BOUND: f64 = 0.02;

/// Runs a plan with the kernel's controllers in real time; it takes the plan's duration. Returns the same
/// tables as a simulation, with the kernel's reports on the endpoints of flows. Calls `prepare` first, once
/// the hosts exist.
///
/// # Errors
/// If the plan cannot be run or emulated, if the system refuses something, and [`EmulationError::Cancelled`].
pub fn run(
    plan: &Plan,
    inputs: &[Arc<Input>],
    seed: u64,
    options: &Options,
    control: &RunControl,
    prepare: impl FnOnce(&Hosts) -> Result<(), EmulationError>,
) -> Result<Emulated, EmulationError> {
    let (emulation, sources) = Emulation::start_prepared(plan, inputs, seed, options, |hosts| {
        prepare(hosts)?;
        Sources::open(plan, seed, Side::BOTH.map(|side| hosts.host(side)))
    })?;
    let clock = emulation.clock();
    let reports = |report| emulation.on_network(move |network| record(network, &report));
    let work = || {
        if options.realtime {
            run_sources_in_real_time();
        }
        sources.run(&clock, &reports, control)
    };
    let summary = emulation.host(Side::Senders).enter(work)??;
    if control.is_cancelled() {
        return Err(EmulationError::Cancelled);
    }
    while !emulation.is_over() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let mut emulated = emulation.stop(Some(&summary.flows))?;
    let duration_s = Duration::from_nanos(plan.duration_ns).as_secs_f64();
    if let Some(problem) = emulated.unwritten.take() {
        return Err(EmulationError::Broken(problem));
    }
    emulated.validity.problems.extend(problems(&summary, duration_s));
    Ok(emulated)
}

/// Writes a report on the endpoints of a flow to the network's tables.
fn record(network: &mut ExternalNetwork, report: &Report) {
    match *report {
        Report::Interval { flow, state, limited } => {
            network.set_flow_state(flow, state);
            if let Some(limited) = limited {
                network.set_limited_times(flow, limited);
            }
        }
        Report::Counted { flow, summary } => network.set_flow_summary(flow, summary),
        Report::Goodput { flow, bytes } => network.on_goodput(flow, bytes),
        Report::Completion { flow, transfer, start, end, size } => {
            network.on_completion(flow, transfer, start, end, size);
        }
    }
}

/// Returns why the sources did not behave as in the plan.
fn problems(summary: &SourceSummary, duration_s: f64) -> Vec<String> {
    let mut problems = summary.faults.clone();
    let limits = [
        ("a receiver's window", summary.receive_window_limited_s),
        ("a send buffer", summary.send_buffer_limited_s),
    ];
    for (what, seconds) in limits {
        if seconds > LIMITED_SHARE_BOUND * duration_s {
            problems.push(format!("{what} held a sender up for {seconds:.1} s"));
        }
    }
    if summary.datagram_lateness_s > DATAGRAM_BOUND_S {
        problems.push(format!("a datagram left {:.1} ms late", 1e3 * summary.datagram_lateness_s));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_that_wait_for_anything_but_the_window_are_a_problem() {
        let mut summary = SourceSummary::new(&[]);
        assert_eq!(problems(&summary, 10.0), Vec::<String>::new());
        summary.receive_window_limited_s = 0.5;
        summary.datagram_lateness_s = 0.02;
        summary.faults.push("flow number 0: gone".to_owned());
        let found = problems(&summary, 10.0);
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(problems(&summary, 100.0).len(), 2);
    }
}
