//! The difference of two Poisson variables: the change of the queue of a server that is never idle.

use alloc::vec::Vec;

/// The distribution of Z = Poisson(a) − Poisson(b), tabulated where it is not negligible.
///
/// Probabilities follow from ratios of a backward recurrence. All terms are positive, so there is no
/// cancellation. The tables are reused, and grow only if a wider distribution is requested.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skellam {
    /// Z of the first entry.
    lowest: i64,
    /// P(Z = lowest + i).
    probability: Vec<f64>,
    /// Away from zero: P(Z = k)/P(Z = k−1) for k ≥ 1, P(Z = k)/P(Z = k+1) for k ≤ −1.
    ratio: Vec<f64>,
}

impl Skellam {
    /// Tabulates the distributions for means `a` > 0 and a common `b` > 0, all at most 1e9, each for 9.5
    /// standard deviations plus 40 on either side of its mean.
    pub(crate) fn tabulate<const N: usize>(mut tables: [&mut Self; N], a: [f64; N], b: f64) {
        let mut sides: [Sides; N] = core::array::from_fn(|i| tables[i].begin(a[i], b));
        let steps = sides.iter().map(Sides::steps).max().unwrap_or(0);
        // Each ratio depends on the previous one. Interleaved recurrences overlap these latencies.
        for _ in 0..steps {
            for (table, sides) in tables.iter_mut().zip(&mut sides) {
                sides.step(&mut table.ratio);
            }
        }
        for (table, a) in tables.iter_mut().zip(a) {
            table.fill(libm::round(a - b) as i64);
        }
        normalise(tables);
    }

    /// Sets the first entry and the length of the table. The ratios are then written from both ends inwards.
    fn begin(&mut self, a: f64, b: f64) -> Sides {
        let mean = a - b;
        let reach = 9.5 * libm::sqrt(a + b) + 40.0;
        let lowest = libm::floor(mean - reach) as i64;
        let highest = libm::ceil(mean + reach) as i64;
        // Distance outside the table at which the recurrence starts, so that the effect of its initial value
        // is negligible inside.
        let run_up = (40.0 + reach / 2.0) as i64;
        let length = (highest - lowest + 1) as usize;
        self.lowest = lowest;
        // Not cleared: every entry is written before it is read.
        self.ratio.resize(length, 0.0);
        self.probability.resize(length, 0.0);
        let starts = [(highest + run_up) as f64, (run_up - lowest) as f64];
        Sides {
            numerator: [a, b],
            factor: [b, a],
            k: starts,
            ratio: [(a, starts[0]), (b, starts[1])]
                .map(|(mean, start)| 2.0 * mean / (start + libm::sqrt(start * start + 4.0 * a * b))),
            run_up: run_up as usize - 1,
            written: 0,
            above: highest.min(highest - lowest + 1).max(0) as usize,
            below: (-lowest).min(highest - lowest + 1).max(0) as usize,
        }
    }

    /// Multiplies outwards from `centre`.
    fn fill(&mut self, centre: i64) {
        let centre = (centre - self.lowest) as usize;
        // Index of Z = 0; may be outside the table.
        let zero = (-self.lowest).clamp(0, self.ratio.len() as i64 - 1) as usize;
        let (ratio, probability) = (&self.ratio, &mut self.probability[..self.ratio.len()]);
        probability[centre] = 1.0;
        // Towards zero, which is on one side of the two, by quotients.
        for i in centre..zero {
            probability[i + 1] = probability[i] / ratio[i];
        }
        for i in (zero..centre).rev() {
            probability[i] = probability[i + 1] / ratio[i + 1];
        }
        // Away from zero by products.
        let (first, last) = (centre.min(zero), centre.max(zero));
        let mut product = probability[last];
        for (probability, ratio) in probability[last + 1..].iter_mut().zip(&ratio[last + 1..]) {
            product *= ratio;
            *probability = product;
        }
        let mut product = probability[first];
        for (probability, ratio) in probability[..first].iter_mut().zip(&ratio[..first]).rev() {
            product *= ratio;
            *probability = product;
        }
    }

    /// Returns the smallest tabulated Z.
    pub(crate) fn lowest(&self) -> i64 {
        self.lowest
    }

    /// Returns the largest tabulated Z.
    pub(crate) fn highest(&self) -> i64 {
        self.lowest + self.probability.len() as i64 - 1
    }

    /// Returns P(Z = `from`), P(Z = `from` + 1), … to the end of the table; `from` is not below
    /// [`Skellam::lowest`].
    pub(crate) fn upwards(&self, from: i64) -> impl Iterator<Item = f64> + '_ {
        self.probability.get((from - self.lowest) as usize..).unwrap_or_default().iter().copied()
    }

    /// Returns P(Z = `from`), P(Z = `from` − 1), … to the end of the table; `from` is not above
    /// [`Skellam::highest`].
    pub(crate) fn downwards(&self, from: i64) -> impl Iterator<Item = f64> + '_ {
        let length = (from - self.lowest + 1).max(0) as usize;
        self.probability[..length].iter().rev().copied()
    }
}

