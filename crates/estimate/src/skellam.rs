//! The difference of two Poisson numbers: how the queue of a server that never idles would change.

use alloc::vec::Vec;

/// The distribution of Z = Poisson(a) − Poisson(b), tabulated where it is not negligible.
///
/// Probabilities are reached by ratios from a backward recurrence, all terms positive, so nothing cancels.
/// The tables are kept and grow only when a wider distribution is asked for.
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
    /// Tabulates the distribution for means `a` > 0 and `b` > 0, both at most 1e9, 9.5 standard deviations and 40 to
    /// either side of its mean.
    pub(crate) fn tabulate(&mut self, a: f64, b: f64) {
        let mean = a - b;
        let reach = 9.5 * libm::sqrt(a + b) + 40.0;
        let lowest = libm::floor(mean - reach) as i64;
        let highest = libm::ceil(mean + reach) as i64;
        // How far outside the table the recurrence starts, to have forgotten its first guess inside.
        let run_up = (40.0 + reach / 2.0) as i64;
        let length = (highest - lowest + 1) as usize;
        self.lowest = lowest;
        // Not cleared: every entry that is read is written before.
        self.ratio.resize(length, 0.0);
        self.probability.resize(length, 0.0);

        let ratio = &mut self.ratio;
        let mut above_zero = ratios(a, b, lowest, highest, run_up);
        let mut below_zero = ratios(b, a, -highest, -lowest, run_up);
        // Each ratio has to wait for the one before it. Side by side the two sides wait at the same time.
        loop {
            let (above, below) = (above_zero.next(), below_zero.next());
            if let Some((k, value)) = above
                && k <= highest
            {
                ratio[(k - lowest) as usize] = value;
            }
            if let Some((j, value)) = below
                && -j >= lowest
            {
                ratio[(-j - lowest) as usize] = value;
            }
            if above.is_none() && below.is_none() {
                break;
            }
        }
        self.fill(libm::round(mean) as i64);
    }

    /// Multiplies outwards from `centre`, then normalises.
    fn fill(&mut self, centre: i64) {
        let length = self.probability.len();
        let centre_index = (centre - self.lowest) as usize;
        // Index of Z = 0; may lie outside the table.
        let zero = -self.lowest;
        self.probability[centre_index] = 1.0;
        for i in centre_index + 1..length {
            let previous = self.probability[i - 1];
            self.probability[i] =
                if i as i64 > zero { previous * self.ratio[i] } else { previous / self.ratio[i - 1] };
        }
        for i in (0..centre_index).rev() {
            let next = self.probability[i + 1];
            self.probability[i] =
                if (i as i64) < zero { next * self.ratio[i] } else { next / self.ratio[i + 1] };
        }
        let total: f64 = self.probability.iter().sum();
        for probability in &mut self.probability {
            *probability /= total;
        }
    }

    /// The smallest tabulated Z.
    pub(crate) fn lowest(&self) -> i64 {
        self.lowest
    }

    /// The largest tabulated Z.
    pub(crate) fn highest(&self) -> i64 {
        self.lowest + self.probability.len() as i64 - 1
    }

    /// P(Z = `from`), P(Z = `from` + 1), … to the end of the table; `from` is not below [`Skellam::lowest`].
    pub(crate) fn upwards(&self, from: i64) -> impl Iterator<Item = f64> + '_ {
        self.probability.iter().skip((from - self.lowest) as usize).copied()
    }

    /// P(Z = `from`), P(Z = `from` − 1), … to the end of the table; `from` is not above [`Skellam::highest`].
    pub(crate) fn downwards(&self, from: i64) -> impl Iterator<Item = f64> + '_ {
        self.probability.iter().rev().skip((self.highest() - from) as usize).copied()
    }
}

/// The ratios P(Z = k)/P(Z = k−1) = a/(k + b P(k+1)/P(k)) for every k ≥ 1 from `lowest` on, the greatest k first; those above
/// `highest` are not settled yet.
fn ratios(a: f64, b: f64, lowest: i64, highest: i64, run_up: i64) -> impl Iterator<Item = (i64, f64)> {
    let start = (highest + run_up) as f64;
    let mut ratio = 2.0 * a / (start + libm::sqrt(start * start + 4.0 * a * b));
    (lowest.max(1)..highest + run_up).rev().map(move |k| {
        ratio = a / (k as f64 + b * ratio);
        (k, ratio)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_distribution_with_the_right_mean_and_variance() {
        let mut skellam = Skellam::default();
        for (a, b) in [(100.0, 130.0), (2.0, 0.5), (0.3, 40.0), (5000.0, 1.0), (1e-3, 1e-3)] {
            skellam.tabulate(a, b);
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
    fn what_was_tabulated_before_leaves_no_trace() {
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
            used.tabulate(a, b);
            fresh.tabulate(a, b);
            let all = |table: &Skellam| table.upwards(table.lowest()).map(f64::to_bits).collect::<Vec<_>>();
            assert_eq!((used.lowest(), all(&used)), (fresh.lowest(), all(&fresh)), "{a} {b}");
        }
    }

    #[test]
    fn a_far_away_table_starts_where_it_should() {
        let mut skellam = Skellam::default();
        skellam.tabulate(1e6, 10.0);
        assert!(skellam.lowest() > 900_000 && skellam.highest() < 1_100_000);
        // Poisson(1e6) − Poisson(10) is close to normal: the density at the mean.
        let peak = skellam.upwards(999_990).next().unwrap();
        assert!((peak * libm::sqrt(2.0 * core::f64::consts::PI * 1_000_010.0) - 1.0).abs() < 1e-5);
    }
}
