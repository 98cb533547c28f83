//! From a link's plan and its rate to its channel.

use airpath_channel::{
    AirChain, AirErrors, Antennas, Bernoulli, BitClock, CodeRate, Coding, ErrorProcess, GilbertElliott,
    InvalidChannel, LinkChannel, NoErrors, PacketBursts, RateProcess, StepByStep, TimedBursts, linear_snr,
};
use airpath_model::{Bytes, Channel, Duration, RandomStream};

use crate::part::Air;
use crate::plan::{AntennasPlan, BurstPlan, ChainPlan, ClockPlan, CodingPlan, LinkPlan};

/// The channel of `link`; what it draws comes from the streams `link/NAME/loss` and `link/NAME/loss-states`.
pub(crate) fn channel(link: &LinkPlan, rate: RateProcess, seed: u64) -> Result<Air, String> {
    let stream = |part: &str| RandomStream::new(seed, &format!("link/{}/{part}", link.name));
    match &link.bursts {
        Some(bursts) => with_bursts(bursts, rate, stream).map(Air::Other),
        None if link.loss > 0.0 => {
            Bernoulli::new(link.loss, stream("loss")).map(|errors| Air::Other(boxed(rate, errors)))
        }
        None => Ok(Air::Clear(LinkChannel::new(rate, NoErrors))),
    }
    .map_err(|error| error.to_string())
}

fn with_bursts(
    bursts: &BurstPlan,
    rate: RateProcess,
    stream: impl Fn(&str) -> RandomStream,
) -> Result<Box<dyn Channel>, InvalidChannel> {
    let chain = chain(&bursts.chain)?;
    let on_air = |clock, plan: CodingPlan, step_by_step, rate| {
        let (air, coding) = (AirChain { chain, clock }, coding(plan)?);
        Ok(if step_by_step {
            boxed(rate, StepByStep::new(air, coding, stream("loss")))
        } else {
            boxed(rate, AirErrors::new(air, coding, stream("loss")))
        })
    };
    match bursts.clock {
        ClockPlan::Bit { coding, step_by_step } => on_air(BitClock::Bit, coding, step_by_step, rate),
        ClockPlan::Symbol { coding, step_by_step } => on_air(BitClock::Symbol, coding, step_by_step, rate),
        ClockPlan::Packet => Ok(boxed(rate, PacketBursts::new(chain, stream("loss")))),
        ClockPlan::Time { step_ns } => {
            let step = Duration::from_nanos(step_ns);
            TimedBursts::new(chain, step, stream("loss-states"), stream("loss"))
                .map(|errors| boxed(rate, errors))
        }
    }
}

fn boxed(rate: RateProcess, errors: impl ErrorProcess + 'static) -> Box<dyn Channel> {
    Box::new(LinkChannel::new(rate, errors))
}

fn chain(plan: &ChainPlan) -> Result<GilbertElliott, InvalidChannel> {
    match *plan {
        ChainPlan::Probabilities { stay_good, stay_bad, error_good, error_bad } => {
            GilbertElliott::new(stay_good, stay_bad, error_good, error_bad)
        }
        ChainPlan::Means { loss, burst } => GilbertElliott::from_means(loss, burst),
        ChainPlan::Netem { p, r, loss_bad, loss_good } => GilbertElliott::netem(p, r, loss_bad, loss_good),
        ChainPlan::Fading { stay_good, stay_bad, snr_db, bad_snr_drop_db, antennas, rician_k } => {
            let antennas = match antennas {
                AntennasPlan::OneByOne => Antennas::OneByOne,
                AntennasPlan::TwoByOne => Antennas::TwoByOne,
                AntennasPlan::OneByTwo => Antennas::OneByTwo,
                AntennasPlan::TwoByTwo => Antennas::TwoByTwo,
            };
            let error = |db| antennas.bpsk_error(linear_snr(db), rician_k);
            GilbertElliott::new(stay_good, stay_bad, error(snr_db), error(snr_db - bad_snr_drop_db))
        }
    }
}

fn coding(plan: CodingPlan) -> Result<Coding, InvalidChannel> {
    let code = |rate: Option<(u32, u32)>| rate.map(|(data, all)| CodeRate::new(data, all)).transpose();
    Ok(Coding { data: code(plan.data)?, acks: code(plan.acks)?, small: Bytes::new(plan.small_bytes) })
}
