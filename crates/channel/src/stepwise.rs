//! The chain simulated step by step, for verification.

use airpath_model::{Bytes, RandomStream, Timestamp, Transmission};

use crate::air_errors::OutcomeTable;
use crate::{AirChain, Coding, ErrorProcess, State};

/// A chain that is simulated through every bit (or byte) of every packet: it counts the wrong symbols of each
/// codeword and loses the packet if a codeword has more than it corrects.
///
/// It takes two random samples per step, thousands per packet. [`AirErrors`](crate::AirErrors) has the same
/// distribution with two samples per packet; this type exists to verify it.
#[derive(Clone, Debug)]
pub struct StepByStep {
    chain: AirChain,
    coding: Coding,
    state: State,
    stream: RandomStream,
    /// Computes probabilities of corruption for callers that need them.
    outcomes: OutcomeTable,
}

impl StepByStep {
    /// Creates a chain whose initial state is drawn from `stream`.
    pub fn new(chain: AirChain, coding: Coding, mut stream: RandomStream) -> Self {
        let state = chain.chain.draw_stationary(&mut stream);
        Self { chain, coding, state, stream, outcomes: OutcomeTable::new(chain, coding) }
    }

    fn byte_is_wrong(&mut self) -> bool {
        let chain = self.chain.chain;
        let mut wrong = false;
        for _ in 0..self.chain.clock.steps_of_a_byte() {
            self.state = chain.next(self.state, &mut self.stream);
            wrong |= self.stream.chance(chain.error(self.state));
        }
        wrong
    }

    fn wrong_bytes(&mut self, bytes: u64) -> u64 {
        (0..bytes).map(|_| u64::from(self.byte_is_wrong())).sum()
    }
}

impl ErrorProcess for StepByStep {
    fn size_on_link(&self, size: Bytes) -> Bytes {
        self.coding.size_on_link(size)
    }

    fn arrives(&mut self, transmission: &Transmission, _departs: Timestamp) -> bool {
        let size = transmission.size;
        let Some(rate) = self.coding.of(size) else {
            return self.wrong_bytes(size.get()) == 0;
        };
        let mut arrives = true;
        for word in rate.codewords(size.get()) {
            arrives &= self.wrong_bytes(u64::from(word.symbols())) <= u64::from(word.corrects);
        }
        arrives
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
