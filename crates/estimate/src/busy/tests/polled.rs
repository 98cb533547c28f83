//! Links whose counters are polled, compared with their true rates.

use super::*;

const POLLS_MS: [u64; 4] = [1, 2, 5, 10];
/// The shortest memory of the source, in seconds.
const MEMORY_S: f64 = 0.1;

/// A serial link with a queue. Packets leave the queue one after the other; timers may be late.
struct Queue {
    source: Busy,
    bps: f64,
    waiting: u64,
    now: Timestamp,
    /// End of the last transmission.
    free: Timestamp,
    /// State of the generator of delays, and the longest delay of a timer.
    random: u64,
    longest_delay: Duration,
    timer: Timestamp,
}

impl Queue {
    fn new(poll_ms: u64, bps: f64) -> Self {
        Self::with(Some(Duration::from_millis(poll_ms)), bps)
    }

    /// Creates a link whose departures are seen if there is no interval.
    fn with(poll_interval: Option<Duration>, bps: f64) -> Self {
        let source = Busy::new(BusyConfig { poll_interval, ..BusyConfig::default() }).unwrap();
        Self {
            timer: source.next_timer(),
            source,
            bps,
            waiting: 0,
            now: Timestamp::ZERO,
            free: Timestamp::ZERO,
            random: 1,
            longest_delay: Duration::ZERO,
        }
    }

    fn backlog(&self) -> Backlog {
        Backlog { bytes: Bytes::new(self.waiting * PACKET), packets: self.waiting }
    }

    fn packet_s(&self) -> f64 {
        PACKET as f64 * 8.0 / self.bps
    }

    /// Returns the bound of the relative error on a constant link: a packet or an interval between readings, over
    /// the memory.
    fn bound(&self, poll_ms: u64) -> f64 {
        self.packet_s().min(poll_ms as f64 * 1e-3 + self.longest_delay.as_secs_f64()) / MEMORY_S
    }

    fn arrive(&mut self, packets: u64) {
        for _ in 0..packets {
            self.source.on_arrival(self.now, Bytes::new(PACKET), self.backlog());
            self.waiting += 1;
        }
        if self.free <= self.now {
            self.depart();
        }
    }

    fn depart(&mut self) {
        self.waiting -= 1;
        self.free = self.now + Duration::from_secs_f64(self.packet_s());
        self.source.on_departure(self.now, Bytes::new(PACKET), self.backlog());
    }

    fn delay(&mut self) -> Duration {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.longest_delay.mul_f64((self.random >> 11) as f64 / (1_u64 << 53) as f64)
    }

    fn advance(&mut self, by: Duration) {
        let until = self.now + by;
        loop {
            let departure = if self.waiting > 0 { self.free } else { Timestamp::NEVER };
            if departure.min(self.timer) > until {
                break;
            }
            self.now = departure.min(self.timer);
            if departure <= self.timer {
                self.depart();
            } else {
                self.source.on_timer(self.now, self.backlog());
                self.timer = self.source.next_timer() + self.delay();
            }
        }
        self.now = until;
    }

    /// Keeps packets waiting for some time, and returns the largest relative error of its second half.
    fn busy(&mut self, milliseconds: u64) -> f64 {
        let mut worst = 0.0_f64;
        for millisecond in 0..milliseconds {
            let missing = 100_u64.saturating_sub(self.waiting);
            self.arrive(missing);
            self.advance(Duration::from_millis(1));
            if millisecond >= milliseconds / 2 {
                worst = worst.max(self.error());
            }
        }
        worst
    }

    fn error(&mut self) -> f64 {
        (8.0 * self.source.capacity(self.now).unwrap() / self.bps - 1.0).abs()
    }
}

#[test]
fn a_constant_rate_is_known_to_a_packet_or_a_poll_in_the_memory() {
    for poll_ms in POLLS_MS {
        for bps in [3e5, 2e6, 1e7, 2e8] {
            let mut queue = Queue::new(poll_ms, bps);
            let (error, bound) = (queue.busy(4000), queue.bound(poll_ms));
            assert!(error <= bound, "{poll_ms} ms, {bps} bit/s: {error}, bound {bound}");
        }
    }
}

#[test]
fn late_readings_lose_no_accuracy() {
    for poll_ms in POLLS_MS {
        let mut queue = Queue::new(poll_ms, 1e7);
        queue.longest_delay = Duration::from_millis(15);
        let (error, bound) = (queue.busy(4000), queue.bound(poll_ms));
        assert!(error <= bound, "{poll_ms} ms: {error}, bound {bound}");
    }
}