/// The recurrences of one table on either side of zero, P(Z = k)/P(Z = k−1) = a/(k + b P(k+1)/P(k)) for k ≥ 1 from above
/// downwards, and the same with a and b exchanged for −Z.
struct Sides {
    numerator: [f64; 2],
    factor: [f64; 2],
    /// Z of the latest ratios above zero, and −Z of those below.
    k: [f64; 2],
    ratio: [f64; 2],
    /// Steps left until the first ratio in the table.
    run_up: usize,
    /// Steps since then.
    written: usize,
    /// The number of ratios in the table above zero, and below.
    above: usize,
    below: usize,
}

impl Sides {
    fn steps(&self) -> usize {
        self.run_up + self.above.max(self.below)
    }

    /// Computes the next ratio of each side. Ratios beyond zero, or past the end of a shorter side, are
    /// computed but discarded.
    fn step(&mut self, table: &mut [f64]) {
        for side in 0..2 {
            self.k[side] -= 1.0;
            self.ratio[side] = self.numerator[side] / (self.k[side] + self.factor[side] * self.ratio[side]);
        }
        if self.run_up > 0 {
            self.run_up -= 1;
            return;
        }
        if self.written < self.above {
            table[table.len() - 1 - self.written] = self.ratio[0];
        }
        if self.written < self.below {
            table[self.written] = self.ratio[1];
        }
        self.written += 1;
    }
}

/// Divides the entries by their sums, which are computed for all tables at the same time.
fn normalise<const N: usize>(tables: [&mut Skellam; N]) {
    let mut totals = [0.0; N];
    let longest = tables.iter().map(|table| table.probability.len()).max().unwrap_or(0);
    for i in 0..longest {
        for (total, table) in totals.iter_mut().zip(&tables) {
            if let Some(probability) = table.probability.get(i) {
                *total += probability;
            }
        }
    }
    for (table, total) in tables.into_iter().zip(totals) {
        for probability in &mut table.probability {
            *probability /= total;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_has_the_right_mean_and_variance() {
        let mut skellam = Skellam::default();
        for (a, b) in [(100.0, 130.0), (2.0, 0.5), (0.3, 40.0), (5000.0, 1.0), (1e-3, 1e-3)] {
            Skellam::tabulate([&mut skellam], [a], b);
            let (mut mean, mut square) = (0.0, 0.0);
            for (i, probability) in skellam.upwards(skellam.lowest()).enumerate() {
                let z = (skellam.lowest() + i as i64) as f64;
                mean += z * probability;
                square += (z - (a - b)) * (z - (a - b)) * probability;
            }
            assert!((mean - (a - b)).abs() < 1e-11 * (a + b + 1.0), "{a} {b}: mean {mean}");
            assert!((square / (a + b) - 1.0).abs() < 1e-11, "{a} {b}: variance {square}");
        }
    }

    #[test]
    fn earlier_tables_do_not_affect_the_result() {
        let mut used = Skellam::default();
        for (a, b) in [
            (5000.0, 1.0),
            (100.0, 130.0),
            (1e6, 10.0),
            (0.3, 40.0),
            (1e-3, 1e-3),
            (2.0, 0.5),
            (700.0, 650.0),
        ] {
            let mut fresh = Skellam::default();
            Skellam::tabulate([&mut used], [a], b);
            Skellam::tabulate([&mut fresh], [a], b);
            let all = |table: &Skellam| table.upwards(table.lowest()).map(f64::to_bits).collect::<Vec<_>>();
            assert_eq!((used.lowest(), all(&used)), (fresh.lowest(), all(&fresh)), "{a} {b}");
        }
    }

    #[test]
    fn parallel_evaluation_equals_sequential_evaluation() {
        for (a, b) in [(5000.0, 1.0), (100.0, 130.0), (0.3, 40.0), (1e-3, 1e-3), (2.0, 0.5), (700.0, 650.0)] {
            let means = [a, 3.0 * a, 0.2 * a];
            let mut together = [Skellam::default(), Skellam::default(), Skellam::default()];
            Skellam::tabulate(together.each_mut(), means, b);
            for (together, a) in together.iter().zip(means) {
                let mut alone = Skellam::default();
                Skellam::tabulate([&mut alone], [a], b);
                assert_eq!(together.lowest(), alone.lowest(), "{a} {b}");
                assert!(together.probability == alone.probability, "{a} {b}");
            }
        }
    }

    #[test]
    fn a_distant_table_starts_at_the_right_offset() {
        let mut skellam = Skellam::default();
        Skellam::tabulate([&mut skellam], [1e6], 10.0);
        assert!(skellam.lowest() > 900_000 && skellam.highest() < 1_100_000);
        // Poisson(1e6) − Poisson(10) is close to normal: the density at the mean.
        let peak = skellam.upwards(999_990).next().unwrap();
        assert!((peak * libm::sqrt(2.0 * core::f64::consts::PI * 1_000_010.0) - 1.0).abs() < 1e-5);
    }
}
