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

/// How an emulation is done.
#[derive(Clone, Debug)]
pub struct Options {
    /// Ask for `SCHED_FIFO`, for sources too. What the link thread was granted is on record.
    pub realtime: bool,
    /// Ask to stay on one processor.
    pub pinned: bool,
    /// A file for the packets at the devices of these sides (pcapng).
    pub capture: Option<(PathBuf, Vec<Side>)>,
    /// Two flows of the plan, which take opposite ways: TCP connections between the addresses of the first become flows of
    /// their own, of which the kernel is asked once an interval. These two stand for what else senders and receivers send.
    pub connections: Option<[u32; 2]>,
    /// Links of the plan whose queue and rate are those of a router of the kernel, in a namespace of its own
    /// ([`Hosts::routers`]); not together with `connections`.
    pub routers: Vec<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self { realtime: true, pinned: true, capture: None, connections: None, routers: Vec::new() }
    }
}

/// An emulation under way: real hosts at both ends of a plan's network.
///
/// Flow number i of the plan goes between [`Side::address`] i of both sides; what its packets are is up to whoever opens
/// sockets or starts commands in the [`Host`]s. When it is dropped, everything ends.
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
    /// To the daemons at the routers, in their order.
    listeners: Vec<Listener>,
}

/// What comes of an emulation.
#[derive(Clone, Debug)]
pub struct Emulated {
    /// The tables that a simulation gives, up to the end of the last whole interval; and the capture of links.
    pub outcome: Outcome,
    /// How far they can be trusted.
    pub validity: Validity,
    /// How long it lasted.
    pub lasted: Duration,
    /// TCP connections, where these are flows of their own.
    pub connections: Option<Connections>,
    /// Why the capture of hosts is not whole; none if it is, or if there was none.
    pub unwritten: Option<String>,
}

/// TCP connections that were flows of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Connections {
    /// What sides sent in them, in the order of their numbers in the tables, after the flows of the plan.
    pub flows: Vec<ConnectionFlow>,
    /// Packets with data that are in no connection's flow because there were too many.
    pub beyond_packets: u64,
    /// How the kernel was asked for their sockets.
    pub sampled: Sampled,
}

/// What the link thread hands back.
struct Finished {
    thread: LinkThread,
    at: Timestamp,
}

/// Packets for which there is room from the start; 12 MB.
const ROOM: usize = 8192;

impl Emulation {
    /// Makes the hosts and starts the network of a plan between them. It runs until [`Emulation::stop`], or ends by
    /// itself with the plan's duration: from then on no packet goes anywhere.
    ///
    /// # Errors
    /// What in the plan cannot be run, or what the system refuses.
    pub fn start(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        options: &Options,
    ) -> Result<Self, EmulationError> {
        Ok(Self::start_prepared(plan, inputs, seed, options, |_| Ok(()))?.0)
    }

    /// As [`Emulation::start`], with something done in the hosts before the clock begins.
    ///
    /// # Errors
    /// What in the plan cannot be run, what the system refuses, or what `prepare` says.
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
                // Whoever waits for this has not gone: it is the caller below.
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

    /// One of the hosts: open sockets there with [`Host::enter`].
    pub const fn host(&self, side: Side) -> &Host {
        self.hosts.host(side)
    }

    /// Starts a command in a host. It is killed at the end of the emulation at the latest, however that ends.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn spawn(&self, side: Side, command: &mut Command) -> Result<Child, EmulationError> {
        Ok(self.hosts.spawn(side, command)?)
    }

    /// The clock by which the network runs.
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// What the link thread was granted.
    pub const fn scheduling(&self) -> &Scheduling {
        &self.scheduling
    }

    /// Whether the plan's duration is over.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Has something done with the network soon, between two packets: what the ends of flows say of themselves. It must
    /// be quick, and does not happen if the emulation ends before.
    pub fn on_network(&self, work: impl FnOnce(&mut ExternalNetwork) + Send + 'static) {
        // Only fails after the end, when there is nothing to be told any more.
        let _ = self.requests.send(Box::new(|exchange| work(exchange.network())));
    }

    /// Ends the emulation: kills what runs in the hosts, and gives the results. `flows` says what the ends of each flow
    /// of the plan know; without it their summaries hold what the network saw.
    ///
    /// # Errors
    /// If a part of it had broken.
    ///
    /// # Panics
    /// If `flows` are more or fewer than those of the plan.
    pub fn stop(mut self, flows: Option<&[FlowSummary]>) -> Result<Emulated, EmulationError> {
        let sampled = self.observer.take().map(|observer| match observer {
            Ok(observer) => observer.finish(),
            Err(error) => Sampled { missing: error.to_string(), ..Sampled::default() },
        });
        let told: Vec<(u64, u64)> = self.listeners.drain(..).map(Listener::finish).collect();
        // Whoever sees this also sees the requests that were made before.
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
        // What was measured is of use without the capture.
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
            // What it found does not matter any more.
            let _ = thread.join();
        }
    }
}

fn broken() -> EmulationError {
    EmulationError::Broken("the link thread has ended".to_owned())
}
