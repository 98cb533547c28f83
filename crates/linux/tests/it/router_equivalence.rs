//! Equivalence of the kernel's programs, driven by the daemon's computations, and the simulator's router: the
//! same packets at the same times leave with the same codes, and with the same feedback up to integer
//! rounding.

use airpath_estimate::Configured;
use airpath_linux::router::{Counters, Engine, Kind, Programs, Protocol};
use airpath_model::{Backlog, Bytes, LoadCode, PathHeader, RandomStream, Rate, Timestamp, XcpHeader};
use airpath_queue::{LoadFactor, LoadFactorConfig, RouterProtocol, Vcp, Xcp, XcpConfig};

use crate::support::empty_queue::{Data, engine, step};
use crate::support::packets::{ETHERNET, Segment, checksums_hold, ecn, xcp_option};
use crate::support::{LONGEST_HOLD, can_load};

const BUFFER: Bytes = Bytes::new(100_000);
const CAPACITY: Rate = Rate::from_bps(10_000_000);

/// The daemon and its programs, with the simulator's clock and a queue that is always empty.
struct Kernel {
    programs: Programs,
    engine: Engine,
    last: Counters,
    kind: Kind,
}

impl Kernel {
    fn new(protocol: Protocol) -> Self {
        let programs = Programs::load(ETHERNET as u32).unwrap();
        let last = programs.counters();
        Self { programs, engine: engine(protocol, CAPACITY, BUFFER), last, kind: Kind::Protocol(protocol) }
    }

    /// The daemon's step at `now`.
    fn step(&mut self, now: Timestamp) {
        let counters = self.programs.counters();
        step(&mut self.engine, &self.programs, &mut self.last, counters, now);
    }

    fn pass(&self, frame: &[u8]) -> Vec<u8> {
        self.programs.beat(LONGEST_HOLD).unwrap();
        let left = self.programs.run(self.kind, frame, 1).unwrap().1;
        assert!(checksums_hold(&left));
        left
    }
}

/// Passes a packet through the simulator's router without queueing delay.
fn pass<T: RouterProtocol<Data>>(router: &mut T, now: Timestamp, mut packet: Data) -> PathHeader {
    router.on_arrival(now, &mut packet, Backlog::default());
    router.on_departure(now, &mut packet, Backlog::default());
    packet.header
}

fn timers<T: RouterProtocol<Data>>(router: &mut T, kernel: &mut Kernel, until: Timestamp) {
    loop {
        let due = router.next_timer().min(kernel.engine.next_timer());
        if due > until {
            return;
        }
        if router.next_timer() <= due {
            router.on_timer(due, Backlog::default());
        }
        kernel.step(due);
    }
}

#[test]
fn codes_equal_those_of_the_simulated_router() {
    if !can_load("router equivalence") {
        return;
    }
    let mut kernel = Kernel::new(Protocol::Vcp);
    let source = Box::new(Configured::new(CAPACITY));
    let mut router = Vcp::new(LoadFactor::new(LoadFactorConfig::default(), source).unwrap());
    let mut random = RandomStream::new(1, "codes");
    let mut now = Timestamp::ZERO;
    let mut seen = [0; 4];
    for count in 0..12_000 {
        // The load varies from half to one and a half times the capacity and back, in waves of 4000 packets.
        let wave = f64::from((count % 4000 - 2000_i32).abs()) / 2000.0;
        let size = 64 + (random.bits() % 1437) as usize;
        let mean = size as f64 / (CAPACITY.bytes_per_second() * (0.5 + wave));
        now += airpath_model::Duration::from_secs_f64(random.exponential(mean));
        timers(&mut router, &mut kernel, now);
        let brought = 1 + u8::from(random.bits().is_multiple_of(8));
        let segment = Segment { ecn: brought, payload: size - 54, ..Segment::default() };
        let code = [LoadCode::Low, LoadCode::High, LoadCode::Overload];
        let header = PathHeader::Load(code[usize::from(brought) - 1]);
        let PathHeader::Load(expected) =
            pass(&mut router, now, Data { size: Bytes::new(size as u64), header })
        else {
            panic!("a header of another kind");
        };
        let left = ecn(&kernel.pass(&segment.frame()));
        assert_eq!(left, expected as u8 + 1, "packet {count}");
        seen[usize::from(left)] += 1;
    }
    assert!(seen[1..].iter().all(|count| *count > 500), "each code occurs: {seen:?}");
}

#[test]
fn feedback_equals_that_of_the_simulated_router_up_to_rounding() {
    if !can_load("router equivalence") {
        return;
    }
    let mut kernel = Kernel::new(Protocol::Xcp);
    let source = Box::new(Configured::new(CAPACITY));
    let mut router = Xcp::new(XcpConfig::NS2, source, BUFFER).unwrap();
    let mut random = RandomStream::new(2, "feedback");
    let mut now = Timestamp::ZERO;
    let (mut worst, mut largest, mut positive, mut negative) = (0.0_f64, 0.0_f64, 0, 0);
    for count in 0..12_000 {
        let wave = f64::from((count % 4000 - 2000_i32).abs()) / 2000.0;
        let payload = 100 + (random.bits() % 1300) as usize;
        let options = |feedback| {
            xcp_option(
                [0, 20_000, 80_000, 350_000][count as usize % 4],
                40_000 + 977 * (count as u32 % 300),
                feedback,
            )
        };
        let requested = if random.chance(0.2) { random.uniform(-2e4, 2e4) as i32 } else { i32::MAX };
        let segment = Segment { options: options(requested), payload, ..Segment::default() };
        let frame = segment.frame();
        let mean = frame.len() as f64 / (CAPACITY.bytes_per_second() * (0.5 + wave));
        now += airpath_model::Duration::from_secs_f64(random.exponential(mean));
        timers(&mut router, &mut kernel, now);
        let rtt_us = u64::from([0_u32, 20_000, 80_000, 350_000][count as usize % 4]);
        let throughput = 40_000 + 977 * (count as u64 % 300);
        // The program's X: whole nanoseconds, at most the round-trip time.
        let x_ns = (payload as u64 * 1_000_000_000 / throughput).min(rtt_us * 1000);
        let header = PathHeader::Xcp(XcpHeader {
            rtt: airpath_model::Duration::from_micros(rtt_us),
            inter_packet: airpath_model::Duration::from_nanos(x_ns),
            delta_throughput: f64::from(requested),
        });
        let PathHeader::Xcp(expected) =
            pass(&mut router, now, Data { size: Bytes::new(frame.len() as u64), header })
        else {
            panic!("a header of another kind");
        };
        let left = kernel.pass(&frame);
        let at = segment.options_at() + 16;
        let written = f64::from(i32::from_be_bytes(left[at..at + 4].try_into().unwrap()));
        worst = worst.max((written - expected.delta_throughput).abs());
        largest = largest.max(expected.delta_throughput.abs());
        positive += i32::from(written > 0.5);
        negative += i32::from(written < -0.5);
    }
    println!("worst difference {worst} byte/s of feedback up to {largest} byte/s");
    assert!(positive > 1000 && negative > 1000, "{positive} up, {negative} down");
    // Half a byte/s by rounding to whole numbers. The two shares of each packet are truncated at 1/65536; the
    // last packets of an interval (of less than 400) get the remainder in addition.
    assert!(worst <= 0.5 + 800.0 / 65_536.0, "{worst}");
}
