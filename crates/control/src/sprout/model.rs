//! How rates change from tick to tick, and how many packets arrive at each.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::array;

use once_cell::race::OnceBox;

use super::TICK;

/// Number of rates: bins of 1000/256 packets per second, of which the first is an outage and the last has no
/// upper end.
pub(super) const RATES: usize = 257;

/// The width of a bin, in packets per second.
const WIDTH: f64 = 1000.0 / 256.0;

/// Standard deviation of the change of the rate in a second, in packets per second.
const VOLATILITY: f64 = 200.0;

/// Rate at which an outage ends, per second.
const ESCAPE: f64 = 1.0;

/// The largest change of the rate in one tick, in bins: five standard deviations.
const LARGEST_CHANGE: usize = 37;

/// A forecast considers fewer packets than this in each tick.
const TICK_PACKETS: usize = 30;

/// Number of ticks after which arrivals are forecast.
const HORIZONS: [usize; 2] = [1, 6];

pub(super) type Probabilities = [f64; RATES];

/// Tables that are the same for all links.
pub(super) struct Model {
    /// For each rate, the probabilities of the rates one tick later, from [`lowest`] on.
    changes: Vec<[f64; 2 * LARGEST_CHANGE + 1]>,
    /// For each horizon, by number of packets: the probability, for each rate, that no more packets arrive.
    pub(super) at_most: [Vec<Probabilities>; HORIZONS.len()],
}

impl Model {
    /// Returns the only instance. It is computed when it is first used, which takes about 15 ms.
    pub(super) fn get() -> &'static Self {
        static MODEL: OnceBox<Model> = OnceBox::new();
        MODEL.get_or_init(|| Box::new(Self::new()))
    }

    fn new() -> Self {
        let changes = (0..RATES).map(|rate| array::from_fn(|index| change(rate, lowest(rate) + index)));
        let mut model = Self {
            changes: changes.collect(),
            at_most: HORIZONS.map(|ticks| vec![[0.0; RATES]; ticks * (TICK_PACKETS - 1) + 1]),
        };
        let poisson: Vec<_> = (0..RATES).map(|rate| poisson(arrivals(rate))).collect();
        for rate in 0..RATES {
            let mut rates = [0.0; RATES];
            rates[rate] = 1.0;
            // As in the authors' receiver, the numbers of packets in successive ticks are independent.
            let mut packets = vec![1.0];
            for tick in 1..=HORIZONS[1] {
                packets = sum_of(&packets, &mixture(&rates, &poisson));
                if let Some(horizon) = HORIZONS.iter().position(|&horizon| horizon == tick) {
                    let mut at_most = 0.0;
                    for (row, probability) in model.at_most[horizon].iter_mut().zip(&packets) {
                        at_most += probability;
                        row[rate] = at_most;
                    }
                }
                rates = model.next(&rates);
            }
        }
        model
    }

    /// Returns the probabilities of the rates one tick later.
    pub(super) fn next(&self, rates: &Probabilities) -> Probabilities {
        let mut next = [0.0; RATES];
        for (rate, &probability) in rates.iter().enumerate().filter(|(_, probability)| **probability > 0.0) {
            for (next, change) in next[lowest(rate)..].iter_mut().zip(&self.changes[rate]) {
                *next += probability * change;
            }
        }
        normalize(&mut next);
        next
    }
}

/// Returns the rate in the middle of a bin, in packets per second.
pub(super) fn middle(bin: usize) -> f64 {
    if bin == 0 { 0.0 } else { (bin as f64 + 0.5) * WIDTH }
}

/// Returns the mean number of packets that arrive in one tick.
pub(super) fn arrivals(bin: usize) -> f64 {
    middle(bin) * TICK.as_secs_f64()
}

pub(super) fn normalize(rates: &mut Probabilities) {
    let sum: f64 = rates.iter().sum();
    for probability in rates {
        *probability /= sum;
    }
}

/// Returns the first of the rates to which `rate` can change in one tick.
fn lowest(rate: usize) -> usize {
    rate.saturating_sub(LARGEST_CHANGE)
}

/// Returns the probability of a change between two rates in one tick: Brownian motion, which ends an outage
/// with a probability of its own. The probabilities of an outage need not add up to 1.
fn change(from: usize, to: usize) -> f64 {
    if to >= RATES {
        return 0.0;
    }
    let tick = TICK.as_secs_f64();
    let deviation = VOLATILITY * libm::sqrt(tick);
    let below = |edge: usize| {
        let change = edge as f64 * WIDTH - middle(from);
        0.5 * libm::erfc(-change / (deviation * core::f64::consts::SQRT_2))
    };
    let upper = if to == RATES - 1 { 1.0 } else { below(to + 1) };
    let lower = if to == 0 { 0.0 } else { below(to) };
    let stays = libm::exp(-ESCAPE * tick);
    let factor = match (from, to) {
        (0, 0) => stays,
        (0, _) => 1.0 - stays,
        _ => 1.0,
    };
    factor * (upper - lower)
}

/// Returns the probabilities of numbers of packets with the given mean.
fn poisson(mean: f64) -> [f64; TICK_PACKETS] {
    let mut probability = libm::exp(-mean);
    array::from_fn(|packets| {
        if packets > 0 {
            probability *= mean / packets as f64;
        }
        probability
    })
}

/// Returns the probabilities of numbers of packets at an uncertain rate.
fn mixture(rates: &Probabilities, packets: &[[f64; TICK_PACKETS]]) -> [f64; TICK_PACKETS] {
    let mut mixture = [0.0; TICK_PACKETS];
    for (&probability, packets) in rates.iter().zip(packets).filter(|(probability, _)| **probability > 0.0) {
        for (sum, packets) in mixture.iter_mut().zip(packets) {
            *sum += probability * packets;
        }
    }
    mixture
}

/// Returns the probabilities of the sum of two independent numbers.
fn sum_of(left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; left.len() + right.len() - 1];
    for (offset, left) in left.iter().enumerate() {
        for (sum, right) in sum[offset..].iter_mut().zip(right) {
            *sum += left * right;
        }
    }
    sum
}
