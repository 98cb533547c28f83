use airpath_model::{Duration, NullProbe, RttEstimate};

use super::*;
use crate::Fixed;

const MSS: Bytes = Bytes::new(1000);
const RTT: Duration = Duration::from_millis(100);

fn abc() -> Abc {
    Abc::new(AbcConfig::default(), None, MSS * 10, MSS).unwrap()
}

fn ack(mark: AbcMark, in_flight: u64) -> AckEvent {
    let mut event = AckEvent::at(Timestamp::ZERO);
    event.acked = MSS;
    event.mss = MSS;
    event.in_flight_before = MSS * in_flight;
    event.window_limited = true;
    event.rtt = RttEstimate { latest: RTT, smoothed: RTT * 2, variation: Duration::ZERO, minimum: RTT };
    event.path = PathHeader::Abc(mark);
    event
}

/// Reports the mark with as much data in flight as the window allows. Returns the new window in packets.
fn ack_with_mark(controller: &mut Abc, mark: AbcMark) -> f64 {
    let in_flight = controller.control().window.get() / MSS.get();
    controller.on_ack(&ack(mark, in_flight), &mut NullProbe);
    controller.window / MSS.as_f64()
}

fn signal(kind: CongestionSignal, consecutive: u32) -> CongestionEvent {
    let mut event = CongestionEvent::at(Timestamp::ZERO, kind);
    event.mss = MSS;
    event.consecutive = consecutive;
    event
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-9, "{left} for {right}");
}

#[test]
fn marks_move_the_window_by_a_packet_and_the_additive_increase() {
    let mut controller = abc();
    close(ack_with_mark(&mut controller, AbcMark::Accelerate), 11.1);
    close(ack_with_mark(&mut controller, AbcMark::Brake), 10.1 + 1.0 / 11.1);
    // An acknowledgment of three packets counts as three.
    let mut three = ack(AbcMark::Brake, 10);
    three.acked = MSS * 3;
    let before = controller.window / MSS.as_f64();
    controller.on_ack(&three, &mut NullProbe);
    close(controller.window / MSS.as_f64(), before - 3.0 + 3.0 / before);
}

/// With a fraction f of accelerates, the window converges to 2 f + 1/w = 1.
#[test]
fn the_window_is_in_equilibrium_when_increase_and_marks_balance() {
    for every in [11_u32, 21, 41] {
        // Of `every` marks, (every − 1) / 2 are accelerates: f = (1 − 1/every) / 2, and w = `every`.
        let mut controller = abc();
        let mut sum = 0.0;
        for _ in 0..2000 {
            for mark in 0..every {
                let mark = if mark % 2 == 1 { AbcMark::Accelerate } else { AbcMark::Brake };
                sum += ack_with_mark(&mut controller, mark) / f64::from(2000 * every);
            }
        }
        // Each mark changes the window by one packet, which limits the accuracy of the mean.
        assert!((sum - f64::from(every)).abs() < 1.0, "{sum} packets for {every}");
    }
}

#[test]
fn brakes_stop_at_the_floor_and_do_not_lift_a_smaller_window() {
    let mut controller = abc();
    for _ in 0..100 {
        ack_with_mark(&mut controller, AbcMark::Brake);
    }
    assert!((5.0..6.3).contains(&(controller.window / 1000.0)), "{}", controller.window);
    controller.window = 2000.0;
    close(ack_with_mark(&mut controller, AbcMark::Brake), 2.5);
    let config = AbcConfig { minimum_window: 1.0, additive_increase: 0.0, ..AbcConfig::default() };
    let mut low = Abc::new(config, None, MSS * 10, MSS).unwrap();
    for _ in 0..20 {
        ack_with_mark(&mut low, AbcMark::Brake);
    }
    close(low.window, 1000.0);
}

