//! Sources of bandwidth samples.

mod accumulation;
mod back_to_back;
mod delivery_rate;
mod instants;
mod receiver_clock;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::{Variants, defaults, plain_kind};
use airpath_model::{AckEvent, AckRateRequirements, Bytes, Duration};

use super::sample::Sample;
use crate::ConfigError;
use accumulation::{Accumulation, WindowLength};
use back_to_back::BackToBack;
use delivery_rate::DeliveryRate;
use receiver_clock::ReceiverClock;

/// The method by which samples are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields))]
pub enum SamplerConfig {
    /// One sample for each acknowledgment: d/Δ (GM eq. 1). Acknowledgments with the same arrival time make
    /// one sample.
    #[default]
    PerAck,
    /// One sample for each smoothed RTT, over the total of its data: GM's remedy against aliasing (section
    /// 5).
    RoundTrip,
    /// One sample for each interval of a fixed length, over the total of its data.
    Interval {
        /// Smallest time over which data is summed. 10 ms or more removes the bursts of links whose scheduler
        /// delivers many packets in a millisecond.
        #[cfg_attr(
            feature = "declare",
            serde(default = "default::interval"),
            schemars(extend("exclusiveMinimum" = 0))
        )]
        interval: Duration,
    },
    /// Data divided by time on the receiver's clock, from its timestamps (SARBE eq. 1): queues on the reverse
    /// path do not matter. Data is summed until the timestamp changes.
    ReceiverClock {
        /// The step of the receiver's clock, to which timestamps are rounded down. Linux uses 1 ms, older
        /// systems 10 ms.
        #[cfg_attr(
            feature = "declare",
            serde(default = "default::resolution"),
            schemars(extend("exclusiveMinimum" = 0))
        )]
        resolution: Duration,
    },
    /// Samples of the transport (draft-ietf-ccwg-bbr, "delivery rate sampling"), without application-limited
    /// ones.
    DeliveryRate,
    /// Least-squares slope of data over time through acknowledgments of packets sent back to back (Hoe 1996:
    /// three); with two it is packet pair (Keshav 1991).
    BackToBack {
        /// Largest time between two packets that count as back to back (our choice).
        #[cfg_attr(
            feature = "declare",
            serde(default = "default::spacing"),
            schemars(extend("exclusiveMinimum" = 0))
        )]
        spacing: Duration,
        /// The number of acknowledgments for the slope (Hoe 1996: 3).
        #[cfg_attr(
            feature = "declare",
            serde(default = "default::acks"),
            schemars(range(min = 2, max = 16))
        )]
        acks: u8,
    },
}

#[cfg(feature = "declare")]
defaults! {
    interval: Duration = Duration::from_millis(10);
    resolution: Duration = Duration::from_micros(1);
    spacing: Duration = Duration::from_millis(1);
    acks: u8 = 3;
}

#[cfg(feature = "declare")]
plain_kind! {
    /// Samplers of ACK-rate estimators.
    Samplers, "sampler", Sampler
}

#[cfg(feature = "declare")]
impl Variants<Samplers> for SamplerConfig {
    fn build(&self, (): ()) -> Result<Sampler, ConfigError> {
        Sampler::new(*self)
    }
}

/// Takes samples.
#[derive(Clone, Debug)]
pub struct Sampler(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Accumulation(Accumulation),
    ReceiverClock(ReceiverClock),
    DeliveryRate(DeliveryRate),
    BackToBack(BackToBack),
}

impl Sampler {
    /// Creates a sampler that has processed no acknowledgment.
    ///
    /// # Errors
    /// An interval, resolution or spacing of zero, or a number of acknowledgments outside 2 to 16.
    pub fn new(config: SamplerConfig) -> Result<Self, ConfigError> {
        let positive = |span: Duration, name| check(!span.is_zero(), name, "longer than nothing", 0.0);
        Ok(Self(match config {
            SamplerConfig::PerAck => {
                Kind::Accumulation(Accumulation::new(WindowLength::Fixed(Duration::ZERO)))
            }
            SamplerConfig::RoundTrip => Kind::Accumulation(Accumulation::new(WindowLength::RoundTrip)),
            SamplerConfig::Interval { interval } => {
                positive(interval, "interval")?;
                Kind::Accumulation(Accumulation::new(WindowLength::Fixed(interval)))
            }
            SamplerConfig::ReceiverClock { resolution } => {
                positive(resolution, "resolution")?;
                Kind::ReceiverClock(ReceiverClock::new(resolution))
            }
            SamplerConfig::DeliveryRate => Kind::DeliveryRate(DeliveryRate::default()),
            SamplerConfig::BackToBack { spacing, acks } => {
                positive(spacing, "spacing")?;
                check((2..=16).contains(&acks), "acks", "from 2 to 16", f64::from(acks))?;
                Kind::BackToBack(BackToBack::new(acks, spacing))
            }
        }))
    }

    /// Returns what the driver must supply.
    pub fn requirements(&self) -> AckRateRequirements {
        let none = AckRateRequirements::default();
        match &self.0 {
            Kind::Accumulation(accumulation) => AckRateRequirements { rtt: accumulation.needs_rtt(), ..none },
            Kind::ReceiverClock(_) => AckRateRequirements { receiver_time: true, ..none },
            Kind::DeliveryRate(_) => AckRateRequirements { rate_samples: true, ..none },
            Kind::BackToBack(_) => AckRateRequirements { sending_times: true, ..none },
        }
    }

    /// Processes an acknowledgment that represents `amount`. Returns the sample that it completes, if any.
    pub fn on_ack(&mut self, amount: Bytes, event: &AckEvent) -> Option<Sample> {
        match &mut self.0 {
            Kind::Accumulation(sampler) => sampler.on_ack(amount, event),
            Kind::ReceiverClock(sampler) => sampler.on_ack(amount, event),
            Kind::DeliveryRate(sampler) => sampler.on_ack(event),
            Kind::BackToBack(sampler) => sampler.on_ack(amount, event),
        }
    }
}
