//! Properties shared by all window-based controllers, tested with `NewReno`.

extern crate alloc;

use airpath_model::{Measurement, NullProbe};
use alloc::vec::Vec;

use super::*;
use crate::{HystartPlusPlus, NewReno, StandardSlowStart};

const MSS: Bytes = Bytes::new(1000);

type Reno = Windowed<StandardSlowStart, NewReno>;

fn reno(initial_segments: u64) -> Reno {
    Windowed::new(NewReno::default(), StandardSlowStart::default(), MSS * initial_segments, MSS).unwrap()
}

fn ack(segments: u64) -> AckEvent {
    let mut event = AckEvent::at(Timestamp::ZERO);
    event.mss = MSS;
    event.acked = MSS * segments;
    event
}

fn signal(signal: CongestionSignal, flight: u64, consecutive: u32) -> CongestionEvent {
    let mut event = CongestionEvent::at(Timestamp::ZERO, signal);
    event.mss = MSS;
    event.flight_size = MSS * flight;
    event.consecutive = consecutive;
    event
}

fn acknowledge(controller: &mut impl Controller, segments: u64) {
    for _ in 0..segments {
        controller.on_ack(&ack(1), &mut NullProbe);
    }
}

fn report_signal(controller: &mut impl Controller, which: CongestionSignal, flight: u64, consecutive: u32) {
    controller.on_congestion(&signal(which, flight, consecutive), &mut NullProbe);
}

fn segments(controller: &impl Controller) -> u64 {
    controller.control().window.get() / MSS.get()
}

#[test]
fn a_round_of_acknowledgments_doubles_the_window_in_slow_start_and_adds_one_after() {
    let mut controller = reno(10);
    assert_eq!((controller.phase(), controller.ssthresh()), (Phase::SlowStart, None));
    acknowledge(&mut controller, 10);
    assert_eq!(segments(&controller), 20);
    report_signal(&mut controller, CongestionSignal::Loss, 20, 0);
    assert_eq!((controller.phase(), segments(&controller)), (Phase::CongestionAvoidance, 10));
    acknowledge(&mut controller, 10);
    assert_eq!(segments(&controller), 11);
}

#[test]
fn loss_and_ce_set_window_and_threshold_to_half_the_flight() {
    for which in [CongestionSignal::Loss, CongestionSignal::EcnCe] {
        let mut controller = reno(40);
        report_signal(&mut controller, which, 30, 0);
        assert_eq!(segments(&controller), 15);
        assert_eq!(controller.ssthresh(), Some(MSS * 15));
    }
}

/// Tests RFC 3168, section 6.1.2, in both phases.
#[test]
fn acknowledgments_that_echo_a_mark_do_not_grow_the_window() {
    let mut echo = ack(1);
    echo.congestion_experienced = true;
    let mut controller = reno(10);
    controller.on_ack(&echo, &mut NullProbe);
    assert_eq!(segments(&controller), 10);
    report_signal(&mut controller, CongestionSignal::EcnCe, 10, 0);
    (0..20).for_each(|_| controller.on_ack(&echo, &mut NullProbe));
    assert_eq!(segments(&controller), 5);
    acknowledge(&mut controller, 5);
    assert_eq!(segments(&controller), 6);
}

#[test]
fn a_signal_never_enlarges_the_window_and_the_threshold_stays_at_two_segments() {
    let mut controller = reno(1);
    report_signal(&mut controller, CongestionSignal::Loss, 1, 0);
    assert_eq!(segments(&controller), 1);
    assert_eq!(controller.ssthresh(), Some(MSS * 2));
    let mut controller = reno(10);
    report_signal(&mut controller, CongestionSignal::Loss, 50, 0);
    assert_eq!(segments(&controller), 10);
    assert_eq!(controller.ssthresh(), Some(MSS * 25));
}

#[test]
fn a_timeout_restarts_from_one_segment_and_repeated_ones_keep_the_threshold() {
    let mut controller = reno(40);
    report_signal(&mut controller, CongestionSignal::Timeout, 40, 1);
    report_signal(&mut controller, CongestionSignal::Timeout, 40, 2);
    report_signal(&mut controller, CongestionSignal::Timeout, 1, 3);
    assert_eq!(segments(&controller), 1);
    assert_eq!(controller.ssthresh(), Some(MSS * 20));
    assert_eq!(controller.phase(), Phase::SlowStart);
    // 1 + 19 = 20 segments, the threshold, and then one segment per window.
    acknowledge(&mut controller, 19);
    assert_eq!((segments(&controller), controller.phase()), (20, Phase::CongestionAvoidance));
    acknowledge(&mut controller, 19);
    assert_eq!(segments(&controller), 20);
    acknowledge(&mut controller, 1);
    assert_eq!(segments(&controller), 21);
}

