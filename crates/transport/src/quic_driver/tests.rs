extern crate std;

use std::boxed::Box;
use std::sync::{Arc, Mutex};
use std::vec::Vec;

use airpath_model::{Duration, NullProbe, Pacing, PathHeader};

use super::*;

/// The events reported to a controller, in order.
#[derive(Clone, Debug)]
enum Call {
    Sent,
    Ack(AckEvent),
    Congestion(CongestionEvent),
    Timer(Timestamp),
}

/// A controller that records events and, if configured, dismisses congestion signals.
#[derive(Debug)]
struct Listener {
    told: Arc<Mutex<Vec<Call>>>,
    dismisses: bool,
    timer: Timestamp,
}

impl Controller for Listener {
    fn on_sent(&mut self, _: &SendEvent, _: &mut dyn Probe) -> PathHeader {
        self.told.lock().unwrap().push(Call::Sent);
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, _: &mut dyn Probe) {
        self.told.lock().unwrap().push(Call::Ack(*event));
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _: &mut dyn Probe) {
        self.told.lock().unwrap().push(Call::Congestion(*event));
    }

    fn dismissed_signal(&self) -> bool {
        self.dismisses
    }

    fn on_timer(&mut self, now: Timestamp, _: &mut dyn Probe) {
        self.told.lock().unwrap().push(Call::Timer(now));
        self.timer = Timestamp::NEVER;
    }

    fn next_timer(&self) -> Timestamp {
        self.timer
    }

    fn control(&self) -> Control {
        Control { window: Bytes::new(100_000), pacing: Pacing::Off, quantum: Bytes::MAX }
    }

    fn phase(&self) -> Phase {
        Phase::Steady
    }
}

/// A driver with a recording controller.
struct Bench {
    driver: QuicDriver,
    told: Arc<Mutex<Vec<Call>>>,
}

impl Bench {
    fn new() -> Self {
        Self::with(false, Timestamp::NEVER)
    }

    fn with(dismisses: bool, timer: Timestamp) -> Self {
        let told = Arc::new(Mutex::new(Vec::new()));
        let listener = Listener { told: Arc::clone(&told), dismisses, timer };
        Self { driver: QuicDriver::new(Box::new(listener), Bytes::new(1200)), told }
    }

    fn sends(&mut self, ms: u64, bytes: u64) {
        self.driver.on_sent(at(ms), bytes, &mut NullProbe);
    }

    /// Acknowledges packets of 1200 bytes sent at these times.
    fn acks(&mut self, ms: u64, sent_ms: &[u64], in_flight: u64) {
        for &sent in sent_ms {
            self.driver.on_acked(at(ms), at(sent), 1200, &mut NullProbe);
        }
        self.driver.on_end_acks(in_flight, false, &mut NullProbe);
    }

    fn loses(&mut self, ms: u64, sent_ms: u64, bytes: u64, persistent: bool) {
        self.driver.on_lost(at(ms), at(sent_ms), bytes, persistent, &mut NullProbe);
    }

    fn marks(&mut self, ms: u64, sent_ms: u64) {
        self.driver.on_marked(at(ms), at(sent_ms), &mut NullProbe);
    }

    /// Returns the events since the last call, as if the stack asked for the window.
    fn take_calls(&mut self) -> Vec<Call> {
        self.driver.settle(&mut NullProbe);
        std::mem::take(&mut self.told.lock().unwrap())
    }

    fn signals(&mut self) -> Vec<CongestionSignal> {
        self.take_calls()
            .iter()
            .filter_map(|told| if let Call::Congestion(event) = told { Some(event.signal) } else { None })
            .collect()
    }
}

fn at(ms: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(ms)
}

