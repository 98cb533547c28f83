//! The programs and the daemon's computations over a simulated queue with a virtual clock, compared with the
//! simulator's router (`support/standing.rs`). Some samples of the queue are late.
//! `tests/realtime/router_standing.rs` does the same with live queues.

use std::collections::VecDeque;

use airpath_linux::router::{
    Capacity, Counters, Engine, HeaderSums, Kind, Looked, Passed, Programs, Protocol,
};
use airpath_model::{Backlog, Bytes, Duration, RandomStream, Rate, Timestamp};
use airpath_queue::QueueSample;

use crate::support::packets::{ETHERNET, Segment, xcp_option};
use crate::support::standing::{
    OF_VCP, OF_VCP_OVER_BUSY, OF_XCP, Recording, Step, compare_with_vcp, compare_with_vcp_over_busy,
    compare_with_xcp, config,
};
use crate::support::{LONGEST_HOLD, can_load};

/// Rate of the link.
const LINK: Rate = Rate::from_bps(10_000_000);
/// Upper bound of a sender's data in flight, bytes.
const WINDOW: u64 = 90_000;
/// Interval between the daemon's samples of the queue.
const SAMPLING: Duration = Duration::from_millis(10);

/// A queue in front of a link: departure time and size of each packet in it.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<(Timestamp, u64)>,
    bytes: u64,
    last: Timestamp,
}

impl Queue {
    fn arrive(&mut self, now: Timestamp, size: u64) {
        let begins = self.last.max(now);
        self.last = begins + Duration::from_secs_f64(size as f64 / LINK.bytes_per_second());
        self.waiting.push_back((self.last, size));
        self.bytes += size;
    }

    /// Removes the packets that leave until `now`. Returns their bytes and their number.
    fn leave(&mut self, now: Timestamp) -> (u64, u64) {
        let (mut bytes, mut packets) = (0, 0);
        while let Some(&(leaves, size)) = self.waiting.front()
            && leaves <= now
        {
            self.waiting.pop_front();
            bytes += size;
            packets += 1;
        }
        self.bytes -= bytes;
        (bytes, packets)
    }

    fn backlog(&self) -> Backlog {
        Backlog { bytes: Bytes::new(self.bytes), packets: self.waiting.len() as u64 }
    }
}

/// The daemon, its programs and the queue.
struct Router {
    programs: Programs,
    kind: Kind,
    engine: Engine,
    queue: Queue,
    last: Counters,
    /// Since the last sample: arrival times of packets, departures, and the shortest queue seen by an
    /// arrival.
    arrivals: Vec<Timestamp>,
    departed: (u64, u64),
    shortest: Option<u64>,
    next_sample: Timestamp,
    quantities: &'static [&'static str],
    recording: Recording,
}

impl Router {
    fn new(protocol: Protocol, capacity: Capacity, quantities: &'static [&'static str]) -> Self {
        let programs = Programs::load_recording(ETHERNET as u32).unwrap();
        let mut router = Self {
            last: programs.counters(),
            programs,
            kind: Kind::Protocol(protocol),
            engine: config(protocol, capacity).engine().unwrap(),
            queue: Queue::default(),
            arrivals: Vec::new(),
            departed: (0, 0),
            shortest: None,
            next_sample: Timestamp::ZERO,
            quantities,
            recording: Recording { steps: Vec::new(), passed: Vec::new() },
        };
        router.look(Timestamp::ZERO);
        router
    }

    fn drain(&mut self, now: Timestamp) {
        let (bytes, packets) = self.queue.leave(now);
        self.departed = (self.departed.0 + bytes, self.departed.1 + packets);
    }

    fn arrive(&mut self, now: Timestamp, segment: &Segment) {
        self.drain(now);
        let met = self.queue.bytes;
        self.shortest = Some(self.shortest.map_or(met, |shortest| shortest.min(met)));
        let frame = segment.frame();
        self.programs.beat(LONGEST_HOLD).unwrap();
        self.programs.run(self.kind, &frame, 1).unwrap();
        self.arrivals.push(now);
        self.queue.arrive(now, frame.len() as u64);
    }

    /// The daemon's step at `now`.
    fn look(&mut self, now: Timestamp) {
        self.drain(now);
        let backlog = self.queue.backlog();
        let shortest = self.shortest.take().map_or(backlog.bytes, |met| backlog.bytes.min(Bytes::new(met)));
        let counters = self.programs.counters();
        let (bytes, packets) = std::mem::take(&mut self.departed);
        let sample = QueueSample {
            arrived: Bytes::new(counters.bytes - self.last.bytes),
            departed: Bytes::new(bytes),
            departed_packets: packets,
            shortest: Backlog { bytes: shortest, packets: u64::from(!shortest.is_zero()) },
            backlog,
        };
        let headers = HeaderSums {
            x_ns: counters.sum_x - self.last.sum_x,
            x_rtt: counters.sum_x_rtt - self.last.sum_x_rtt,
            bytes: counters.data_bytes - self.last.data_bytes,
        };
        self.last = counters;
        self.engine.on_sample(now, &sample, &headers);
        while self.engine.next_timer() <= now {
            if let Some(guidance) = self.engine.on_timer(now, backlog) {
                self.programs.guide(&guidance);
            }
        }
        let mut observed = vec![f64::NAN; self.quantities.len()];
        self.engine.observe(&mut |name, value| {
            if let Some(place) = self.quantities.iter().position(|one| *one == name) {
                observed[place] = value;
            }
        });
        let looked = Looked {
            clock: now.as_nanos(),
            now,
            sample,
            arrived_packets: counters.packets,
            drops: 0,
            generation: self.programs.generation(),
        };
        self.recording.steps.push(Step { looked, observed });
        // The virtual clock of this test replaces the kernel's.
        let (times, passed) = (std::mem::take(&mut self.arrivals), self.programs.passed().unwrap());
        assert_eq!(times.len(), passed.len());
        let dated = std::iter::zip(times, passed);
        self.recording.passed.extend(dated.map(|(now, passed)| Passed { time: now.as_nanos(), ..passed }));
        self.next_sample = now + SAMPLING;
    }

    /// Returns the time of the daemon's next step.
    fn due(&self) -> Timestamp {
        self.next_sample.min(self.engine.next_timer())
    }
}

