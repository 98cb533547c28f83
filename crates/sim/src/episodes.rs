//! Many runs side by side, each an episode of an environment for reinforcement learning.

use std::sync::{Mutex, PoisonError};

use airpath_model::{Bytes, Duration, Rate, Steering, Timestamp};
use airpath_network::RunControl;

use crate::simulation::Simulation;
use crate::steps::Step;

/// A row of [`Step::values`].
type Values = [f64; Step::QUANTITIES.len()];

/// Runs side by side, one steered flow in each, which go on step by step. None knows of another, so that neither their number
/// nor that of threads changes what happens in one.
#[derive(Debug)]
pub struct Episodes {
    slots: Vec<Option<Episode>>,
}

/// What an agent sets for one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// The window, bytes of payload; less than a segment counts as one.
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

/// One run that is under way.
#[derive(Debug)]
struct Episode {
    simulation: Box<Simulation>,
    flow: usize,
    now: Timestamp,
}

/// Why an episode cannot be used as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// There are not so many.
    #[error("there is no environment {0}")]
    NoSlot(usize),
    /// It was not begun, or its results were taken.
    #[error("environment {0} has no running episode")]
    NotBegun(usize),
    /// None or several of its flows are steered.
    #[error("found {0} flows controlled by an agent; accepted: one")]
    Flows(usize),
}

impl Episodes {
    /// That many places without episodes.
    pub fn new(count: usize) -> Self {
        Self { slots: (0..count).map(|_| None).collect() }
    }

    /// How many places there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Puts a run that has not begun into a place, instead of what was there.
    ///
    /// # Errors
    /// When there is no such place, or not exactly one steered flow; what was there stays then.
    pub fn begin(&mut self, index: usize, mut simulation: Simulation) -> Result<(), NotReady> {
        let slot = self.slots.get_mut(index).ok_or(NotReady::NoSlot(index))?;
        let [flow] = simulation.steered_flows()[..] else {
            return Err(NotReady::Flows(simulation.steered_flows().len()));
        };
        *slot = Some(Episode { simulation: Box::new(simulation), flow, now: Timestamp::ZERO });
        Ok(())
    }

    /// Does one step of that many nanoseconds in each place for which there is an action, on up to `threads` threads, and
    /// gives what each brought. Steps are whole intervals of the series.
    ///
    /// # Errors
    /// When a place with an action has no episode; nothing happens then.
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

    /// Takes an episode out, to be run to the end of its plan with what was set last. The place is empty then.
    ///
    /// # Errors
    /// When there is no episode.
    pub fn take(&mut self, index: usize) -> Result<Simulation, NotReady> {
        let slot = self.slots.get_mut(index).ok_or(NotReady::NoSlot(index))?;
        slot.take().map(|episode| *episode.simulation).ok_or(NotReady::NotBegun(index))
    }

    /// Lets all episodes go.
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
