//! Replays packets of live connections, recorded by the router's programs, through the simulator's router: it
//! writes the same codes, and the same feedback up to integer rounding. The events of XCP's sender are
//! replayed through the simulator's sender.

use std::time::Duration;

use airpath_estimate::Configured;
use airpath_linux::host::{self, HostConfig};
use airpath_linux::native;
use airpath_linux::router::{Counters, Engine, Hook, Kind, Passed, Programs, Protocol};
use airpath_model::{Backlog, Bytes, LoadCode, PathHeader, Rate, Timestamp, XcpHeader};
use airpath_queue::{LoadFactor, LoadFactorConfig, RouterProtocol, Vcp, Xcp, XcpConfig};
use nix::net::if_::if_nametoindex;

use crate::support::empty_queue::{Data, engine, step};
use crate::support::replay::{difference, reference_windows};
use crate::support::{OwnCgroup, clock, load};
use crate::tools::check::{HOLD, check_host};
use crate::tools::namespaces::Pair;
use crate::tools::recorded::{self, Connection};
use crate::tools::wire::Wire;

const BUFFER: Bytes = Bytes::new(100_000);
const CAPACITY: Rate = Rate::from_bps(10_000_000);
/// One-way delay of the path.
const DELAY: Duration = Duration::from_millis(10);
/// Ethernet's header.
const LINK_HEADER: u32 = 14;

/// A sample of the counters by the daemon.
#[derive(Clone, Copy, Debug)]
struct Step {
    now: Timestamp,
    /// Packets that had arrived.
    count: u64,
    /// Number of updates of the programs' guidance, including this step.
    generation: u32,
}

/// The daemon's computations over the programs, step by step.
struct Router {
    programs: Programs,
    engine: Engine,
    last: Counters,
    recording: Recording,
}

/// Recorded packets and steps of the daemon.
#[derive(Debug, Default)]
struct Recording {
    /// The clock at the start, nanoseconds.
    began: u64,
    steps: Vec<Step>,
    passed: Vec<Passed>,
}

impl Recording {
    fn time(&self, clock: u64) -> Timestamp {
        Timestamp::ZERO + airpath_model::Duration::from_nanos(clock.saturating_sub(self.began))
    }

    fn intervals(&self) -> u32 {
        self.steps.last().map_or(0, |step| step.generation)
    }
}

impl Router {
    /// Attaches a router to the egress of that device in this thread's namespace.
    fn new(protocol: Protocol, device: &str) -> Self {
        let mut programs = Programs::load_recording(LINK_HEADER).unwrap();
        programs.attach(Kind::Protocol(protocol), if_nametoindex(device).unwrap(), Hook::Egress).unwrap();
        let last = programs.counters();
        let recording = Recording { began: clock(), ..Recording::default() };
        Self { programs, engine: engine(protocol, CAPACITY, BUFFER), last, recording }
    }

    fn step(&mut self) {
        let (counters, now) = (self.counters(), self.recording.time(clock()));
        step(&mut self.engine, &self.programs, &mut self.last, counters, now);
        self.programs.beat(HOLD).unwrap();
        let generation = self.programs.generation();
        self.recording.steps.push(Step { now, count: self.last.packets, generation });
    }

    /// Returns the counters of a moment when all counted packets are recorded. The programs record a packet
    /// after they count it.
    fn counters(&mut self) -> Counters {
        loop {
            self.recording.passed.extend(self.programs.passed().unwrap());
            let counters = self.programs.counters();
            let recorded: u64 = self.recording.passed.iter().map(|passed| u64::from(passed.segments)).sum();
            if counters.packets == recorded {
                return counters;
            }
        }
    }
}

/// Sends `traffic` through a router of that protocol, over a path of 20 ms. Returns the packets and the
/// events of the controllers, or an error if packets passed while the router's guidance had expired.
fn traffic_over(
    protocol: Protocol,
    traffic: impl Fn(&Pair) + Sync,
) -> Result<(Recording, Vec<host::Record>), String> {
    let (group, pair) = (OwnCgroup::join("airpath-recorded"), Pair::over_a_wire());
    let _wire = Wire::new(pair.middle.as_ref().unwrap(), DELAY, |_, _| true);
    let devices = Some(pair.devices());
    // The host starts before the router, which raises the codes that the host's programs set.
    let config = HostConfig { cgroup: group.folder.clone(), devices, record: true, ..HostConfig::default() };
    let host = load(&config);
    let mut recording = pair.left.within(|| {
        let mut router = Router::new(protocol, "left");
        std::thread::scope(|scope| {
            let traffic = scope.spawn(|| traffic(&pair));
            while !traffic.is_finished() {
                router.step();
                std::thread::sleep(Duration::from_millis(10));
            }
            traffic.join().unwrap();
        });
        router.step();
        assert_eq!(router.programs.records_lost(), 0);
        match router.last.unguided {
            0 => Ok(router.recording),
            unguided => Err(format!("{unguided} packets passed without guidance")),
        }
    })?;
    // Packets of two processors may be recorded out of order.
    recording.passed.sort_by_key(|packet| packet.count);
    assert_eq!(host.records_lost(), 0);
    Ok((recording, host.records().unwrap()))
}

