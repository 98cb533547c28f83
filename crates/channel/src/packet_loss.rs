//! Packet losses of a chain that is clocked by the transmitted bits or bytes.

use crate::matrix::times;
use crate::{CodeRate, Codeword, GilbertElliott, Matrix, Steps};

/// The unit of one step of the chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum BitClock {
    /// A transmitted bit; a byte is eight steps.
    #[default]
    Bit,
    /// A transmitted code symbol, which is a byte; a byte is one step.
    Symbol,
}

impl BitClock {
    /// Returns the number of steps per byte.
    pub const fn steps_of_a_byte(self) -> u32 {
        match self {
            Self::Bit => 8,
            Self::Symbol => 1,
        }
    }
}

/// A Gilbert-Elliott chain that steps with each transmitted bit or byte, and does not move otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AirChain {
    /// The chain.
    pub chain: GilbertElliott,
    /// The unit of its steps.
    pub clock: BitClock,
}

/// Probabilities of a packet's fate, for each state before its first bit (row) and after its last bit
/// (column).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketOutcomes {
    /// The probability that the packet arrives.
    pub arrived: Matrix,
    /// The probability that the packet is corrupted beyond repair.
    pub lost: Matrix,
}

impl PacketOutcomes {
    /// Returns the loss probability of a packet, given the distribution of the state at its first bit. At
    /// most 1, which the sum of thousands of rounded products may exceed.
    pub fn loss(&self, states: [f64; 2]) -> f64 {
        let [good, bad] = times(states, &self.lost);
        (good + bad).min(1.0)
    }
}

impl AirChain {
    /// Returns a byte in matrix form: wrong if any of its steps is.
    pub fn byte(&self) -> Steps {
        self.chain.step().repeated(u64::from(self.clock.steps_of_a_byte()))
    }

    /// Returns the long-run probability that a byte is wrong.
    pub fn byte_error(&self) -> f64 {
        let [good, bad] = times(self.chain.stationary(), &self.byte().damaged);
        good + bad
    }

    /// Returns the exact probabilities for a packet of `size` bytes, in codewords if it is coded.
    pub fn outcomes(&self, size: u64, code: Option<CodeRate>) -> PacketOutcomes {
        match code {
            None => self.uncoded(size),
            Some(rate) => self.coded(size, rate),
        }
    }

    /// Returns the exact probabilities for a packet of `size` bytes without coding: lost if any of its bits
    /// is wrong.
    pub fn uncoded(&self, size: u64) -> PacketOutcomes {
        let packet = self.byte().repeated(size);
        PacketOutcomes { arrived: packet.clean, lost: packet.damaged }
    }

    /// Returns the exact probabilities for a packet of `size` bytes in Reed-Solomon codewords: lost if any
    /// codeword has more wrong symbols than it corrects.
    ///
    /// The joint distribution of (wrong symbols so far, state) is propagated over the symbols, and the state
    /// on into the next codeword. The loss probability is summed up, not subtracted from 1, so that small
    /// probabilities keep their digits.
    pub fn coded(&self, size: u64, rate: CodeRate) -> PacketOutcomes {
        let byte = self.byte();
        let [(first, firsts), (second, seconds)] = rate.runs(size);
        let packet = if firsts + seconds <= ONE_BY_ONE {
            through(&byte, || rate.codewords(size))
        } else {
            let of_run = |word, count| through(&byte, || [word].into_iter()).repeated(count);
            of_run(first, firsts).then(&of_run(second, seconds))
        };
        PacketOutcomes { arrived: packet.clean, lost: packet.damaged }
    }

    /// Returns the loss probability of a packet of `size` bytes if bytes were wrong independently: the
    /// chain's byte error rate in the binomial formula of each codeword. Far too optimistic if losses are
    /// rare and errors come in bursts.
    pub fn independent_loss(&self, size: u64, rate: CodeRate) -> f64 {
        let error = self.byte_error();
        let of_runs = rate.runs(size).map(|(word, count)| {
            let log = if count > 0 { libm::log1p(-word.independent_loss(error).min(1.0)) } else { 0.0 };
            (log, count)
        });
        let log_arrival: f64 =
            of_runs.into_iter().flat_map(|(log, count)| (0..count).map(move |_| log)).sum();
        -libm::expm1(log_arrival)
    }
}

