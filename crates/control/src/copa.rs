//! Copa: a target rate that is inversely proportional to the queueing delay (Arun and Balakrishnan, NSDI
//! 2018).

mod delay;
mod mode;
mod velocity;

#[cfg(feature = "declare")]
use alloc::boxed::Box;

#[cfg(feature = "declare")]
use airpath_model::declare::Component;
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Measurement, Pacing, Phase,
    Probe, Rate, Requirements, Timestamp,
};

use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use airpath_model::config::check;
use delay::Delays;
use mode::Mode;
use velocity::{Direction, Velocity};

/// The smallest window that delay can cause, in segments. With a smaller window, delayed acknowledgments look
/// like a queue.
const FLOOR_SEGMENTS: u64 = 2;

/// The pacing rate as a multiple of the window over the standing RTT (section 2.1).
const PACING_GAIN: f64 = 2.0;

/// Parameters of Copa.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default), schemars(extend("x-follows" = "model")))]
pub struct CopaConfig {
    /// Weight of delay against throughput: a single flow keeps about 1/delta packets in the queue.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub delta: f64,
    /// Switch to a smaller delta, that of an AIMD flow, while other flows fill the buffer.
    pub competitive: bool,
}

impl Default for CopaConfig {
    fn default() -> Self {
        Self { delta: 0.5, competitive: false }
    }
}

#[cfg(feature = "declare")]
impl Component<Controllers> for CopaConfig {
    const ID: &'static str = "copa";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Copa::new(*self, facts.initial_window, facts.mss)?))
    }
}

/// Copa (NSDI 2018, section 2).
///
/// The window moves towards the target rate 1/(δ `d_q`), with the queueing delay `d_q`, by v/δ packets per
/// round trip. The velocity v doubles while the window keeps moving in the same direction. Slow start doubles
/// the window until the rate is above the target. Losses change nothing unless Copa competes with flows that
/// fill the buffer. Packets are paced at twice the window over the standing RTT.
///
/// Telemetry: [`Measurement::Phase`], and `delta` at each change of δ.
#[derive(Clone, Debug)]
pub struct Copa {
    state: State,
    mss: Bytes,
    /// State before the last signal, kept in case the signal is spurious.
    before_signal: Option<State>,
}

impl Copa {
    /// Creates a sender with `initial_window` (bytes of payload); `mss` is the largest payload of one packet.
    ///
    /// Fails if δ is not above 0, `mss` is zero, or the window is smaller than one packet.
    pub fn new(config: CopaConfig, initial_window: Bytes, mss: Bytes) -> Result<Self, ConfigError> {
        check(config.delta > 0.0 && config.delta.is_finite(), "delta", "greater than 0", config.delta)?;
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        let state = State {
            window: initial_window.as_f64(),
            slow_start: true,
            delays: Delays::default(),
            velocity: Velocity::default(),
            mode: Mode::new(config),
        };
        Ok(Self { state, mss, before_signal: None })
    }
}

/// The state that is restored after a spurious signal.
#[derive(Clone, Debug)]
struct State {
    /// Bytes of payload.
    window: f64,
    slow_start: bool,
    delays: Delays,
    velocity: Velocity,
    mode: Mode,
}

impl State {
    fn on_ack(&mut self, event: &AckEvent) {
        if let Some(sample) = event.rtt_sample {
            self.delays.update(event.now, sample, event.rtt.smoothed);
        }
        self.mode.update(event.round, self.slow_start, &self.delays);
        let Some(delays) = self.delays.get() else { return };
        if event.acked.is_zero() {
            return;
        }
        let mss = event.mss.as_f64();
        // λ ≤ λ_t, that is, window / RTTstanding ≤ 1 / (δ d_q), without division by a delay that may be zero.
        let packets = self.window / mss;
        let queueing = delays.queueing().as_secs_f64();
        let below = packets * self.mode.delta() * queueing <= delays.standing.as_secs_f64();
        if self.slow_start {
            if below {
                self.grow(event.acked.as_f64(), event);
                return;
            }
            self.slow_start = false;
            self.velocity.restart(event.round, self.window);
        }
        self.velocity.on_ack(event.round, self.window);
        let direction = if below { Direction::Up } else { Direction::Down };
        let velocity = self.velocity.towards(direction);
        // v / (δ window) packets for each packet acknowledged, at most one for one.
        let step = (velocity / (self.mode.delta() * packets)).min(1.0) * event.acked.as_f64();
        match direction {
            Direction::Up => self.grow(step, event),
            Direction::Down => {
                let floor = (event.mss * FLOOR_SEGMENTS).as_f64().min(self.window);
                self.window = (self.window - step).max(floor);
            }
        }
    }

    /// Increases the window, but only if it is used.
    fn grow(&mut self, bytes: f64, event: &AckEvent) {
        if event.window_limited {
            self.window += bytes;
        }
    }

    fn phase(&self) -> Phase {
        if self.slow_start { Phase::SlowStart } else { Phase::CongestionAvoidance }
    }
}

impl Controller for Copa {
    fn requirements(&self) -> Requirements {
        Requirements { pacing: true, ..Requirements::default() }
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        let (phase, delta) = (self.state.phase(), self.state.mode.delta());
        self.mss = event.mss;
        self.state.on_ack(event);
        if self.state.phase() != phase {
            probe.record(event.now, Measurement::Phase(self.state.phase()));
        }
        if self.state.mode.delta().to_bits() != delta.to_bits() {
            probe.record(event.now, Measurement::Named("delta", self.state.mode.delta()));
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        self.mss = event.mss;
        if event.consecutive <= 1 {
            self.before_signal = Some(self.state.clone());
        }
        self.state.mode.on_loss();
        if event.signal == CongestionSignal::Timeout {
            let phase = self.state.phase();
            self.state.window = event.mss.as_f64().min(self.state.window);
            self.state.slow_start = true;
            if self.state.phase() != phase {
                probe.record(event.now, Measurement::Phase(self.state.phase()));
            }
        }
    }

    fn on_spurious(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {
        if let Some(before) = self.before_signal.take()
            && self.state.window <= before.window
        {
            self.state = before;
        }
    }

    fn control(&self) -> Control {
        let window = Bytes::from_f64(self.state.window);
        let pacing = match self.state.delays.get() {
            Some(delays) => Pacing::At(Rate::over(window, delays.standing).mul_f64(PACING_GAIN)),
            None => Pacing::Off,
        };
        Control { window, pacing, quantum: self.mss }
    }

    fn phase(&self) -> Phase {
        self.state.phase()
    }
}

#[cfg(test)]
mod tests;
