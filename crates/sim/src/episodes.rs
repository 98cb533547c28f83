//! Parallel runs, each an episode of an environment for reinforcement learning.

use std::sync::{Mutex, PoisonError};

use airpath_model::{Bytes, Duration, Rate, Steering, Timestamp};
use airpath_network::RunControl;

use crate::simulation::Simulation;
use crate::steps::Step;

/// A row of [`Step::values`].
type Values = [f64; Step::QUANTITIES.len()];

/// Parallel runs with one externally controlled flow each, which advance step by step. The runs are
/// independent, so neither their number nor the number of threads affects the results of a run.
#[derive(Debug)]
pub struct Episodes {
    slots: Vec<Option<Episode>>,
}

/// An agent's action for one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// The window, bytes of payload; at least one segment.
    pub window_bytes: f64,
    /// The pacing rate, bits of payload per second; NaN for none.
    pub pacing_bps: f64,
}

impl From<Action> for Steering {
    fn from(action: Action) -> Self {
        let pacing = (!action.pacing_bps.is_nan()).then(|| Rate::from_bps_f64(action.pacing_bps));
        Self { window: Bytes::from_f64(action.window_bytes), pacing }
    }
}

/// An episode that has begun.
#[derive(Debug)]
struct Episode {
    simulation: Box<Simulation>,
    flow: usize,
    now: Timestamp,
}

/// The reason why an episode cannot be used as requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// There is no environment with this index.
    #[error("there is no environment {0}")]
    NoSlot(usize),
    /// The episode has not begun, or its results were taken.
    #[error("environment {0} has no running episode")]
    NotBegun(usize),
    /// None or several of its flows are externally controlled.
    #[error("found {0} flows controlled by an agent; accepted: one")]
    Flows(usize),
}

impl Episodes {
    /// Creates `count` environments without episodes.
    pub fn new(count: usize) -> Self {
        Self { slots: (0..count).map(|_| None).collect() }
    }

    /// Returns the number of environments.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns whether there are no environments.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Puts a run that has not begun into an environment, replacing the previous one.
    ///
    /// # Errors
    /// If there is no such environment, or not exactly one externally controlled flow; the environment is
    /// then unchanged.
    pub fn begin(&mut self, index: usize, mut simulation: Simulation) -> Result<(), NotReady> {
        let slot = self.slots.get_mut(index).ok_or(NotReady::NoSlot(index))?;
        let [flow] = simulation.steered_flows()[..] else {
            return Err(NotReady::Flows(simulation.steered_flows().len()));
        };
        *slot = Some(Episode { simulation: Box::new(simulation), flow, now: Timestamp::ZERO });
        Ok(())
    }

    /// Advances each environment with an action by one step of the given number of nanoseconds, on up to
    /// `threads` threads, and returns the result of each. Steps are whole intervals of the series.
    ///
    /// # Errors
    /// If an environment with an action has no episode; nothing is changed then.
    pub fn step(
        &mut self,
        actions: &[Option<Action>],
        length_ns: u64,
        threads: usize,
    ) -> Result<Vec<Option<Values>>, NotReady> {
        let mut steps: Vec<Option<Values>> = vec![None; self.slots.len()];
        let mut work = Vec::with_capacity(self.slots.len());
        let places = self.slots.iter_mut().zip(actions).zip(&mut steps).enumerate();
        for (index, ((slot, action), values)) in places {
            let Some(action) = *action else { continue };
            let episode = slot.as_mut().ok_or(NotReady::NotBegun(index))?;
            work.push((episode, action, values));
        }
        let threads = threads.clamp(1, work.len().max(1));
        let work = Mutex::new(work);
        let take = || work.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let help = || {
            while let Some((episode, action, values)) = take() {
                *values = episode.step(action.into(), Duration::from_nanos(length_ns));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(help);
            }
            help();
        });
        Ok(steps)
    }

    /// Removes and returns an episode, to be run to the end of its plan with the last action. The environment
    /// is empty then.
    ///
    /// # Errors
    /// If there is no episode.
    pub fn take(&mut self, index: usize) -> Result<Simulation, NotReady> {
        let slot = self.slots.get_mut(index).ok_or(NotReady::NoSlot(index))?;
        slot.take().map(|episode| *episode.simulation).ok_or(NotReady::NotBegun(index))
    }

    /// Removes all episodes.
    pub fn clear(&mut self) {
        self.slots.fill_with(|| None);
    }
}

impl Episode {
    fn step(&mut self, steering: Steering, length: Duration) -> Option<Values> {
        self.simulation.steer(self.flow, steering);
        self.now += length;
        self.simulation.advance_to(self.now, &RunControl::default()).ok()?;
        self.simulation.step(self.flow).map(|step| step.values())
    }
}