#[test]
fn slow_start_does_not_pass_the_threshold() {
    let mut controller = reno(40);
    report_signal(&mut controller, CongestionSignal::Timeout, 9, 1);
    acknowledge(&mut controller, 3);
    assert_eq!(segments(&controller), 4);
    acknowledge(&mut controller, 1);
    assert_eq!(controller.control().window, Bytes::new(4500), "half of nine segments");
}

#[test]
fn no_growth_in_recovery_without_new_data_or_when_the_window_is_not_used() {
    let mut recovering = ack(1);
    recovering.in_recovery = true;
    let mut unused = ack(1);
    unused.window_limited = false;
    for event in [recovering, unused, ack(0)] {
        let mut controller = reno(10);
        controller.on_ack(&event, &mut NullProbe);
        assert_eq!(segments(&controller), 10);
        report_signal(&mut controller, CongestionSignal::Loss, 4, 0);
        for _ in 0..100 {
            controller.on_ack(&event, &mut NullProbe);
        }
        assert_eq!(segments(&controller), 2);
    }
}

#[test]
fn a_spurious_signal_is_undone_once() {
    let mut controller = reno(40);
    report_signal(&mut controller, CongestionSignal::Timeout, 40, 1);
    report_signal(&mut controller, CongestionSignal::Timeout, 40, 2);
    acknowledge(&mut controller, 3);
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!((segments(&controller), controller.ssthresh()), (40, None));
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!(segments(&controller), 40);
    // L = 2 again: the timeout no longer has an effect.
    controller.on_ack(&ack(2), &mut NullProbe);
    assert_eq!(segments(&controller), 42);
}

#[test]
fn undo_does_not_shrink_a_window_that_has_grown_past_its_old_size() {
    let mut controller = reno(4);
    report_signal(&mut controller, CongestionSignal::Loss, 4, 0);
    acknowledge(&mut controller, 2 + 3 + 4 + 5);
    assert_eq!(segments(&controller), 6);
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!((segments(&controller), controller.ssthresh()), (6, Some(MSS * 2)));
}

#[test]
fn only_changes_of_phase_are_recorded() {
    #[derive(Default)]
    struct Phases(Vec<Measurement>);
    impl Probe for Phases {
        fn record(&mut self, _now: Timestamp, measurement: Measurement) {
            self.0.push(measurement);
        }
    }
    let mut probe = Phases::default();
    let mut controller = reno(10);
    controller.on_ack(&ack(1), &mut probe);
    controller.on_congestion(&signal(CongestionSignal::Timeout, 8, 1), &mut probe);
    assert_eq!(probe.0, [], "slow start before and after");
    for _ in 0..10 {
        controller.on_ack(&ack(1), &mut probe);
    }
    controller.on_spurious(Timestamp::ZERO, &mut probe);
    assert_eq!(
        probe.0,
        [Measurement::Phase(Phase::CongestionAvoidance), Measurement::Phase(Phase::SlowStart)]
    );
}

#[test]
fn hystart_plus_plus_ends_slow_start_at_the_current_window() {
    let mut controller =
        Windowed::new(NewReno::default(), HystartPlusPlus::default(), MSS * 10, MSS).unwrap();
    let mut phases = Vec::new();
    for round in 1..=8_u64 {
        for _ in 0..10 {
            let mut event = ack(1);
            event.round = round;
            event.rtt_sample = Some(airpath_model::Duration::from_millis(if round == 1 { 40 } else { 60 }));
            controller.on_ack(&event, &mut NullProbe);
        }
        phases.push(controller.phase());
    }
    let (first, css, after) = (Phase::SlowStart, Phase::ConservativeSlowStart, Phase::CongestionAvoidance);
    assert_eq!(phases, [first, css, css, css, css, css, after, after]);
    // 10 + 10 in round 1, 8 in round 2 until the rise is detected, then 1/4 for each of 2 + 4 * 10 and for
    // the acknowledgment that ends the fifth round: 38.75. Congestion avoidance starts there.
    assert_eq!(controller.ssthresh(), Some(Bytes::new(38_750)));
}

/// A rule that ends slow start at ten segments and then shrinks the window by one at each acknowledgment.
#[derive(Clone, Debug)]
struct Shrinking;

impl WindowRule for Shrinking {
    fn end_slow_start(&mut self, window: Bytes, _event: &AckEvent) -> Option<Bytes> {
        (window >= MSS * 20).then_some(MSS * 10)
    }

    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        window - event.mss
    }

    fn reduce(&mut self, window: Bytes, _event: &CongestionEvent, _probe: &mut dyn Probe) -> Bytes {
        window
    }
}

