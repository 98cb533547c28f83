//! A router's computations over a standing queue, with an estimated capacity, compared with the simulator's
//! router. Both get the same packets and the daemon's samples of the queue. The simulator's router processes
//! each arrival and departure, the daemon sums. The departure times between two samples are unknown:
//! departures are spread evenly between the samples, and the simulator's router gets the queue length in
//! either of two ways ([`DepartureQueue`]).

use std::collections::VecDeque;

use airpath_estimate::{Busy, BusyConfig, Ebe, EbeConfig};
use airpath_linux::router::{Capacity, Looked, Passed, Protocol, RouterConfig};
use airpath_model::{
    Backlog, Bytes, CapacitySource, Duration, LoadCode, PathHeader, Rate, Timestamp, XcpHeader,
};
use airpath_queue::{LoadFactor, LoadFactorConfig, RouterProtocol, Vcp, Xcp, XcpConfig};

use super::empty_queue::Data;

const BUFFER: Bytes = Bytes::new(575_000);
const POLL: Duration = Duration::from_millis(2);
const RATE: Rate = Rate::from_bps(10_000_000);
/// A full packet, as the queue counts it.
const FRAME: f64 = 1514.0;

/// The compared quantities.
pub(crate) const OF_VCP: &[&str] =
    &["capacity_estimate_bps", "load_factor", "steady_queue_bytes", "x1", "maintainer_on"];
pub(crate) const OF_VCP_OVER_BUSY: &[&str] = &["capacity_estimate_bps", "load_factor", "steady_queue_bytes"];
pub(crate) const OF_XCP: &[&str] = &[
    "capacity_estimate_bps",
    "feedback",
    "persistent_queue_bytes",
    "input_rate_bps",
    "mean_rtt_s",
    "control_interval_s",
];

/// Queue length at a packet's departure, for the simulator's router.
#[derive(Clone, Copy, Debug)]
enum DepartureQueue {
    /// The actual queue at each departure.
    Queue,
    /// The shortest queue of the sample interval, which the daemon knows from arrivals and the sample.
    Shortest,
}

/// A sample of the daemon, and the quantities computed from it.
pub(crate) struct Step {
    pub(crate) looked: Looked,
    pub(crate) observed: Vec<f64>,
}

/// All packets and steps of a router.
pub(crate) struct Recording {
    pub(crate) steps: Vec<Step>,
    pub(crate) passed: Vec<Passed>,
}

impl Recording {
    /// Returns the mean queue length of all samples, bytes.
    fn mean_queue(&self) -> f64 {
        let queues = self.steps.iter().map(|step| step.looked.sample.backlog.bytes.as_f64());
        queues.sum::<f64>() / self.steps.len() as f64
    }

    fn print(&self) {
        println!("{} packets, {:.0} bytes waited on average", self.passed.len(), self.mean_queue());
    }
}

/// Returns the configuration of a router with this capacity source at the device `out`.
pub(crate) fn config(protocol: Protocol, capacity: Capacity) -> RouterConfig {
    RouterConfig {
        device: "out".to_owned(),
        protocol,
        capacity,
        rate: Some(RATE),
        buffer: Some(BUFFER),
        packet: Bytes::new(1500),
        poll: POLL,
        netns: None,
        loss: None,
    }
}

