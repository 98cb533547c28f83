//! The link thread in virtual time: on time, delayed, stopped, and without the wake-up of a packet.

use std::collections::VecDeque;
use std::os::unix::net::UnixDatagram;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Sender, channel};

use airpath_model::{Bytes, Rate};
use airpath_plan::Plan;

use super::*;
use crate::clock::virtual_time::VirtualTime;
use crate::plans::{constant, link, plan};

/// Bytes of each packet: 1 ms at the rate of the link.
const SIZE: u16 = 1000;
const BPS: u64 = 8_000_000;
/// Time that the link thread takes for each reading of the clock.
const LOOK: Duration = Duration::from_nanos(100);

fn at(micros: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_micros(micros)
}

/// Returns a plan of one second over a link of 8 Mbit/s and 5 ms, with an equal reverse path.
fn one_second() -> Plan {
    plan(1, vec![link("there", constant(BPS), 5.0, 100), link("back", constant(BPS), 5.0, 100)], 1)
}

/// Returns a UDP packet of the first flow from senders to receivers.
fn packet() -> Vec<u8> {
    let mut bytes = vec![0; usize::from(SIZE)];
    bytes[..10].copy_from_slice(&[0x45, 0, (SIZE >> 8) as u8, SIZE as u8, 0, 0, 0, 0, 64, 17]);
    bytes[12..16].copy_from_slice(&Side::Senders.address(0).unwrap().octets());
    bytes[16..20].copy_from_slice(&Side::Receivers.address(0).unwrap().octets());
    bytes
}

/// A link thread with its surroundings.
struct Bench {
    thread: LinkThread,
    time: &'static VirtualTime,
    senders: Arc<UnixDatagram>,
    receivers: Arc<UnixDatagram>,
    /// Times at which the thread began to rest.
    rests: Arc<Mutex<Vec<Timestamp>>>,
    requests: Sender<Request>,
    stop: Arc<AtomicBool>,
}

impl Bench {
    fn new(plan: &Plan) -> Self {
        let mut exchange = Exchange::new(plan, &[], 1, 16).unwrap();
        let (near, senders) = Tun::pair();
        let (far, receivers) = Tun::pair();
        let (clock, time) = VirtualTime::start();
        time.looks_take(LOOK);
        let (requests, to_thread) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let thread = LinkThread {
            end: exchange.network().end(),
            exchange,
            devices: [near, far],
            relays: Vec::new(),
            timing: Timing::new(),
            at_hosts: Capture::none(),
            at_links: Capture::of_links(plan).unwrap(),
            clock,
            requests: to_thread,
            stop: Arc::clone(&stop),
            abandoned: Arc::default(),
            interval: Duration::from_nanos(plan.record.interval_ns),
            longest_gap: Duration::ZERO,
            unseen: Duration::ZERO,
            woke_at: Timestamp::ZERO,
            looked_at: Timestamp::ZERO,
        };
        let [senders, receivers] = [senders, receivers].map(Arc::new);
        Self { thread, time, senders, receivers, rests: Arc::default(), requests, stop }
    }

    /// Makes the senders' host send this many packets, one every 2 ms from 10 ms on.
    fn send(&self, packets: u64) {
        for number in 0..packets {
            let senders = Arc::clone(&self.senders);
            self.time.at(at(10_000 + 2000 * number), move || {
                // Refused if too many wait to be read.
                let _ = senders.send(&packet());
            });
        }
    }

    /// Runs to the end; returns the number of packets that the receivers' host got.
    fn run(&mut self) -> u64 {
        let received = Arc::new(AtomicU64::new(0));
        let (count, receivers) = (Arc::clone(&received), Arc::clone(&self.receivers));
        let receive = move || {
            let packets = std::iter::from_fn(|| receivers.recv(&mut [0; 2048]).ok()).count();
            count.fetch_add(packets as u64, Ordering::Relaxed);
        };
        let meanwhile = receive.clone();
        let rests = Arc::clone(&self.rests);
        self.time.hold_while(move |now, time| {
            meanwhile();
            if time == REST {
                rests.lock().unwrap().push(now);
            }
            false
        });
        self.thread.run();
        self.thread.close();
        receive();
        received.load(Ordering::Relaxed)
    }

