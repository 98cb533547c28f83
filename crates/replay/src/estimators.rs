//! The estimators by name, with the parameters of their papers.

use airpath_estimate::{
    AckRate, AckRateConfig, FilterConfig, SamplerConfig, Start, VirtualSamples, WindowLength,
};
use airpath_model::Duration;

/// An estimator that a capture can be replayed into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EstimatorName {
    /// The first Westwood: a sample for each acknowledgment, bilinear filter with virtual samples of zero (GM eq. 6).
    Westwood,
    /// The same filter over one sample a round trip, resampled (GM, section 5).
    WestwoodAntiAliased,
    /// The same filter over samples of at least 10 ms, for links whose scheduler delivers many packets at once.
    WestwoodTenMilliseconds,
    /// Westwood+ as in Linux with a clock of 1000 Hz.
    WestwoodPlus,
    /// Low-pass with zero-order hold (GM eq. 2) over a sample for each acknowledgment.
    ZeroOrderHold,
    /// The same over one sample a round trip.
    ZeroOrderHoldAntiAliased,
    /// Low-pass with a constant coefficient (GM eq. 3) over a sample for each acknowledgment.
    TimeInvariant,
    /// The same over one sample a round trip.
    TimeInvariantAntiAliased,
    /// A stand-in for `DynaPara`: a coefficient for a good and one for a bad state of the link.
    DynaPara,
    /// Another stand-in for `DynaPara`, whose coefficients hold for an RTT instead of for a sample.
    DynaParaTimed,
    /// SARBE: the receiver's clock and the stability filter.
    Sarbe,
    /// Packet pair: the median of samples of two packets that left back to back.
    PacketPair,
    /// Hoe's estimate of the beginning: least squares through three acknowledgments, once.
    Hoe,
    /// Delivery-rate samples as modern stacks take them, unfiltered.
    DeliveryRate,
}

/// Every estimator, in the order of tables.
pub const ESTIMATORS: [EstimatorName; 14] = [
    EstimatorName::Westwood,
    EstimatorName::WestwoodAntiAliased,
    EstimatorName::WestwoodTenMilliseconds,
    EstimatorName::WestwoodPlus,
    EstimatorName::ZeroOrderHold,
    EstimatorName::ZeroOrderHoldAntiAliased,
    EstimatorName::TimeInvariant,
    EstimatorName::TimeInvariantAntiAliased,
    EstimatorName::DynaPara,
    EstimatorName::DynaParaTimed,
    EstimatorName::Sarbe,
    EstimatorName::PacketPair,
    EstimatorName::Hoe,
    EstimatorName::DeliveryRate,
];

/// The clock of today's stacks, where a capture does not tell another.
const USUAL_TICK: Duration = Duration::from_millis(1);
/// Packets that left within this time of each other left back to back, as in runs.
const BACK_TO_BACK: Duration = Duration::from_millis(1);

impl EstimatorName {
    /// The name on the command line and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Westwood => "westwood",
            Self::WestwoodAntiAliased => "westwood-aa",
            Self::WestwoodTenMilliseconds => "westwood-10ms",
            Self::WestwoodPlus => "westwood+",
            Self::ZeroOrderHold => "westwood-zoh",
            Self::ZeroOrderHoldAntiAliased => "westwood-zoh-aa",
            Self::TimeInvariant => "westwood-ti",
            Self::TimeInvariantAntiAliased => "westwood-ti-aa",
            Self::DynaPara => "dynapara",
            Self::DynaParaTimed => "dynapara-timed",
            Self::Sarbe => "sarbe",
            Self::PacketPair => "packet-pair",
            Self::Hoe => "hoe",
            Self::DeliveryRate => "delivery-rate",
        }
    }

    /// The estimator of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        ESTIMATORS.into_iter().find(|estimator| estimator.name() == name)
    }

    /// Its configuration; `tick` is the step of the receiver's timestamps.
    pub fn config(self, tick: Option<Duration>) -> AckRateConfig {
        let (tau, start) = (Duration::from_secs(1), Start::First);
        let zero_order_hold = FilterConfig::ZeroOrderHold { tau, start };
        let time_invariant = FilterConfig::TimeInvariant { alpha: 0.9, start };
        let bilinear = |virtual_samples| FilterConfig::Bilinear { tau, virtual_samples, start };
        let round_trip = SamplerConfig::Accumulated(WindowLength::RoundTrip);
        let ten = SamplerConfig::Accumulated(WindowLength::Fixed(Duration::from_millis(10)));
        let (sampler, filter) = match self {
            Self::Westwood => (SamplerConfig::PerAck, bilinear(VirtualSamples::Zero)),
            Self::WestwoodAntiAliased => (round_trip, bilinear(VirtualSamples::Held)),
            Self::WestwoodTenMilliseconds => (ten, bilinear(VirtualSamples::Zero)),
            Self::WestwoodPlus => return AckRateConfig::WestwoodPlus { ticks_per_second: 1_000 },
            Self::ZeroOrderHold => (SamplerConfig::PerAck, zero_order_hold),
            Self::ZeroOrderHoldAntiAliased => (round_trip, zero_order_hold),
            Self::TimeInvariant => (SamplerConfig::PerAck, time_invariant),
            Self::TimeInvariantAntiAliased => (round_trip, time_invariant),
            Self::DynaPara => {
                (SamplerConfig::PerAck, FilterConfig::TwoState { good: 0.9, bad: 0.6, timed: false })
            }
            Self::DynaParaTimed => {
                (SamplerConfig::PerAck, FilterConfig::TwoState { good: 0.5, bad: 0.2, timed: true })
            }
            Self::Sarbe => (
                SamplerConfig::ReceiverClock { resolution: tick.unwrap_or(USUAL_TICK) },
                FilterConfig::Stability { beta: 0.8, window: 8 },
            ),
            Self::PacketPair => (
                SamplerConfig::BackToBack { acks: 2, spacing: BACK_TO_BACK },
                FilterConfig::Median { window: 9 },
            ),
            Self::Hoe => (SamplerConfig::BackToBack { acks: 3, spacing: BACK_TO_BACK }, FilterConfig::First),
            Self::DeliveryRate => (SamplerConfig::DeliveryRate, FilterConfig::None),
        };
        AckRateConfig::Filtered { sampler, filter }
    }

    pub(crate) fn estimator(self, tick: Option<Duration>) -> AckRate {
        AckRate::new(self.config(tick))
            .expect("constants within their ranges, and a tick is longer than nothing")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_estimator_and_every_one_can_be_made() {
        for estimator in ESTIMATORS {
            assert_eq!(EstimatorName::from_name(estimator.name()), Some(estimator));
            for tick in [None, Some(Duration::from_nanos(1)), Some(Duration::from_secs(1))] {
                estimator.estimator(tick);
            }
        }
        assert_eq!(EstimatorName::from_name("reno"), None);
    }
}
