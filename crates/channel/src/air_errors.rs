//! Packet losses of a chain that is clocked by the transmitted data.

use alloc::boxed::Box;
use alloc::vec;

use airpath_model::{Bytes, RandomStream, Timestamp, Transmission};

use crate::{AirChain, CodeRate, ErrorProcess, PacketOutcomes, State};

/// Reed-Solomon coding over bytes, for chains that are clocked by bits or bytes.
///
/// A link layer does not know the purpose of a packet, so acknowledgments are identified by their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct Coding {
    /// Code rate of packets above `ack_limit`. Default: not coded.
    #[cfg_attr(feature = "declare", serde(rename = "code_rate", default))]
    #[cfg_attr(feature = "declare", schemars(with = "Option<f64>", range(min = 1.0 / 255.0, max = 1)))]
    pub data: Option<CodeRate>,
    /// Code rate of packets of at most `ack_limit`. Default: not coded.
    #[cfg_attr(feature = "declare", serde(rename = "ack_code_rate", default))]
    #[cfg_attr(feature = "declare", schemars(with = "Option<f64>", range(min = 1.0 / 255.0, max = 1)))]
    pub acks: Option<CodeRate>,
    /// Maximum size of packets that are coded as acknowledgments: a link sees sizes, not purposes.
    #[cfg_attr(feature = "declare", serde(rename = "ack_limit", default = "default::ack_limit"))]
    pub small: Bytes,
    /// Whether parity takes time on the link, whose `rate` then includes it; otherwise `rate` is the rate of
    /// the data.
    #[cfg_attr(feature = "declare", serde(default))]
    pub parity_takes_time: bool,
}

#[cfg(feature = "declare")]
airpath_model::declare::defaults! {
    ack_limit: Bytes = Bytes::new(100);
}

impl Coding {
    /// Returns the code of a packet of this size.
    pub fn of(&self, size: Bytes) -> Option<CodeRate> {
        if size <= self.small { self.acks } else { self.data }
    }

    /// Returns the size of a packet of this size on the link.
    pub fn size_on_link(&self, size: Bytes) -> Bytes {
        match self.of(size) {
            Some(rate) if self.parity_takes_time => Bytes::new(rate.symbols(size.get())),
            _ => size,
        }
    }
}

/// Number of entries of the table of outcomes; a run sends few different sizes.
const TABLE: usize = 64;

/// Returns the preferred table index of a packet size.
fn place(size: Bytes) -> usize {
    (size.get() % TABLE as u64) as usize
}

/// The outcomes of packets by size, each computed on first use.
#[derive(Clone, Debug)]
pub(crate) struct OutcomeTable {
    chain: AirChain,
    coding: Coding,
    /// Each entry is at its preferred index, or in the first free entry after it: 1000 and 40 bytes have the
    /// same index, and outcomes take thousands of times as long to compute as to find. If there are more
    /// sizes than entries, the latest one replaces the entry at its preferred index.
    entries: Box<[Option<(Bytes, PacketOutcomes)>]>,
}

impl OutcomeTable {
    pub(crate) fn new(chain: AirChain, coding: Coding) -> Self {
        Self { chain, coding, entries: vec![None; TABLE].into_boxed_slice() }
    }

    pub(crate) fn of(&mut self, size: Bytes) -> PacketOutcomes {
        let first = place(size);
        let mut free = None;
        for index in (first..TABLE).chain(0..first) {
            match &self.entries[index] {
                Some((known, outcomes)) if *known == size => return *outcomes,
                Some(_) => {}
                None => {
                    free = Some(index);
                    break;
                }
            }
        }
        let outcomes = self.chain.outcomes(size.get(), self.coding.of(size));
        self.entries[free.unwrap_or(first)] = Some((size, outcomes));
        outcomes
    }

    /// Returns the loss probability of a packet of this size that finds the chain in `state`.
    pub(crate) fn loss_in(&mut self, state: State, size: Bytes) -> f64 {
        self.of(size).lost[state.index()].iter().sum::<f64>().min(1.0)
    }
}

/// A chain that corrupts packets as it would bit by bit, with two random samples per packet: whether it is
/// lost, given the state in which the chain was left, and the state after it, given both.
///
/// The joint distribution of losses is exactly that of [`StepByStep`](crate::StepByStep). The chain starts in
/// its stationary distribution and does not move while nothing is sent.
#[derive(Clone, Debug)]
pub struct AirErrors {
    outcomes: OutcomeTable,
    state: State,
    stream: RandomStream,
}

impl AirErrors {
    /// Creates a chain whose initial state is drawn from `stream`.
    pub fn new(chain: AirChain, coding: Coding, mut stream: RandomStream) -> Self {
        let state = chain.chain.draw_stationary(&mut stream);
        Self { outcomes: OutcomeTable::new(chain, coding), state, stream }
    }
}

impl ErrorProcess for AirErrors {
    fn size_on_link(&self, size: Bytes) -> Bytes {
        self.outcomes.coding.size_on_link(size)
    }

    fn arrives(&mut self, transmission: &Transmission, _departs: Timestamp) -> bool {
        let outcomes = self.outcomes.of(transmission.size);
        let row = self.state.index();
        let lost = self.stream.chance(outcomes.lost[row][0] + outcomes.lost[row][1]);
        let [good, bad] = if lost { outcomes.lost[row] } else { outcomes.arrived[row] };
        self.state = State::draw(bad / (good + bad), &mut self.stream);
        !lost
    }

    fn damage_probability(
        &mut self,
        transmission: &Transmission,
        _departs: Timestamp,
        _before: Timestamp,
    ) -> f64 {
        self.outcomes.loss_in(self.state, transmission.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BitClock, GilbertElliott};

    fn table() -> OutcomeTable {
        let chain = GilbertElliott::new(0.999, 0.9, 1e-6, 1e-3).unwrap();
        OutcomeTable::new(AirChain { chain, clock: BitClock::Bit }, Coding::default())
    }

    /// Returns the sizes whose outcomes are in the table, ascending.
    fn known(table: &OutcomeTable) -> alloc::vec::Vec<u64> {
        let mut sizes: alloc::vec::Vec<_> =
            table.entries.iter().flatten().map(|(size, _)| size.get()).collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn sizes_that_share_a_slot_are_all_kept() {
        let mut table = table();
        for size in [1000, 40, 104, 1000, 40] {
            table.of(Bytes::new(size));
        }
        assert_eq!(known(&table), [40, 104, 1000]);
    }

    #[test]
    fn outcomes_match_the_size_for_any_number_of_sizes() {
        let mut table = table();
        for round in 0..3 {
            for size in (1..200).chain((64..10_000).step_by(64)) {
                let expected = table.chain.outcomes(size, None);
                assert_eq!(table.of(Bytes::new(size)), expected, "{size} bytes in round {round}");
            }
        }
        assert_eq!(known(&table).len(), TABLE);
    }
}