    /// Returns the last time at which the link thread read the clock.
    fn ended_at(&self) -> Timestamp {
        self.thread.clock.now()
    }
}

#[test]
fn a_prompt_thread_sees_every_packet_at_once() {
    let mut bench = Bench::new(&one_second());
    bench.send(400);
    assert_eq!(bench.run(), 400);
    let lateness = bench.thread.timing.lateness();
    assert_eq!((lateness.packets, lateness.late_packets, lateness.refused_packets), (400, 0, 0));
    assert!(lateness.max_s < 5e-6, "{lateness:?}");
    assert_eq!(bench.thread.unseen, Duration::ZERO);
    assert!(bench.thread.longest_gap <= LONGEST_SLEEP + Duration::from_micros(10));
}

#[test]
fn a_delayed_thread_loses_no_packets_and_reports_its_gap() {
    let mut bench = Bench::new(&one_second());
    bench.send(400);
    bench.time.delay(at(300_000), Duration::from_millis(50));
    assert_eq!(bench.run(), 400);
    // Of the packets sent from 300 ms on, 25 wait to be read and then pass the queue in turn. Those inside
    // the link at 300 ms are late: three, due from 300 to 306 ms.
    let lateness = bench.thread.timing.lateness();
    assert_eq!((lateness.packets, lateness.late_packets), (400, 3));
    assert!((0.044..0.051).contains(&lateness.max_s), "{lateness:?}");
    let delay = Duration::from_millis(50);
    assert!(bench.thread.longest_gap >= delay && bench.thread.longest_gap < delay + LONGEST_SLEEP);
    assert!(bench.thread.unseen >= delay && bench.thread.unseen < delay + LATE);
}

#[test]
fn a_packet_whose_wake_up_is_lost_is_read_after_the_longest_sleep() {
    let mut bench = Bench::new(&one_second());
    let senders = Arc::clone(&bench.senders);
    bench.time.at_silently(at(100_200), move || {
        senders.send(&packet()).unwrap();
    });
    assert_eq!(bench.run(), 1);
    let Bench { thread: LinkThread { exchange, timing, unseen, .. }, .. } = bench;
    assert_eq!((timing.lateness().late_packets, unseen), (0, Duration::ZERO));
    let begun = exchange.summaries()[0].start;
    assert!(
        begun > at(100_200) && begun <= at(100_200) + LONGEST_SLEEP + Duration::from_micros(10),
        "{begun:?}"
    );
}

/// The router has a queue, and releases a packet every millisecond, as at the rate of the link.
#[test]
fn packets_that_leave_a_router_during_a_request_do_not_wait_in_the_network() {
    let plan = one_second();
    let mut bench = Bench::new(&plan);
    bench.thread.exchange = Exchange::with_outside(&plan, &[], 1, 16, &[0]).unwrap();
    let (relay, router) = Relay::pair(Bytes::new(60_000), Rate::from_bps(BPS));
    bench.thread.relays.push(relay);
    let mut queue = VecDeque::new();
    let work = Arc::new(Mutex::new(move |releases: bool| {
        let mut bytes = packet();
        while router.recv(&mut bytes).is_ok() {
            queue.push_back(bytes.clone());
        }
        if releases && let Some(bytes) = queue.pop_front() {
            router.send(&bytes).unwrap();
        }
    }));
    for number in 0..400 {
        let senders = Arc::clone(&bench.senders);
        bench.time.at(at(10_000 + 1000 * number), move || {
            senders.send(&packet()).unwrap();
        });
    }
    for number in 0..420 {
        let work = Arc::clone(&work);
        bench.time.at(at(10_500 + 1000 * number), move || (work.lock().unwrap())(number >= 20));
    }
    let (requests, time) = (bench.requests.clone(), bench.time);
    bench.time.at(at(200_200), move || {
        requests.send(Box::new(|_| time.pass(Duration::from_millis(6)))).unwrap();
    });
    assert_eq!(bench.run(), 400);
    let record = bench.thread.relays[0].record();
    assert_eq!((record.vanished, record.strangers), (0, 0));
    assert!(record.early_bytes <= 2 * u64::from(SIZE), "{record:?}");
}