/// The source takes deviations of 2 % for no jump (`memory::TOLERANCE`); a memory that began with an interval of both rates
/// is replaced after some 100 ms.
#[test]
fn a_step_is_followed_within_500_ms() {
    for poll_ms in POLLS_MS {
        let mut queue = Queue::new(poll_ms, 1e7);
        queue.busy(2000);
        for bps in [1e6, 2e7, 5e6, 1e7] {
            queue.bps = bps;
            let (error, bound) = (queue.busy(1000), queue.bound(poll_ms) + 0.02);
            assert!(error <= bound, "{poll_ms} ms, {bps} bit/s: {error}, bound {bound}");
            queue.busy(1000);
        }
    }
}

/// Six packets keep the queue for 7.5 ms: never two readings at 10 ms.
#[test]
fn busy_periods_shorter_than_the_interval_between_readings_are_not_seen() {
    for (poll_ms, is_seen) in [(1, true), (2, true), (10, false)] {
        let mut queue = Queue::new(poll_ms, 1e7);
        queue.busy(1000);
        queue.advance(Duration::from_secs(1));
        queue.bps = 8e6;
        for _ in 0..100 {
            queue.arrive(6);
            queue.advance(Duration::from_micros(53_300));
        }
        let error = queue.error();
        assert_eq!(error < 0.1, is_seen, "{poll_ms} ms: {error}");
    }
}

/// Thirty packets keep the queue for 34.8 ms, then the link is idle for 6 ms. A sum of gaps is as long as the readings
/// in the burst, and its error that of one packet or interval.
#[test]
fn intervals_in_which_the_queue_was_empty_do_not_count() {
    for poll_ms in POLLS_MS {
        let mut queue = Queue::new(poll_ms, 1e7);
        let mut worst = 0.0_f64;
        for burst in 0..200 {
            queue.arrive(30);
            queue.advance(Duration::from_millis(41));
            if burst > 20 {
                worst = worst.max(queue.error());
            }
        }
        let measured_s = ((34 / poll_ms - 1) * poll_ms) as f64 * 1e-3;
        let bound = queue.bound(poll_ms) * MEMORY_S / measured_s;
        assert!(worst <= bound, "{poll_ms} ms: {worst}, bound {bound}");
    }
}

#[test]
fn an_idle_link_keeps_its_estimate() {
    for poll_ms in POLLS_MS {
        let mut queue = Queue::new(poll_ms, 1e7);
        queue.busy(1000);
        queue.advance(Duration::from_secs(1));
        let before = queue.source.capacity(queue.now);
        queue.advance(Duration::from_secs(10));
        assert_eq!(queue.source.capacity(queue.now), before, "{poll_ms} ms");
    }
}

#[test]
fn an_outage_lowers_the_estimate_until_packets_depart() {
    for poll_ms in POLLS_MS {
        let mut queue = Queue::new(poll_ms, 1e7);
        queue.busy(2000);
        queue.free = queue.now + Duration::from_secs(2);
        queue.advance(Duration::from_secs(2));
        let during = 8.0 * queue.source.capacity(queue.now).unwrap();
        assert!(during < 2e6, "{poll_ms} ms: {during}");
        let error = queue.busy(400);
        assert!(error <= queue.bound(poll_ms).max(0.02), "{poll_ms} ms: {error}");
    }
}

/// A driver that reads counters reports sums.
#[test]
fn sums_count_like_their_packets() {
    let run = |sums: bool| {
        let mut source =
            Busy::new(BusyConfig { poll_interval: Some(Duration::from_millis(10)), ..BusyConfig::default() })
                .unwrap();
        for reading in 1..200_u64 {
            let now = Timestamp::ZERO + Duration::from_millis(10 * reading);
            // The queue is empty at some time in every seventh interval.
            let left = |packet| u64::from(reading % 7 > 0 || packet != 3);
            let backlog = |packets| Backlog { bytes: Bytes::new(packets * PACKET), packets };
            let packets = 8 + reading % 3;
            if sums {
                let shortest = (0..packets).map(left).min().unwrap();
                source.on_departure(now, Bytes::new(packets * PACKET), backlog(shortest));
            } else {
                for packet in 0..packets {
                    source.on_departure(now, Bytes::new(PACKET), backlog(left(packet)));
                }
            }
            source.on_timer(now, backlog(5));
        }
        source.capacity(Timestamp::ZERO)
    };
    assert_eq!(run(true), run(false));
}
