//! ABC's sender: one more packet for each accelerate, one fewer for each brake.

use alloc::boxed::Box;

use airpath_model::{
    AbcMark, AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Pacing, PathHeader,
    Phase, Probe, Rate, Requirements, SendEvent, Timestamp,
};

use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{Components, ControllerFacts, Controllers};
use crate::windowed::QUANTUM_SEGMENTS;
use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Nested};

/// The largest window, bytes. Up to this value a float represents every whole number of bytes.
const LARGEST_WINDOW: f64 = 9_007_199_254_740_992.0;

/// ABC's parameters at a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default)
)]
pub struct AbcConfig {
    /// Packets that additive increase adds per round trip, so that flows converge to equal shares (Goyal et
    /// al. 2020: 1).
    #[cfg_attr(feature = "declare", schemars(range(min = 0)))]
    pub additive_increase: f64,
    /// Smallest window that brakes can reach, in packets (the authors' code: 5).
    #[cfg_attr(feature = "declare", schemars(range(min = 1)))]
    pub minimum_window: f64,
    /// Pacing rate in windows per round trip (the authors' code: 2).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub pacing_gain: f64,
}

impl Default for AbcConfig {
    /// Returns the values of the released code (`tcp_abc.c`).
    fn default() -> Self {
        Self { additive_increase: 1.0, minimum_window: 5.0, pacing_gain: 2.0 }
    }
}

/// Parameters of ABC's sender (Goyal et al. 2020; the authors' code).
#[cfg(feature = "declare")]
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[schemars(extend("x-follows" = "routers"))]
pub struct AbcSenderConfig {
    #[serde(flatten)]
    abc: AbcConfig,
    /// A second window that responds to losses, for bottlenecks without ABC; the smaller one applies (Goyal
    /// et al. 2020, section 4.1): `none` (the authors' `tcp_abc.c`, which ignores losses) or that of another
    /// controller, such as `cubic` (their `tcp_abccubic.c`; RFC 9438 here).
    #[serde(default = "Nested::<Controllers>::none")]
    #[schemars(extend("x-or-none" = true))]
    second_window: Nested<Controllers>,
}

#[cfg(feature = "declare")]
impl Component<Controllers> for AbcSenderConfig {
    const ID: &'static str = "abc";

    fn bind(&mut self, parts: &Components) -> Result<(), ComponentError> {
        let bound = self.second_window.bind_if_any(&parts.controllers, parts);
        bound.map_err(|error| error.inside("second_window"))
    }

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        let ControllerFacts { initial_window, mss, .. } = facts;
        Ok(Box::new(Abc::new(self.abc, self.second_window.build_if_any(facts)?, initial_window, mss)?))
    }
}

/// The sender of Accel-Brake Control (Goyal et al., NSDI 2020, section 3.1; the authors' `tcp_abc.c`).
///
/// An acknowledgment of n packets changes the window of w packets by `n + n / w` if it echoes an accelerate
/// and by `−n + n / w` if it echoes a brake. It never increases the window to more than twice the data in
/// flight (section 4.1). Packets are paced at `2 w / RTT` of the newest round trip.
///
/// A loss changes nothing, as in `tcp_abc.c`: brakes are the only congestion signal. For paths whose
/// bottleneck may not be an ABC router, a second controller can run in parallel that responds to losses and
/// marks as usual (section 4.1; `tcp_abccubic.c` has CUBIC): the smaller of both windows applies. Its window
/// does not grow either while it is twice the data in flight.
///
/// Our decisions: a timeout leaves one packet, from which the window can double in each round trip on an idle
/// link (the authors' code continues with the window from before). The data in flight does not limit brakes.
/// While the window is not used it only decreases. In recovery marks count as usual, as in the authors' code.
/// If the window is already below the floor, brakes leave it unchanged. An acknowledgment without a mark
/// changes nothing.
#[derive(Debug)]
pub struct Abc {
    config: AbcConfig,
    mss: Bytes,
    /// Bytes of payload, with fractions, because the additive increase of each acknowledgment is small.
    window: f64,
    pacing: Pacing,
    second: Option<Box<dyn Controller>>,
    /// The window before the last signal, kept in case the signal is spurious.
    before_signal: Option<f64>,
}

