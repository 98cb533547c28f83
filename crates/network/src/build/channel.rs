//! From a link's plan and its rate to its channel.

use core::iter::repeat_n;

use airpath_channel::{
    AirChain, AirErrors, Bernoulli, BitClock, CodeRate, Coding, ErrorProcess, Expected, GilbertElliott,
    InvalidChannel, LinkChannel, NoErrors, PacketBursts, RateProcess, StepByStep, TimedBursts,
    TwoStateFading,
};
use airpath_model::{Bytes, Channel, Duration, RandomStream};
use airpath_plan::{BurstPlan, ChainPlan, ClockPlan, CodingPlan, Fault, LinkPlan, Part, PlanError};

use crate::link::Air;

/// The channel of `link`; what it draws comes from the streams `link/NAME/loss` and `link/NAME/loss-states`.
/// `keeps_damage` is whether it keeps what it damages.
pub(crate) fn channel(
    link: &LinkPlan,
    rate: RateProcess,
    seed: u64,
    keeps_damage: bool,
) -> Result<Air, Fault> {
    let stream = |part: &str| RandomStream::new(seed, &format!("link/{}/{part}", link.name));
    let maker = Maker { rate, keeps_damage };
    match &link.bursts {
        Some(bursts) => with_bursts(bursts, maker, stream).map(Air::Other),
        None if link.loss > 0.0 => {
            Bernoulli::new(link.loss, stream("loss")).map(|errors| Air::Other(maker.make(errors)))
        }
        None => Ok(Air::Clear(LinkChannel::new(maker.rate, NoErrors))),
    }
    .map_err(|error| Fault::new("loss", error))
}

/// Makes the channel of a link from its errors.
struct Maker {
    rate: RateProcess,
    keeps_damage: bool,
}

impl Maker {
    fn make(self, errors: impl ErrorProcess + 'static) -> Box<dyn Channel> {
        if self.keeps_damage {
            Box::new(LinkChannel::new(self.rate, Expected::new(errors)))
        } else {
            Box::new(LinkChannel::new(self.rate, errors))
        }
    }
}

/// The exact probability that a link with such losses damages a packet of this size, in the long run: the mean over the
/// states in which a packet may find the chain.
///
/// `bursts` is the JSON text of a link's `bursts` in a plan.
///
/// # Errors
/// Where the text is no such thing, or a value is out of range.
pub fn packet_loss(bursts: &str, size: u64) -> Result<f64, PlanError> {
    loss_of(&bursts_plan(bursts)?, Bytes::new(size)).map_err(refused)
}

/// The same if bytes were wrong independently of each other ([`AirChain::independent_loss`]); `None` for packets that are
/// not coded.
///
/// # Errors
/// As [`packet_loss`].
pub fn independent_packet_loss(bursts: &str, size: u64) -> Result<Option<f64>, PlanError> {
    let coded = on_air(&bursts_plan(bursts)?).map_err(refused)?;
    Ok(coded
        .and_then(|(air, coding)| coding.of(Bytes::new(size)).map(|rate| air.independent_loss(size, rate))))
}

fn bursts_plan(text: &str) -> Result<BurstPlan, PlanError> {
    serde_json::from_str(text).map_err(|error| PlanError::Syntax(error.to_string()))
}

fn refused(error: InvalidChannel) -> PlanError {
    Fault::new("loss", error).of(Part::Run)
}

/// The share of packets of `size` bytes that a link damages in the long run, beyond repair by its own repeats.
///
/// `None` where bursts meet repeats: a repeat finds the chain nearer to where the packet before it left it than to its
/// long run.
pub fn long_run_loss(link: &LinkPlan, size: u64) -> Option<f64> {
    match (&link.bursts, link.arq) {
        (None, None) => Some(link.loss),
        (None, Some(arq)) => Some(repeat_n(link.loss, usize::from(arq.retries) + 1).product()),
        (Some(bursts), None) => loss_of(bursts, Bytes::new(size)).ok(),
        (Some(_), Some(_)) => None,
    }
}

