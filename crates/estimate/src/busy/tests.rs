//! Links with known capacities.

use super::*;

mod polled;

const PACKET: u64 = 1500;

/// Drives a source: packets that depart at given times, and timers in between.
struct Link {
    source: Busy,
    now: Timestamp,
}

impl Link {
    fn new(change: impl FnOnce(&mut BusyConfig)) -> Self {
        let mut config = BusyConfig::default();
        change(&mut config);
        Self { source: Busy::new(config).unwrap(), now: Timestamp::ZERO }
    }

    fn advance(&mut self, by: Duration) {
        let until = self.now + by;
        while self.source.next_timer() <= until {
            let at = self.source.next_timer();
            self.source.on_timer(at, Backlog::default());
        }
        self.now = until;
    }

    fn depart(&mut self, waiting: u64) {
        let backlog = Backlog { bytes: Bytes::new(waiting * PACKET), packets: waiting };
        self.source.on_departure(self.now, Bytes::new(PACKET), backlog);
    }

    fn arrive(&mut self) {
        self.source.on_arrival(self.now, Bytes::new(PACKET), Backlog::default());
    }

    /// Sends packets back to back at a rate in bit/s for some seconds, with others waiting.
    fn busy(&mut self, bps: f64, seconds: f64) {
        let gap = Duration::from_secs_f64(PACKET as f64 * 8.0 / bps);
        for _ in 0..(seconds / gap.as_secs_f64()) as u64 {
            self.advance(gap);
            self.depart(5);
        }
    }

    fn bps(&mut self) -> f64 {
        8.0 * self.source.capacity(self.now).unwrap()
    }
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() < tolerance, "{found} {expected}");
}

#[test]
fn the_departure_rate_of_a_backlogged_link_is_its_capacity() {
    for bps in [2e5, 3e6, 4e7, 1e9] {
        let mut link = Link::new(|_| {});
        link.busy(bps, 1.0);
        close(link.bps(), bps, 1e-6);
    }
}

#[test]
fn an_idle_link_keeps_its_estimate() {
    let mut link = Link::new(|_| {});
    link.busy(5e6, 1.0);
    link.depart(0);
    for _ in 0..1000 {
        link.advance(Duration::from_millis(10));
        link.arrive();
        link.depart(0);
    }
    close(link.bps(), 5e6, 1e-6);
}

#[test]
fn a_jump_replaces_the_memory_at_once() {
    for (before, after) in [(1e6, 2e7), (2e7, 1e6)] {
        let mut link = Link::new(|_| {});
        link.busy(before, 3.0);
        link.busy(after, 0.2);
        close(link.bps(), after, 0.05);
    }
    let mut link = Link::new(|config| config.jump = 0.0);
    link.busy(2e7, 3.0);
    link.busy(1e6, 0.05);
    assert!(link.bps() > 5e6, "the memory is still that of the former rate");
}

/// The noise of single gaps averages out.
#[test]
fn random_gaps_are_averaged() {
    let mut link = Link::new(|_| {});
    let mut state = 1_u64;
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        link.advance(Duration::from_secs_f64(-libm::log(uniform) * PACKET as f64 * 8.0 / 2e7));
        link.depart(3);
    }
    close(link.bps(), 2e7, 0.1);
}

/// A burst of departures at one instant counts once, with the gap to the next.
#[test]
fn bursts_have_the_rate_of_their_mean() {
    let mut link = Link::new(|_| {});
    for _ in 0..300 {
        link.advance(Duration::from_millis(12));
        for _ in 0..16 {
            link.depart(4);
        }
    }
    close(link.bps(), 16.0 * PACKET as f64 * 8.0 / 0.012, 1e-3);
}

#[test]
fn an_open_gap_lowers_the_estimate_until_the_next_departure() {
    let mut link = Link::new(|_| {});
    link.busy(1e7, 2.0);
    link.advance(Duration::from_secs(2));
    let during = link.bps();
    assert!(during < 2e6, "{during}");
    let mut constant = Link::new(|config| config.open_gaps = false);
    constant.busy(1e7, 2.0);
    constant.advance(Duration::from_secs(2));
    close(constant.bps(), 1e7, 1e-6);
}

/// Without a measurement, only a load near the estimate lets it grow.
#[test]
fn the_estimate_grows_if_arrivals_leave_no_evidence() {
    for (every_ms, grows) in [(2, true), (20, false)] {
        let mut link = Link::new(|config| config.capacity = Rate::from_bps(6_000_000));
        for _ in 0..(1000 / every_ms) {
            link.advance(Duration::from_millis(every_ms));
            link.arrive();
            link.depart(0);
        }
        let expected = if grows { link.bps() > 7e6 } else { (link.bps() / 6e6 - 1.0).abs() < 1e-9 };
        assert!(expected, "{}", link.bps());
    }
}

#[test]
fn xcp_drains_the_queue_to_the_target() {
    let mut link = Link::new(|_| {});
    link.busy(8e6, 1.0);
    let interval = |queue: f64| ControlInterval {
        now: Timestamp::ZERO,
        length: Duration::from_millis(100),
        input_rate: 4e5,
        probing: 1.0,
        mean_rtt: Duration::from_millis(100),
        queue,
        shortest_queue: queue,
        mean_queue: queue,
        last_queue: queue,
        buffer: 100_000.0,
    };
    let spare = link.source.spare(&interval(9000.0));
    close(spare.bandwidth, 6e5, 1e-4);
    // 5 ms of 1 MB/s.
    close(spare.queue, 4000.0, 1e-3);
    let small = link.source.spare(&ControlInterval { buffer: 2000.0, ..interval(9000.0) });
    close(small.queue, 8000.0, 1e-3);
}

#[test]
fn impossible_parameters_are_rejected_by_name() {
    let refused = |change: fn(&mut BusyConfig)| {
        let mut config = BusyConfig::default();
        change(&mut config);
        Busy::new(config).unwrap_err().parameter
    };
    assert_eq!(refused(|config| config.capacity = Rate::ZERO), "capacity");
    assert_eq!(refused(|config| config.jump = -1.0), "jump");
    assert_eq!(refused(|config| config.growth = 0.9), "growth");
    assert_eq!(refused(|config| config.poll_interval = Some(Duration::ZERO)), "poll_interval");
}