#[test]
fn a_rule_can_end_slow_start_and_shrink_the_window_without_a_restart() {
    let mut controller = Windowed::new(Shrinking, StandardSlowStart::default(), MSS * 18, MSS).unwrap();
    acknowledge(&mut controller, 1);
    assert_eq!((segments(&controller), controller.phase()), (19, Phase::SlowStart));
    acknowledge(&mut controller, 1);
    assert_eq!((segments(&controller), controller.ssthresh()), (10, Some(MSS * 10)));
    acknowledge(&mut controller, 4);
    assert_eq!((segments(&controller), controller.phase()), (6, Phase::CongestionAvoidance));
    acknowledge(&mut controller, 10);
    assert_eq!(segments(&controller), 1, "never less than a segment");
}

#[test]
fn a_window_below_one_segment_is_rejected() {
    let build = |window, mss| Windowed::new(NewReno::default(), StandardSlowStart::default(), window, mss);
    assert!(build(MSS, MSS).is_ok());
    assert!(build(Bytes::new(999), MSS).is_err());
    let error = build(Bytes::new(10), Bytes::ZERO).unwrap_err();
    assert_eq!(alloc::format!("{error}"), "mss must be at least one byte, not 0");
}

#[test]
fn data_acknowledged_by_duplicates_counts_when_the_cumulative_acknowledgment_advances() {
    let mut controller = reno(10);
    let mut duplicate = ack(1);
    duplicate.duplicate = true;
    controller.on_ack(&duplicate, &mut NullProbe);
    controller.on_ack(&duplicate, &mut NullProbe);
    assert_eq!(segments(&controller), 10, "limited transmit is not growth");
    // Reordering, not a loss: the missing segment arrives.
    controller.on_ack(&ack(1), &mut NullProbe);
    assert_eq!(segments(&controller), 12, "slow start, at most two segments an acknowledgment");
    controller.on_ack(&ack(1), &mut NullProbe);
    assert_eq!(segments(&controller), 13, "once");
    // A loss: none of the data counts.
    controller.on_ack(&duplicate, &mut NullProbe);
    controller.on_ack(&duplicate, &mut NullProbe);
    report_signal(&mut controller, CongestionSignal::Loss, 13, 0);
    let mut recovering = ack(1);
    recovering.in_recovery = true;
    controller.on_ack(&recovering, &mut NullProbe);
    let before = controller.control().window;
    acknowledge(&mut controller, 1);
    let growth = controller.control().window - before;
    assert!(growth <= Bytes::new(MSS.get() / 6), "congestion avoidance by one segment: {growth:?}");
}

/// As with any acknowledgment (RFC 2861, RFC 3168).
#[test]
fn duplicates_of_an_otherwise_limited_or_marked_flow_do_not_count_later() {
    for (window_limited, congestion_experienced, expected) in
        [(true, false, 12), (false, false, 11), (true, true, 11)]
    {
        let mut controller = reno(10);
        let mut duplicate = ack(1);
        duplicate.duplicate = true;
        (duplicate.window_limited, duplicate.congestion_experienced) =
            (window_limited, congestion_experienced);
        controller.on_ack(&duplicate, &mut NullProbe);
        acknowledge(&mut controller, 1);
        assert_eq!(segments(&controller), expected, "{window_limited} {congestion_experienced}");
    }
}

#[test]
fn a_spurious_timeout_with_a_window_of_one_segment_restores_the_threshold() {
    let mut controller = reno(1);
    report_signal(&mut controller, CongestionSignal::Timeout, 1, 1);
    report_signal(&mut controller, CongestionSignal::Timeout, 1, 2);
    assert_eq!(controller.ssthresh(), Some(MSS * 2));
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!((controller.ssthresh(), controller.phase()), (None, Phase::SlowStart));
}

/// A slow start that returns a threshold of less than a segment at once.
#[derive(Clone, Debug)]
struct Low;

impl SlowStart for Low {
    fn growth(&self, _event: &AckEvent) -> Bytes {
        Bytes::ZERO
    }

    fn initial_ssthresh(&self) -> Option<Bytes> {
        Some(Bytes::new(1))
    }

    fn on_congestion(&mut self, _signal: CongestionSignal) {}
}

/// No threshold is below two segments (RFC 5681, section 3.1, equation 4).
#[test]
fn a_threshold_that_slow_start_finds_is_two_segments_at_least() {
    let mut controller = Windowed::new(NewReno::default(), Low, MSS * 10, MSS).unwrap();
    acknowledge(&mut controller, 1);
    assert_eq!(controller.ssthresh(), Some(MSS * 2));
}