/// Returns the scheduling delay of a sample: up to 60 ms for one in 20, half a second for one in 300.
fn lateness(random: &mut RandomStream) -> Duration {
    if random.chance(1.0 / 300.0) {
        Duration::from_millis(500)
    } else if random.chance(0.05) {
        Duration::from_secs_f64(random.uniform(0.0, 0.06))
    } else {
        Duration::from_micros(100)
    }
}

/// Sends 12 000 packets, from half to one and a half times the link's rate and back, in waves of 4000.
fn traffic_over(
    protocol: Protocol,
    capacity: Capacity,
    quantities: &'static [&'static str],
    segment: impl Fn(u32, usize) -> Segment,
) -> Recording {
    let mut router = Router::new(protocol, capacity, quantities);
    let (mut random, mut delays) = (RandomStream::new(1, "standing"), RandomStream::new(1, "delays"));
    let mut now = Timestamp::ZERO;
    let mut look = router.due() + lateness(&mut delays);
    for count in 0..12_000_u32 {
        let wave = f64::from(count % 4000).mul_add(1.0 / 2000.0, -1.0).abs();
        let payload = 100 + (random.bits() % 1300) as usize;
        let segment = segment(count, payload);
        let mean = (payload + 54) as f64 / (LINK.bytes_per_second() * (0.5 + wave));
        now += Duration::from_secs_f64(random.exponential(mean));
        while look <= now {
            router.look(look);
            look = router.due() + lateness(&mut delays);
        }
        router.drain(now);
        if router.queue.bytes < WINDOW {
            router.arrive(now, &segment);
        }
    }
    router.look(look);
    router.recording
}

#[test]
fn vcp_over_ebe_equals_the_simulated_router() {
    if can_load("router standing") {
        let segment = |_, payload| Segment { payload, ..Segment::default() };
        compare_with_vcp(&traffic_over(Protocol::Vcp, Capacity::Ebe, OF_VCP, segment));
    }
}

#[test]
fn vcp_over_busy_equals_the_simulated_router() {
    if can_load("router standing") {
        let segment = |_, payload| Segment { payload, ..Segment::default() };
        let recording = traffic_over(Protocol::Vcp, Capacity::Busy, OF_VCP_OVER_BUSY, segment);
        compare_with_vcp_over_busy(&recording);
    }
}

#[test]
fn xcp_over_ebe_equals_the_simulated_router_with_the_sampled_queue() {
    if can_load("router standing") {
        let segment = |count: u32, payload| {
            let rtt_us = [0, 5_000, 20_000, 60_000][count as usize % 4];
            let options = xcp_option(rtt_us, 40_000 + 977 * (count % 300), i32::MAX);
            Segment { options, payload, ..Segment::default() }
        };
        compare_with_xcp(&traffic_over(Protocol::Xcp, Capacity::Ebe, OF_XCP, segment));
    }
}