#[test]
fn the_window_is_at_most_twice_what_is_in_flight_and_grows_only_when_used() {
    let mut controller = abc();
    controller.on_ack(&ack(AbcMark::Accelerate, 4), &mut NullProbe);
    close(controller.window, 10_000.0);
    controller.on_ack(&ack(AbcMark::Accelerate, 5), &mut NullProbe);
    close(controller.window, 10_000.0);
    controller.on_ack(&ack(AbcMark::Accelerate, 6), &mut NullProbe);
    close(controller.window, 11_100.0);
    let mut unused = ack(AbcMark::Accelerate, 11);
    unused.window_limited = false;
    controller.on_ack(&unused, &mut NullProbe);
    close(controller.window, 11_100.0);
    unused.path = PathHeader::Abc(AbcMark::Brake);
    controller.on_ack(&unused, &mut NullProbe);
    assert!(controller.window < 10_300.0);
}

#[test]
fn packets_leave_at_two_windows_in_the_newest_round_trip() {
    let mut controller = abc();
    assert_eq!(controller.control().pacing, Pacing::FromWindow);
    ack_with_mark(&mut controller, AbcMark::Accelerate);
    // 2 · 11.1 packets in 100 ms; the window is whole bytes.
    assert_eq!(controller.control().pacing, Pacing::At(Rate::from_bps(2 * 11_100 * 8 * 10)));
}

#[test]
fn a_loss_changes_nothing_and_after_a_timeout_the_window_doubles() {
    let mut controller = abc();
    for kind in [CongestionSignal::Loss, CongestionSignal::EcnCe] {
        controller.on_congestion(&signal(kind, 0), &mut NullProbe);
        close(controller.window, 10_000.0);
    }
    controller.on_congestion(&signal(CongestionSignal::Timeout, 1), &mut NullProbe);
    close(controller.window, 1000.0);
    close(ack_with_mark(&mut controller, AbcMark::Accelerate), 2.0);
    controller.on_congestion(&signal(CongestionSignal::Timeout, 2), &mut NullProbe);
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    close(controller.window, 10_000.0);
}

#[test]
fn other_signals_change_nothing() {
    let mut controller = abc();
    let mut none = ack(AbcMark::Accelerate, 10);
    none.path = PathHeader::None;
    let mut duplicate = ack(AbcMark::Brake, 10);
    duplicate.acked = Bytes::ZERO;
    for event in [none, duplicate] {
        controller.on_ack(&event, &mut NullProbe);
        close(controller.window, 10_000.0);
    }
}

#[test]
fn the_smaller_of_two_windows_counts() {
    for packets in [4, 40] {
        let second = Fixed::new(MSS * packets, None, MSS).unwrap();
        let mut controller = Abc::new(AbcConfig::default(), Some(Box::new(second)), MSS * 10, MSS).unwrap();
        assert_eq!(controller.control().window, MSS * packets.min(10));
        // Marks continue to change the other window, up to twice the data in flight.
        for _ in 0..100 {
            ack_with_mark(&mut controller, AbcMark::Accelerate);
        }
        assert_eq!(controller.control().window, MSS * packets);
        assert!(controller.window <= 1000.0 * (2 * packets).max(10) as f64);
    }
}

#[test]
fn abc_sends_accelerates_and_requires_their_echo() {
    let mut controller = abc();
    let asked = controller.on_sent(&SendEvent::at(Timestamp::ZERO, MSS), &mut NullProbe);
    assert_eq!(asked, PathHeader::Abc(AbcMark::Accelerate));
    let needs = controller.requirements();
    assert!(needs.pacing && needs.path_feedback && needs.window_in_recovery);
}

#[test]
fn impossible_parameters_are_rejected() {
    let good = AbcConfig::default();
    for config in [
        AbcConfig { additive_increase: -1.0, ..good },
        AbcConfig { minimum_window: 0.5, ..good },
        AbcConfig { minimum_window: f64::NAN, ..good },
        AbcConfig { pacing_gain: 0.0, ..good },
    ] {
        assert!(Abc::new(config, None, MSS * 10, MSS).is_err(), "{config:?}");
    }
    assert!(Abc::new(good, None, Bytes::new(999), MSS).is_err());
    assert!(Abc::new(good, None, MSS, Bytes::ZERO).is_err());
}

/// A second window of ten packets that counts its calls: sent, limited acknowledgments, others, signals,
/// undone, timers.
#[derive(Debug, Default)]
struct Second(alloc::sync::Arc<[core::sync::atomic::AtomicU32; 6]>);

