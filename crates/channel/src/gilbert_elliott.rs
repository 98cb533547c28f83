//! The Gilbert-Elliott chain.

use airpath_model::RandomStream;
use airpath_model::config::{ConfigError, check};

use crate::Steps;

/// Minimum probability of leaving a state: its complement keeps four digits.
pub(crate) const LEAST_PROBABILITY: f64 = 1e-12;

/// Maximum mean burst length.
pub(crate) const LONGEST_BURST: f64 = 1e12;

/// Relative tolerance below the shortest possible mean burst: `airpath fit` writes eight digits.
const ROUNDING: f64 = 1e-7;

/// A state of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Errors are rare.
    Good,
    /// Errors are frequent.
    Bad,
}

impl State {
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Good => 0,
            Self::Bad => 1,
        }
    }

    /// Returns the bad state with the given probability.
    pub(crate) fn draw(bad: f64, stream: &mut RandomStream) -> Self {
        if stream.chance(bad) { Self::Bad } else { Self::Good }
    }
}

/// A Markov chain of two states with an error probability in each (E. N. Gilbert, 1960; E. O. Elliott, 1963).
///
/// One step is a transition, then an error with the probability of the *new* state. The clock defines the
/// unit of a step (a bit, a symbol, a packet, a span of time).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    stay_good: f64,
    stay_bad: f64,
    error_good: f64,
    error_bad: f64,
}

impl GilbertElliott {
    /// Creates a chain that stays good with probability `gamma`, from 0 to 1, and bad with `beta`, from 0 to
    /// below 1, with error probabilities `eps_good` and `eps_bad` from 0 to 1.
    ///
    /// # Errors
    /// A probability is outside its range.
    pub fn new(gamma: f64, beta: f64, eps_good: f64, eps_bad: f64) -> Result<Self, ConfigError> {
        check_probability("gamma", gamma)?;
        check((0.0..1.0).contains(&beta), "beta", "from 0 to below 1", beta)?;
        check_probability("eps_good", eps_good)?;
        check_probability("eps_bad", eps_bad)?;
        Ok(Self { stay_good: gamma, stay_bad: beta, error_good: eps_good, error_bad: eps_bad })
    }

    /// Creates Gilbert's chain, with a good state without errors and a bad state in which every step is an
    /// error, from the fraction of corrupted steps (`loss`, above 0, below 1) and the mean number of
    /// consecutive corrupted steps (`burst`, from 1 to 1e12).
    ///
    /// The bad state is left with probability 1/burst, the good one with loss / (burst (1 - loss)), which is
    /// from 1e-12 to 1.
    ///
    /// # Errors
    /// A parameter is outside its range, or there is no such chain.
    pub fn from_means(loss: f64, burst: f64) -> Result<Self, ConfigError> {
        check(loss > 0.0 && loss < 1.0, "mean_loss", "more than 0 and less than 1", loss)?;
        check((1.0..=LONGEST_BURST).contains(&burst), "mean_burst", "from 1 to 1e12", burst)?;
        let to_bad = loss / (burst * (1.0 - loss));
        let range = "from mean_loss / (1 - mean_loss) to 1e12 times that";
        check((LEAST_PROBABILITY..=1.0 + ROUNDING).contains(&to_bad), "mean_burst", range, burst)?;
        Self::new(1.0 - to_bad.min(1.0), 1.0 - 1.0 / burst, 0.0, 1.0)
    }

    /// Creates the chain of the Linux queue discipline `netem` (`loss gemodel p r 1-h 1-k`): to the bad state
    /// with `p`, back with `r`, corruption with `loss_bad` (1-h) in the bad and `loss_good` (1-k) in the good
    /// state. `r` is at least 1e-12, and `p` should be 0 or at least 1e-12.
    ///
    /// # Errors
    /// A probability is outside its range.
    pub fn netem(p: f64, r: f64, loss_bad: f64, loss_good: f64) -> Result<Self, ConfigError> {
        check_probability("p", p)?;
        check((LEAST_PROBABILITY..=1.0).contains(&r), "r", "from 1e-12 to 1", r)?;
        check_probability("loss_bad", loss_bad)?;
        check_probability("loss_good", loss_good)?;
        Self::new(1.0 - p, 1.0 - r, loss_good, loss_bad)
    }

    /// Returns the long-run probability of the bad state.
    pub fn share_bad(&self) -> f64 {
        let (leave_good, leave_bad) = (1.0 - self.stay_good, 1.0 - self.stay_bad);
        leave_good / (leave_good + leave_bad)
    }

    /// Returns the stationary probabilities of the good and the bad state.
    pub fn stationary(&self) -> [f64; 2] {
        let (leave_good, leave_bad) = (1.0 - self.stay_good, 1.0 - self.stay_bad);
        [leave_bad / (leave_good + leave_bad), self.share_bad()]
    }

    /// Returns the long-run fraction of corrupted steps.
    pub fn mean_error(&self) -> f64 {
        let [good, bad] = self.stationary();
        good * self.error_good + bad * self.error_bad
    }

    /// Returns the mean number of consecutive steps in `state`; infinite for a good state that is never left.
    pub fn mean_sojourn(&self, state: State) -> f64 {
        1.0 / (1.0 - [self.stay_good, self.stay_bad][state.index()])
    }

    /// Returns the error probability in `state`.
    pub fn error(&self, state: State) -> f64 {
        [self.error_good, self.error_bad][state.index()]
    }

    /// Returns the probability of an error in the step after `state`.
    pub fn error_after(&self, state: State) -> f64 {
        self.step().damaged[state.index()].iter().sum()
    }

    /// Returns the state one step after `state`.
    pub fn next(&self, state: State, stream: &mut RandomStream) -> State {
        State::draw(
            match state {
                State::Good => 1.0 - self.stay_good,
                State::Bad => self.stay_bad,
            },
            stream,
        )
    }

    /// Returns a state drawn from the stationary distribution.
    pub fn draw_stationary(&self, stream: &mut RandomStream) -> State {
        State::draw(self.share_bad(), stream)
    }

    /// Returns one step in matrix form.
    pub fn step(&self) -> Steps {
        let moves = [[self.stay_good, 1.0 - self.stay_good], [1.0 - self.stay_bad, self.stay_bad]];
        let split = |good: f64, bad: f64| moves.map(|row| [row[0] * good, row[1] * bad]);
        Steps {
            clean: split(1.0 - self.error_good, 1.0 - self.error_bad),
            damaged: split(self.error_good, self.error_bad),
        }
    }
}

/// Returns an error for a number outside 0 to 1.
fn check_probability(parameter: &'static str, value: f64) -> Result<(), ConfigError> {
    check((0.0..=1.0).contains(&value), parameter, "from 0 to 1", value)
}
