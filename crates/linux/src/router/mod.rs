//! The router side: BPF programs at the egress of a device, and the computations of each control interval.

mod bpf;
mod config;
mod engine;
mod fixed_point;
mod loss;
mod passage;
mod record;
mod shared;

pub use bpf::{Counters, Kind, Programs};
pub use config::{Capacity, Protocol, RouterConfig, RouterSettings};
pub use engine::{Engine, Guidance, HeaderSums};
pub use fixed_point::{Factor, FixedShares};
pub use loss::{Hook, LossConfig, Outcome, SIZE_CLASS, SIZE_CLASSES, outcomes};
pub use passage::{Look, Passage};
pub use record::Passed;

use std::time::Duration;

use airpath_model::{Backlog, Bytes, Timestamp};
use airpath_os_linux::{RootQdisc, Route};
use airpath_queue::QueueSample;
use nix::net::if_::if_nametoindex;
use nix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::Error;
use crate::daemon::{NOT_LOOKED_AT, Service, looked};
use crate::offloads::Offloads;

/// Sampling interval of the queue: EBE's measurement timer.
const SAMPLING: airpath_model::Duration = airpath_model::Duration::from_millis(10);

/// Time for which the programs follow their last instructions if the daemon sends nothing: five VCP
/// intervals.
const HOLD: Duration = Duration::from_secs(1);

/// Queue disciplines whose root does not count its backlog while packets pass; only the kernel's dump of
/// statistics sums it up.
const UNCOUNTED: [&str; 3] = ["mq", "mqprio", "pfifo_fast"];

/// An active router. Dropping it detaches its programs.
#[derive(Debug)]
pub struct Router {
    config: RouterConfig,
    programs: Programs,
    route: Route,
    device: u32,
    engine: Engine,
    passage: Passage,
    next_sample: Timestamp,
    last: Seen,
    /// Number of packets that had passed the programs and departed from the queue before the first reading.
    gone: u64,
    looked: Looked,
    intervals: u64,
    gaps: u64,
}

/// A reading of the queue with the results computed from it, for replay through the simulator's router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Looked {
    /// The monotonic clock, nanoseconds.
    pub clock: u64,
    /// The time that the computations used.
    pub now: Timestamp,
    /// The traffic since the previous reading.
    pub sample: QueueSample,
    /// Number of packets that had arrived.
    pub arrived_packets: u64,
    /// Number of packets that the queue had dropped.
    pub drops: u32,
    /// Number of instructions to the programs, after the reading.
    pub generation: u32,
}

/// The kernel's counters at the last reading.
#[derive(Clone, Debug)]
struct Seen {
    counters: Counters,
    qdisc: RootQdisc,
}

/// Maximum number of readings of programs and queue until no packet passes between the two.
const FIRST_LOOKS: usize = 100;

impl Seen {
    /// Returns the starting values of the attached programs' counters and of the queue. A packet that passed
    /// while the programs were loaded would otherwise depart from a queue in which it never arrived. If
    /// packets pass all the time, the last reading is used.
    fn first(
        mut counters: impl FnMut() -> Counters,
        mut queue: impl FnMut() -> Result<RootQdisc, Error>,
    ) -> Result<Self, Error> {
        let mut seen = Self { counters: counters(), qdisc: queue()? };
        for _ in 1..FIRST_LOOKS {
            let counters = counters();
            if counters.packets == seen.counters.packets {
                break;
            }
            seen = Self { counters, qdisc: queue()? };
        }
        Ok(seen)
    }
}

impl Router {
    /// Loads and attaches the programs in this thread's network namespace.
    pub fn start(config: RouterConfig) -> Result<Self, Error> {
        Self::start_with(config, Programs::load)
    }

    /// Starts the router as [`Router::start`] does, with recording of each packet for [`Router::passed`].
    pub fn start_recording(config: RouterConfig) -> Result<Self, Error> {
        Self::start_with(config, Programs::load_recording)
    }

