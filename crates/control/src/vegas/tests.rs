//! Vegas's decisions, one round at a time.

use airpath_model::{CongestionSignal, NullProbe, Timestamp};

use super::*;

const MSS: u64 = 1000;

fn segments(count: u64) -> Bytes {
    Bytes::new(count * MSS)
}

/// A path of 100 ms, and rounds of acknowledgments over it.
struct Path {
    rule: Vegas,
    round: u64,
}

impl Path {
    fn new() -> Self {
        Self { rule: Vegas::new(VegasConfig::default()).unwrap(), round: 0 }
    }

    /// Simulates a round in which `acked` segments are acknowledged. Each has an RTT of `rtt_ms`, and the
    /// first has ten milliseconds more. Returns the acknowledgment that begins the next round.
    fn round(&mut self, acked: u64, rtt_ms: u64) -> AckEvent {
        self.round += 1;
        let mut event = AckEvent::at(Timestamp::ZERO);
        (event.mss, event.acked, event.round) = (segments(1), segments(1), self.round);
        event.rtt.minimum = Duration::from_millis(100);
        for index in 0..acked {
            let more = if index == 0 { 10 } else { 0 };
            event.rtt_sample = Some(Duration::from_millis(rtt_ms + more));
            self.rule.on_ack(Bytes::ZERO, &event, &mut NullProbe);
        }
        event.round += 1;
        event.rtt_sample = None;
        let mut next = self.rule.clone();
        next.on_ack(Bytes::ZERO, &event, &mut NullProbe);
        self.rule.finding = next.finding;
        event
    }

    fn avoid(&mut self, window: u64, acked: u64, rtt_ms: u64) -> u64 {
        let event = self.round(acked, rtt_ms);
        self.rule.congestion_avoidance(segments(window), &event).get() / MSS
    }
}

#[test]
fn the_window_grows_below_alpha_stays_between_and_shrinks_above_beta() {
    let mut path = Path::new();
    // Diff = 22 (1 - 100 / RTT).
    assert_eq!(path.avoid(22, 22, 109), 23, "22 * 9 / 109 = 1.8");
    assert_eq!(path.avoid(22, 22, 111), 22, "22 * 11 / 111 = 2.18");
    assert_eq!(path.avoid(22, 22, 122), 22, "22 * 22 / 122 = 3.97");
    assert_eq!(path.avoid(22, 22, 123), 21, "22 * 23 / 123 = 4.11");
    // The acknowledged data counts, not the window.
    assert_eq!(path.avoid(22, 11, 123), 22, "11 * 23 / 123 = 2.06");
    assert_eq!(path.avoid(2, 22, 200), 2, "never below two segments");
}

#[test]
fn within_a_round_the_window_is_constant() {
    let mut path = Path::new();
    let mut event = path.round(22, 100);
    path.rule.on_ack(Bytes::ZERO, &event, &mut NullProbe);
    event.rtt_sample = Some(Duration::from_millis(100));
    for _ in 0..100 {
        path.rule.on_ack(Bytes::ZERO, &event, &mut NullProbe);
        assert_eq!(path.rule.congestion_avoidance(segments(22), &event), segments(22));
    }
}

#[test]
fn slow_start_ends_above_gamma_with_the_window_that_the_rate_fills() {
    let mut path = Path::new();
    // 20 * 5 / 105 = 0.95, 20 * 25 / 125 = 4: 20 * 100 / 125 + 1 = 17 segments.
    let event = path.round(20, 105);
    assert_eq!(path.rule.end_slow_start(segments(40), &event), None);
    let event = path.round(20, 125);
    assert_eq!(path.rule.end_slow_start(segments(40), &event), Some(segments(17)));
    assert_eq!(path.rule.end_slow_start(segments(10), &event), Some(segments(10)));
    // 4 * 900 / 1000 = 3.6, but 4 * 100 / 1000 + 1 is less than two segments.
    let event = path.round(4, 1000);
    assert_eq!(path.rule.end_slow_start(segments(40), &event), Some(segments(2)));
    // 5 * 25 / 125 is γ = 1, and not above it.
    let event = path.round(5, 125);
    assert_eq!(path.rule.end_slow_start(segments(40), &event), None);
}

#[test]
fn the_sample_of_the_acknowledgment_that_ends_a_round_belongs_to_it() {
    let mut rounds = Rounds::default();
    let mut event = AckEvent::at(Timestamp::ZERO);
    let mut ended = None;
    for (round, milliseconds) in [(1, 100), (1, 130), (1, 120), (2, 110), (2, 150), (2, 150), (3, 190)] {
        (event.round, event.acked) = (round, segments(1));
        event.rtt_sample = Some(Duration::from_millis(milliseconds));
        if let Some(round) = rounds.acknowledged(&event) {
            ended = Some((round.acked(), round.rtt()));
        }
        // The first acknowledgment only begins a round: its 100 ms do not belong to any round.
        let expected = match round {
            1 => None,
            2 => Some((segments(3), Some(Duration::from_millis(110)))),
            _ => Some((segments(3), Some(Duration::from_millis(150)))),
        };
        assert_eq!(ended, expected);
    }
}

#[test]
fn with_few_samples_growth_is_that_of_reno() {
    let mut path = Path::new();
    // Two samples of a long queue would shrink the window; Reno counts two acknowledgments of the two rounds.
    assert_eq!(path.avoid(2, 2, 400), 2);
    assert_eq!(path.avoid(2, 2, 400), 3);
}

#[test]
fn rounds_with_recovery_do_not_count() {
    let mut path = Path::new();
    let mut event = path.round(22, 200);
    (event.in_recovery, event.rtt_sample) = (true, Some(Duration::from_millis(200)));
    path.rule.on_ack(Bytes::ZERO, &event, &mut NullProbe);
    assert_eq!(path.rule.finding, None, "it ended in recovery");
    event.round += 1;
    path.rule.on_ack(Bytes::ZERO, &event, &mut NullProbe);
    assert_eq!(path.rule.finding, None);
    (event.in_recovery, event.round) = (false, event.round + 1);
    path.rule.on_ack(Bytes::ZERO, &event, &mut NullProbe);
    assert_eq!(path.rule.finding, None);
    path.round = event.round;
    assert_eq!(path.avoid(22, 22, 200), 21);
}

#[test]
fn a_signal_halves_the_window_and_leaves_out_the_round() {
    let mut path = Path::new();
    let mut congestion = CongestionEvent::at(Timestamp::ZERO, CongestionSignal::Loss);
    congestion.mss = segments(1);
    let mut event = path.round(22, 200);
    assert_eq!(path.rule.reduce(segments(22), &congestion, &mut NullProbe), segments(11));
    assert_eq!(path.rule.congestion_avoidance(segments(11), &event), segments(11));
    event.round += 1;
    path.rule.on_ack(Bytes::ZERO, &event, &mut NullProbe);
    assert_eq!(path.rule.finding, None);
}

#[test]
fn impossible_parameters_are_rejected() {
    let usual = VegasConfig::default();
    for config in [
        VegasConfig { alpha: -1.0, ..usual },
        VegasConfig { beta: 1.9, ..usual },
        VegasConfig { gamma: f64::NAN, ..usual },
        VegasConfig { keep: 0.0, ..usual },
        VegasConfig { keep: 1.0, ..usual },
    ] {
        assert!(Vegas::new(config).is_err(), "{config:?}");
    }
}
