//! From a link's plan and its rate to its channel.

use core::iter::repeat_n;

use airpath_channel::{
    AirChain, AirErrors, Bernoulli, BitClock, CodeRate, Coding, ErrorProcess, GilbertElliott, InvalidChannel,
    LinkChannel, NoErrors, PacketBursts, RateProcess, State, StepByStep, TimedBursts, TwoStateFading,
};
use airpath_model::{Bytes, Channel, Duration, RandomStream};

use crate::check::PlanError;
use crate::part::Air;
use crate::plan::{BurstPlan, ChainPlan, ClockPlan, CodingPlan, LinkPlan};

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

/// The exact probability that a link with such losses damages a packet of this size, in the long run: the mean over the
/// states in which a packet may find the chain.
///
/// `bursts` is the JSON text of a link's `bursts` in a plan.
///
/// # Errors
/// Where the text is no such thing, or a value is out of range.
pub fn packet_loss(bursts: &str, size: u64) -> Result<f64, PlanError> {
    let plan = serde_json::from_str(bursts).map_err(|error| PlanError::Syntax(error.to_string()))?;
    loss_of(&plan, Bytes::new(size))
        .map_err(|error| PlanError::Value { place: "bursts".to_owned(), problem: error.to_string() })
}

/// How many packets a link damages in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongRunLoss {
    /// The probability that a packet is damaged.
    pub probability: f64,
    /// The variance of the number of damaged packets is at most so many times that of independent ones; `None` where it
    /// depends on when packets come, or on their sizes.
    pub span: Option<f64>,
}

/// How many packets of `size` bytes a link damages in the long run, beyond repair by its own repeats.
///
/// `None` where bursts meet repeats: a repeat finds the chain nearer to where the packet before it left it than to its
/// long run. A chain that moves with packets and stays itself with probability lambda (the second eigenvalue) correlates
/// packets k apart by at most lambda^k, and these add up to a span of (1 + lambda) / (1 - lambda).
pub fn long_run_loss(link: &LinkPlan, size: u64) -> Option<LongRunLoss> {
    let Some(bursts) = &link.bursts else {
        let attempts = link.arq.map_or(1, |arq| usize::from(arq.retries) + 1);
        let probability = repeat_n(link.loss, attempts).product();
        return Some(LongRunLoss { probability, span: Some(1.0) });
    };
    if link.arq.is_some() {
        return None;
    }
    let chain = chain(&bursts.chain).ok()?;
    let leave = 1.0 / chain.mean_sojourn(State::Good) + 1.0 / chain.mean_sojourn(State::Bad);
    let span = matches!(bursts.clock, ClockPlan::Packet).then(|| ((2.0 - leave) / leave).max(1.0));
    Some(LongRunLoss { probability: loss_of(bursts, Bytes::new(size)).ok()?, span })
}

fn loss_of(plan: &BurstPlan, size: Bytes) -> Result<f64, InvalidChannel> {
    let chain = chain(&plan.chain)?;
    let (clock, coding) = match plan.clock {
        ClockPlan::Bit { coding, .. } => (BitClock::Bit, self::coding(coding)?),
        ClockPlan::Symbol { coding, .. } => (BitClock::Symbol, self::coding(coding)?),
        // A packet finds the chain in its stationary state, and damage is drawn once.
        ClockPlan::Packet | ClockPlan::Time { .. } => return Ok(chain.mean_error()),
    };
    let air = AirChain { chain, clock };
    let outcomes = match coding.of(size) {
        None => air.uncoded(size.get()),
        Some(rate) => air.coded(size.get(), rate),
    };
    Ok(outcomes.loss(chain.stationary()))
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
            TwoStateFading { snr_db, bad_snr_drop_db, antennas, rician_k }.chain(stay_good, stay_bad)
        }
    }
}

fn coding(plan: CodingPlan) -> Result<Coding, InvalidChannel> {
    let code = |rate: Option<(u32, u32)>| rate.map(|(data, all)| CodeRate::new(data, all)).transpose();
    Ok(Coding { data: code(plan.data)?, acks: code(plan.acks)?, small: Bytes::new(plan.small_bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(bursts: &str) -> Result<f64, PlanError> {
        packet_loss(bursts, 1040)
    }

    #[test]
    fn the_loss_of_independent_bits_is_that_of_the_binomial() {
        // A chain whose states do not differ: 1 - (1 - 1e-4)^8320.
        let chain = r#""chain":{"kind":"probabilities","stay_good":0.5,"stay_bad":0.5,"error_good":1e-4,"error_bad":1e-4}"#;
        let coding = r#"{"data":null,"acks":null,"small_bytes":100}"#;
        let bits = format!(r#"{{{chain},"clock":{{"kind":"bit","coding":{coding},"step_by_step":false}}}}"#);
        assert!((loss(&bits).unwrap() - 0.564_840_044_971_257).abs() < 1e-12, "{:?}", loss(&bits));
        // A byte that is one step is as often wrong as a bit: 1 - (1 - 1e-4)^1040.
        let symbols = bits.replace("\"bit\"", "\"symbol\"");
        assert!((loss(&symbols).unwrap() - 0.098_779_389_250_593).abs() < 1e-12, "{:?}", loss(&symbols));
        let packets = format!(r#"{{{chain},"clock":{{"kind":"packet"}}}}"#);
        assert!((loss(&packets).unwrap() - 1e-4).abs() < 1e-15);
    }

    #[test]
    fn what_is_no_such_plan_is_refused() {
        assert!(matches!(loss("{}"), Err(PlanError::Syntax(_))));
        let impossible = r#"{"chain":{"kind":"means","loss":2.0,"burst":1.0},"clock":{"kind":"packet"}}"#;
        assert!(matches!(loss(impossible), Err(PlanError::Value { .. })));
    }

    #[test]
    fn a_links_long_run_loss_counts_repeats_and_what_hangs_together() {
        let link = |loss: f64, bursts: &str, arq: &str| -> LinkPlan {
            serde_json::from_str(&format!(
                r#"{{"name":"l","rate":{{"kind":"unlimited"}},"delay_ns":{{"kind":"constant","value":0}},"jitter_ns":null,
                "loss":{loss},"bursts":{bursts},"arq":{arq},
                "queue":{{"kind":"drop-tail","limit_bytes":null,"limit_packets":null}},"record":true}}"#
            ))
            .unwrap()
        };
        let means = |clock: &str| {
            format!(r#"{{"chain":{{"kind":"means","loss":0.2,"burst":4.0}},"clock":{{{clock}}}}}"#)
        };
        let found = |loss, bursts: &str, arq: &str| long_run_loss(&link(loss, bursts, arq), 1500);
        let twice = r#"{"retries":2,"delay_ns":1000,"in_order":true}"#;
        assert!((found(0.1, "null", "null").unwrap().probability - 0.1).abs() < 1e-12);
        assert!((found(0.1, "null", twice).unwrap().probability - 1e-3).abs() < 1e-12);
        let by_packet = found(0.0, &means(r#""kind":"packet""#), "null").unwrap();
        // The bad state is left with 1/4, the good one with 0.2 / (4 * 0.8) = 1/16: lambda is 11/16.
        assert!((by_packet.probability - 0.2).abs() < 1e-12);
        assert!((by_packet.span.unwrap() - 27.0 / 5.0).abs() < 1e-12);
        let by_time = found(0.0, &means(r#""kind":"time","step_ns":1000"#), "null").unwrap();
        assert!((by_time.probability - 0.2).abs() < 1e-12 && by_time.span.is_none());
        assert_eq!(found(0.0, &means(r#""kind":"packet""#), twice), None);
    }
}
