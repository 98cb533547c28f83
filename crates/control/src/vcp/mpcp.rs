//! Multi-packet congestion control (MPCP) at a sender: VCP with the load factor itself instead of three
//! codes.

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, LoadWord, Measurement,
    PathHeader, Phase, Probe, Requirements, SendEvent, Timestamp,
};

use super::LOW_LOAD;
use super::overload::Region;
use super::response::{LoadResponse, LoadResponseConfig};
use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
#[cfg(feature = "declare")]
use alloc::boxed::Box;

/// The largest number of packets for one word that fits the header's level.
const MAX_DIGITS: u8 = 8;

/// MI's gain κ, and the largest growth of the window in one `t_ρ`.
const MI_GAIN: f64 = 0.25;

/// MD's factor at a load factor of 1: VCP's β.
const MILDEST_DECREASE: f64 = 0.875;

/// MD's factor at `ρ_max`.
const STRONGEST_DECREASE: f64 = 0.5;

/// Parameters of MPCP's sender (docs/reference/schemes/mpcp.md).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default)
)]
pub struct MpcpConfig {
    /// n: number of packets that carry one word of 2n bits. Three, with 64 levels, is our choice.
    #[cfg_attr(feature = "declare", schemars(range(min = 1, max = 8)))]
    pub digits: u8,
    /// Parameters that VCP's sender shares.
    #[cfg_attr(feature = "declare", serde(flatten))]
    pub response: LoadResponseConfig,
}

impl Default for MpcpConfig {
    fn default() -> Self {
        Self { digits: 3, response: LoadResponseConfig::default() }
    }
}

#[cfg(feature = "declare")]
impl Component<Controllers> for MpcpConfig {
    const ID: &'static str = "mpcp";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Mpcp::new(*self, facts.initial_window, facts.mss)?))
    }
}

/// MPCP's sender (Li and Yousefi'zadeh, CCR 39(5), 2009; only abstract and review were available, so the
/// control law is a reconstruction: docs/reference/schemes/mpcp.md).
///
/// ```text
/// ρ < 0.8:        MI by ξ(ρ) = min(0.25 (1 − ρ) / ρ, 0.25) each t_ρ
/// 0.8 ≤ ρ < 1:    AI by α each t_ρ
/// ρ ≥ 1:          MD by a factor that falls linearly from 0.875 at ρ = 1 to 0.5 at ρ = 1.2
/// ```
///
/// Scaling, freeze, losses and pacing are VCP's. Packets are numbered 0 to n − 1 in groups. The load carried
/// by the first packet of a group applies from the time when the whole group is acknowledged until the next
/// group is complete.
///
/// Telemetry: `load_factor` at each change.
#[derive(Clone, Debug)]
pub struct Mpcp {
    response: LoadResponse,
    digits: u8,
    /// The number of the next packet in its group.
    next_digit: u8,
    group: Group,
    /// The load factor of the last complete group.
    load: Option<f64>,
}

impl Mpcp {
    /// Creates a sender with `initial_window` (bytes of payload); `mss` is the largest payload of one packet.
    ///
    /// Fails if a parameter is out of range, `mss` is zero, or the window is smaller than one packet.
    pub fn new(config: MpcpConfig, initial_window: Bytes, mss: Bytes) -> Result<Self, ConfigError> {
        let MpcpConfig { digits, response } = config;
        check((1..=MAX_DIGITS).contains(&digits), "digits", "1 to 8", digits.into())?;
        Ok(Self {
            response: LoadResponse::new(response, initial_window, mss)?,
            digits,
            next_digit: 0,
            group: Group::default(),
            load: None,
        })
    }

    /// Processes the word of an acknowledgment and returns the current load factor.
    fn learn(&mut self, event: &AckEvent, probe: &mut dyn Probe) -> Option<f64> {
        let PathHeader::Word(word) = event.path else { return None };
        if word.digits != self.digits {
            return None;
        }
        let packets = event.acked.get().div_ceil(event.mss.get().max(1)).max(1);
        if let Some(level) = self.group.on_word(word, packets) {
            let load = LoadWord::load_factor(level, self.digits);
            if self.load.replace(load).is_none_or(|before| before.to_bits() != load.to_bits()) {
                probe.record(event.now, Measurement::Named("load_factor", load));
            }
        }
        self.load
    }
}

impl Controller for Mpcp {
    fn requirements(&self) -> Requirements {
        self.response.requirements()
    }

    fn on_sent(&mut self, _event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        let digit = self.next_digit;
        self.next_digit = (digit + 1) % self.digits;
        PathHeader::Word(LoadWord { level: 0, digits: self.digits, digit })
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        let wish = self.learn(event, probe).map(region);
        self.response.on_ack(event, wish);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        if event.signal == CongestionSignal::Timeout {
            // The last known load is older than the timeout.
            (self.group, self.load) = (Group::default(), None);
        }
        self.response.on_congestion(event);
    }

    fn on_spurious(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {
        self.response.on_spurious();
    }

    fn control(&self) -> Control {
        self.response.control()
    }

    fn phase(&self) -> Phase {
        Phase::Steady
    }
}

/// Returns the change of the window for a load factor.
fn region(load: f64) -> Region {
    if load < LOW_LOAD {
        Region::Multiplicative((MI_GAIN * (1.0 - load) / load).min(MI_GAIN))
    } else if load < 1.0 {
        Region::Additive
    } else {
        let severity = ((load - 1.0) / (LoadWord::MAX_LOAD - 1.0)).min(1.0);
        Region::Decrease(MILDEST_DECREASE - severity * (MILDEST_DECREASE - STRONGEST_DECREASE))
    }
}

/// The progress of the acknowledgment of a group of packets.
///
/// Words do not identify their group: a loss shows as a digit that does not follow the previous one. The loss
/// of as many adjacent packets as a group has, across two groups, is not detected, as in the protocol itself.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Number of acknowledged packets of the current group, counted from its first packet without a gap; zero
    /// if the group is broken or has not begun.
    acknowledged: u64,
    /// The level carried by the first of them.
    level: u16,
}

impl Group {
    /// Processes an acknowledgment of `packets` (at least one), the newest of which carried `word`. Returns
    /// the level of the group if this acknowledgment completes it.
    fn on_word(&mut self, word: LoadWord, packets: u64) -> Option<u16> {
        let (digits, end) = (u64::from(word.digits), u64::from(word.digit) + 1);
        // Whether the group of the newest packet began within this acknowledgment, of which only the newest
        // word is known.
        let began = packets >= end;
        let follows = self.acknowledged > 0 && (self.acknowledged + packets) % digits == end % digits;
        let complete = if began && end == digits {
            Some(word.level)
        } else if follows && self.acknowledged + packets >= digits {
            Some(self.level)
        } else {
            None
        };
        if began {
            self.level = word.level;
        }
        self.acknowledged = if end < digits && (began || follows) { end } else { 0 };
        complete
    }
}

#[cfg(test)]
mod tests;
