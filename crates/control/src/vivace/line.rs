//! The growth of the RTT in one monitor interval.

/// The least-squares line through RTT samples over the times at which their packets left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    count: f64,
    /// Time and RTT of the first sample in seconds. The sums count from it, so that they lose no digits.
    origin: [f64; 2],
    /// Sums of times, RTTs, and their products, in seconds.
    time: f64,
    rtt: f64,
    time_time: f64,
    time_rtt: f64,
    rtt_rtt: f64,
}

impl Line {
    /// Adds a sample of a packet that left at `time`, in seconds.
    pub(super) fn add(&mut self, time: f64, rtt: f64) {
        if self.count == 0.0 {
            self.origin = [time, rtt];
        }
        let (time, rtt) = (time - self.origin[0], rtt - self.origin[1]);
        self.count += 1.0;
        self.time += time;
        self.rtt += rtt;
        self.time_time += time * time;
        self.time_rtt += time * rtt;
        self.rtt_rtt += rtt * rtt;
    }

    /// Returns the slope. It is 0 below `threshold`, and below the deviation of the samples from the line
    /// (root mean square) over their mean, as in the authors' sender.
    pub(super) fn gradient(&self, threshold: f64) -> f64 {
        let times = self.time_time - self.time * self.time / self.count;
        if self.count < 2.0 || times <= 0.0 {
            return 0.0;
        }
        let products = self.time_rtt - self.time * self.rtt / self.count;
        let rtts = self.rtt_rtt - self.rtt * self.rtt / self.count;
        let slope = products / times;
        let deviation = libm::sqrt((rtts - slope * products).max(0.0) / self.count);
        let mean = self.origin[1] + self.rtt / self.count;
        if slope.abs() < threshold || slope.abs() * mean < deviation { 0.0 } else { slope }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(samples: &[(f64, f64)]) -> Line {
        let mut line = Line::default();
        for &(time, rtt) in samples {
            line.add(time, rtt);
        }
        line
    }

    /// Differences from the means 1.02 and 0.05: (−0.015, −0.01), (−0.005, −0.01), (0.005, 0.01), (0.015, 0.01).
    /// Products 0.0004 over squares 0.0005. Deviations ±0.002 and ±0.006: 0.0045, over the mean 0.089.
    #[test]
    fn the_gradient_is_the_slope_of_the_least_squares_line() {
        let samples = [(1.005, 0.04), (1.015, 0.04), (1.025, 0.06), (1.035, 0.06)];
        assert!((line(&samples).gradient(0.0) - 0.8).abs() < 1e-9);
        let slow = samples.map(|(time, rtt)| (10.0 * time, rtt));
        assert!(line(&slow).gradient(0.0).abs() < 1e-15, "0.08 is less than the deviation");
    }

    #[test]
    fn a_queue_that_grows_by_five_percent_has_a_gradient_of_five_percent() {
        let samples: [(f64, f64); 20] =
            core::array::from_fn(|index| (7.0 + index as f64 * 0.002, 0.04 + index as f64 * 0.0001));
        assert!((line(&samples).gradient(0.01) - 0.05).abs() < 1e-9);
        assert!(line(&samples).gradient(0.06).abs() < 1e-15, "below the threshold");
    }

    #[test]
    fn too_few_samples_have_no_gradient() {
        assert_eq!(line(&[]).gradient(0.0).to_bits(), 0);
        assert_eq!(line(&[(1.0, 0.04)]).gradient(0.0).to_bits(), 0);
        assert_eq!(line(&[(1.0, 0.04), (1.0, 0.05)]).gradient(0.0).to_bits(), 0);
    }
}
