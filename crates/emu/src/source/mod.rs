//! Real traffic: the sources of a plan over the kernel's sockets.
//!
//! One thread in the senders' host handles all sources, so that a hundred flows take little time. It connects
//! and writes for all sources. At the receivers' host, one listening socket and one datagram socket accept
//! everything, and the addresses identify the flow. The size and the time of transfers come from the same
//! random streams as in a simulation ([`airpath_plan::workload`]).
//!
//! All sources are bounded in time: nothing starts at or after the end of the run, and all sockets are closed
//! then.

mod outgoing;
mod receiving;
pub(crate) mod report;
pub(crate) mod sampling;
mod sending;
mod settings;
mod sockets;
mod wakeups;

use airpath_network::RunControl;
use airpath_os_linux::Context;

use airpath_model::{Duration, Timestamp};
use airpath_plan::Plan;
use airpath_plan::workload::workloads;
use nix::sys::epoll::EpollEvent;

use crate::address::Side;
use crate::clock::Clock;
use crate::error::EmulationError;
use crate::host::Host;
use receiving::Receivers;
pub use report::{Report, SourceSummary};
use sending::Source;
pub use settings::{AVAILABLE_CONGESTION_CONTROLS, KernelSettings, available_congestion_controls};
use wakeups::{Token, Wakeups};

/// The sources of a plan, ready to run.
#[derive(Debug)]
pub struct Sources {
    of_flows: Vec<Source>,
    receivers: Receivers,
    flows: usize,
    measure_from: Timestamp,
    end: Timestamp,
    interval: Duration,
}

impl Sources {
    /// Opens the sources of a plan for a run with that seed, between hosts indexed by [`Side::index`].
    /// Applies the kernel settings of both hosts and opens the sockets of the receivers.
    ///
    /// # Errors
    /// If the plan needs something that the kernel does not support, or if the kernel refuses it.
    pub fn open(plan: &Plan, seed: u64, hosts: [&Host; 2]) -> Result<Self, EmulationError> {
        let end = Timestamp::from_nanos(plan.duration_ns);
        KernelSettings::of(plan)?.apply(hosts)?;
        let mut of_flows = Vec::new();
        let mut windows = Vec::new();
        for (flow, planned) in plan.flows.iter().enumerate() {
            let tcp = settings::tcp(planned)?;
            windows.push(tcp.as_ref().and_then(|settings| settings.receive_window));
            for workload in workloads(planned, end, seed) {
                of_flows.push(Source::new(flow, end, workload, tcp.clone())?);
            }
        }
        let receivers = hosts[Side::Receivers.index()].enter(|| Receivers::open(windows))??;
        let interval = Duration::from_nanos(plan.record.interval_ns);
        let measure_from = Timestamp::from_nanos(plan.record.measure_from_ns);
        Ok(Self { of_flows, receivers, flows: plan.flows.len(), measure_from, end, interval })
    }

    /// Sends and receives until the end of the run, or until `control` stops it, and calls `reports` once an
    /// interval and at each completion. Call it in a thread inside the senders' host, when the clock is near
    /// zero.
    ///
    /// # Errors
    /// If the kernel refuses something that every source needs. Errors of single connections are in the
    /// summary.
    pub fn run(
        self,
        clock: &Clock,
        reports: &dyn Fn(Report),
        control: &RunControl,
    ) -> Result<SourceSummary, EmulationError> {
        let Self { of_flows: mut sources, mut receivers, flows, measure_from, end, interval } = self;
        let mut warm_up = Some(measure_from).filter(|from| *from > Timestamp::ZERO);
        let mut wakeups = Wakeups::new()?;
        receivers.watch(&wakeups)?;
        for (number, source) in sources.iter().enumerate() {
            wakeups.at(source.next_event(), number);
        }
        let mut summary = SourceSummary::new(&starts(&sources, flows));
        let mut sample_at = sampling::instant(Timestamp::ZERO + interval, interval);
        let mut sampled_until = Timestamp::ZERO + interval;
        let mut events = vec![EpollEvent::empty(); 256];
        let before_end = Timestamp::from_nanos(end.as_nanos().saturating_sub(1));
        loop {
            let now = clock.now();
            if control.is_cancelled() {
                break;
            }
            if sample_at <= now && now < end {
                sampling::sample(&sources, now, flows, reports);
                sampling::count(&mut receivers, flows, reports);
                if warm_up.take_if(|from| *from <= sampled_until).is_some() {
                    sampling::count_so_far(&sources, summary.clone(), reports);
                }
                control.report(now, end);
                while sample_at <= now {
                    sampled_until += interval;
                    sample_at = sampling::instant(sampled_until, interval);
                }
            }
            // Everything due before the end is done, even if the thread is late.
            while let Some(number) = wakeups.due(now.min(before_end)) {
                let source = &mut sources[number];
                source.wake(now, number, &wakeups, &mut summary);
                wakeups.at(source.next_event(), number);
            }
            if now >= end {
                break;
            }
            let ready =
                wakeups.wait(&mut events, clock, sample_at.min(end)).context("waiting for sockets")?;
            for event in &events[..ready] {
                match Token::of(event.data()) {
                    Token::Timer => wakeups.timer_rang(),
                    Token::Listener => receivers.accept(&wakeups, &mut summary),
                    Token::Datagrams => receivers.take_datagrams(),
                    Token::Receiving(number) => receivers.take(number),
                    Token::Source(number) => {
                        let source = &mut sources[number];
                        source.on_event(clock.now(), event.events(), number, &wakeups, &mut summary, reports);
                        wakeups.at(source.next_event(), number);
                    }
                }
            }
        }
        // The thread may have been late for the last interval.
        if sampled_until <= end {
            sampling::sample(&sources, clock.now(), flows, reports);
        }
        sampling::count(&mut receivers, flows, reports);
        for source in &sources {
            source.count(&mut summary);
        }
        Ok(summary)
    }
}

/// Returns the start of each flow: that of the first of its sources.
fn starts(sources: &[Source], flows: usize) -> Vec<Timestamp> {
    let mut starts = vec![Timestamp::NEVER; flows];
    for source in sources {
        starts[source.flow()] = starts[source.flow()].min(source.start());
    }
    starts
}

#[cfg(test)]
mod tests;
