//! A filter whose coefficient follows the state of a wireless link: a stand-in for `DynaPara`.

use airpath_model::{AckEvent, CongestionEvent, Duration};

use super::exponential::keep;
use super::link_state::LinkState;
use crate::ack_rate::sampler::Sample;

/// y = a y + (1 − a) b, with one a for the good and one for the bad [`LinkState`].
///
/// Itaya and Kasahara (2004) say only that a simple filter's parameter follows the state of the wireless link; this is
/// ours. When timed, a = g^(Δ/RTT): g is what is left of the old estimate after one smoothed RTT.
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
    /// With the parts that are kept, each from 0 to below 1.
    pub fn new(good: f64, bad: f64, timed: bool) -> Self {
        Self { good, bad, timed, state: LinkState::default(), smoothed_rtt: Duration::ZERO, output: None }
    }

    /// Whether parts are kept over an RTT instead of over a sample.
    pub fn is_timed(&self) -> bool {
        self.timed
    }

    /// An acknowledgment arrived.
    pub fn on_ack(&mut self, event: &AckEvent) {
        self.state.on_ack(event);
        self.smoothed_rtt = event.rtt.smoothed;
    }

    /// A congestion signal.
    pub fn on_congestion(&mut self, event: &CongestionEvent) {
        self.state.on_congestion(event);
    }

    /// The estimate after one more sample.
    pub fn update(&mut self, sample: Sample) -> f64 {
        let part = if self.state.is_bad() { self.bad } else { self.good };
        let kept = match self.smoothed_rtt {
            _ if !self.timed => part,
            // No RTT is known yet: each sample is taken as it is.
            Duration::ZERO => 0.0,
            rtt => libm::pow(part, sample.interval.ratio(rtt)),
        };
        let before = self.output.unwrap_or(sample.bandwidth);
        *self.output.insert(keep(kept, before, sample.bandwidth))
    }
}