/// Replays the packets of a recording through the simulator's router, sample by sample. Calls `compare` after
/// each sample that ended an interval.
fn replay<R: RouterProtocol<Data>>(
    recording: &Recording,
    behind: DepartureQueue,
    reference: &mut R,
    header: impl Fn(&Passed) -> PathHeader,
    mut compare: impl FnMut(&Step, &R),
) {
    let mut arriving = recording.passed.iter().peekable();
    let mut waiting: VecDeque<(Timestamp, Data)> = VecDeque::new();
    let mut backlog = Backlog::default();
    let (mut before, mut generation) = (recording.steps[0].looked.now, 0);
    for step in &recording.steps {
        let looked = &step.looked;
        let time = |packet: &Passed| {
            let ago = Duration::from_nanos(looked.clock.saturating_sub(packet.time));
            (looked.now - ago).clamp(before, looked.now)
        };
        let span = looked.now.since(before).as_nanos();
        let leaving = looked.sample.departed_packets;
        let mut left = 0;
        loop {
            let arrival = arriving
                .peek()
                .filter(|packet| packet.count <= looked.arrived_packets)
                .map(|packet| time(packet));
            let departure = (left < leaving).then(|| before + Duration::from_nanos(span * left / leaving));
            match (arrival, departure, waiting.front()) {
                (Some(arrives), Some(departs), Some((came, _))) if departs.max(*came) <= arrives => left += 1,
                (Some(arrives), ..) => {
                    let passed = arriving.next().unwrap();
                    let header = if passed.data { header(passed) } else { PathHeader::None };
                    let mut packet = Data { size: Bytes::new(passed.size.into()), header };
                    reference.on_arrival(arrives, &mut packet, backlog);
                    backlog.bytes += packet.size;
                    backlog.packets += 1;
                    waiting.push_back((arrives, packet));
                    continue;
                }
                (None, Some(_), Some(_)) => left += 1,
                _ => break,
            }
            let (came, mut packet) = waiting.pop_front().unwrap();
            backlog.bytes -= packet.size;
            backlog.packets -= 1;
            let seen = match behind {
                DepartureQueue::Queue => backlog,
                DepartureQueue::Shortest => looked.sample.shortest,
            };
            reference.on_departure(departure.unwrap_or(came).max(came), &mut packet, seen);
        }
        if let DepartureQueue::Shortest = behind {
            // A departing packet counts in the queue that it sees: with a packet of zero bytes, the queue is
            // exactly the daemon's sample.
            let mut nothing = Data { size: Bytes::ZERO, header: PathHeader::None };
            reference.on_departure(looked.now, &mut nothing, looked.sample.shortest);
        }
        assert_eq!(left, leaving, "all departed packets had arrived");
        while reference.next_timer() <= looked.now {
            reference.on_timer(looked.now, looked.sample.backlog);
        }
        if looked.generation != generation {
            compare(step, reference);
        }
        (before, generation) = (looked.now, looked.generation);
    }
    assert_eq!(recording.steps.last().unwrap().looked.drops, 0, "the queue never overflowed");
}

fn ebe(upsilon: f64) -> Box<dyn CapacitySource> {
    let (initial, buffer) = (RATE, BUFFER);
    let (packet, minimum) = (Bytes::new(1500), Rate::from_bps(60_000));
    let maximum = Rate::from_bps(12_000_000_000_000);
    Box::new(
        Ebe::new(EbeConfig {
            upsilon,
            capacity: initial,
            packet,
            buffer,
            min_capacity: minimum,
            max_capacity: maximum,
            ..EbeConfig::default()
        })
        .unwrap(),
    )
}

fn busy() -> Box<dyn CapacitySource> {
    Box::new(
        Busy::new(BusyConfig { capacity: RATE, poll_interval: Some(POLL), ..BusyConfig::default() }).unwrap(),
    )
}

fn observe<R: RouterProtocol<Data>>(reference: &R, name: &str) -> f64 {
    let mut found = f64::NAN;
    reference.observe(&mut |reported, value| {
        if reported == name {
            found = value;
        }
    });
    found
}

/// For each quantity, the differences of all intervals and the largest value.
struct Differences {
    names: &'static [&'static str],
    largest: Vec<f64>,
    all: Vec<Vec<f64>>,
}

impl Differences {
    fn new(names: &'static [&'static str]) -> Self {
        Self { names, largest: vec![0.0; names.len()], all: vec![Vec::new(); names.len()] }
    }

    fn add<R: RouterProtocol<Data>>(&mut self, step: &Step, reference: &R) {
        for (place, name) in self.names.iter().enumerate() {
            let (ours, theirs) = (step.observed[place], observe(reference, name));
            assert!(ours.is_finite() && theirs.is_finite(), "{name}: {ours}, {theirs}");
            self.largest[place] = self.largest[place].max(theirs.abs());
            self.all[place].push((ours - theirs).abs());
        }
    }

    /// Returns the median and the largest difference of a quantity, relative to its largest value.
    fn of(&mut self, name: &str) -> (f64, f64) {
        let place = self.place(name);
        let found = &mut self.all[place];
        found.sort_by(f64::total_cmp);
        let share = |difference: f64| difference / self.largest[place].max(f64::MIN_POSITIVE);
        (share(found[found.len() / 2]), share(found[found.len() - 1]))
    }

    /// Checks that a quantity differs by at most a millionth of its largest value plus rounding.
    fn assert_close(&mut self, name: &str, rounding: f64) {
        let (worst, largest) = (self.of(name).1, self.largest(name));
        assert!(
            worst * largest < 1e-6 * largest + rounding,
            "{name}: {worst} of {largest}, rounding {rounding}"
        );
    }

    fn largest(&self, name: &str) -> f64 {
        self.largest[self.place(name)]
    }

    fn place(&self, name: &str) -> usize {
        self.names.iter().position(|one| *one == name).unwrap()
    }

    fn print(&mut self) {
        println!("{} intervals", self.all[0].len());
        for name in self.names {
            let (median, worst) = self.of(name);
            println!(
                "{name}: differs by {median:.1e} at the median, {worst:.1e} at worst, as parts of {:.5e}",
                self.largest(name)
            );
        }
    }
}

