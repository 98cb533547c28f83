//! LEDBAT++: background traffic that yields to other flows (draft-irtf-iccrg-ledbat-plus-plus).

mod delay;

#[cfg(feature = "declare")]
use alloc::boxed::Box;

#[cfg(feature = "declare")]
use airpath_model::declare::Component;
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, Pacing, Phase, Probe,
    Timestamp,
};

use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use crate::watching_phase::watching_phase;
use crate::windowed::QUANTUM_SEGMENTS;
use airpath_model::config::check;
use delay::{BaseDelay, CurrentDelay};

/// The window of a slowdown, and the smallest window that delay can cause, in segments (section 4.4).
const FLOOR_SEGMENTS: u64 = 2;

/// The share of the target at which the first slow start ends (section 4.1).
const SLOW_START_LIMIT: f64 = 0.75;

/// Round trips from the end of the first slow start to the first slowdown, and the length of a freeze
/// (section 4.4).
const SLOWDOWN_ROUND_TRIPS: u64 = 2;

/// Parameters of LEDBAT++.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct LedbatPlusPlusConfig {
    /// TARGET: the queueing delay that the flow maintains.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub target: Duration,
    /// Largest divisor of the gain, which applies to short paths.
    #[cfg_attr(feature = "declare", schemars(range(min = 1.0)))]
    pub gain_divisor_limit: f64,
    /// Constant: strength of the decrease for a delay above the target.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub decrease: f64,
    /// Interval to the next slowdown, as a multiple of the last slowdown's duration.
    #[cfg_attr(feature = "declare", schemars(range(min = 1, max = 1_000_000)))]
    pub slowdown_spacing: u64,
}

impl Default for LedbatPlusPlusConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(60),
            gain_divisor_limit: 16.0,
            decrease: 1.0,
            slowdown_spacing: 9,
        }
    }
}

#[cfg(feature = "declare")]
impl Component<Controllers> for LedbatPlusPlusConfig {
    const ID: &'static str = "ledbat++";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(LedbatPlusPlus::new(*self, facts.initial_window, facts.mss)?))
    }
}

impl LedbatPlusPlusConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        check(!self.target.is_zero(), "target", "greater than zero", 0.0)?;
        let limit = self.gain_divisor_limit;
        check(limit >= 1.0 && limit.is_finite(), "gain_divisor_limit", "at least 1", limit)?;
        let decrease = self.decrease;
        check(decrease > 0.0 && decrease.is_finite(), "decrease", "greater than 0", decrease)?;
        let spacing = self.slowdown_spacing;
        check((1..=1_000_000).contains(&spacing), "slowdown_spacing", "from 1 to 1000000", spacing as f64)
    }

    /// Returns GAIN, which is smaller for shorter paths (section 4.2).
    fn gain(&self, base: Duration) -> f64 {
        1.0 / self.gain_divisor_limit.min(libm::ceil(2.0 * self.target.ratio(base)).max(1.0))
    }

    /// Returns the change of the window of `packets` in a round trip, in packets (section 4.3).
    fn change(&self, packets: f64, queueing: Duration, base: Duration) -> f64 {
        let gain = self.gain(base);
        if queueing <= self.target {
            return gain;
        }
        let excess = queueing.ratio(self.target) - 1.0;
        (gain - self.decrease * packets * excess).max(-packets / 2.0)
    }
}

/// LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus, section 4).
///
/// LEDBAT++ keeps the queueing delay near a target; the queueing delay is the round-trip time minus the
/// smallest one of ten minutes. Flows that fill the buffer exceed the target, so LEDBAT++ yields the link to
/// them. Below the target the window grows by GAIN ≤ 1 packets per round trip; above it the window shrinks in
/// proportion to the excess. From time to time LEDBAT++ slows down to two packets for two round trips to
/// measure the delay of the empty path, and then returns to its previous window.
///
/// Losses and ECN echoes halve the window. Telemetry: [`Measurement::Phase`](airpath_model::Measurement::Phase).
#[derive(Clone, Debug)]
pub struct LedbatPlusPlus {
    config: LedbatPlusPlusConfig,
    state: State,
    mss: Bytes,
    /// State before the last signal, kept in case the signal is spurious.
    before_signal: Option<State>,
}

