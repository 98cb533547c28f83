//! Burst losses: the probabilities for whole packets are computed here, the random outcomes in the kernel.

use airpath_channel::declare::Losses;
use airpath_channel::registry::losses;
use airpath_channel::{Clock, PacketOutcomes};
use airpath_model::Bytes;
use airpath_model::declare::{ComponentError, ComponentPlan, Value};
use serde::Deserialize;

use crate::Error;

/// Width of a size class in bytes (`SIZE_CLASS` of the program).
pub const SIZE_CLASS: u64 = 16;

/// Number of size classes in the program's table (`SIZE_CLASSES`): up to 1536 bytes.
pub const SIZE_CLASSES: usize = 97;

/// A Gilbert-Elliott chain that drops packets, in the syntax of a scenario's `loss`. A code rate may also be
/// a fraction in text, data symbols over symbols.
pub type LossConfig = ComponentPlan<Losses>;

/// The side of the device on which packets are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hook {
    /// Before the device's queue: lost packets take no time on the link.
    #[default]
    Egress,
    /// On arrival at the far end of a link, as on a radio channel.
    Ingress,
}

/// A row of the program's table: probabilities times 2^32, by the previous state of the chain (good, bad).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Probability that the packet is lost.
    pub lost: [u64; 2],
    /// Probability that the chain is bad after the packet, given that the packet is lost.
    pub bad_if_lost: [u64; 2],
    /// Probability that the chain is bad after the packet, given that the packet arrives.
    pub bad_if_arrived: [u64; 2],
}

/// Returns the program's table. A class has the outcomes of its largest size.
pub fn outcomes(config: &LossConfig) -> Result<Vec<Outcome>, Error> {
    table(config).map_err(|error| {
        let error = error.inside("router.loss");
        Error::Config { problem: format!("{}: {error}", error.parameter) }
    })
}

fn table(config: &LossConfig) -> Result<Vec<Outcome>, ComponentError> {
    let mut config = config.clone();
    for (key, value) in &mut config.values {
        let accepted = match (key.as_str(), &value) {
            ("clock", Value::String(clock)) if clock == "time" => "\"bit\", \"symbol\", \"packet\"",
            ("parity_takes_time" | "step_by_step", Value::Bool(true)) => "false",
            ("code_rate" | "ack_code_rate", Value::String(text)) => {
                if let Some(rate) = fraction(text) {
                    *value = rate;
                    continue;
                }
                "a number, or data symbols over symbols, such as \"223/255\""
            }
            _ => continue,
        };
        return Err(ComponentError::new(key.clone(), format!("found {value}; accepted: {accepted}")));
    }
    // Unlike in scenarios, packets may drive the fading process here; they are then corrupted in the same way
    // as bits.
    let by_packet =
        config.kind == "fading" && config.values.get("clock").is_some_and(|clock| clock == "packet");
    if by_packet && !config.values.contains_key("code_rate") {
        config.values.remove("clock");
    }
    let losses = losses().read(&config, &())?;
    losses.check()?;
    let mut bursts = losses.build(())?;
    // Acknowledgments are coded like all other packets unless configured otherwise.
    if let (Clock::Air { coding, .. }, None) = (&mut bursts.clock, config.values.get("ack_code_rate")) {
        coding.acks = coding.data;
    }
    let step = bursts.chain.step();
    let of = |class: u64| {
        let on_air = bursts.outcomes(Bytes::new(class.max(1) * SIZE_CLASS)).filter(|_| !by_packet);
        Outcome::new(&on_air.unwrap_or(PacketOutcomes { arrived: step.clean, lost: step.damaged }))
    };
    Ok((0..SIZE_CLASSES as u64).map(of).collect())
}

/// Parses a code rate in text, data symbols over symbols.
fn fraction(text: &str) -> Option<Value> {
    let (data, all) = text.split_once('/')?;
    let [data, all]: [u32; 2] = [data.trim().parse().ok()?, all.trim().parse().ok()?];
    Some(Value::from(f64::from(data) / f64::from(all))).filter(Value::is_number)
}

impl Outcome {
    fn new(packet: &PacketOutcomes) -> Self {
        let fixed = |probability: f64| (probability * 4_294_967_296.0 + 0.5) as u64;
        let bad = |row: [f64; 2]| {
            let sum = row[0] + row[1];
            if sum > 0.0 { fixed(row[1] / sum) } else { 0 }
        };
        Self {
            lost: packet.lost.map(|row| fixed(row[0] + row[1])),
            bad_if_lost: packet.lost.map(bad),
            bad_if_arrived: packet.arrived.map(bad),
        }
    }
}