/// Maximum number of wrong symbols that any codeword over bytes corrects.
const MOST_CORRECTED: usize = 127;

/// Maximum number of codewords of a packet that are processed one by one: 57 kB at the usual rate of 223/255.
/// With more codewords, which are of only two kinds, each kind is processed once and its matrix is raised to
/// a power: a packet of 16 MB then takes no longer than one of 1500 bytes. (The products are equal except for
/// their last digits.)
const ONE_BY_ONE: u64 = 256;

/// Returns the product of consecutive codewords; a lost codeword counts as an error.
fn through<W: Iterator<Item = Codeword>>(byte: &Steps, words: impl Fn() -> W) -> Steps {
    let [from_good, from_bad] = [[1.0, 0.0], [0.0, 1.0]].map(|state| coded_row(byte, state, words()));
    Steps { clean: [from_good.0, from_bad.0], damaged: [from_good.1, from_bad.1] }
}

/// Returns the probabilities of (arriving, being lost) by the state at the end, from the initial distribution
/// `states`.
fn coded_row(byte: &Steps, states: [f64; 2], words: impl Iterator<Item = Codeword>) -> ([f64; 2], [f64; 2]) {
    let any = byte.any();
    let (mut alive, mut lost) = (states, [0.0; 2]);
    for word in words {
        let corrects = word.corrects as usize;
        let mut by_wrong = [[0.0; 2]; MOST_CORRECTED + 1];
        by_wrong[0] = alive;
        for _ in 0..word.symbols() {
            lost = add(times(lost, &any), times(by_wrong[corrects], &byte.damaged));
            for wrong in (1..=corrects).rev() {
                by_wrong[wrong] =
                    add(times(by_wrong[wrong], &byte.clean), times(by_wrong[wrong - 1], &byte.damaged));
            }
            by_wrong[0] = times(by_wrong[0], &byte.clean);
        }
        alive = by_wrong[..=corrects].iter().fold([0.0; 2], |sum, &row| add(sum, row));
    }
    (alive, lost)
}

fn add(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn air() -> AirChain {
        AirChain { chain: GilbertElliott::new(0.99999, 0.99, 1e-5, 0.3).unwrap(), clock: BitClock::Bit }
    }

    #[test]
    fn products_of_codewords_equal_repeated_multiplication() {
        for (rate, sizes) in [((223, 255), [60_001, 200_000]), ((1, 3), [21_846, 40_000])] {
            let rate = CodeRate::new(rate.0, rate.1).unwrap();
            for size in sizes {
                assert!(rate.codewords(size).count() as u64 > ONE_BY_ONE);
                let (all, slow) = (air().coded(size, rate), through(&air().byte(), || rate.codewords(size)));
                for (a, b) in [(all.arrived, slow.clean), (all.lost, slow.damaged)] {
                    for (a, b) in a.as_flattened().iter().zip(b.as_flattened()) {
                        assert!((a - b).abs() <= 1e-11 * b, "{a:e} {b:e} of {size} bytes");
                    }
                }
            }
        }
    }

    /// Processing codeword by codeword would take hours.
    #[test]
    fn packets_of_any_size_are_computed_quickly() {
        let rate = CodeRate::new(1, 255).unwrap();
        for size in 16_000_000..16_000_100 {
            let loss = air().coded(size, rate).loss([1.0, 0.0]);
            assert!((0.0..=1.0).contains(&loss), "{loss}");
            assert_eq!(rate.symbols(size), size * 255);
        }
        assert!((0.0..=1.0).contains(&air().independent_loss(16_000_000, rate)));
    }

    #[test]
    fn a_certain_loss_has_probability_one() {
        let rate = CodeRate::new(9, 10).unwrap();
        let certain = [0.01, 0.03, 0.1, 0.3].map(|gamma| {
            let chain = GilbertElliott::new(gamma, gamma / 3.0, 0.5, 0.5).unwrap();
            let air = AirChain { chain, clock: BitClock::Bit };
            (air.coded(60_000, rate).loss(chain.stationary()), air.uncoded(60_000).loss(chain.stationary()))
        });
        for (coded, uncoded) in certain {
            assert!((1.0 - 1e-9..=1.0).contains(&coded), "{coded:e}");
            assert!((1.0 - 1e-9..=1.0).contains(&uncoded), "{uncoded:e}");
        }
    }
}
