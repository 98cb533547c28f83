//! The expected corruption of each packet agrees with the actual corruption, for any sender.

use airpath_channel::{
    AirChain, AirErrors, Bernoulli, BitClock, CodeRate, Coding, ErrorProcess, Expected, GilbertElliott,
    PacketBursts, StepByStep, TimedBursts,
};
use airpath_model::{Bytes, Damage, Duration, RandomStream, Timestamp, Transmission};
use proptest::prelude::*;

fn stream(seed: u64) -> RandomStream {
    RandomStream::new(seed, "link/radio/loss")
}

/// What arrives of a sender that hears of each loss at once and acts on it: small packets and long pauses after losses.
fn fates(errors: &mut impl ErrorProcess, packets: usize) -> Vec<bool> {
    let (mut now, mut lost_lately) = (Timestamp::ZERO, 0_u64);
    let mut send = |_| {
        let size = Bytes::new(if lost_lately > 0 { 60 } else { 300 });
        let departs = now + Duration::from_micros(100);
        let arrives = errors.arrives(&Transmission { start: now, size, continues: false }, departs);
        lost_lately = if arrives { lost_lately.saturating_sub(1) } else { lost_lately + 3 };
        now = departs + Duration::from_micros(400) * lost_lately;
        arrives
    };
    (0..packets).map(&mut send).collect()
}

/// Counts as [`Expected`] does, but only packets right after a loss.
#[derive(Debug)]
struct AfterLosses<E> {
    errors: E,
    damage: Damage,
    lost: bool,
    before: Timestamp,
}

impl<E: ErrorProcess> ErrorProcess for AfterLosses<E> {
    fn arrives(&mut self, transmission: &Transmission, departs: Timestamp) -> bool {
        let probability = self.damage_probability(transmission, departs, self.before);
        let arrives = self.errors.arrives(transmission, departs);
        if self.lost {
            self.damage.count(probability, !arrives);
        }
        (self.lost, self.before) = (!arrives, departs);
        arrives
    }

    fn damage_probability(
        &mut self,
        transmission: &Transmission,
        departs: Timestamp,
        before: Timestamp,
    ) -> f64 {
        self.errors.damage_probability(transmission, departs, before)
    }

    fn damage(&self) -> Option<Damage> {
        Some(self.damage)
    }
}

fn damage_of(mut errors: impl ErrorProcess, packets: usize) -> Damage {
    fates(&mut errors, packets);
    errors.damage().unwrap()
}

/// Over many seeds, actual minus expected corruption must have the mean 0 and the predicted variance, over all packets
/// and over those right after losses: a probability must be right for every history, not only on average.
fn is_calibrated<E: ErrorProcess + 'static>(name: &str, runs: u32, packets: usize, make: impl Fn(u64) -> E) {
    has_mean_and_spread(name, (0..runs).map(|seed| damage_of(Expected::new(make(seed.into())), packets)));
    let after = |seed: u32| {
        let (damage, before) = (Damage::default(), Timestamp::ZERO);
        damage_of(AfterLosses { errors: make(seed.into()), damage, lost: false, before }, packets)
    };
    has_mean_and_spread(&format!("{name}, after losses"), (0..runs).map(after));
}

/// Chance takes the mean of z beyond 5 standard deviations in a million cases, and the mean of z² (whose kurtosis is close to
/// 3) beyond 6 as rarely.
fn has_mean_and_spread(name: &str, damages: impl ExactSizeIterator<Item = Damage>) {
    let runs = damages.len() as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for Damage { damaged, expected, variance, .. } in damages {
        assert!(variance > 0.5, "{name}: a variance of {variance} is too small to test");
        let z = (damaged as f64 - expected) / variance.sqrt();
        sum += z;
        squares += z * z;
    }
    let (mean, square) = (sum / runs.sqrt(), (squares / runs - 1.0) * (runs / 2.0).sqrt());
    assert!(mean.abs() < 5.0, "{name}: off by {mean} standard deviations");
    assert!(square.abs() < 6.0, "{name}: the spread is off by {square} standard deviations");
}

fn bursts() -> GilbertElliott {
    GilbertElliott::new(0.98, 0.9, 0.01, 0.7).unwrap()
}

fn timed(seed: u64) -> TimedBursts {
    TimedBursts::new(bursts(), Duration::from_micros(300), stream(seed), stream(seed + 1_000_000)).unwrap()
}

fn half() -> Coding {
    Coding { data: Some(CodeRate::new(9, 10).unwrap()), small: Bytes::new(100), ..Coding::default() }
}

#[test]
fn losses_match_the_expectation_for_any_sender() {
    is_calibrated("independent", 400, 2000, |seed| Bernoulli::new(0.05, stream(seed)).unwrap());
    is_calibrated("by packet", 400, 2000, |seed| PacketBursts::new(bursts(), stream(seed)));
    is_calibrated("by time", 400, 2000, timed);
    let chain = GilbertElliott::new(0.9995, 0.99, 1e-6, 0.02).unwrap();
    let air = AirChain { chain, clock: BitClock::Bit };
    is_calibrated("by bit", 400, 2000, |seed| AirErrors::new(air, Coding::default(), stream(seed)));
    is_calibrated("coded", 400, 4000, |seed| AirErrors::new(air, half(), stream(seed)));
    is_calibrated("bit by bit", 100, 400, |seed| StepByStep::new(air, Coding::default(), stream(seed)));
}

/// Why the long run does not do: who pauses after losses meets a chain that moves with time in its better state.
#[test]
fn a_sender_that_reacts_to_losses_has_fewer_than_the_long_run_average() {
    let (sent, damaged) = (0..100)
        .map(|seed| damage_of(Expected::new(timed(seed)), 2000))
        .fold((0, 0), |(sent, damaged), one| (sent + one.packets, damaged + one.damaged));
    let share = damaged as f64 / sent as f64;
    assert!(share < 0.8 * bursts().mean_error(), "{share}");
}

/// A chain that always damages in one state and never in the other is not known beforehand either.
#[test]
fn with_deterministic_states_only_transitions_are_random() {
    let chain = GilbertElliott::from_means(0.05, 8.0).unwrap();
    let step = Duration::from_micros(500);
    is_calibrated("on and off", 400, 8000, |seed| {
        TimedBursts::new(chain, step, stream(seed), stream(seed + 1_000_000)).unwrap()
    });
}

proptest! {
    #[test]
    fn fates_do_not_depend_on_the_expectation(seed in 0_u64..1_000_000) {
        let mut kept = Expected::new(timed(seed));
        let beside = fates(&mut kept, 300);
        prop_assert_eq!(&fates(&mut timed(seed), 300), &beside);
        let damaged = beside.iter().filter(|&&arrives| !arrives).count();
        prop_assert_eq!(kept.damage().unwrap().damaged, damaged as u64);
    }
}
