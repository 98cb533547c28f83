//! A filter whose coefficient depends on the state of a wireless link: a substitute for `DynaPara`.

use airpath_model::{AckEvent, CongestionEvent, Duration};

use super::exponential::keep;
use super::link_state::LinkState;
use crate::ack_rate::sample::Sample;

/// y = a y + (1 − a) b, with one a for the good and one for the bad [`LinkState`].
///
/// Itaya and Kasahara (2004) state only that the parameter of a simple filter follows the state of the
/// wireless link; the rest is our own design. If timed, a = g^(Δ/RTT): g is the fraction of the old estimate
/// that remains after one smoothed RTT.
#[derive(Clone, Debug)]
pub struct TwoState {
    good: f64,
    bad: f64,
    timed: bool,
    state: LinkState,
    smoothed_rtt: Duration,
    output: Option<f64>,
}

impl TwoState {
    /// Creates a filter with the fractions that are kept, each from 0 to below 1.
    pub fn new(good: f64, bad: f64, timed: bool) -> Self {
        Self { good, bad, timed, state: LinkState::default(), smoothed_rtt: Duration::ZERO, output: None }
    }

    /// Returns whether the fractions are kept over an RTT instead of over a sample.
    pub fn is_timed(&self) -> bool {
        self.timed
    }

    /// Processes an acknowledgment.
    pub fn on_ack(&mut self, event: &AckEvent) {
        self.state.on_ack(event);
        self.smoothed_rtt = event.rtt.smoothed;
    }

    /// Processes a congestion signal.
    pub fn on_congestion(&mut self, event: &CongestionEvent) {
        self.state.on_congestion(event);
    }

    /// Adds a sample and returns the estimate.
    pub fn update(&mut self, sample: Sample) -> f64 {
        let part = if self.state.is_bad() { self.bad } else { self.good };
        let kept = match self.smoothed_rtt {
            _ if !self.timed => part,
            // No RTT is known yet: the sample is the estimate.
            Duration::ZERO => 0.0,
            rtt => libm::pow(part, sample.interval.ratio(rtt)),
        };
        let before = self.output.unwrap_or(sample.bandwidth);
        *self.output.insert(keep(kept, before, sample.bandwidth))
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::{Bytes, Timestamp};

    use super::*;

    /// Two equal samples, each over one RTT, after a different one: g = 0.5 of the difference remains after
    /// each RTT. Before an RTT is known, the sample is the estimate.
    #[test]
    fn a_timed_filter_uses_raw_samples_until_an_rtt_is_known() {
        let rtt = Duration::from_millis(100);
        let sample = |bytes| Sample::new(Bytes::new(bytes), rtt);
        let mut filter = TwoState::new(0.5, 0.25, true);
        for bytes in [1000, 3000] {
            let found = filter.update(sample(bytes));
            assert!((found - 10.0 * bytes as f64).abs() < 1e-9, "{found}");
        }
        let mut event = AckEvent::at(Timestamp::ZERO);
        event.rtt.smoothed = rtt;
        filter.on_ack(&event);
        let found = filter.update(sample(1000));
        assert!((found - 20_000.0).abs() < 1e-9, "{found}");
    }
}
