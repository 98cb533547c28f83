//! Construction of a link's channel from its plan and its rate.

use core::iter::repeat_n;

use airpath_channel::{
    AirChain, AirErrors, ArqConfig, Bernoulli, Bursts, Clock, ErrorProcess, Expected, InvalidChannel,
    LinkChannel, NoErrors, PacketBursts, RateProcess, StepByStep, TimedBursts,
};
use airpath_model::declare::ComponentError;
use airpath_model::{Bytes, Channel, RandomStream};
use airpath_plan::{ArqPlan, BurstPlan, Fault, LinkPlan, Part, PlanError};

use crate::components::{Components, components};
use crate::link::Air;

/// Returns the channel of `link`. Its random samples come from the streams `link/NAME/loss` and
/// `link/NAME/loss-states`. `keeps_damage` determines whether it records corruption.
pub(crate) fn channel(
    link: &LinkPlan,
    rate: RateProcess,
    seed: u64,
    keeps_damage: bool,
    components: &Components,
) -> Result<Air, Fault> {
    let stream = |part: &str| RandomStream::new(seed, &format!("link/{}/{part}", link.name));
    let maker = Maker { rate, keeps_damage };
    match &link.bursts {
        Some(plan) => with_bursts(bursts(plan, components)?, maker, stream).map(Air::Other),
        None if link.loss > 0.0 => {
            Bernoulli::new(link.loss, stream("loss")).map(|errors| Air::Other(maker.make(errors)))
        }
        None => Ok(Air::Clear(LinkChannel::new(maker.rate, NoErrors))),
    }
    .map_err(|error| Fault::new("loss", error))
}

/// Creates the channel of a link from its error model.
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

/// Returns the exact long-run probability that a link with these losses corrupts a packet of `size` bytes:
/// the mean over the states in which a packet may find the chain.
///
/// `bursts` is the JSON text of a link's `bursts` in a plan.
///
/// # Errors
/// If the text is not such a JSON text, or a value is out of range.
pub fn packet_loss(bursts: &str, size: u64) -> Result<f64, PlanError> {
    Ok(read(bursts)?.loss(Bytes::new(size)))
}

/// Returns the same probability if bytes were wrong independently of each other
/// ([`AirChain::independent_loss`]); `None` for packets that are not coded.
///
/// # Errors
/// As [`packet_loss`].
pub fn independent_packet_loss(bursts: &str, size: u64) -> Result<Option<f64>, PlanError> {
    Ok(read(bursts)?.independent_loss(Bytes::new(size)))
}

fn read(text: &str) -> Result<Bursts, PlanError> {
    let plan = serde_json::from_str(text).map_err(|error| PlanError::Syntax(error.to_string()))?;
    bursts(&plan, components()).map_err(|fault| fault.of(Part::Run))
}

/// Returns the long-run fraction of packets of `size` bytes that a link corrupts and its own retransmissions
/// do not repair.
///
/// Returns `None` for bursts combined with retransmissions: a retransmission finds the chain closer to its
/// state after the previous packet than to its long-run distribution.
pub fn long_run_loss(link: &LinkPlan, size: u64) -> Option<f64> {
    match (&link.bursts, &link.arq) {
        (None, None) => Some(link.loss),
        (None, Some(plan)) => {
            let attempts = usize::from(arq(plan, components()).ok()?.retries) + 1;
            Some(repeat_n(link.loss, attempts).product())
        }
        (Some(plan), None) => bursts(plan, components()).ok().map(|bursts| bursts.loss(Bytes::new(size))),
        (Some(_), Some(_)) => None,
    }
}

fn bursts(plan: &BurstPlan, components: &Components) -> Result<Bursts, Fault> {
    let bursts = || {
        let losses = components.losses.read(plan, &())?;
        losses.check()?;
        Ok(losses.build(())?)
    };
    bursts().map_err(|error: ComponentError| Fault::in_table("loss", error))
}

/// Returns the configuration of a link's retransmission of corrupted packets.
pub(crate) fn arq(plan: &ArqPlan, components: &Components) -> Result<ArqConfig, Fault> {
    components.arqs.build(plan, &(), ()).map_err(|error| Fault::in_table("arq", error))
}

fn with_bursts(
    Bursts { chain, clock }: Bursts,
    maker: Maker,
    stream: impl Fn(&str) -> RandomStream,
) -> Result<Box<dyn Channel>, InvalidChannel> {
    Ok(match clock {
        Clock::Air { clock, coding, step_by_step: false } => {
            maker.make(AirErrors::new(AirChain { chain, clock }, coding, stream("loss")))
        }
        Clock::Air { clock, coding, step_by_step: true } => {
            maker.make(StepByStep::new(AirChain { chain, clock }, coding, stream("loss")))
        }
        Clock::Packet => maker.make(PacketBursts::new(chain, stream("loss"))),
        Clock::Time(step) => {
            maker.make(TimedBursts::new(chain, step, stream("loss-states"), stream("loss"))?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(bursts: &str) -> Result<f64, PlanError> {
        packet_loss(bursts, 1040)
    }

    #[test]
    fn the_loss_of_independent_bits_is_binomial() {
        // A chain with equal states: 1 - (1 - 1e-4)^8320.
        let bits = r#"{"kind":"gilbert-elliott","gamma":0.5,"beta":0.5,"eps_good":1e-4,"eps_bad":1e-4,"clock":"bit"}"#;
        assert!((loss(bits).unwrap() - 0.564_840_044_971_257).abs() < 1e-12, "{:?}", loss(bits));
        // A byte that is one step is wrong as often as a bit: 1 - (1 - 1e-4)^1040.
        let symbols = bits.replace("\"bit\"", "\"symbol\"");
        assert!((loss(&symbols).unwrap() - 0.098_779_389_250_593).abs() < 1e-12, "{:?}", loss(&symbols));
        let packets = bits.replace("\"bit\"", "\"packet\"");
        assert!((loss(&packets).unwrap() - 1e-4).abs() < 1e-15);
    }

    #[test]
    fn invalid_channel_plans_are_rejected() {
        assert!(matches!(loss("{}"), Err(PlanError::Syntax(_))));
        let impossible = r#"{"kind":"gilbert","mean_loss":2.0,"mean_burst":1.0}"#;
        assert!(matches!(loss(impossible), Err(PlanError::Value { .. })));
    }

    #[test]
    fn the_long_run_loss_of_a_link_includes_repeats() {
        let link = |loss: f64, bursts: &str, arq: &str| -> LinkPlan {
            serde_json::from_str(&format!(
                r#"{{"name":"l","rate":{{"kind":"unlimited"}},"delay_ns":{{"kind":"constant","value":0}},"jitter_ns":null,
                "loss":{loss},"bursts":{bursts},"arq":{arq},
                "queue":{{"kind":"drop-tail","limit_bytes":null,"limit_packets":null}},"record":true}}"#
            ))
            .unwrap()
        };
        let means = |clock: &str| format!(r#"{{"kind":"gilbert","mean_loss":0.2,"mean_burst":4.0,{clock}}}"#);
        let found = |loss, bursts: &str, arq: &str| long_run_loss(&link(loss, bursts, arq), 1500);
        let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-12;
        let twice = r#"{"kind":"selective-repeat","retries":2,"delay":1000}"#;
        assert!(near(found(0.1, "null", "null"), 0.1));
        assert!(near(found(0.1, "null", twice), 1e-3));
        for clock in [r#""clock":"packet""#, r#""clock":"time","step":1000"#] {
            assert!(near(found(0.0, &means(clock), "null"), 0.2));
            assert_eq!(found(0.0, &means(clock), twice), None);
        }
    }
}
