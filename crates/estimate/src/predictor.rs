//! EBE's predictor: the real-time queue, computed once each estimation interval.

use crate::{Covariance, Estimate, Gain, Jacobian, RunningVariance, TransientMean};

/// Ψ of EBE-J eq. 19: process noise of the queue (packet²) and of the arrival rate (packet²/s²).
const PROCESS_NOISE: [f64; 2] = [1e-5, 5e-6];
/// R(1,1) of EBE-C, table I, and the floor of every other R: packet².
const MEASUREMENT_NOISE: f64 = 1e-5;
/// Q of EBE-C, table I.
const LINEAR_PROCESS_NOISE: f64 = 1e-5;
/// Samples of the queue in one interval (EBE-J, section III-A), by which the mean's variance is divided.
const SAMPLES: f64 = 20.0;
/// Floor of R, and the initial variances, if the unit is the buffer.
const NORMALISED_FLOOR: f64 = 1e-6;
const NORMALISED_VARIANCE: f64 = 1e-2;

/// The interpretation of the papers' filter (docs/reference/sources/ebe.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum Profile {
    /// R = 1e-5 (EBE-C, table I) and Ψ of EBE-J eq. 19: every number is from the papers.
    #[default]
    Icc,
    /// R is the running variance of all measurements (EBE-J, after eq. 19, read literally): the gain of the
    /// filter decays.
    Journal,
    /// R = zvar/20 and Ψ₁₁ = 1e-5 + (y + μ)τ: the counting noise of Poisson traffic. Not in the papers.
    Counting,
    /// Queue and arrivals in an interval as shares of the buffer: Ψ of EBE-J eq. 19 in that unit, R =
    /// zvar/20, at least 1e-6, and 1e-2 as initial variances. Not in the papers, which state no unit.
    Normalised,
    /// EBE-C's linear filter: A = H = I. At each step the state is overwritten by the mean of the samples and
    /// P by their covariance, and the measurement is the current queue.
    Linear,
    /// No filter: the queue is the mean of the samples.
    None,
}

/// Measurements of one estimation interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// z: the queue of the interval, packets: by default the mean of its samples.
    pub queue: f64,
    /// Population variance of the queue samples, packet².
    pub queue_variance: f64,
    /// The queue at the end of the interval, packets.
    pub last_queue: f64,
    /// y: arrivals over the interval, packets/s.
    pub arrival_rate: f64,
    /// μ: the capacity at the end of the previous interval, packets/s.
    pub service_rate: f64,
    /// τ: length of the interval, seconds.
    pub interval: f64,
}

/// One cycle of the filter: the inputs of the capacity, and quantities for plots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// x1 of the previous cycle, packets.
    pub previous_queue: f64,
    /// f1: the predicted M/M/1 queue, packets.
    pub predicted_queue: f64,
    /// Fraction of the interval during which an M/M/1 server would be idle, in [0, 1].
    pub idle: f64,
    /// First row of the Jacobian used.
    pub jacobian: Jacobian,
    /// R, packet².
    pub measurement_noise: f64,
    /// Covariance a priori.
    pub prior: Covariance,
    /// Kalman gain.
    pub gain: Gain,
    /// State [queue in packets, arrival rate in packets/s] and covariance a posteriori.
    pub posterior: Estimate,
}

/// The two-state filter on queue and arrival rate (EBE-J eqs. 5–19, corrected: docs/reference/sources/ebe.md).
#[derive(Clone, Debug)]
pub struct Predictor {
    profile: Profile,
    estimate: Estimate,
    transient: TransientMean,
    /// Of the measurements so far, for [`Profile::Journal`].
    measurements: RunningVariance,
    /// Ψ and the floor of R, packet² and packet²/s².
    process_noise: [f64; 2],
    least_noise: f64,
}

impl Predictor {
    /// Starts with an empty queue and traffic of `arrival_rate` packets/s, with identity as covariance (the
    /// papers do not specify it).
    pub fn new(profile: Profile, arrival_rate: f64) -> Self {
        let estimate = Estimate { x: [0.0, arrival_rate], p: Covariance::diagonal(1.0, 1.0) };
        Self::starting_from(profile, estimate)
    }

