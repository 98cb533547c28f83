//! Random numbers: one independent random stream for each component of a run.

use rand_core::Rng as _;
use rand_pcg::Pcg64;

use crate::Duration;

/// The random stream of one component.
///
/// Generator: PCG XSL RR 128/64 (`rand_pcg::Pcg64`), seeded from the run's seed and the component's path
/// (`flow/3/start`). Components never share a stream, so a change of one component leaves the samples of all
/// others unchanged, which makes paired comparisons valid. All samples use `libm`, so they are equal to the
/// last bit on every machine.
#[derive(Clone, Debug)]
pub struct RandomStream {
    generator: Pcg64,
}

impl RandomStream {
    /// Creates the stream of the component at `path` in the run with `seed`.
    pub fn new(seed: u64, path: &str) -> Self {
        let path_hash = path.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            // FNV-1a, 64 bit.
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut state = seed ^ split_mix(path_hash);
        let mut word = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            u128::from(split_mix(state))
        };
        let (start, sequence) = (word() << 64 | word(), word() << 64 | u128::from(path_hash));
        Self { generator: Pcg64::new(start, sequence) }
    }

    /// Splits off an independent stream, for parts that are created one after the other (the connections of a
    /// flow).
    #[must_use]
    pub fn split(&mut self) -> Self {
        Self::new(self.bits(), "split")
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Returns a sample uniform on [0, 1), with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Returns a sample uniform on [`low`, `high`).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Returns true with the given probability (0 never, 1 always).
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Returns a sample of the exponential distribution with the given mean, by inversion.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    /// Returns a duration uniform on [`low`, `high`).
    pub fn uniform_duration(&mut self, low: Duration, high: Duration) -> Duration {
        Duration::from_secs_f64(self.uniform(low.as_secs_f64(), high.as_secs_f64()))
    }

    /// Returns an exponentially distributed duration with the given mean.
    pub fn exponential_duration(&mut self, mean: Duration) -> Duration {
        Duration::from_secs_f64(self.exponential(mean.as_secs_f64()))
    }
}

/// The finaliser of `SplitMix64`: a bijection that spreads every input bit over all output bits.
const fn split_mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_and_path_give_the_same_stream_and_others_do_not() {
        let first = |seed, path| RandomStream::new(seed, path).bits();
        assert_eq!(first(1, "flow/3/start"), first(1, "flow/3/start"));
        assert_ne!(first(1, "flow/3/start"), first(2, "flow/3/start"));
        assert_ne!(first(1, "flow/3/start"), first(1, "flow/4/start"));
    }

    #[test]
    fn random_samples_are_equal_across_machines() {
        let mut stream = RandomStream::new(42, "pinned");
        let drawn = [stream.bits(), stream.exponential(1.0).to_bits(), stream.unit().to_bits()];
        assert_eq!(drawn, PINNED, "a change here changes every result ever published");
    }

    #[test]
    fn distributions_have_the_requested_mean() {
        let mut stream = RandomStream::new(7, "means");
        let count = 200_000;
        let uniform: f64 = (0..count).map(|_| stream.uniform(2.0, 4.0)).sum::<f64>() / f64::from(count);
        let exponential: f64 = (0..count).map(|_| stream.exponential(0.5)).sum::<f64>() / f64::from(count);
        // Five standard errors.
        assert!((uniform - 3.0).abs() < 5.0 * 0.577 / 447.0, "{uniform}");
        assert!((exponential - 0.5).abs() < 5.0 * 0.5 / 447.0, "{exponential}");
    }

    const PINNED: [u64; 3] =
        [2_166_466_947_329_881_618, 4_596_378_791_300_415_696, 4_601_543_822_965_615_064];
}