/// Compares VCP's quantities with those of the simulator's router over EBE.
pub(crate) fn compare_with_vcp(recording: &Recording) {
    compare_vcp(recording, ebe(1.14), DepartureQueue::Queue, OF_VCP);
}

/// Compares the same over `busy`, with the daemon's knowledge of when the queue was empty: the departures of a
/// recording are spread evenly over time.
pub(crate) fn compare_with_vcp_over_busy(recording: &Recording) {
    compare_vcp(recording, busy(), DepartureQueue::Shortest, OF_VCP_OVER_BUSY);
}

fn compare_vcp(
    recording: &Recording,
    source: Box<dyn CapacitySource>,
    behind: DepartureQueue,
    names: &'static [&'static str],
) {
    let mut reference = Vcp::new(LoadFactor::new(LoadFactorConfig::default(), source).unwrap());
    let mut differences = Differences::new(names);
    let code = [LoadCode::Low, LoadCode::High, LoadCode::Overload];
    let header = |passed: &Passed| PathHeader::Load(code[(passed.brought.max(1) - 1) as usize]);
    replay(recording, behind, &mut reference, header, |step, reference| {
        differences.add(step, reference);
    });
    recording.print();
    differences.print();
    assert!(recording.mean_queue() > 10_000.0, "there is a standing queue");
    for name in names {
        assert!(differences.of(name).1 < 1e-9, "{name}");
    }
}

/// Compares XCP's quantities with those of a simulator's router that has the daemon's knowledge of the queue.
pub(crate) fn compare_with_xcp(recording: &Recording) {
    recording.print();
    assert!(recording.mean_queue() > 10_000.0, "there is a standing queue");
    // With the daemon's knowledge of the queue, the simulator's router computes the same values, feedback
    // included.
    let mut known = differences_of_xcp(recording, DepartureQueue::Shortest);
    for name in OF_XCP {
        known.assert_close(name, rounding_of(name, recording));
    }
    // If it processes each departure, only the persistent queue differs, and the feedback because of it.
    let mut seen = differences_of_xcp(recording, DepartureQueue::Queue);
    for name in ["capacity_estimate_bps", "input_rate_bps", "mean_rtt_s", "control_interval_s"] {
        seen.assert_close(name, rounding_of(name, recording));
    }
    // Departures are spread over 10 ms, although the bucket may send its 4 kB at once, and the daemon knows
    // the shortest queue from arrivals only.
    let worst = seen.of("persistent_queue_bytes").1 * seen.largest("persistent_queue_bytes");
    assert!(worst <= 3.0 * FRAME, "{worst} bytes of persistent queue");
}

/// Returns the largest error of a quantity from the programs' integers. They truncate each packet's X RTT to
/// units of 1024 ns µs. The mean RTT is the sum of these products over the sum of X, so it may be too small
/// by that amount over the smallest X. The error appears in the first round trips, and is well below a
/// millisecond, the minimum of the control interval.
fn rounding_of(name: &str, recording: &Recording) -> f64 {
    let counted = recording.passed.iter().filter(|passed| passed.rtt_us > 0);
    match name {
        "mean_rtt_s" => 1024e-15 / (counted.map(x_ns).min().unwrap() as f64 * 1e-9),
        _ => 0.0,
    }
}

/// Returns a packet's X as the programs compute it.
fn x_ns(passed: &Passed) -> u64 {
    let interval = (u64::from(passed.payload) * 1_000_000_000).checked_div(passed.throughput.into());
    interval.unwrap_or(u64::MAX).min(u64::from(passed.rtt_us) * 1000)
}

/// Returns the differences between a recording of XCP and the simulator's router.
fn differences_of_xcp(recording: &Recording, behind: DepartureQueue) -> Differences {
    let mut reference = Xcp::new(XcpConfig::NS2, ebe(1.40), BUFFER).unwrap();
    let mut differences = Differences::new(OF_XCP);
    let header = |passed: &Passed| {
        PathHeader::Xcp(XcpHeader {
            rtt: Duration::from_micros(passed.rtt_us.into()),
            inter_packet: Duration::from_nanos(x_ns(passed)),
            delta_throughput: f64::from(passed.brought) * f64::from(passed.segments),
        })
    };
    replay(recording, behind, &mut reference, header, |step, reference| differences.add(step, reference));
    println!("{behind:?}:");
    differences.print();
    differences
}