    /// Starts from any estimate.
    pub fn starting_from(profile: Profile, estimate: Estimate) -> Self {
        Self {
            profile,
            estimate,
            transient: TransientMean::new(),
            measurements: RunningVariance::new(),
            process_noise: PROCESS_NOISE,
            least_noise: MEASUREMENT_NOISE,
        }
    }

    /// Creates a predictor with [`Profile::Normalised`], for a buffer in packets and an interval in seconds.
    pub fn normalised(arrival_rate: f64, buffer: f64, interval: f64) -> Self {
        let (queue, rate) = (buffer * buffer, buffer * buffer / (interval * interval));
        let p = Covariance::diagonal(NORMALISED_VARIANCE * queue, NORMALISED_VARIANCE * rate);
        let estimate = Estimate { x: [0.0, arrival_rate], p };
        Self {
            process_noise: [PROCESS_NOISE[0] * queue, PROCESS_NOISE[1] * rate],
            least_noise: NORMALISED_FLOOR * queue,
            ..Self::starting_from(Profile::Normalised, estimate)
        }
    }

    /// Executes one cycle at the end of an estimation interval.
    ///
    /// The state of the arrival rate is set to the measured value before the prediction (H measures only the
    /// queue and `Ψ₂₂` is tiny, so a filtered rate never follows the traffic). All measurements are finite
    /// and not negative.
    pub fn step(&mut self, measured: &Measured) -> Cycle {
        let previous_queue = self.estimate.x[0];
        let transition = self.transient.transition(
            previous_queue,
            measured.arrival_rate,
            measured.service_rate,
            measured.interval,
        );
        self.measurements.push(measured.queue);
        let (prior, jacobian) = self.predict(
            measured,
            transition.queue,
            Jacobian { j11: transition.by_queue, j12: transition.by_arrival_rate },
        );
        let measurement_noise = self.measurement_noise(measured);
        let (posterior, gain) = self.update(measured, prior, measurement_noise);
        let posterior = posterior.non_negative();
        self.estimate = posterior;
        Cycle {
            previous_queue,
            predicted_queue: transition.queue,
            idle: transition.idle,
            jacobian,
            measurement_noise,
            prior: prior.p,
            gain,
            posterior,
        }
    }

    fn predict(&self, measured: &Measured, f1: f64, jacobian: Jacobian) -> (Estimate, Jacobian) {
        let x = [f1, measured.arrival_rate];
        match self.profile {
            Profile::Icc | Profile::Journal | Profile::Normalised => {
                (self.estimate.predict(x, jacobian, self.process_noise), jacobian)
            }
            Profile::Counting => {
                let counted = (measured.arrival_rate + measured.service_rate) * measured.interval;
                let noise = [PROCESS_NOISE[0] + counted, PROCESS_NOISE[1]];
                (self.estimate.predict(x, jacobian, noise), jacobian)
            }
            Profile::Linear => {
                let identity = Jacobian { j11: 1.0, j12: 0.0 };
                let overwritten = Estimate {
                    x: [measured.queue, measured.arrival_rate],
                    p: Covariance::diagonal(measured.queue_variance, 0.0),
                };
                let noise = [LINEAR_PROCESS_NOISE; 2];
                (overwritten.predict(overwritten.x, identity, noise), identity)
            }
            Profile::None => {
                let x = [measured.queue, measured.arrival_rate];
                (Estimate { x, p: Covariance::diagonal(0.0, 0.0) }, Jacobian { j11: 0.0, j12: 0.0 })
            }
        }
    }

    fn measurement_noise(&self, measured: &Measured) -> f64 {
        match self.profile {
            Profile::Icc | Profile::Linear => MEASUREMENT_NOISE,
            Profile::Journal => self.measurements.sample_variance().max(MEASUREMENT_NOISE),
            Profile::Counting | Profile::Normalised => {
                (measured.queue_variance / SAMPLES).max(self.least_noise)
            }
            Profile::None => 0.0,
        }
    }

