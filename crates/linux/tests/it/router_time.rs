//! A router over a device, driven by a virtual clock: late and missing steps, clocks and counters that jump,
//! a queue that does not drain, an outage. `tests/realtime/router_clocks.rs` and `router_faults.rs` run the
//! daemon in real time.

use std::net::UdpSocket;
use std::time::Instant;

use airpath_linux::Error;
use airpath_linux::daemon::Service;
use airpath_linux::router::{Capacity, LossConfig, Protocol, Router, RouterConfig, RouterSettings};
use airpath_model::Rate;

use crate::support::can_route;
use crate::support::namespace::Namespace;

/// Size of each packet with headers, bytes.
const PACKET: u64 = 1042;
const PAYLOAD: usize = 1000;
/// The capacity, byte/s, and VCP's target as a fraction of it.
const CAPACITY: f64 = 1_250_000.0;
const TARGET: f64 = 0.98;
/// Queues that send immediately, and one that sends a packet in 100 s. They never overflow here.
const FAST: &str = "pfifo limit 20000";
const ALSO_FAST: &str = "bfifo limit 20000000";
const SLOW: &str = "tbf rate 80bit burst 1600 limit 1000000";

/// Runs `work` in a namespace with a device `va` over the queue `queue`, where only `work` sends packets.
fn with_device(queue: &str, work: impl FnOnce(&Namespace) + Send) {
    if !can_route(std::any::type_name_of_val(&work)) {
        return;
    }
    let namespace = Namespace::new();
    namespace.within(|| std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")).unwrap();
    namespace.command("ip link add va type veth peer name vb");
    for device in ["va", "vb"] {
        namespace.command(&format!("ip link set {device} up"));
    }
    namespace.command("ip address add 10.9.0.1/24 dev va");
    namespace.command("ip neighbour add 10.9.0.2 lladdr 02:00:00:00:00:02 dev va nud permanent");
    namespace.command(&format!("tc qdisc add dev va root {queue}"));
    namespace.within(|| work(&namespace));
}

/// A VCP router and the time since it started.
struct Clocked {
    router: Router,
    socket: UdpSocket,
    /// Its clock when it started, nanoseconds.
    began: u64,
}

impl Clocked {
    fn new() -> Self {
        let settings = RouterSettings {
            device: Some("va".to_owned()),
            protocol: Some(Protocol::Vcp),
            capacity: Some(Capacity::Configured),
            rate: Some(Rate::from_bps(10_000_000)),
            // Almost no losses. Their program counts the packets that pass while it has guidance.
            loss: Some(LossConfig::named("gilbert").with("mean_loss", 1e-6).with("mean_burst", 1.0)),
            ..RouterSettings::default()
        };
        let router = Router::start(RouterConfig::try_from(settings).unwrap()).unwrap();
        let began = router.looked().clock;
        let socket = UdpSocket::bind("10.9.0.1:0").unwrap();
        socket.connect("10.9.0.2:9").unwrap();
        Self { router, socket, began }
    }

    /// Sends packets. They are in the queue when this function returns.
    fn send(&self, packets: u64) {
        for _ in 0..packets {
            assert_eq!(self.socket.send(&[0; PAYLOAD]).unwrap(), PAYLOAD);
        }
    }

    /// Runs a step with the clock at `millis` milliseconds since the start.
    fn step(&mut self, millis: i64) {
        self.router.step(self.began.wrapping_add_signed(millis * 1_000_000)).unwrap();
    }

    /// Runs steps in time, one each 10 ms.
    fn steps(&mut self, millis: std::ops::RangeInclusive<i64>) {
        millis.step_by(10).for_each(|millis| self.step(millis));
    }

    fn status(&self, name: &str) -> u64 {
        self.router.status()[name].as_u64().unwrap()
    }

    /// Returns the time of the router's computations, milliseconds.
    fn now(&self) -> f64 {
        self.router.looked().now.as_secs_f64() * 1e3
    }

    fn observed(&self, name: &str) -> f64 {
        self.router.observed(name).unwrap()
    }

    /// Checks the load factor for this number of packets in an interval of 200 ms with an empty queue.
    fn expect_load(&self, packets: u64) {
        let expected = (packets * PACKET) as f64 / (TARGET * CAPACITY * 0.2);
        let load = self.observed("load_factor");
        assert!((load - expected).abs() < 1e-9, "{load}, not {expected}");
    }
}

#[test]
fn steps_on_time_end_an_interval_every_200_ms() {
    with_device(FAST, |_| {
        let mut clocked = Clocked::new();
        for millis in (10..=2000).step_by(10) {
            assert_eq!(clocked.router.wait().as_secs_f64().to_bits(), 0.01_f64.to_bits());
            clocked.send(2);
            clocked.step(millis);
            assert_eq!(clocked.status("intervals"), millis as u64 / 200);
        }
        clocked.expect_load(40);
        assert_eq!(clocked.status("gaps"), 0);
    });
}

/// Counters that jump: packets between two samples count the same whether they arrived at once or over an
/// interval.
#[test]
fn a_burst_between_two_samples_is_counted_completely() {
    with_device(FAST, |_| {
        let mut clocked = Clocked::new();
        clocked.send(3000);
        clocked.step(10);
        let sample = clocked.router.looked().sample;
        assert_eq!((sample.arrived.get(), sample.departed.get()), (3000 * PACKET, 3000 * PACKET));
        assert_eq!((sample.departed_packets, sample.backlog.packets), (3000, 0));
        clocked.steps(20..=200);
        clocked.expect_load(3000);
    });
}

#[test]
fn late_steps_lengthen_the_interval_and_lose_no_packets() {
    with_device(FAST, |_| {
        let mut clocked = Clocked::new();
        clocked.steps(10..=100);
        clocked.send(50);
        // 90 ms late, within an interval.
        clocked.step(200);
        assert_eq!(clocked.status("intervals"), 1);
        clocked.expect_load(50);
        clocked.steps(210..=400);
        clocked.send(80);
        // The ends of four intervals were missed.
        clocked.step(1300);
        assert_eq!((clocked.status("intervals"), clocked.status("gaps")), (3, 0));
        let rate = (80 * PACKET) as f64 * 8.0 / 0.9;
        assert!((clocked.observed("input_rate_bps") - rate).abs() < 1e-6 * rate);
        // The next one ends at its regular time.
        clocked.steps(1310..=1390);
        assert_eq!(clocked.status("intervals"), 3);
        clocked.step(1400);
        assert_eq!(clocked.status("intervals"), 4);
    });
}

/// A stopped process, a suspended machine, a clock that is set: packets during the gap belong to no interval.
#[test]
fn gaps_belong_to_no_interval() {
    with_device(FAST, |_| {
        let mut clocked = Clocked::new();
        clocked.steps(10..=100);
        for (gap, jump) in (1..).zip([2_000, 31_557_600_000, -5_000, -31_557_600_000]) {
            clocked.send(100);
            clocked.step(100 + jump);
            assert_eq!((clocked.status("gaps"), clocked.status("intervals")), (gap, 0), "{jump}");
            assert!((clocked.now() - 100.0).abs() < 1e-6, "{jump}: {} ms", clocked.now());
            assert_eq!(clocked.router.looked().sample.arrived.get(), 0, "{jump}");
            assert_eq!(clocked.router.looked().sample.departed.get(), 0, "{jump}");
            assert_eq!(clocked.router.looked().arrived_packets, 100 * gap, "{jump}");
            clocked.began = clocked.began.wrapping_add_signed(jump * 1_000_000);
        }
        clocked.send(7);
        clocked.steps(110..=200);
        assert_eq!((clocked.status("gaps"), clocked.status("intervals")), (4, 1));
        clocked.expect_load(7);
    });
}

/// The daemon's guidance is valid for a second of the kernel's clock, not of the daemon's clock.
#[test]
fn guidance_is_valid_by_the_kernels_clock() {
    with_device(FAST, |_| {
        let mut clocked = Clocked::new();
        for jump in [31_557_600_000, -31_557_600_005] {
            clocked.began = clocked.began.wrapping_add_signed(jump * 1_000_000);
            clocked.step(0);
            // If the thread is delayed for a second, its packets pass without guidance; then the loop tries
            // again.
            for millis in (10..).step_by(10) {
                let began = Instant::now();
                clocked.step(millis);
                let before = clocked.router.counters();
                clocked.send(10);
                clocked.step(millis + 5);
                let after = clocked.router.counters();
                if began.elapsed().as_millis() < 1000 {
                    assert_eq!(after.unguided, before.unguided, "{jump}");
                    assert_eq!(after.unlost + after.lost - before.unlost - before.lost, 10, "{jump}");
                    break;
                }
            }
        }
    });
}

#[test]
fn a_backlog_that_does_not_drain_is_the_steady_queue() {
    with_device(SLOW, |_| {
        let mut clocked = Clocked::new();
        let (mut arrived, mut departed) = (0, 0);
        for step in 1..=1000 {
            if step <= 40 {
                clocked.send(1);
            }
            // One late step in ten.
            clocked.step(10 * step + if step % 10 == 5 { 8 } else { 0 });
            let sample = clocked.router.looked().sample;
            arrived += sample.arrived.get();
            departed += sample.departed.get();
            assert_eq!(arrived - departed, sample.backlog.bytes.get(), "step {step}");
            assert!(sample.shortest.bytes <= sample.backlog.bytes, "step {step}");
        }
        let waits = clocked.router.looked().sample.backlog.bytes.as_f64();
        assert!(waits > 30.0 * PACKET as f64, "{waits} bytes");
        // The queue may have sent a packet since: one in 100 s.
        let steady = clocked.observed("steady_queue_bytes");
        assert!((steady - waits).abs() < 2.0 * PACKET as f64, "{steady} bytes, {waits} wait");
        assert_eq!((clocked.status("intervals"), clocked.status("gaps")), (50, 0));
    });
}

/// Each new queue discipline counts from zero. For a moment there is none.
#[test]
fn a_new_queueing_discipline_counts_from_zero() {
    with_device(FAST, |namespace| {
        let mut clocked = Clocked::new();
        clocked.send(50);
        clocked.step(10);
        namespace.command(&format!("tc qdisc replace dev va root {ALSO_FAST}"));
        clocked.send(20);
        clocked.step(20);
        let sample = clocked.router.looked().sample;
        assert_eq!((sample.arrived.get(), sample.departed.get()), (20 * PACKET, 20 * PACKET));
        assert_eq!(clocked.router.status()["queue"]["kind"], "bfifo");
        namespace.command("tc qdisc del dev va root");
        clocked.step(30);
        namespace.command(&format!("tc qdisc add dev va root {FAST}"));
        clocked.send(30);
        clocked.step(40);
        let sample = clocked.router.looked().sample;
        assert_eq!((sample.arrived.get(), sample.departed.get()), (30 * PACKET, 30 * PACKET));
        clocked.steps(50..=200);
        clocked.expect_load(100);
        assert_eq!(clocked.status("gaps"), 0);
    });
}

/// No packets pass for ten seconds, and the device is down for part of them: the load factor falls to zero,
/// and rises again with the packets.
#[test]
fn the_load_is_zero_during_an_outage() {
    with_device(FAST, |namespace| {
        let mut clocked = Clocked::new();
        clocked.send(300);
        clocked.steps(10..=200);
        clocked.expect_load(300);
        clocked.steps(210..=3000);
        namespace.command("ip link set va down");
        clocked.steps(3010..=7000);
        namespace.command("ip link set va up");
        namespace.command("ip neighbour replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev va nud permanent");
        clocked.steps(7010..=10_000);
        clocked.expect_load(0);
        clocked.send(200);
        clocked.steps(10_010..=10_200);
        clocked.expect_load(200);
        assert_eq!((clocked.status("intervals"), clocked.status("gaps")), (51, 0));
    });
}

#[test]
fn removal_of_the_device_stops_the_router() {
    with_device(FAST, |namespace| {
        let mut clocked = Clocked::new();
        clocked.step(10);
        namespace.command("ip link del va");
        let gone = clocked.router.step(clocked.began + 20_000_000).unwrap_err();
        assert!(matches!(gone, Error::DeviceGone { .. }), "{gone}");
    });
}
