//! Tests with scripted rounds.

use airpath_model::Timestamp;

use super::*;

const MSS: u64 = 1000;

/// Simulates one round of `count` acknowledgments, each of one segment and with an RTT of `rtt_ms`. Returns
/// whether slow start ended.
fn round(slow_start: &mut HystartPlusPlus, round: u64, count: u32, rtt_ms: u64) -> bool {
    (0..count).any(|_| slow_start.on_ack(&ack(round, rtt_ms)))
}

fn ack(round: u64, rtt_ms: u64) -> AckEvent {
    let mut event = AckEvent::at(Timestamp::ZERO);
    event.mss = Bytes::new(MSS);
    event.acked = Bytes::new(MSS);
    event.round = round;
    event.rtt_sample = Some(Duration::from_millis(rtt_ms));
    event
}

/// Returns a slow start that is conservative since the eighth sample of round 2. The minimum of the previous
/// round was 40 ms, so the threshold is 40 / 8 = 5 ms.
fn in_conservative_slow_start() -> HystartPlusPlus {
    let mut slow_start = HystartPlusPlus::default();
    round(&mut slow_start, 1, 8, 40);
    round(&mut slow_start, 2, 8, 45);
    assert_eq!(slow_start.phase(), Phase::ConservativeSlowStart);
    slow_start
}

#[test]
fn the_constants_match_the_rfc() {
    let config = HystartPlusPlusConfig::default();
    assert_eq!(config.min_rtt_thresh, Duration::from_millis(4));
    assert_eq!(config.max_rtt_thresh, Duration::from_millis(16));
    assert_eq!((config.min_rtt_divisor, config.n_rtt_sample), (8, 8));
    assert_eq!((config.css_growth_divisor, config.css_rounds, config.limit), (4, 5, 8));
}

#[test]
fn the_threshold_is_an_eighth_of_the_rtt_between_4_and_16_ms() {
    for (last_ms, rise_ms) in [(8, 4), (32, 4), (80, 10), (128, 16), (800, 16)] {
        let mut below = HystartPlusPlus::default();
        round(&mut below, 1, 8, last_ms);
        round(&mut below, 2, 100, last_ms + rise_ms - 1);
        assert_eq!(below.phase(), Phase::SlowStart, "{last_ms} ms");

        let mut at = HystartPlusPlus::default();
        round(&mut at, 1, 8, last_ms);
        round(&mut at, 2, 8, last_ms + rise_ms);
        assert_eq!(at.phase(), Phase::ConservativeSlowStart, "{last_ms} ms");
    }
}

#[test]
fn seven_samples_do_not_evaluate_a_round_and_one_low_sample_resets_it() {
    let mut few = HystartPlusPlus::default();
    round(&mut few, 1, 8, 40);
    round(&mut few, 2, 7, 60);
    assert_eq!(few.phase(), Phase::SlowStart);

    let mut one_low = HystartPlusPlus::default();
    round(&mut one_low, 1, 8, 40);
    round(&mut one_low, 2, 1, 40);
    round(&mut one_low, 2, 50, 60);
    assert_eq!(one_low.phase(), Phase::SlowStart);
}

#[test]
fn a_round_is_compared_with_the_one_before_it_only() {
    // Each round adds 3 ms, which is less than the threshold.
    let mut slow_start = HystartPlusPlus::default();
    for count in 0..20 {
        round(&mut slow_start, count + 1, 10, 40 + 3 * count);
    }
    assert_eq!(slow_start.phase(), Phase::SlowStart);
}

#[test]
fn growth_is_a_quarter_in_conservative_slow_start() {
    let mut event = ack(2, 45);
    event.acked = Bytes::new(20 * MSS);
    assert_eq!(HystartPlusPlus::default().growth(&event), Bytes::new(8 * MSS));
    let mut slow_start = in_conservative_slow_start();
    assert_eq!(slow_start.growth(&event), Bytes::new(2 * MSS));
    slow_start.on_congestion(CongestionSignal::Loss);
    assert_eq!(slow_start.growth(&event), Bytes::new(8 * MSS));
}

#[test]
fn conservative_slow_start_ends_after_five_rounds_the_first_a_partial_one() {
    let mut slow_start = in_conservative_slow_start();
    for number in 3..7 {
        assert!(!round(&mut slow_start, number, 10, 45));
        assert_eq!(slow_start.phase(), Phase::ConservativeSlowStart);
    }
    assert!(round(&mut slow_start, 7, 1, 45), "rounds 2 to 6 are five");
    // The end is permanent.
    assert!(!round(&mut slow_start, 8, 10, 45));
    round(&mut slow_start, 9, 10, 90);
    assert_eq!(slow_start.phase(), Phase::SlowStart);
}

#[test]
fn slow_start_resumes_when_the_delay_falls_below_the_baseline() {
    let mut slow_start = in_conservative_slow_start();
    round(&mut slow_start, 3, 7, 44);
    assert_eq!(slow_start.phase(), Phase::ConservativeSlowStart, "too few samples");
    round(&mut slow_start, 3, 1, 45);
    assert_eq!(slow_start.phase(), Phase::SlowStart);
    // The detection is active again, and the count of rounds restarts; 44 / 8 = 5.5 ms.
    round(&mut slow_start, 4, 8, 50);
    assert_eq!(slow_start.phase(), Phase::ConservativeSlowStart);
    for number in 5..9 {
        assert!(!round(&mut slow_start, number, 10, 50));
    }
    assert!(round(&mut slow_start, 9, 1, 50));
}

#[test]
fn after_a_signal_it_is_standard_slow_start() {
    let mut slow_start = HystartPlusPlus::default();
    round(&mut slow_start, 1, 8, 40);
    slow_start.on_congestion(CongestionSignal::Loss);
    round(&mut slow_start, 2, 100, 90);
    assert_eq!(slow_start.phase(), Phase::SlowStart);
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let config = HystartPlusPlusConfig::default();
    let wrong = [
        HystartPlusPlusConfig { max_rtt_thresh: Duration::from_millis(3), ..config },
        HystartPlusPlusConfig { min_rtt_divisor: 0, ..config },
        HystartPlusPlusConfig { n_rtt_sample: 0, ..config },
        HystartPlusPlusConfig { css_growth_divisor: 0, ..config },
        HystartPlusPlusConfig { css_rounds: 0, ..config },
        HystartPlusPlusConfig { limit: 0, ..config },
    ];
    for config in wrong {
        assert!(HystartPlusPlus::new(config).is_err(), "{config:?}");
    }
}
