//! Packet losses on a chain that is clocked by what is sent.

use alloc::boxed::Box;
use alloc::vec;

use airpath_model::{Bytes, RandomStream, Timestamp, Transmission};

use crate::{AirChain, CodeRate, ErrorProcess, PacketOutcomes, State};

/// Reed-Solomon coding over bytes, for chains that are clocked by bits or bytes.
///
/// A link layer does not see what a packet is for, so acknowledgments are known by their size.
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
    /// The largest packet that is coded as an acknowledgment: a link sees sizes, not purposes.
    #[cfg_attr(feature = "declare", serde(rename = "ack_limit", default = "default::ack_limit"))]
    pub small: Bytes,
    /// Whether parity takes time on the link, whose `rate` then counts it; else that is the data's rate.
    #[cfg_attr(feature = "declare", serde(default))]
    pub parity_takes_time: bool,
}

#[cfg(feature = "declare")]
airpath_model::declare::defaults! {
    ack_limit: Bytes = Bytes::new(100);
}

impl Coding {
    /// The code of a packet of this size.
    pub fn of(&self, size: Bytes) -> Option<CodeRate> {
        if size <= self.small { self.acks } else { self.data }
    }

    /// What a packet of this size takes on the link.
    pub fn size_on_link(&self, size: Bytes) -> Bytes {
        match self.of(size) {
            Some(rate) if self.parity_takes_time => Bytes::new(rate.symbols(size.get())),
            _ => size,
        }
    }
}

/// Entries of the table of outcomes; a run sends few different sizes.
const TABLE: usize = 64;

/// Where the outcomes of a packet of this size are looked for first.
fn place(size: Bytes) -> usize {
    (size.get() % TABLE as u64) as usize
}

/// The outcomes of packets by their size, each computed when it is first asked for.
#[derive(Clone, Debug)]
pub(crate) struct OutcomeTable {
    chain: AirChain,
    coding: Coding,
    /// Each at its place, or in the first free entry behind it: 1000 and 40 bytes have one place, and outcomes take
    /// thousands of times as long to compute as to find. Of more sizes than entries the last one takes its place.
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

    /// The probability that a packet of this size is lost when it finds the chain in `state`.
    pub(crate) fn loss_in(&mut self, state: State, size: Bytes) -> f64 {
        self.of(size).lost[state.index()].iter().sum::<f64>().min(1.0)
    }
}

/// Damages packets as the chain would bit by bit, with two draws for each packet: whether it is lost, given the state
/// that the chain was left in, and the state in which it leaves the chain, given both.
///
/// The joint distribution of losses is exactly that of [`StepByStep`](crate::StepByStep). The chain starts in its
/// stationary distribution and stands still while nothing is sent.
#[derive(Clone, Debug)]
pub struct AirErrors {
    outcomes: OutcomeTable,
    state: State,
    stream: RandomStream,
}

impl AirErrors {
    /// A chain in a state drawn from `stream`.
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

    /// The sizes of which the table holds outcomes, ascending.
    fn known(table: &OutcomeTable) -> alloc::vec::Vec<u64> {
        let mut sizes: alloc::vec::Vec<_> =
            table.entries.iter().flatten().map(|(size, _)| size.get()).collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn sizes_that_share_a_place_are_all_kept() {
        let mut table = table();
        for size in [1000, 40, 104, 1000, 40] {
            table.of(Bytes::new(size));
        }
        assert_eq!(known(&table), [40, 104, 1000]);
    }

    #[test]
    fn outcomes_are_those_of_the_size_however_many_sizes_there_are() {
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
