//! What senders, routers and receivers write to each other on packets beside the ECN bits.

use crate::{Duration, Rate};

/// The congestion header of one packet. The sender stamps it (through [`crate::Controller::on_sent`]), routers on
/// the way change it, the receiver copies it into its acknowledgment, and it comes back in
/// [`crate::AckEvent::path`].
// All payloads begin at the same offset: a processor that copies headers never has to read what two writes have made.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
#[repr(u64)]
pub enum PathHeader {
    /// The flow speaks to no router.
    #[default]
    None,
    /// XCP's header in the rate form.
    Xcp(XcpHeader),
    /// VCP's code, raised to the maximum over the hops.
    Load(LoadCode),
    /// MPCP's load factor, raised to the maximum over the hops.
    Word(LoadWord),
    /// QFCP's rate: asked for by the sender, lowered to the minimum over the hops.
    FairRate(Rate),
}

/// XCP's congestion header (draft-falk-xcp-spec-03, section 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct XcpHeader {
    /// The sender's round-trip time; zero when it has none yet.
    pub rtt: Duration,
    /// X: the time between two packets of the flow, RTT over window in packets.
    pub inter_packet: Duration,
    /// The change of throughput asked for by the sender and lowered by routers, in byte/s; may be negative.
    pub delta_throughput: f64,
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

/// MPCP's quantised load factor. It takes `digits` consecutive packets to carry, two bits on each; the whole word
/// travels here on each of them, and a sender may use it only when it has one from every packet of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadWord {
    /// The quantised load factor, the maximum over the hops so far.
    pub level: u16,
    /// How many packets carry one word: n of MPCP, 2 for DPCP.
    pub digits: u8,
    /// Which of them this packet is, from zero.
    pub digit: u8,
}
