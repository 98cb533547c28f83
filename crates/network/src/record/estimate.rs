//! Bandwidth estimates of one flow.

use airpath_model::Timestamp;

use super::rows::{EstimateRow, EstimateTable};

/// The number of the controller's own estimator; observers follow in the order of the plan.
pub(crate) const OWN: usize = 0;

/// The latest output of one estimator of one flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EstimateMeter {
    estimator: usize,
    sample: f64,
    estimate: f64,
    /// The largest sample of the interval.
    largest_sample: f64,
    samples: u64,
}

/// All active estimators of one flow; most flows have none, and then nothing is allocated.
#[derive(Clone, Debug, Default)]
pub(crate) struct EstimateMeters(Vec<EstimateMeter>);

impl EstimateMeters {
    /// Records a new sample of an estimator, byte/s; the resulting estimate follows.
    pub(crate) fn on_sample(&mut self, estimator: usize, sample: f64) {
        let meter = self.of(estimator);
        meter.sample = sample;
        meter.largest_sample = meter.largest_sample.max(sample);
        meter.samples += 1;
    }

    /// Records a new estimate, byte/s.
    pub(crate) fn on_estimate(&mut self, estimator: usize, estimate: f64) {
        self.of(estimator).estimate = estimate;
    }

    /// Returns the last sample of an estimator, byte/s.
    pub(crate) fn sample(&mut self, estimator: usize) -> f64 {
        self.of(estimator).sample
    }

    /// Returns whether the interval has a sample.
    pub(crate) fn have_samples(&self) -> bool {
        self.0.iter().any(|meter| meter.samples > 0)
    }

    /// Writes one row for each estimator and starts a new interval.
    pub(crate) fn end_interval(&mut self, flow: u32, now: Timestamp, table: &mut EstimateTable) {
        for meter in &mut self.0 {
            table.push(EstimateRow {
                flow: i64::from(flow),
                time_s: now.as_secs_f64(),
                estimator: meter.estimator as i64,
                estimate_bps: 8.0 * meter.estimate,
                sample_bps: 8.0 * meter.sample,
                largest_sample_bps: 8.0 * meter.largest_sample,
                samples: meter.samples as i64,
            });
            meter.largest_sample = f64::NAN;
            meter.samples = 0;
        }
    }

    fn of(&mut self, estimator: usize) -> &mut EstimateMeter {
        let place = self.0.iter().position(|meter| meter.estimator == estimator).unwrap_or_else(|| {
            let (sample, estimate, largest_sample) = (f64::NAN, f64::NAN, f64::NAN);
            self.0.push(EstimateMeter { estimator, sample, estimate, largest_sample, samples: 0 });
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}
