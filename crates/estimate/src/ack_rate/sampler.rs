//! Where samples of bandwidth come from.

mod accumulation;
mod back_to_back;
mod delivery_rate;
mod instants;
mod receiver_clock;

use airpath_model::config::check;
use airpath_model::{AckEvent, AckRateRequirements, Bytes, Duration};

use crate::ConfigError;
use accumulation::Accumulation;
pub use accumulation::WindowLength;
use back_to_back::BackToBack;
use delivery_rate::DeliveryRate;
use receiver_clock::ReceiverClock;

/// One sample of bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Data over time, byte/s.
    pub bandwidth: f64,
    /// The time that it stands for: Δ of the filters.
    pub interval: Duration,
}

impl Sample {
    /// `amount` delivered in `interval`, which is longer than nothing.
    pub(crate) fn new(amount: Bytes, interval: Duration) -> Self {
        Self { bandwidth: amount.as_f64() / interval.as_secs_f64(), interval }
    }
}

/// Which samples are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SamplerConfig {
    /// One for each acknowledgment: d/Δ (GM eq. 1). Acknowledgments that arrive at the same instant make one.
    PerAck,
    /// Data is added up over a window: one RTT is GM's cure of aliasing (section 5), a fixed time of 10 ms or more
    /// that of links whose scheduler delivers many packets in a millisecond.
    Accumulated(WindowLength),
    /// Data over the receiver's clock as its timestamps tell it (SARBE eq. 1): queues on the way of the
    /// acknowledgments do not matter.
    ReceiverClock {
        /// The clock's step: stamps are rounded down to it. Data is added up until the stamp moves.
        resolution: Duration,
    },
    /// Samples that the transport takes (draft-ietf-ccwg-bbr, "delivery rate sampling"), those limited by the
    /// application left out.
    DeliveryRate,
    /// Least-squares slope of data over time through acknowledgments of packets that left back to back (Hoe 1996:
    /// three); with two it is packet pair (Keshav 1991).
    BackToBack {
        /// How many acknowledgments make a sample, 2 to 16.
        acks: u8,
        /// Packets that left within this time of each other left back to back.
        spacing: Duration,
    },
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
    /// A sampler that has seen nothing.
    ///
    /// # Errors
    /// A window or resolution of no length, a number of acknowledgments outside 2 to 16.
    pub fn new(config: SamplerConfig) -> Result<Self, ConfigError> {
        let positive = |span: Duration, name| check(!span.is_zero(), name, "longer than nothing", 0.0);
        Ok(Self(match config {
            SamplerConfig::PerAck => {
                Kind::Accumulation(Accumulation::new(WindowLength::Fixed(Duration::ZERO)))
            }
            SamplerConfig::Accumulated(window) => {
                if let WindowLength::Fixed(length) = window {
                    positive(length, "interval")?;
                }
                Kind::Accumulation(Accumulation::new(window))
            }
            SamplerConfig::ReceiverClock { resolution } => {
                positive(resolution, "resolution")?;
                Kind::ReceiverClock(ReceiverClock::new(resolution))
            }
            SamplerConfig::DeliveryRate => Kind::DeliveryRate(DeliveryRate::default()),
            SamplerConfig::BackToBack { acks, spacing } => {
                check((2..=16).contains(&acks), "acks", "from 2 to 16", f64::from(acks))?;
                Kind::BackToBack(BackToBack::new(acks, spacing))
            }
        }))
    }

    /// What the driver must deliver.
    pub fn requirements(&self) -> AckRateRequirements {
        let none = AckRateRequirements::default();
        match &self.0 {
            Kind::Accumulation(accumulation) => AckRateRequirements { rtt: accumulation.needs_rtt(), ..none },
            Kind::ReceiverClock(_) => AckRateRequirements { receiver_time: true, ..none },
            Kind::DeliveryRate(_) => AckRateRequirements { rate_samples: true, ..none },
            Kind::BackToBack(_) => AckRateRequirements { sending_times: true, ..none },
        }
    }

    /// An acknowledgment that stands for `amount` arrived. The sample that it completes, if any.
    pub fn on_ack(&mut self, amount: Bytes, event: &AckEvent) -> Option<Sample> {
        match &mut self.0 {
            Kind::Accumulation(sampler) => sampler.on_ack(amount, event),
            Kind::ReceiverClock(sampler) => sampler.on_ack(amount, event),
            Kind::DeliveryRate(sampler) => sampler.on_ack(event),
            Kind::BackToBack(sampler) => sampler.on_ack(amount, event),
        }
    }
}
