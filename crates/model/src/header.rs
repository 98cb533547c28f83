//! Information that senders, routers and receivers exchange on packets in addition to the ECN bits.

use crate::{Duration, Rate};

/// The congestion header of one packet. The sender writes it (through [`crate::Controller::on_sent`]),
/// routers on the path change it, the receiver copies it into its acknowledgment, and the sender reads it in
/// [`crate::AckEvent::path`].
// All payloads begin at the same offset, so that copying a header never reads a word that two separate stores
// wrote.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
#[repr(u64)]
pub enum PathHeader {
    /// The flow does not communicate with routers.
    #[default]
    None,
    /// XCP's header in the rate form.
    Xcp(XcpHeader),
    /// VCP's code, raised to the maximum over the hops.
    Load(LoadCode),
    /// MPCP's load factor, raised to the maximum over the hops.
    Word(LoadWord),
    /// QFCP's rate: requested by the sender, lowered to the minimum over the hops.
    FairRate(Rate),
    /// ABC's mark, changed from accelerate to brake by any hop.
    Abc(AbcMark),
}

/// XCP's congestion header (draft-falk-xcp-spec-03, section 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct XcpHeader {
    /// The sender's round-trip time; zero before the first sample.
    pub rtt: Duration,
    /// X: the time between two packets of the flow, RTT over window in packets.
    pub inter_packet: Duration,
    /// The change of throughput requested by the sender and lowered by routers, in byte/s; may be negative.
    pub delta_throughput: f64,
}

/// The two forms of XCP. Their equations are the same; they differ in the use of the round-trip time and of
/// feedback that is left over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum XcpForm {
    /// Changes of rate (draft-falk-xcp-spec-03; ns-2.35): the sender multiplies feedback by its newest
    /// round-trip time, and routers distribute what is in the residues.
    #[default]
    Rate,
    /// Changes of window (SIGCOMM 2002): feedback is multiplied by the round-trip time in the header of its
    /// packet, and routers give every packet its share, no matter how many packets arrive.
    Window,
}

/// VCP's two-bit load-factor code (SIGCOMM'05), in the order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LoadCode {
    /// Below 80 % of the target utilisation: grow multiplicatively.
    #[default]
    Low,
    /// From 80 to 100 %: grow additively.
    High,
    /// Above 100 %: back off.
    Overload,
}

/// ABC's mark (Goyal et al., NSDI 2020, section 3.1), in the order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum AbcMark {
    /// Send two packets for this one. Senders write this mark.
    #[default]
    Accelerate,
    /// Send no packet for this one.
    Brake,
}

/// MPCP's quantised load factor. `digits` consecutive packets carry it, two bits on each. Here each of them
/// carries the whole word, and a sender may use it only after it received one from every packet of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadWord {
    /// The quantised load factor, the maximum over the hops so far.
    pub level: u16,
    /// The number of packets that carry one word: n of MPCP, 2 for DPCP.
    pub digits: u8,
    /// The index of this packet in the group, from zero.
    pub digit: u8,
}

/// The largest number of packets for one word that fits the level.
const MAX_DIGITS: u8 = 8;

impl LoadWord {
    /// `ρ_max`, the load factor of the highest level (a reconstruction: docs/reference/schemes/mpcp.md). Larger load
    /// factors are encoded as this one.
    pub const MAX_LOAD: f64 = 1.2;

    /// Encodes `load` in `2 digits` bits, rounded to the nearest level:
    /// `round((4ⁿ − 1) min(ρ, ρ_max) / ρ_max)`. `digits` is clamped to 1 to 8.
    pub fn level(load: f64, digits: u8) -> u16 {
        // At most 4⁸ − 1, which fits 16 bits.
        libm::round(highest(digits) * load.min(Self::MAX_LOAD) / Self::MAX_LOAD) as u16
    }

    /// Returns the load factor of a level.
    pub fn load_factor(level: u16, digits: u8) -> f64 {
        // 6/5 is `MAX_LOAD`. A single division of whole numbers ensures that the level of 0.8, at which
        // senders change from MI to AI, does not decode to less than 0.8.
        f64::from(6 * u32::from(level)) / (5.0 * highest(digits))
    }
}

/// Returns the highest level of `2 digits` bits.
fn highest(digits: u8) -> f64 {
    f64::from((1_u32 << (2 * digits.clamp(1, MAX_DIGITS))) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    }

    #[test]
    fn levels_span_zero_to_the_maximum() {
        for (digits, highest) in [(1, 3), (2, 15), (3, 63), (8, u16::MAX)] {
            assert_eq!(LoadWord::level(0.0, digits), 0);
            assert_eq!(LoadWord::level(1.2, digits), highest);
            assert_eq!(LoadWord::level(1e9, digits), highest);
            assert_eq!(LoadWord::level(0.6, digits), highest / 2 + 1, "half rounds up");
            close(LoadWord::load_factor(0, digits), 0.0);
            close(LoadWord::load_factor(highest, digits), 1.2);
        }
    }

    #[test]
    fn two_packets_carry_sixteen_levels_of_eight_percent() {
        for (load, level) in [(0.8, 10), (0.75, 9), (0.97, 12), (1.03, 13)] {
            assert_eq!(LoadWord::level(load, 2), level);
        }
        close(LoadWord::load_factor(10, 2), 0.8);
        close(LoadWord::load_factor(1, 1), 0.4);
        for digits in 1..=MAX_DIGITS {
            let level = LoadWord::level(0.8, digits);
            assert_eq!(LoadWord::load_factor(level, digits).to_bits(), 0.8_f64.to_bits(), "{digits} digits");
            assert_eq!(LoadWord::load_factor(highest(digits) as u16, digits).to_bits(), 1.2_f64.to_bits());
        }
    }

    #[test]
    fn invalid_numbers_of_digits_do_not_panic() {
        assert_eq!(LoadWord::level(1.2, 0), 3);
        assert_eq!(LoadWord::level(1.2, 200), u16::MAX);
        close(LoadWord::load_factor(3, 0), 1.2);
    }
}