fn loss_of(plan: &BurstPlan, size: Bytes) -> Result<f64, InvalidChannel> {
    Ok(match on_air(plan)? {
        Some((air, coding)) => air.outcomes(size.get(), coding.of(size)).loss(air.chain.stationary()),
        // A packet finds the chain in its stationary state, and damage is drawn once.
        None => chain(&plan.chain)?.mean_error(),
    })
}

/// The chain and the coding of what is clocked by bits or bytes; `None` for other clocks.
fn on_air(plan: &BurstPlan) -> Result<Option<(AirChain, Coding)>, InvalidChannel> {
    let (clock, coding) = match plan.clock {
        ClockPlan::Bit { coding, .. } => (BitClock::Bit, coding),
        ClockPlan::Symbol { coding, .. } => (BitClock::Symbol, coding),
        ClockPlan::Packet | ClockPlan::Time { .. } => return Ok(None),
    };
    Ok(Some((AirChain { chain: chain(&plan.chain)?, clock }, self::coding(coding)?)))
}

fn with_bursts(
    bursts: &BurstPlan,
    maker: Maker,
    stream: impl Fn(&str) -> RandomStream,
) -> Result<Box<dyn Channel>, InvalidChannel> {
    let chain = chain(&bursts.chain)?;
    let on_air = |clock, plan: CodingPlan, step_by_step, maker: Maker| {
        let (air, coding) = (AirChain { chain, clock }, coding(plan)?);
        Ok(if step_by_step {
            maker.make(StepByStep::new(air, coding, stream("loss")))
        } else {
            maker.make(AirErrors::new(air, coding, stream("loss")))
        })
    };
    match bursts.clock {
        ClockPlan::Bit { coding, step_by_step } => on_air(BitClock::Bit, coding, step_by_step, maker),
        ClockPlan::Symbol { coding, step_by_step } => on_air(BitClock::Symbol, coding, step_by_step, maker),
        ClockPlan::Packet => Ok(maker.make(PacketBursts::new(chain, stream("loss")))),
        ClockPlan::Time { step_ns } => {
            let step = Duration::from_nanos(step_ns);
            let errors = TimedBursts::new(chain, step, stream("loss-states"), stream("loss"))?;
            Ok(maker.make(errors))
        }
    }
}

fn chain(plan: &ChainPlan) -> Result<GilbertElliott, InvalidChannel> {
    match *plan {
        ChainPlan::Probabilities { stay_good, stay_bad, error_good, error_bad } => {
            GilbertElliott::new(stay_good, stay_bad, error_good, error_bad)
        }
        ChainPlan::Means { loss, burst } => GilbertElliott::from_means(loss, burst),
        ChainPlan::Netem { p, r, loss_bad, loss_good } => GilbertElliott::netem(p, r, loss_bad, loss_good),
        ChainPlan::Fading {
            stay_good,
            stay_bad,
            modulation,
            snr_db,
            bad_snr_drop_db,
            antennas,
            rician_k,
        } => TwoStateFading { modulation, snr_db, bad_snr_drop_db, antennas, rician_k }
            .chain(stay_good, stay_bad),
    }
}

fn coding(plan: CodingPlan) -> Result<Coding, InvalidChannel> {
    let code = |rate: Option<(u32, u32)>| rate.map(|(data, all)| CodeRate::new(data, all)).transpose();
    Ok(Coding {
        data: code(plan.data)?,
        acks: code(plan.acks)?,
        small: Bytes::new(plan.small_bytes),
        parity_takes_time: plan.parity_takes_time,
    })
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
        let coding = r#"{"data":null,"acks":null,"small_bytes":100,"parity_takes_time":false}"#;
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
    fn a_links_long_run_loss_counts_repeats() {
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
        let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-12;
        let twice = r#"{"retries":2,"delay_ns":1000,"in_order":true}"#;
        assert!(near(found(0.1, "null", "null"), 0.1));
        assert!(near(found(0.1, "null", twice), 1e-3));
        for clock in [r#""kind":"packet""#, r#""kind":"time","step_ns":1000"#] {
            assert!(near(found(0.0, &means(clock), "null"), 0.2));
            assert_eq!(found(0.0, &means(clock), twice), None);
        }
    }
}