    fn update(&self, measured: &Measured, prior: Estimate, noise: f64) -> (Estimate, Gain) {
        match self.profile {
            Profile::Icc | Profile::Journal | Profile::Counting | Profile::Normalised => {
                prior.update(measured.queue, noise)
            }
            Profile::Linear => prior.update(measured.last_queue, noise),
            Profile::None => (prior, Gain { k1: 1.0, k2: 0.0 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer of 100 packets and intervals of 0.2 s: the unit of the queue is 100 packets, that of the rate
    /// 500 packets/s.
    #[test]
    fn normalised_noises_are_shares_of_the_buffer() {
        let mut predictor = Predictor::normalised(50.0, 100.0, 0.2);
        let mut step = |queue_variance: f64| {
            predictor.step(&Measured {
                queue: 5.0,
                queue_variance,
                last_queue: 5.0,
                arrival_rate: 50.0,
                service_rate: 100.0,
                interval: 0.2,
            })
        };
        let first = step(4.0);
        assert!((first.measurement_noise - 0.2).abs() < 1e-12, "4/20 packet²");
        let Jacobian { j11, j12 } = first.jacobian;
        // P(0) = diag(100, 2500) and Ψ = diag(0.1, 1.25), in packets.
        assert!((first.prior.p11 - (100.0 * j11 * j11 + 2500.0 * j12 * j12 + 0.1)).abs() < 1e-9);
        assert!((first.prior.p12 - 2500.0 * j12).abs() < 1e-9);
        assert!((first.prior.p22 - 2501.25).abs() < 1e-9);
        assert!((first.gain.k1 - first.prior.p11 / (first.prior.p11 + 0.2)).abs() < 1e-12);
        // A constant queue: R is 1e-6 of the buffer squared.
        assert!((step(0.0).measurement_noise - 0.01).abs() < 1e-15);
    }

    const MEASURED: Measured = Measured {
        queue: 5.0,
        queue_variance: 4.0,
        last_queue: 7.0,
        arrival_rate: 50.0,
        service_rate: 100.0,
        interval: 0.2,
    };

    /// P(0) = I: P⁻ = J J' + Ψ.
    #[test]
    fn the_covariance_starts_as_identity() {
        let first = Predictor::new(Profile::Icc, 50.0).step(&MEASURED);
        let Jacobian { j11, j12 } = first.jacobian;
        assert!((first.prior.p11 - (j11 * j11 + j12 * j12 + 1e-5)).abs() < 1e-12);
        assert!((first.prior.p12 - j12).abs() < 1e-12);
        assert!((first.prior.p22 - (1.0 + 5e-6)).abs() < 1e-12);
    }

    /// EBE-C: A = H = I, P⁻ is the variance of the samples and Q = 1e-5, R = 1e-5.
    #[test]
    fn the_linear_filter_weighs_the_variance_of_the_samples() {
        let cycle = Predictor::new(Profile::Linear, 50.0).step(&MEASURED);
        assert!((cycle.prior.p11 - (4.0 + 1e-5)).abs() < 1e-12);
        assert!(cycle.prior.p12.abs() < 1e-12 && (cycle.prior.p22 - 1e-5).abs() < 1e-12);
        let k1 = (4.0 + 1e-5) / (4.0 + 2e-5);
        assert!((cycle.gain.k1 - k1).abs() < 1e-12);
        assert!((cycle.posterior.x[0] - (5.0 + k1 * 2.0)).abs() < 1e-12);
    }

    #[test]
    fn without_a_filter_the_measurement_is_the_state() {
        let cycle = Predictor::new(Profile::None, 50.0).step(&MEASURED);
        assert_eq!(cycle.prior, Covariance::diagonal(0.0, 0.0));
        assert_eq!(cycle.gain, Gain { k1: 1.0, k2: 0.0 });
        assert_eq!(cycle.jacobian, Jacobian { j11: 0.0, j12: 0.0 });
        assert_eq!(cycle.posterior.x.map(f64::to_bits), [5.0, 50.0].map(f64::to_bits));
    }
}