impl Abc {
    /// Creates a sender with `initial_window` (bytes of payload); `mss` is the largest payload of one packet,
    /// `second` the controller whose window applies if it is smaller.
    ///
    /// Fails if a parameter is out of range, `mss` is zero, or the window is smaller than one packet.
    pub fn new(
        config: AbcConfig,
        second: Option<Box<dyn Controller>>,
        initial_window: Bytes,
        mss: Bytes,
    ) -> Result<Self, ConfigError> {
        let AbcConfig { additive_increase, minimum_window, pacing_gain } = config;
        let growing = additive_increase >= 0.0 && additive_increase.is_finite();
        check(growing, "additive_increase", "at least zero and finite", additive_increase)?;
        let holding = minimum_window >= 1.0 && minimum_window.is_finite();
        check(holding, "minimum_window", "at least 1 and finite", minimum_window)?;
        let sending = pacing_gain > 0.0 && pacing_gain.is_finite();
        check(sending, "pacing_gain", "greater than 0 and finite", pacing_gain)?;
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        let window = initial_window.as_f64().min(LARGEST_WINDOW);
        Ok(Self { config, mss, window, pacing: Pacing::FromWindow, second, before_signal: None })
    }

    /// Changes the window according to `mark`, for the bytes that `event` acknowledges.
    fn obey(&mut self, mark: AbcMark, event: &AckEvent) {
        let (acked, segment) = (event.acked.as_f64(), event.mss.as_f64());
        let increase = self.config.additive_increase * segment * acked / self.window;
        let moved = match mark {
            AbcMark::Accelerate => self.window + acked,
            AbcMark::Brake => {
                (self.window - acked).max((self.config.minimum_window * segment).min(self.window))
            }
        } + increase;
        let most = if event.window_limited {
            (2.0 * event.in_flight_before.as_f64()).min(LARGEST_WINDOW).max(self.window)
        } else {
            self.window
        };
        self.window = moved.min(most);
    }

    fn allowed(&self) -> Bytes {
        let window = Bytes::new(self.window as u64); // whole bytes
        self.second.as_ref().map_or(window, |second| window.min(second.control().window))
    }
}

impl Controller for Abc {
    fn requirements(&self) -> Requirements {
        let own = Requirements { pacing: true, path_feedback: true, ..Requirements::default() };
        match &self.second {
            None => Requirements { window_in_recovery: true, ..own },
            Some(second) => Requirements { pacing: true, path_feedback: true, ..second.requirements() },
        }
    }

    fn on_sent(&mut self, event: &SendEvent, probe: &mut dyn Probe) -> PathHeader {
        if let Some(second) = &mut self.second {
            second.on_sent(event, probe);
        }
        PathHeader::Abc(AbcMark::Accelerate)
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        self.mss = event.mss;
        if let Some(second) = &mut self.second {
            let used = second.control().window < event.in_flight_before * 2;
            let mut event = *event;
            event.window_limited &= used;
            second.on_ack(&event, probe);
        }
        if let PathHeader::Abc(mark) = event.path
            && !event.acked.is_zero()
        {
            self.obey(mark, event);
        }
        if !event.rtt.latest.is_zero() {
            let window = self.allowed().as_f64() * self.config.pacing_gain;
            self.pacing = Pacing::At(Rate::from_bps_f64(8.0 * window / event.rtt.latest.as_secs_f64()));
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        self.mss = event.mss;
        let timeout = event.signal == CongestionSignal::Timeout;
        if !timeout || event.consecutive <= 1 {
            self.before_signal = Some(self.window);
        }
        if timeout {
            self.window = self.window.min(event.mss.as_f64());
        }
        if let Some(second) = &mut self.second {
            second.on_congestion(event, probe);
        }
    }

    fn on_spurious(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        if let Some(before) = self.before_signal.take() {
            self.window = self.window.max(before);
        }
        if let Some(second) = &mut self.second {
            second.on_spurious(now, probe);
        }
    }

    fn on_timer(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        if let Some(second) = &mut self.second {
            second.on_timer(now, probe);
        }
    }

    fn next_timer(&self) -> Timestamp {
        self.second.as_ref().map_or(Timestamp::NEVER, |second| second.next_timer())
    }

    fn control(&self) -> Control {
        Control { window: self.allowed(), pacing: self.pacing, quantum: self.mss * QUANTUM_SEGMENTS }
    }

    fn phase(&self) -> Phase {
        Phase::Steady
    }
}

#[cfg(test)]
mod tests;