/// The stage of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The first slow start.
    SlowStart,
    Avoidance,
    /// A slowdown that began at `since`: two packets until `until`.
    Frozen {
        since: Timestamp,
        until: Timestamp,
    },
    /// Slow start up to the threshold, after a slowdown that began at `since`, or after a timeout.
    Ramp {
        since: Option<Timestamp>,
    },
}

impl Stage {
    const fn phase(self) -> Phase {
        match self {
            Self::SlowStart | Self::Ramp { .. } => Phase::SlowStart,
            Self::Avoidance => Phase::CongestionAvoidance,
            Self::Frozen { .. } => Phase::Slowdown,
        }
    }
}

/// The state that is restored after a spurious signal.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Bytes of payload.
    window: f64,
    ssthresh: Option<f64>,
    stage: Stage,
    base: BaseDelay,
    current: CurrentDelay,
    /// `None` until the end of the first slow start.
    next_slowdown: Option<Timestamp>,
}

impl LedbatPlusPlus {
    /// Creates a sender with `initial_window` (bytes of payload; the draft's is two packets); `mss` is the
    /// largest payload of one packet.
    ///
    /// Fails if a parameter is outside the range stated in [`LedbatPlusPlusConfig`], `mss` is zero, or the
    /// window is smaller than one packet.
    pub fn new(config: LedbatPlusPlusConfig, initial_window: Bytes, mss: Bytes) -> Result<Self, ConfigError> {
        config.validate()?;
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        let state = State {
            window: initial_window.as_f64(),
            ssthresh: None,
            stage: Stage::SlowStart,
            base: BaseDelay::default(),
            current: CurrentDelay::default(),
            next_slowdown: None,
        };
        Ok(Self { config, state, mss, before_signal: None })
    }
}

impl State {
    fn on_ack(&mut self, config: &LedbatPlusPlusConfig, event: &AckEvent) {
        if let Some(sample) = event.rtt_sample {
            self.base.update(event.now, sample);
            self.current.update(sample);
        }
        let (Some(base), Some(current)) = (self.base.get(), self.current.get()) else { return };
        let queueing = current - base;
        if event.in_recovery || event.acked.is_zero() {
            return;
        }
        let grown = if event.window_limited { event.acked.as_f64() * config.gain(base) } else { 0.0 };
        match self.stage {
            Stage::SlowStart => {
                if queueing.ratio(config.target) > SLOW_START_LIMIT {
                    self.ssthresh = Some(self.window);
                    self.leave_first_slow_start(event);
                } else {
                    self.window += grown;
                }
            }
            Stage::Avoidance if self.next_slowdown.is_some_and(|at| event.now >= at) => {
                self.slow_down(event);
            }
            Stage::Avoidance => self.avoid(config, event, queueing, base),
            Stage::Frozen { since, until } => {
                if event.now >= until {
                    self.stage = Stage::Ramp { since: Some(since) };
                }
            }
            Stage::Ramp { since } => self.ramp(config, event, since, grown),
        }
    }

    fn leave_first_slow_start(&mut self, event: &AckEvent) {
        self.stage = Stage::Avoidance;
        self.next_slowdown = Some(event.now + event.rtt.smoothed * SLOWDOWN_ROUND_TRIPS);
    }

    /// Starts a slowdown (section 4.4): two packets for two round trips.
    fn slow_down(&mut self, event: &AckEvent) {
        self.ssthresh = Some(self.window);
        self.window = floor(event.mss).min(self.window);
        let until = event.now + event.rtt.smoothed * SLOWDOWN_ROUND_TRIPS;
        self.stage = Stage::Frozen { since: event.now, until };
    }