    fn start_with(
        config: RouterConfig,
        load: impl FnOnce(u32) -> Result<Programs, Error>,
    ) -> Result<Self, Error> {
        let device = index_of(&config.device)?;
        let route = Route::open_with_timeout()
            .map_err(|source| Error::System { action: "cannot open rtnetlink", source })?;
        let said = |source| Error::System { action: "cannot look at the device", source };
        let no_queue = || Error::NoQueue { device: config.device.clone() };
        let queue = |qdisc: &RootQdisc| qdisc.kind != "noqueue";
        route.root_qdisc(device).map_err(said)?.filter(queue).ok_or_else(no_queue)?;
        let link_header = route.link_header(device).map_err(said)?.ok_or_else(|| Error::Config {
            problem: format!(
                "device {:?} is of a kind that is not known here; accepted: Ethernet, TUN",
                config.device
            ),
        })?;
        let engine = config.engine()?;
        let mut programs = load(link_header)?;
        if let Some((loss, device, hook, seed)) = &config.loss {
            programs.lose(&outcomes(loss)?, *seed)?;
            programs.attach(Kind::Loss, index_of(device)?, *hook)?;
        }
        programs.attach(Kind::Protocol(config.protocol), device, Hook::Egress)?;
        let last = Seen::first(
            || programs.counters(),
            || route.root_qdisc(device).map_err(said)?.filter(queue).ok_or_else(no_queue),
        )?;
        let mut router = Self {
            config,
            programs,
            route,
            device,
            engine,
            passage: Passage::default(),
            next_sample: Timestamp::ZERO,
            gone: last.counters.packets.saturating_sub(u64::from(last.qdisc.stats.qlen)),
            last,
            looked: Looked::default(),
            intervals: 0,
            gaps: 0,
        };
        router.step(clock()?)?;
        Ok(router)
    }

    /// Reads the queue and runs the computations that are due, at `clock` nanoseconds of a monotonic clock.
    pub fn step(&mut self, clock: u64) -> Result<(), Error> {
        let qdisc = self
            .route
            .root_qdisc(self.device)
            .map_err(|source| Error::System { action: "cannot look at the device", source })?;
        // A device has no queue discipline while one is replaced by another.
        let qdisc = match qdisc {
            Some(qdisc) => qdisc,
            None if index_of(&self.config.device).ok() == Some(self.device) => RootQdisc::default(),
            None => return Err(Error::DeviceGone { device: self.config.device.clone() }),
        };
        let counters = self.programs.counters();
        let met = self.programs.take_shortest();
        let backlog = Backlog {
            bytes: Bytes::new(u64::from(qdisc.stats.backlog)),
            packets: u64::from(qdisc.stats.qlen),
        };
        let before = std::mem::replace(&mut self.last, Seen { counters, qdisc });
        let (now, sample) = match self.passage.look(clock) {
            Look::At(now) => {
                let (sample, headers) = self.since(&before, backlog, met);
                self.engine.on_sample(now, &sample, &headers);
                (now, sample)
            }
            Look::Gap(now) => {
                self.gaps += 1;
                (now, QueueSample { backlog, ..QueueSample::default() })
            }
        };
        while self.engine.next_timer() <= now {
            if let Some(guidance) = self.engine.on_timer(now, backlog) {
                self.programs.guide(&guidance);
                self.intervals += 1;
            }
        }
        self.looked = Looked {
            clock,
            now,
            sample,
            arrived_packets: self.last.counters.packets,
            drops: self.last.qdisc.stats.drops,
            generation: self.programs.generation(),
        };
        self.programs.beat(HOLD)?;
        self.next_sample = now + SAMPLING;
        Ok(())
    }

    /// Returns the time until [`Router::step`] is due.
    pub fn wait(&self) -> airpath_model::Duration {
        self.next_sample.min(self.engine.next_timer()).since(self.passage.now())
    }

    /// Returns the counters.
    pub fn counters(&self) -> Counters {
        self.last.counters
    }

    /// Returns the last reading of the queue.
    pub const fn looked(&self) -> &Looked {
        &self.looked
    }

    /// Returns the packets that passed since the last call, if the programs record them, without those that
    /// left before the first reading.
    pub fn passed(&self) -> Result<Vec<Passed>, Error> {
        let mut passed = self.programs.passed()?;
        passed.retain(|packet| packet.count > self.gone);
        Ok(passed)
    }

    /// Returns the quantity that the engine reports under `name`.
    pub fn observed(&self, name: &str) -> Option<f64> {
        let mut found = None;
        self.engine.observe(&mut |reported, value| {
            if reported == name {
                found = Some(value);
            }
        });
        found
    }

