//! An emulation from its start to its results.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use airpath_model::{Duration, Timestamp};
use airpath_network::{ExternalNetwork, FlowSummary, Outcome};
use airpath_os_linux::{Context, Scheduling};
use airpath_plan::{Input, Part, Plan};

use crate::address::Side;
use crate::capture::Capture;
use crate::clock::Clock;
use crate::connection_flows::ConnectionFlow;
use crate::error::EmulationError;
use crate::exchange::Exchange;
use crate::host::{Host, MTU};
use crate::hosts::Hosts;
use crate::link_thread::{LinkThread, Request};
use crate::observer::{Observer, Sampled};
use crate::router::{Listener, Router, RouterRecord};
use crate::sock_diag::SockDiag;
use crate::timing::Timing;
use crate::validity::{Measured, Validity, worst_second};

/// Options of an emulation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether to request `SCHED_FIFO`, also for sources. The record of validity contains the scheduling
    /// granted to the link thread.
    pub realtime: bool,
    /// Whether to request that the link thread stays on one processor.
    pub pinned: bool,
    /// The file for a capture of the packets at the devices of these sides (pcapng).
    pub capture: Option<(PathBuf, Vec<Side>)>,
    /// Two flows of the plan that take opposite paths. TCP connections between the addresses of the first
    /// become separate flows, about which the kernel is queried once an interval. The two flows keep all
    /// other packets of senders and receivers.
    pub connections: Option<[u32; 2]>,
    /// Links of the plan whose queue and rate are those of a router of the kernel, in a separate namespace
    /// ([`Hosts::routers`]). Not supported together with `connections`.
    pub routers: Vec<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self { realtime: true, pinned: true, capture: None, connections: None, routers: Vec::new() }
    }
}

/// A running emulation: real hosts at both ends of a plan's network.
///
/// Flow number i of the plan connects [`Side::address`] i of both sides. Its packets come from the sockets
/// and commands that the caller opens or starts in the [`Host`]s. Dropping an emulation ends everything.
#[derive(Debug)]
pub struct Emulation {
    hosts: Hosts,
    clock: Clock,
    scheduling: Scheduling,
    plan: Plan,
    requests: Sender<Request>,
    stop: Arc<AtomicBool>,
    abandoned: Arc<AtomicBool>,
    thread: Option<JoinHandle<Finished>>,
    observer: Option<Result<Observer, EmulationError>>,
    /// Connections to the daemons at the routers, in their order.
    listeners: Vec<Listener>,
}

/// The results of an emulation.
#[derive(Clone, Debug)]
pub struct Emulated {
    /// The tables, as of a simulation, up to the end of the last complete interval; and the capture of links.
    pub outcome: Outcome,
    /// Whether the results can be trusted.
    pub validity: Validity,
    /// Duration of the emulation.
    pub lasted: Duration,
    /// TCP connections, if they are separate flows.
    pub connections: Option<Connections>,
    /// Why the capture of hosts is incomplete; `None` if it is complete, or if there was none.
    pub unwritten: Option<String>,
}

/// TCP connections that were separate flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Connections {
    /// The data of each side in them, in the order of their indices in the tables, after the flows of the
    /// plan.
    pub flows: Vec<ConnectionFlow>,
    /// Data packets that are in no connection's flow because there were too many.
    pub beyond_packets: u64,
    /// How the kernel was queried for their sockets.
    pub sampled: Sampled,
}

/// The results of the link thread.
struct Finished {
    thread: LinkThread,
    at: Timestamp,
}

/// Packets that fit into the initial pool, which takes 12 MB.
const ROOM: usize = 8192;

impl Emulation {
    /// Creates the hosts and starts the network of a plan between them. It runs until [`Emulation::stop`], or
    /// ends with the plan's duration: after that no packet is forwarded.
    ///
    /// # Errors
    /// If the plan cannot be run, or if the system refuses something.
    pub fn start(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        options: &Options,
    ) -> Result<Self, EmulationError> {
        Ok(Self::start_prepared(plan, inputs, seed, options, |_| Ok(()))?.0)
    }

