//! Chains clocked by packets and by time.

use airpath_model::{Duration, RandomStream, Timestamp, Transmission};

use crate::{ErrorProcess, GilbertElliott, InvalidChannel, State};

/// A chain that steps once with each packet and does not move while nothing is sent: a sender that waits for
/// its timer finds the state that it left.
#[derive(Clone, Debug)]
pub struct PacketBursts {
    chain: GilbertElliott,
    state: State,
    stream: RandomStream,
}

impl PacketBursts {
    /// Creates a chain whose initial state, transitions and errors are drawn from `stream`.
    pub fn new(chain: GilbertElliott, mut stream: RandomStream) -> Self {
        Self { chain, state: chain.draw_stationary(&mut stream), stream }
    }
}

impl ErrorProcess for PacketBursts {
    fn arrives(&mut self, _transmission: &Transmission, _departs: Timestamp) -> bool {
        self.state = self.chain.next(self.state, &mut self.stream);
        !self.stream.chance(self.chain.error(self.state))
    }

    fn damage_probability(&mut self, _: &Transmission, _departs: Timestamp, _before: Timestamp) -> f64 {
        self.chain.error_after(self.state)
    }
}

/// A chain that moves with time, independently of the traffic: the times in each state are exponential. A
/// packet is corrupted with the error probability of the state in which its last bit leaves.
///
/// The states come from a separate stream, so they are the same for every scheme under the same seed. States
/// that passed while nothing was sent are sampled when the next packet comes.
#[derive(Clone, Debug)]
pub struct TimedBursts {
    chain: GilbertElliott,
    /// Mean times in the good and the bad state.
    sojourns: [Duration; 2],
    state: State,
    until: Timestamp,
    states: RandomStream,
    errors: RandomStream,
}

/// Minimum mean time in a state, which limits the cost of a long idle period.
pub(crate) const LEAST_SOJOURN: Duration = Duration::from_micros(1);

impl TimedBursts {
    /// Creates a chain with a step duration of `step`: the mean time in a state is `step` times its mean
    /// number of steps.
    pub fn new(
        chain: GilbertElliott,
        step: Duration,
        mut states: RandomStream,
        errors: RandomStream,
    ) -> Result<Self, InvalidChannel> {
        let sojourn = |state| Duration::from_secs_f64(step.as_secs_f64() * chain.mean_sojourn(state));
        let sojourns = [sojourn(State::Good), sojourn(State::Bad)];
        if sojourns.iter().any(|&sojourn| sojourn < LEAST_SOJOURN) {
            return Err(InvalidChannel::ShortSojourn);
        }
        let state = chain.draw_stationary(&mut states);
        let until = Timestamp::ZERO + states.exponential_duration(sojourns[state.index()]);
        Ok(Self { chain, sojourns, state, until, states, errors })
    }

    /// Returns the probability of the bad state after `elapsed`, if nothing in between was observed: it goes
    /// from 0 or 1 to the long-run probability as exp(-t (1/good + 1/bad)).
    fn bad_after(&self, elapsed: Duration) -> f64 {
        let [to_bad, to_good] = self.sojourns.map(|sojourn| 1.0 / sojourn.as_secs_f64());
        let share_bad = to_bad / (to_bad + to_good);
        let now = self.state.index() as f64;
        share_bad + (now - share_bad) * libm::exp(-elapsed.as_secs_f64() * (to_bad + to_good))
    }

    fn catch_up(&mut self, now: Timestamp) {
        while self.until <= now {
            self.state = match self.state {
                State::Good => State::Bad,
                State::Bad => State::Good,
            };
            self.until += self.states.exponential_duration(self.sojourns[self.state.index()]);
        }
    }
}

impl ErrorProcess for TimedBursts {
    fn arrives(&mut self, _transmission: &Transmission, departs: Timestamp) -> bool {
        self.catch_up(departs);
        !self.errors.chance(self.chain.error(self.state))
    }

    fn damage_probability(&mut self, _: &Transmission, departs: Timestamp, before: Timestamp) -> f64 {
        let bad = self.bad_after(departs.since(before));
        (1.0 - bad) * self.chain.error(State::Good) + bad * self.chain.error(State::Bad)
    }
}