/// Replays the recorded packets through `reference` in the order in which the kernel's router processed them,
/// and calls `compare` with each packet's recorded and recomputed header. A packet counts in the interval
/// whose sample counted it, and leaves with the guidance at that moment.
fn replay_packets<R: RouterProtocol<Data>>(
    recording: &Recording,
    reference: &mut R,
    data: impl Fn(&Passed) -> PathHeader,
    mut compare: impl FnMut(&Passed, &PathHeader),
) {
    let (mut arriving, mut leaving) =
        (recording.passed.iter().peekable(), recording.passed.iter().peekable());
    let packet = |passed: &Passed| {
        let header = if passed.data { data(passed) } else { PathHeader::None };
        Data { size: Bytes::new(passed.size.into()), header }
    };
    let mut leave = |reference: &mut R, passed: &Passed, now: Timestamp| {
        let mut packet = packet(passed);
        reference.on_departure(now, &mut packet, Backlog::default());
        if passed.data {
            compare(passed, &packet.header);
        }
    };
    let mut before = Timestamp::ZERO;
    for step in &recording.steps {
        while let Some(passed) = arriving.next_if(|passed| passed.count <= step.count) {
            let now = recording.time(passed.time).clamp(before, step.now);
            reference.on_arrival(now, &mut packet(passed), Backlog::default());
        }
        while let Some(passed) = leaving.next_if(|passed| passed.generation < step.generation) {
            leave(reference, passed, before);
        }
        while reference.next_timer() <= step.now {
            reference.on_timer(step.now, Backlog::default());
        }
        before = step.now;
    }
    for passed in leaving {
        leave(reference, passed, before);
    }
    assert_eq!(arriving.count(), 0, "all packets were counted");
}

#[test]
fn codes_of_live_packets_equal_those_of_the_simulated_router() {
    check_host(HOLD, || {
        let (recording, _) = traffic_over(Protocol::Vcp, |pair| {
            std::thread::scope(|scope| {
                scope.spawn(|| pair.transfer("airpath_vcp", 5_000_000));
                // For a while the load exceeds the target.
                std::thread::sleep(Duration::from_millis(2500));
                pair.transfer("cubic", 1_000_000);
            });
        })?;
        let source = Box::new(Configured::new(CAPACITY));
        let mut reference = Vcp::new(LoadFactor::new(LoadFactorConfig::default(), source).unwrap());
        let code = [LoadCode::Low, LoadCode::High, LoadCode::Overload];
        let mut seen = [0; 4];
        replay_packets(
            &recording,
            &mut reference,
            |passed| PathHeader::Load(code[passed.brought as usize - 1]),
            |passed, header| {
                assert_eq!(*header, PathHeader::Load(code[passed.left as usize - 1]), "{passed:?}");
                seen[passed.left as usize] += 1;
            },
        );
        println!("{} packets, {} intervals, codes {seen:?}", recording.passed.len(), recording.intervals());
        assert!(seen[1..].iter().all(|count| *count > 100), "each code occurs: {seen:?}");
        Ok(())
    });
}

#[test]
fn feedback_on_live_packets_equals_that_of_the_simulated_router() {
    check_host(HOLD, || {
        let (recording, told) = traffic_over(Protocol::Xcp, |pair| {
            std::thread::scope(|scope| {
                scope.spawn(|| pair.transfer("airpath_xcp", 3_000_000));
                std::thread::sleep(Duration::from_secs(1));
                pair.transfer("airpath_xcp", 1_000_000);
            });
        })?;
        let source = Box::new(Configured::new(CAPACITY));
        let mut reference = Xcp::new(XcpConfig::NS2, source, BUFFER).unwrap();
        let (mut worst, mut largest, mut signs) = (0.0_f64, 0.0_f64, [0, 0]);
        replay_packets(
            &recording,
            &mut reference,
            |passed| {
                // The program's X: whole nanoseconds, at most the round-trip time.
                let x_ns = (u64::from(passed.payload) * 1_000_000_000)
                    .checked_div(passed.throughput.into())
                    .unwrap_or(u64::MAX);
                PathHeader::Xcp(XcpHeader {
                    rtt: airpath_model::Duration::from_micros(passed.rtt_us.into()),
                    inter_packet: airpath_model::Duration::from_nanos(
                        x_ns.min(u64::from(passed.rtt_us) * 1000),
                    ),
                    // The sum over a train of segments.
                    delta_throughput: f64::from(passed.brought) * f64::from(passed.segments),
                })
            },
            |passed, header| {
                let PathHeader::Xcp(header) = header else { panic!("a header of another kind") };
                let expected = header.delta_throughput / f64::from(passed.segments);
                worst = worst.max((f64::from(passed.left) - expected).abs());
                largest = largest.max(expected.abs());
                signs[usize::from(passed.left < 0)] += usize::from(passed.left != 0);
            },
        );
        let packets = recording.passed.len();
        println!(
            "{packets} packets, {} intervals: worst difference {worst} byte/s of feedback up to {largest}, signs {signs:?}",
            recording.intervals()
        );
        assert!(signs.iter().all(|count| *count > 100), "both signs occur: {signs:?}");
        // As in tests/router_equivalence.rs.
        assert!(worst <= 0.5 + 800.0 / 65_536.0, "{worst}");
        check_sender(&recorded::longest(told));
        Ok(())
    });
}

/// The simulator's XCP sender has the same windows as the kernel's.
fn check_sender(connection: &Connection) {
    let Connection { mss, first_window, told, windows } = connection;
    let reference = reference_windows(native::Kind::Xcp, *mss, first_window / mss, told);
    let difference = difference(windows, &reference);
    println!("XCP's sender: {} events, windows differ by {difference:.1e}", windows.len());
    // Acknowledgments of trains cover many packets each.
    assert!(windows.len() > 100, "only {} events", windows.len());
    assert!(difference <= 1e-9, "{difference}");
}