    /// Applies section 4.3. Each acknowledgment contributes its share of the change of a round trip.
    fn avoid(&mut self, config: &LedbatPlusPlusConfig, event: &AckEvent, queueing: Duration, base: Duration) {
        let mss = event.mss.as_f64();
        let change = config.change(self.window / mss, queueing, base) * mss;
        if change > 0.0 && !event.window_limited {
            return;
        }
        let part = (event.acked.as_f64() / self.window).min(1.0);
        self.window = (self.window + change * part).max(floor(event.mss).min(self.window));
    }

    /// Grows the window by slow start up to the threshold. The duration of a slowdown determines when the
    /// next one is due.
    fn ramp(
        &mut self,
        config: &LedbatPlusPlusConfig,
        event: &AckEvent,
        since: Option<Timestamp>,
        grown: f64,
    ) {
        let ssthresh = self.ssthresh.unwrap_or(f64::INFINITY);
        self.window = (self.window + grown).min(ssthresh.max(self.window));
        if self.window >= ssthresh {
            self.end_ramp(config, event.now, event.rtt.smoothed, since);
        }
    }

    fn end_ramp(
        &mut self,
        config: &LedbatPlusPlusConfig,
        now: Timestamp,
        smoothed: Duration,
        since: Option<Timestamp>,
    ) {
        self.stage = Stage::Avoidance;
        match since {
            Some(since) => self.next_slowdown = Some(now + now.since(since) * config.slowdown_spacing),
            // After a timeout the time of the next slowdown does not change.
            None => {
                self.next_slowdown.get_or_insert(now + smoothed * SLOWDOWN_ROUND_TRIPS);
            }
        }
    }

    fn on_congestion(&mut self, config: &LedbatPlusPlusConfig, event: &CongestionEvent, repeated: bool) {
        if !repeated {
            // During a slowdown, the loss applies to the window at its start.
            let lost = match self.stage {
                Stage::Frozen { .. } => self.ssthresh.unwrap_or(self.window),
                _ => self.window,
            };
            self.ssthresh = Some((lost / 2.0).max(floor(event.mss)));
        }
        if event.signal == CongestionSignal::Timeout {
            self.window = event.mss.as_f64();
            let since = match self.stage {
                Stage::Frozen { since, .. } => Some(since),
                Stage::Ramp { since } => since,
                Stage::SlowStart | Stage::Avoidance => None,
            };
            self.stage = Stage::Ramp { since };
            return;
        }
        match self.stage {
            Stage::Frozen { .. } => return,
            Stage::SlowStart => self.end_ramp(config, event.now, event.rtt.smoothed, None),
            Stage::Ramp { since } => self.end_ramp(config, event.now, event.rtt.smoothed, since),
            Stage::Avoidance => {}
        }
        self.window = self.window.min(self.ssthresh.unwrap_or(self.window));
    }
}

/// Returns the smallest window in bytes.
fn floor(mss: Bytes) -> f64 {
    (mss * FLOOR_SEGMENTS).as_f64()
}

impl Controller for LedbatPlusPlus {
    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        watching_phase(self, event.now, probe, |controller, _| {
            controller.mss = event.mss;
            controller.state.on_ack(&controller.config, event);
        });
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        watching_phase(self, event.now, probe, |controller, _| {
            controller.mss = event.mss;
            let repeated = event.signal == CongestionSignal::Timeout && event.consecutive > 1;
            if !repeated {
                controller.before_signal = Some(controller.state);
            }
            controller.state.on_congestion(&controller.config, event, repeated);
        });
    }

    fn on_spurious(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        let Some(before) = self.before_signal.take() else { return };
        if self.state.window <= before.window {
            watching_phase(self, now, probe, |controller, _| controller.state = before);
        }
    }

    fn control(&self) -> Control {
        Control {
            window: Bytes::from_f64(self.state.window),
            pacing: Pacing::FromWindow,
            quantum: self.mss * QUANTUM_SEGMENTS,
        }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.state.ssthresh.map(Bytes::from_f64)
    }

    fn phase(&self) -> Phase {
        self.state.stage.phase()
    }
}

#[cfg(test)]
mod tests;