#[test]
fn a_busy_thread_sleeps_on_time() {
    let mut bench = Bench::new(&one_second());
    // A packet arrives every 20 µs for 20 ms, so no other sleep is long.
    for number in 0..1000 {
        let senders = Arc::clone(&bench.senders);
        bench.time.at(at(20 * number), move || {
            senders.send(&packet()).unwrap();
        });
    }
    bench.run();
    let rests = bench.rests.lock().unwrap();
    assert!(rests.len() >= 30, "{rests:?}");
    for pair in rests.windows(2) {
        let awake = pair[1].since(pair[0] + REST);
        assert!(awake <= AWAKE + Duration::from_micros(20), "{pair:?}");
    }
}

#[test]
fn a_stopped_thread_ends_with_its_interval_after_pending_requests() {
    let mut bench = Bench::new(&one_second());
    bench.send(400);
    let (stop, requests) = (Arc::clone(&bench.stop), bench.requests.clone());
    bench.time.at(at(230_000), move || {
        requests.send(Box::new(|exchange| exchange.network().on_goodput(0, 7))).unwrap();
        stop.store(true, Ordering::Relaxed);
    });
    let received = bench.run();
    assert!(bench.ended_at() >= at(300_000) && bench.ended_at() < at(300_000) + LONGEST_SLEEP);
    // The packets that leave before 300 ms, after 6 ms inside.
    assert_eq!(received, 142);
    let seen = bench.thread.exchange.summaries();
    let outcome = bench.thread.exchange.into_network().finish(&seen);
    assert_eq!(outcome.flow_series.table().integers("goodput_bytes").iter().sum::<i64>(), 7);
}

#[test]
fn a_thread_delayed_beyond_the_end_accepts_no_packets() {
    let mut bench = Bench::new(&one_second());
    bench.send(1000);
    bench.time.delay(at(900_000), Duration::from_millis(300));
    let received = bench.run();
    assert!(bench.ended_at() >= at(1_200_000));
    let counts = bench.thread.exchange.counts();
    // Packets sent up to 900 ms that were read; the link delivers them late.
    assert!((445..=446).contains(&counts.sent), "{counts:?}");
    assert_eq!((received, counts.delivered, counts.inside), (counts.sent, counts.sent, 0), "{counts:?}");
    assert!(bench.thread.longest_gap >= Duration::from_millis(300));
}

#[test]
fn a_report_counts_in_its_interval_even_if_the_thread_wakes_after_the_end() {
    let mut bench = Bench::new(&one_second());
    let requests = bench.requests.clone();
    bench.time.at_silently(at(98_000), move || {
        requests.send(Box::new(|exchange| exchange.network().on_goodput(0, 7))).unwrap();
    });
    bench.time.delay(at(97_500), Duration::from_millis(3));
    bench.run();
    let seen = bench.thread.exchange.summaries();
    let outcome = bench.thread.exchange.into_network().finish(&seen);
    let series = outcome.flow_series.table();
    assert_eq!((series.integers("goodput_bytes"), series.reals("time_s")), (&[7][..], &[0.1][..]));
}

/// Reports on endpoints may follow the end of the last interval.
#[test]
fn events_after_the_end_count_in_the_last_interval() {
    let mut bench = Bench::new(&one_second());
    let goodput = |bytes| -> Request { Box::new(move |exchange| exchange.network().on_goodput(0, bytes)) };
    bench.requests.send(goodput(1)).unwrap();
    bench.thread.run();
    assert!(bench.ended_at() >= at(1_000_000));
    bench.requests.send(goodput(1000)).unwrap();
    bench.thread.close();
    let seen = bench.thread.exchange.summaries();
    let outcome = bench.thread.exchange.into_network().finish(&seen);
    let series = outcome.flow_series.table();
    assert_eq!(series.integers("goodput_bytes"), [1, 1000]);
    assert!(series.reals("time_s")[1] > 0.99);
}