    /// Like [`Emulation::start`], but calls `prepare` with the hosts before the clock starts.
    ///
    /// # Errors
    /// If the plan cannot be run, if the system refuses something, or if `prepare` fails.
    pub fn start_prepared<R>(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        options: &Options,
        prepare: impl FnOnce(&Hosts) -> Result<R, EmulationError>,
    ) -> Result<(Self, R), EmulationError> {
        let mut exchange = Exchange::with_outside(plan, inputs, seed, ROOM, &options.routers)?;
        if let Some(others) = options.connections {
            if !options.routers.is_empty() {
                return Err(EmulationError::not_emulated(
                    Part::Run,
                    "",
                    "connections as flows have no routers of the kernel",
                ));
            }
            exchange = exchange.with_connections(plan, others)?;
        }
        let at_hosts = match &options.capture {
            Some((path, sides)) => Capture::of_hosts(path, sides)?,
            None => Capture::none(),
        };
        let at_links = Capture::of_links(plan)?;
        let (mut hosts, devices) = Hosts::new()?;
        let routers = options.routers.iter().map(|&link| Router::new(plan, inputs, seed, link));
        let (routers, relays) = routers.collect::<Result<(Vec<_>, Vec<_>), _>>()?;
        hosts.connect(routers);
        let prepared = prepare(&hosts)?;
        let diagnoses = options.connections.map(|others| Ok((SockDiag::of_both(&hosts)?, others[0])));
        let (requests, to_thread) = channel();
        let (started, starts) = channel();
        let (stop, abandoned) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let wishes = (Arc::clone(&stop), Arc::clone(&abandoned));
        let interval = Duration::from_nanos(plan.record.interval_ns);
        let (realtime, pinned) = (options.realtime, options.pinned);
        let thread = thread::Builder::new()
            .name("airpath-link".to_owned())
            .spawn(move || {
                let (scheduling, _awake) = Scheduling::obtain(realtime, pinned);
                let mut thread = LinkThread {
                    end: exchange.network().end(),
                    exchange,
                    devices,
                    relays,
                    timing: Timing::new(),
                    at_hosts,
                    at_links,
                    clock: Clock::start(),
                    requests: to_thread,
                    stop: wishes.0,
                    abandoned: wishes.1,
                    interval,
                    longest_gap: Duration::ZERO,
                    unseen: Duration::ZERO,
                    woke_at: Timestamp::ZERO,
                    looked_at: Timestamp::ZERO,
                };
                // The receiver exists: it is the caller below.
                let _ = started.send((thread.clock, scheduling));
                thread.run();
                let at = thread.clock.now();
                Finished { thread, at }
            })
            .context("the link thread")?;
        let (clock, scheduling) = starts.recv().map_err(|_| broken())?;
        let observer = diagnoses.map(|diagnoses: Result<_, EmulationError>| {
            let (diagnoses, flow) = diagnoses?;
            Observer::start(diagnoses, flow, clock, interval, requests.clone(), &scheduling)
        });
        let mut emulation = Self {
            hosts,
            clock,
            scheduling,
            plan: plan.clone(),
            requests,
            stop,
            abandoned,
            thread: Some(thread),
            observer,
            listeners: Vec::new(),
        };
        for router in emulation.hosts.routers() {
            let requests = emulation.requests.clone();
            let listener = Listener::start(router, clock, interval, requests, &emulation.scheduling)?;
            emulation.listeners.push(listener);
        }
        Ok((emulation, prepared))
    }

    /// Returns one of the hosts; [`Host::enter`] opens sockets there.
    pub const fn host(&self, side: Side) -> &Host {
        self.hosts.host(side)
    }