impl Second {
    fn count_call(&self, place: usize) {
        self.0[place].fetch_add(1, core::sync::atomic::Ordering::Relaxed);
    }
}

impl Controller for Second {
    fn requirements(&self) -> Requirements {
        Requirements { rate_samples: true, ..Requirements::default() }
    }

    fn on_sent(&mut self, _event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        self.count_call(0);
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn Probe) {
        self.count_call(if event.window_limited { 1 } else { 2 });
    }

    fn on_congestion(&mut self, _event: &CongestionEvent, _probe: &mut dyn Probe) {
        self.count_call(3);
    }

    fn on_spurious(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {
        self.count_call(4);
    }

    fn on_timer(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {
        self.count_call(5);
    }

    fn next_timer(&self) -> Timestamp {
        Timestamp::from_nanos(7)
    }

    fn control(&self) -> Control {
        Control { window: MSS * 10, pacing: Pacing::FromWindow, quantum: MSS }
    }

    fn phase(&self) -> Phase {
        Phase::Steady
    }
}

#[test]
fn the_second_window_receives_all_events_and_grows_only_when_used() {
    let heard = alloc::sync::Arc::default();
    let second = Second(alloc::sync::Arc::clone(&heard));
    let mut controller = Abc::new(AbcConfig::default(), Some(Box::new(second)), MSS * 10, MSS).unwrap();
    let sent = controller.on_sent(&SendEvent::at(Timestamp::ZERO, MSS), &mut NullProbe);
    assert_eq!(sent, PathHeader::Abc(AbcMark::Accelerate), "the mark is ABC's");
    // With ten packets, five in flight are half: its own window does not limit it.
    for in_flight in [4, 5, 6] {
        controller.on_ack(&ack(AbcMark::Accelerate, in_flight), &mut NullProbe);
    }
    let mut unused = ack(AbcMark::Accelerate, 9);
    unused.window_limited = false;
    controller.on_ack(&unused, &mut NullProbe);
    controller.on_congestion(&signal(CongestionSignal::Timeout, 1), &mut NullProbe);
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!(controller.next_timer(), Timestamp::from_nanos(7));
    controller.on_timer(Timestamp::from_nanos(7), &mut NullProbe);
    let heard: alloc::vec::Vec<u32> =
        heard.iter().map(|count| count.load(core::sync::atomic::Ordering::Relaxed)).collect();
    assert_eq!(heard, [1, 1, 3, 1, 1, 1]);
    let needs = controller.requirements();
    assert!(needs.pacing && needs.path_feedback && needs.rate_samples && !needs.window_in_recovery);
}

#[test]
fn a_spurious_timeout_restores_the_window_before_it_and_not_an_earlier_one() {
    let mut controller = abc();
    controller.on_congestion(&signal(CongestionSignal::Timeout, 1), &mut NullProbe);
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    for _ in 0..5 {
        ack_with_mark(&mut controller, AbcMark::Brake);
    }
    let before = controller.window;
    assert!(before < 6000.0);
    controller.on_congestion(&signal(CongestionSignal::Loss, 0), &mut NullProbe);
    controller.on_congestion(&signal(CongestionSignal::Timeout, 1), &mut NullProbe);
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    close(controller.window, before);
    // A spurious signal is undone only once.
    ack_with_mark(&mut controller, AbcMark::Brake);
    let lower = controller.window;
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    close(controller.window, lower);
}

#[test]
fn packets_that_grow_during_a_run_leave_in_larger_bursts() {
    let mut controller = abc();
    let quantum = controller.control().quantum;
    let mut larger = ack(AbcMark::Brake, 10);
    larger.mss = MSS * 2;
    controller.on_ack(&larger, &mut NullProbe);
    assert_eq!(controller.control().quantum, quantum * 2);
    controller.on_congestion(&signal(CongestionSignal::Loss, 0), &mut NullProbe);
    assert_eq!(controller.control().quantum, quantum);
}

#[test]
fn parameters_at_their_bounds_are_accepted() {
    let config = AbcConfig { additive_increase: 0.0, minimum_window: 1.0, pacing_gain: 0.5 };
    let least = Abc::new(config, None, MSS, MSS).unwrap();
    assert_eq!(least.control().window, MSS);
}