    fn since(&self, before: &Seen, backlog: Backlog, met: Option<u64>) -> (QueueSample, HeaderSums) {
        let (now, then) = (&self.last.counters, &before.counters);
        let (stats, old) = (&self.last.qdisc.stats, &before.qdisc.stats);
        // A queue discipline that replaces another counts from zero again.
        let replaced = self.last.qdisc.kind != before.qdisc.kind || stats.bytes < old.bytes;
        let (departed, packets) = if replaced {
            (stats.bytes, stats.packets)
        } else {
            (stats.bytes - old.bytes, stats.packets.wrapping_sub(old.packets))
        };
        let counted = !UNCOUNTED.contains(&self.last.qdisc.kind.as_str());
        let shortest =
            met.filter(|_| counted).map_or(backlog.bytes, |met| backlog.bytes.min(Bytes::new(met)));
        let sample = QueueSample {
            arrived: Bytes::new(now.bytes - then.bytes),
            departed: Bytes::new(departed),
            departed_packets: u64::from(packets),
            shortest: Backlog { bytes: shortest, packets: u64::from(!shortest.is_zero()) },
            backlog,
        };
        let headers = HeaderSums {
            x_ns: now.sum_x - then.sum_x,
            x_rtt: now.sum_x_rtt - then.sum_x_rtt,
            bytes: now.data_bytes - then.data_bytes,
        };
        (sample, headers)
    }
}

impl Service for Router {
    fn wait(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.wait().as_nanos()))
    }

    fn step(&mut self) -> Result<(), Error> {
        self.step(clock()?)
    }

    fn status(&self) -> Value {
        let mut observed = serde_json::Map::new();
        self.engine.observe(&mut |name, value| {
            observed.insert(name.to_owned(), json!(value));
        });
        json!({
            "role": "router",
            "device": self.config.device,
            "protocol": format!("{:?}", self.config.protocol).to_lowercase(),
            "capacity": format!("{:?}", self.config.capacity).to_lowercase(),
            "loss": self.config.loss.is_some(),
            "queue": {
                "kind": self.last.qdisc.kind,
                "bytes": self.last.qdisc.stats.backlog,
                "packets": self.last.qdisc.stats.qlen,
                "drops": self.last.qdisc.stats.drops,
            },
            "intervals": self.intervals,
            "gaps": self.gaps,
            "counters": self.last.counters,
            "observed": observed,
        })
    }

    fn warnings(&self) -> Vec<String> {
        let Some((_, device, hook, _)) = &self.config.loss else { return Vec::new() };
        let name = device.clone();
        let offloads = match looked(move || Offloads::of(&name)) {
            Some(Ok(offloads)) => offloads,
            Some(Err(_)) => return Vec::new(),
            None => return vec![NOT_LOOKED_AT.to_owned()],
        };
        let (trains, cure) = match hook {
            Hook::Egress => (offloads.sends_trains, "tso off gso off"),
            Hook::Ingress => (offloads.joins, "gro off"),
        };
        let said = format!(
            "device {device}: a train of segments is lost as one packet; \"ethtool -K {device} {cure}\" mends it"
        );
        trains.then_some(said).into_iter().collect()
    }
}

/// Returns the index of a device in this thread's namespace.
fn index_of(device: &str) -> Result<u32, Error> {
    if_nametoindex(device).map_err(|_| Error::NoDevice { device: device.to_owned() })
}

/// Returns the time of the monotonic clock, which cannot be set.
fn clock() -> Result<u64, Error> {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_err(|error| Error::System { action: "cannot read the clock", source: error.into() })?;
    Ok(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Returns the first reading if `passing` packets pass before each reading of the queue, and the number
    /// of readings.
    fn first_of(mut passing: impl FnMut() -> u64) -> (Seen, usize) {
        let (came, looks) = (Cell::new(0), Cell::new(0));
        let seen = Seen::first(
            || Counters { packets: came.get(), ..Counters::default() },
            || {
                // The packets arrive after the reading of the programs, and leave before the reading of the
                // queue.
                came.set(came.get() + passing());
                looks.set(looks.get() + 1);
                let mut qdisc = RootQdisc::default();
                qdisc.stats.packets = came.get() as u32;
                Ok(qdisc)
            },
        );
        (seen.unwrap(), looks.get())
    }

    #[test]
    fn a_packet_between_the_first_two_samples_is_counted_on_both_sides_of_the_queue() {
        let mut packets = [3, 1, 0].into_iter();
        let (seen, looks) = first_of(|| packets.next().unwrap());
        assert_eq!((seen.counters.packets, seen.qdisc.stats.packets, looks), (4, 4, 3));
    }

    #[test]
    fn a_router_starts_under_continuous_traffic() {
        let (_, looks) = first_of(|| 1);
        assert_eq!(looks, FIRST_LOOKS);
    }
}
