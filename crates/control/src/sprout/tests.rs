//! Sprout's inference against the authors' program, its ticks, and what it sends.

use airpath_model::NullProbe;

use super::*;

const MSS: Bytes = Bytes::new(1000);

fn at(ms: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(ms)
}

fn send(sprout: &mut Sprout, ms: u64, in_flight: u64) {
    let mut event = SendEvent::at(at(ms), MSS);
    (event.mss, event.in_flight) = (MSS, MSS * in_flight);
    sprout.on_sent(&event, &mut NullProbe);
}

fn acknowledge(sprout: &mut Sprout, ms: u64, in_flight: u64) {
    let mut event = AckEvent::at(at(ms));
    (event.acked, event.mss, event.in_flight) = (MSS, MSS, MSS * in_flight);
    sprout.on_ack(&event, &mut NullProbe);
}

fn window(sprout: &Sprout) -> u64 {
    sprout.control().window.get() / MSS.get()
}

/// Means and forecasts of `process.cc` and `processforecaster.cc` (keithw/sprout at c838669), computed on
/// 2026-12-01 with the exact normal distribution. The authors tabulate it in steps of 0.06 packets per
/// second, which changes the means by up to 0.2.
#[test]
fn the_inference_is_that_of_the_authors() {
    let mut belief = Belief::default();
    let mut check = |observations: &[Option<u32>], mean: f64, forecast: [usize; 2]| {
        for &observation in observations {
            belief.evolve();
            if let Some(packets) = observation {
                belief.observe(packets);
            }
        }
        assert!((belief.mean() - mean).abs() < 0.01, "{} instead of {mean}", belief.mean());
        assert_eq!(belief.forecast(0.05), forecast, "at a mean of {mean}");
    };
    check(&[], 501.945_525, [1, 6]);
    check(&[Some(5)], 299.981_097, [1, 14]);
    check(&[Some(5); 9], 259.178_301, [2, 18]);
    check(&[Some(0); 2], 119.841_068, [0, 3]);
    check(&[Some(0); 20], 0.812_694, [0, 0]);
    check(&[None; 5], 20.859_054, [0, 0]);
    check(&[Some(12)], 220.746_621, [1, 14]);
    check(&[Some(18); 50], 905.418_178, [11, 87]);
}

#[test]
fn impossible_numbers_of_packets_leave_probabilities() {
    let mut belief = Belief::default();
    for packets in [0, 0, 0, 100_000, 0, 100_000] {
        belief.evolve();
        belief.observe(packets);
        assert!(belief.mean().is_finite());
    }
}

/// Ends the current tick.
fn tick(sprout: &mut Sprout) {
    sprout.on_timer(sprout.next_timer(), &mut NullProbe);
}

/// Sends a flight of five packets, and lets the first `arriving` of them arrive in its first tick.
fn flight(arriving: u64) -> Sprout {
    let mut sprout = Sprout::new(SproutConfig::default(), MSS).unwrap();
    (1..=5).for_each(|packet| send(&mut sprout, 0, packet));
    (1..=arriving).for_each(|packet| acknowledge(&mut sprout, 10, 5 - packet));
    sprout
}

#[test]
fn the_window_is_the_forecast() {
    let mut sprout = flight(0);
    assert_eq!(window(&sprout), 5, "the forecast without observations");
    acknowledge(&mut sprout, 10, 4);
    assert_eq!(window(&sprout), 4, "until the tick ends, what arrives makes no room");
    acknowledge(&mut sprout, 10, 3);
    tick(&mut sprout);
    let [next, later] = sprout.belief.forecast(0.05);
    assert_eq!(window(&sprout), (later - next) as u64);
    send(&mut sprout, 20, 4);
    assert_eq!(window(&sprout), (later - next) as u64);
}

#[test]
fn the_last_packet_of_a_flight_counts_before_a_delayed_acknowledgment() {
    let mut sprout = flight(4);
    assert_eq!(sprout.arrived.to_bits(), 5.0_f64.to_bits());
    acknowledge(&mut sprout, 50, 0);
    assert_eq!(sprout.arrived.to_bits(), 5.0_f64.to_bits());
}

#[test]
fn silence_within_a_flight_is_observed() {
    let mut sprout = flight(3);
    tick(&mut sprout);
    let mean = sprout.belief.mean();
    tick(&mut sprout);
    assert!(sprout.belief.mean() < 0.8 * mean, "{} after {mean}", sprout.belief.mean());
}

#[test]
fn silence_after_a_flight_is_observed_when_the_next_one_is_late() {
    // The acknowledgment of the fifth packet may be delayed.
    for (arriving, sent_at, silent_ticks) in [(4, 20, 2), (5, 20, 2), (4, 110, 4)] {
        let mut sprout = flight(arriving);
        let tick_with_flight = |sprout: &mut Sprout| {
            if sprout.tick == at(sent_at / 20 * 20) {
                send(sprout, sent_at, 6 - arriving);
            }
            tick(sprout);
        };
        tick_with_flight(&mut sprout);
        let mut unobserved = sprout.belief.clone();
        for silent_tick in 1..=silent_ticks {
            tick_with_flight(&mut sprout);
            unobserved.evolve();
            let difference = (sprout.belief.mean() - unobserved.mean()).abs();
            assert!(difference < 1e-9, "{arriving} {sent_at} {silent_tick}");
        }
        tick_with_flight(&mut sprout);
        assert!(sprout.belief.mean() < 0.9 * unobserved.mean(), "{arriving} {sent_at}");
    }
}

#[test]
fn after_a_timeout_one_packet_may_leave() {
    let mut sprout = flight(1);
    sprout.on_congestion(&CongestionEvent::at(at(1000), CongestionSignal::Timeout), &mut NullProbe);
    assert_eq!(window(&sprout), 1);
}

#[test]
fn the_belief_fades_while_nothing_is_sent() {
    let mut sprout = flight(5);
    while sprout.next_timer().is_scheduled() {
        tick(&mut sprout);
    }
    let (mut expected, paused_at) = (sprout.belief.clone(), sprout.tick.as_nanos() / 1_000_000);
    send(&mut sprout, paused_at + 25 * 20 + 7, 1);
    (0..25).for_each(|_| expected.evolve());
    assert!((sprout.belief.mean() - expected.mean()).abs() < 1e-9);
    let [next, later] = expected.forecast(0.05);
    assert_eq!(window(&sprout), (later - next) as u64);
}