/// Quinn reports the two in the opposite order.
#[test]
fn a_loss_is_reported_before_the_acknowledgment_that_reveals_it() {
    let mut bench = Bench::new();
    for ms in 0..5 {
        bench.sends(ms, 1200);
    }
    bench.take_calls();
    bench.acks(40, &[4], 4800);
    bench.loses(40, 1, 2400, false);
    let told = bench.take_calls();
    let [Call::Congestion(loss), Call::Ack(ack)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(
        (loss.signal, loss.lost, loss.flight_size),
        (CongestionSignal::Loss, Bytes::new(2400), Bytes::new(6000))
    );
    assert_eq!((ack.acked, ack.newly_lost), (Bytes::new(1200), Bytes::new(2400)));
    assert_eq!((ack.in_flight_before, ack.in_flight), (Bytes::new(6000), Bytes::new(2400)));
    assert!(ack.in_recovery, "packets sent before the loss was found");
    assert_eq!(ack.rtt_sample, Some(Duration::from_millis(36)));
    assert_eq!(ack.rtt.minimum, Duration::from_millis(36));
    assert_eq!(ack.latest_sent_at, Some(at(4)));
    assert_eq!(ack.in_flight_at_send, Bytes::new(6000));
}

#[test]
fn each_window_is_reduced_at_most_once() {
    let mut bench = Bench::new();
    for ms in 0..10 {
        bench.sends(ms, 1200);
    }
    bench.acks(40, &[4], 10_800);
    bench.loses(40, 0, 1200, false);
    assert_eq!(bench.signals(), [CongestionSignal::Loss]);
    // Packets sent before that time belong to the same event, including marked ones.
    bench.acks(45, &[9], 8400);
    bench.loses(45, 5, 1200, false);
    bench.marks(45, 9);
    assert_eq!(bench.signals(), []);
    bench.sends(50, 1200);
    bench.acks(90, &[50], 0);
    bench.marks(90, 50);
    assert_eq!(bench.signals(), [CongestionSignal::EcnCe]);
    // The mark caused a reduction: a loss from before it causes no second one.
    bench.loses(91, 60, 1200, false);
    assert_eq!(bench.signals(), []);
    let counters = QuicCounters { recoveries: 2, persistent: 0, ecn_reductions: 1 };
    assert_eq!(bench.driver.counters(), counters);
}

#[test]
fn recovery_ends_with_a_packet_sent_after_it_began() {
    let mut bench = Bench::new();
    bench.sends(0, 1200);
    bench.sends(1, 1200);
    bench.sends(45, 1200);
    bench.acks(40, &[1], 2400);
    bench.loses(40, 0, 1200, false);
    bench.take_calls();
    bench.acks(85, &[45], 0);
    let told = bench.take_calls();
    let [Call::Ack(ack)] = told.as_slice() else { panic!("{told:?}") };
    assert!(!ack.in_recovery);
}

#[test]
fn a_dismissed_loss_does_not_hide_a_mark() {
    let mut bench = Bench::with(true, Timestamp::NEVER);
    bench.sends(0, 1200);
    bench.sends(1, 1200);
    bench.acks(40, &[1], 1200);
    bench.loses(40, 0, 1200, false);
    bench.marks(40, 1);
    assert_eq!(bench.signals(), [CongestionSignal::Loss, CongestionSignal::EcnCe]);
}

#[test]
fn persistent_congestion_is_a_timeout() {
    let mut bench = Bench::new();
    bench.sends(0, 1200);
    bench.sends(2000, 1200);
    bench.acks(2040, &[2000], 1200);
    bench.loses(2040, 0, 1200, true);
    let told = bench.take_calls();
    let timeouts: Vec<_> = told
        .iter()
        .filter_map(|told| {
            if let Call::Congestion(event) = told { Some((event.signal, event.consecutive)) } else { None }
        })
        .collect();
    assert_eq!(timeouts, [(CongestionSignal::Timeout, 1)]);
    assert_eq!(bench.driver.counters().persistent, 1);
}

#[test]
fn a_loss_without_an_acknowledgment_is_reported_at_once_and_counted_with_the_next() {
    let mut bench = Bench::new();
    bench.sends(0, 1200);
    bench.sends(30, 1200);
    bench.loses(50, 0, 1200, false);
    assert_eq!(bench.signals(), [CongestionSignal::Loss]);
    bench.acks(70, &[30], 0);
    let told = bench.take_calls();
    let [Call::Ack(ack)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(ack.newly_lost, Bytes::new(1200));
    assert_eq!(bench.driver.in_flight(), Bytes::ZERO);
}

/// One packet per millisecond and a 40 ms round trip: the delivery rate equals the sending rate, and a round
/// is a round trip.
#[test]
fn rounds_and_rates_are_those_of_the_path() {
    let mut bench = Bench::new();
    let (mut rounds, mut rates) = (0, Vec::new());
    for ms in 0..400 {
        bench.sends(ms, 1200);
        if let Some(sent) = ms.checked_sub(40) {
            bench.acks(ms, &[sent], 40 * 1200);
        }
        for told in bench.take_calls() {
            if let Call::Ack(ack) = told {
                rounds = ack.round;
                rates.push(ack.rate.map_or(0, |rate| rate.rate().as_bps()));
            }
        }
    }
    assert_eq!(rounds, 9, "360 ms from the first acknowledgment on");
    assert!(rates[80..].iter().all(|&rate| rate == 9_600_000), "{:?}", &rates[80..90]);
    // Delivered packets are not kept.
    assert!(bench.driver.sent.len() < 100, "{}", bench.driver.sent.len());
}

#[test]
fn a_due_timer_fires_with_the_next_packet() {
    let mut bench = Bench::with(false, at(10));
    bench.sends(5, 1200);
    bench.sends(12, 1200);
    let told = bench.take_calls();
    assert!(
        matches!(told.as_slice(), [Call::Sent, Call::Timer(now), Call::Sent] if *now == at(12)),
        "{told:?}"
    );
}