    /// Starts a command in a host. It is killed at the end of the emulation at the latest, even if the
    /// emulation ends abnormally.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(&self, side: Side, command: &mut Command) -> Result<Child, EmulationError> {
        Ok(self.hosts.spawn(side, command)?)
    }

    /// Returns the clock of the network.
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// Returns the scheduling that the link thread was granted.
    pub const fn scheduling(&self) -> &Scheduling {
        &self.scheduling
    }

    /// Returns whether the plan's duration is over.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Schedules `work` on the network, between two packets, for example to report the state of endpoints. It
    /// must be quick, and does not run if the emulation ends before.
    pub fn on_network(&self, work: impl FnOnce(&mut ExternalNetwork) + Send + 'static) {
        // Fails only after the end, when there is nothing left to report.
        let _ = self.requests.send(Box::new(|exchange| work(exchange.network())));
    }

    /// Ends the emulation: kills the processes in the hosts, and returns the results. `flows` contains the
    /// summary of the endpoints of each flow of the plan; without it, summaries contain the network's
    /// observations.
    ///
    /// # Errors
    /// If a part of the emulation has failed.
    ///
    /// # Panics
    /// If the number of `flows` differs from that of the plan.
    pub fn stop(mut self, flows: Option<&[FlowSummary]>) -> Result<Emulated, EmulationError> {
        let sampled = self.observer.take().map(|observer| match observer {
            Ok(observer) => observer.finish(),
            Err(error) => Sampled { missing: error.to_string(), ..Sampled::default() },
        });
        let told: Vec<(u64, u64)> = self.listeners.drain(..).map(Listener::finish).collect();
        // A thread that reads this flag also sees all earlier requests.
        self.stop.store(true, Ordering::Release);
        let thread = self.thread.take().ok_or_else(broken)?;
        let Finished { mut thread, at } = thread.join().map_err(|_| broken())?;
        thread.close();
        let LinkThread {
            mut exchange, devices, relays, timing, at_hosts, at_links, longest_gap, unseen, ..
        } = thread;
        let routers = relays
            .iter()
            .zip(told)
            .map(|(relay, (observed, unobserved))| RouterRecord { observed, unobserved, ..relay.record() })
            .collect();
        let mut device_drops = [0; 2];
        for side in Side::BOTH {
            device_drops[side.index()] = self.host(side).device_drops()?;
        }
        drop((devices, relays));
        // The measurements are useful without the capture.
        let unwritten = at_hosts.finish().err().map(|error| error.to_string());
        let seen = exchange.summaries();
        let measured = Measured {
            scheduling: self.scheduling.clone(),
            lateness: timing.lateness(),
            median_s: Side::BOTH.map(|side| timing.median_s(side)),
            longest_gap_s: longest_gap.as_secs_f64(),
            unseen_share: unseen.as_secs_f64() / at.since(Timestamp::ZERO).as_secs_f64(),
            packets: exchange.counts(),
            device_drops,
            worst_second: Side::BOTH.map(|side| worst_second(timing.seconds(side), u64::from(MTU))),
            routers,
        };
        let connections = sampled.map(|sampled| Connections {
            flows: exchange.connections().to_vec(),
            beyond_packets: exchange.beyond_connections(),
            sampled,
        });
        let capture = at_links.finish()?;
        let network = exchange.network();
        let damage: Vec<_> = (0..self.plan.links.len()).map(|link| network.damage(link)).collect();
        let outcome = Outcome { capture, ..exchange.into_network().finish(flows.unwrap_or(&seen)) };
        let validity = Validity::new(&self.plan, &outcome, measured, &damage);
        Ok(Emulated { outcome, validity, lasted: at.since(Timestamp::ZERO), connections, unwritten })
    }
}

impl Drop for Emulation {
    fn drop(&mut self) {
        self.observer = None;
        self.listeners.clear();
        self.abandoned.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its result is no longer needed.
            let _ = thread.join();
        }
    }
}

fn broken() -> EmulationError {
    EmulationError::Broken("the link thread has ended".to_owned())
}
