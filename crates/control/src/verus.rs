//! Verus: the window follows a target delay through a measured curve of delays over windows (Zaki et al.,
//! SIGCOMM 2015).

mod curve;
mod history;

#[cfg(feature = "declare")]
use alloc::boxed::Box;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, Measurement, Pacing,
    PathHeader, Phase, Probe, Requirements, SendEvent, Timestamp,
};

use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use crate::watching_phase::watching_phase;
use curve::Curve;
use history::History;

/// ε: the duration of an epoch.
const EPOCH: Duration = Duration::from_millis(5);

/// The time after which the curve is computed again.
const CURVE_INTERVAL: Duration = Duration::from_secs(1);

/// Weights of the old value in the mean delay, and in the largest delay of recent epochs (authors' sender).
const MEAN_WEIGHT: f64 = 0.875;
const LARGEST_WEIGHT: f64 = 0.2;

/// Growth of the largest delay from epoch to epoch that counts, in seconds (authors' sender).
const NOTICEABLE: f64 = 1e-7;

/// Delay at which slow start ends, in seconds (authors' sender).
const SLOW_START_DELAY: f64 = 0.5;

/// A loss ends slow start if the window is then larger, in segments (authors' sender).
const SLOW_START_WINDOW: f64 = 20.0;

/// The curve after slow start keeps at least the windows below this one, in segments (authors' sender).
const KEPT_WINDOWS: u32 = 100;

/// What is added to the base delay if the delay is too long with an empty network, in seconds (authors'
/// sender).
const BASE_STEP: f64 = 0.01;

/// The parameters of Verus.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default),
    schemars(
        title = "Verus",
        description = "the window that belongs to a target delay in a measured curve (SIGCOMM 2015)",
        extend("x-follows" = "model")
    )
)]
pub struct VerusConfig {
    /// δ1: the reduction of the target delay in an epoch of 5 ms with growing delays.
    pub delta1: Duration,
    /// δ2: the growth of the target delay in another epoch, and its reduction above `ratio`.
    pub delta2: Duration,
    /// R: the ratio of the largest to the smallest delay above which the target delay falls.
    #[cfg_attr(feature = "declare", schemars(range(min = 1.0)))]
    pub ratio: f64,
    /// M: the share of the window of a lost packet that remains.
    #[cfg_attr(feature = "declare", schemars(range(max = 1.0), extend("exclusiveMinimum" = 0)))]
    pub decrease: f64,
}

impl Default for VerusConfig {
    fn default() -> Self {
        Self { delta1: Duration::from_millis(1), delta2: Duration::from_millis(2), ratio: 6.0, decrease: 0.7 }
    }
}

#[cfg(feature = "declare")]
impl Component<Controllers> for VerusConfig {
    const ID: &'static str = "verus";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Verus::new(*self, facts.initial_window, facts.mss)?))
    }
}

/// Verus.
///
/// The sender averages the delay of packets by the window with which they left, and fits a curve once a
/// second. In each epoch of 5 ms it raises a target delay, or lowers it if delays grow, and sends so many
/// packets that the window approaches the one that has this delay in the curve. Losses reduce the window.
///
/// Windows count segments of payload, delays are RTTs.
///
/// Telemetry: [`Measurement::Phase`] at each change of state, and once an epoch `target` and `window`, in
/// seconds and segments.
#[derive(Clone, Debug)]
pub struct Verus {
    config: VerusConfig,
    mss: Bytes,
    initial_window: Bytes,
    delivered: Bytes,
    in_flight: Bytes,
    slow_start: bool,
    /// From a loss until a packet of the reduced window arrives.
    losing: bool,
    /// Whether slow start ended by the delay, and no packet of the reduced window has arrived yet.
    leaving: bool,
    /// W, in segments.
    window: f64,
    /// Payload that may still leave in this epoch.
    budget: Bytes,
    next_epoch: Timestamp,
    next_fit: Timestamp,
    last_arrival: Timestamp,
    /// Whether anything left or arrived in this epoch.
    active: bool,
    /// `D_est` and `D_min`, in seconds.
    target: f64,
    minimum: f64,
    mean: f64,
    /// The largest delay of this epoch, and the averaged one of the epochs before.
    largest: Option<f64>,
    before: Option<f64>,
    curve: Curve,
    history: History,
}

impl Verus {
    /// Creates a sender with `initial_window` (bytes of payload); `mss` is the largest payload of one packet.
    ///
    /// Fails if a parameter is outside the range stated in [`VerusConfig`], `mss` is zero, or the window is
    /// smaller than one packet.
    pub fn new(config: VerusConfig, initial_window: Bytes, mss: Bytes) -> Result<Self, ConfigError> {
        let VerusConfig { ratio, decrease, .. } = config;
        check(ratio >= 1.0 && ratio.is_finite(), "ratio", "at least 1 and finite", ratio)?;
        check(decrease > 0.0 && decrease <= 1.0, "decrease", "greater than 0 and at most 1", decrease)?;
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        Ok(Self {
            config,
            mss,
            initial_window,
            delivered: Bytes::ZERO,
            in_flight: Bytes::ZERO,
            slow_start: true,
            losing: false,
            leaving: false,
            window: initial_window.as_f64() / mss.as_f64(),
            budget: Bytes::ZERO,
            next_epoch: Timestamp::NEVER,
            next_fit: Timestamp::NEVER,
            last_arrival: Timestamp::ZERO,
            active: false,
            target: 0.0,
            minimum: f64::INFINITY,
            mean: 0.0,
            largest: None,
            before: None,
            curve: Curve::default(),
            history: History::default(),
        })
    }

    /// Returns the window with which a packet left a time `ago` before `now`.
    fn window_at(&self, now: Timestamp, ago: Duration) -> u32 {
        let sent_at = Timestamp::from_nanos(now.as_nanos().saturating_sub(ago.as_nanos()));
        self.history.get(sent_at).unwrap_or(self.window as u32).max(1)
    }

    fn window_bytes(&self) -> Bytes {
        let bound =
            if self.slow_start { self.mss.mul_f64(self.window) } else { self.in_flight + self.budget };
        // At most the window that slow start would have reached.
        bound.min(self.initial_window + self.delivered).max(self.mss)
    }

    /// Starts again with an empty curve, because no window belongs to the target delay.
    fn restart(&mut self) {
        self.curve.clear();
        (self.slow_start, self.losing, self.leaving) = (true, false, false);
        (self.window, self.target, self.minimum) = (1.0, 0.0, f64::INFINITY);
        (self.mean, self.largest, self.before) = (0.0, None, None);
        self.budget = Bytes::ZERO;
        self.next_fit = Timestamp::NEVER;
    }

    fn end_slow_start(&mut self, now: Timestamp) {
        self.slow_start = false;
        self.curve.fit();
        self.next_fit = now + CURVE_INTERVAL;
        self.target = self.curve.delay(self.window).unwrap_or(self.target);
    }

    /// Updates the estimates with the delay of a packet that left with `window`.
    fn update(&mut self, now: Timestamp, delay: f64, window: u32) {
        if self.losing && f64::from(window) <= self.window {
            (self.losing, self.leaving, self.largest) = (false, false, None);
        }
        self.largest = Some(self.largest.map_or(delay, |largest| largest.max(delay)));
        self.mean = if self.mean == 0.0 { delay } else { average(MEAN_WEIGHT, self.mean, delay) };
        self.minimum = self.minimum.min(delay);
        if self.slow_start && delay > SLOW_START_DELAY {
            self.window = (self.config.decrease * f64::from(window)).max(1.0).min(self.window);
            (self.losing, self.leaving) = (true, true);
            self.end_slow_start(now);
        }
        if self.losing {
            self.window += 1.0 / self.window;
            let target = self.curve.delay(self.window).unwrap_or(self.target);
            self.target = self.target.min(target);
        } else {
            self.curve.add(window as usize, delay);
        }
    }

    /// Chooses the target delay, the window, and the number of packets of the next epoch.
    fn begin_epoch(&mut self, now: Timestamp) {
        let silence = now.since(self.last_arrival).as_secs_f64();
        let before = self.before.unwrap_or(0.0);
        let largest = self.largest.take().unwrap_or_else(|| before.max(silence));
        let before = self.before.unwrap_or(largest);
        let mut sends = true;
        if before / self.minimum > self.config.ratio {
            if !self.leaving {
                self.target = self.minimum.max(self.target - self.config.delta2.as_secs_f64());
                if self.target <= self.minimum {
                    if self.in_flight < self.mss * 2 {
                        self.minimum += BASE_STEP;
                    } else {
                        sends = false;
                    }
                }
            }
        } else if largest - before > NOTICEABLE {
            self.target = self.minimum.max(self.target - self.config.delta1.as_secs_f64());
        } else {
            self.target += self.config.delta2.as_secs_f64();
        }
        self.before = Some(average(LARGEST_WEIGHT, before, largest));
        let Some(window) = self.curve.window(self.target) else { return self.restart() };
        self.window = window;
        self.budget = if sends { self.mss.mul_f64(self.packets()) } else { Bytes::ZERO };
    }

    /// Returns the number of packets of an epoch: `W + w (2 − n)/(n − 1)` for `w` packets in flight and a
    /// delay of `n` epochs.
    fn packets(&self) -> f64 {
        let in_flight = self.in_flight.as_f64() / self.mss.as_f64();
        let epochs = libm::ceil(self.mean / EPOCH.as_secs_f64());
        let share = if epochs > 1.0 { (2.0 - epochs) / (epochs - 1.0) } else { -1.0 };
        libm::floor((self.window + in_flight * share).max(0.0))
    }
}

/// Returns the average of two values, of which the old one has `weight`.
fn average(weight: f64, old: f64, new: f64) -> f64 {
    weight * old + (1.0 - weight) * new
}

impl Controller for Verus {
    fn requirements(&self) -> Requirements {
        Requirements { window_in_recovery: true, ..Requirements::default() }
    }

    fn on_sent(&mut self, event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        (self.mss, self.in_flight, self.active) = (event.mss, event.in_flight, true);
        self.budget -= event.payload;
        if !self.next_epoch.is_scheduled() {
            self.history.record(event.now, self.window as u32);
            self.next_epoch = event.now + EPOCH;
            self.last_arrival = event.now;
        }
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        (self.mss, self.in_flight, self.active) = (event.mss, event.in_flight, true);
        self.delivered += event.acked;
        if !event.newly_lost.is_zero() {
            // The signal occurs only once until the transport has repaired all losses.
            watching_phase(self, event.now, probe, |verus, _| verus.reduce(event.now, event.rtt.smoothed));
        }
        let Some(rtt) = event.rtt_sample else { return };
        self.last_arrival = event.now;
        let window = self.window_at(event.now, rtt);
        watching_phase(self, event.now, probe, |verus, _| {
            verus.update(event.now, rtt.as_secs_f64().max(1e-9), window);
            if verus.slow_start && event.window_limited {
                verus.window += event.acked.as_f64() / event.mss.as_f64();
                verus.history.record(event.now, verus.window as u32);
            }
        });
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        self.mss = event.mss;
        let before = self.window_bytes();
        match event.signal {
            CongestionSignal::EcnCe => {}
            CongestionSignal::Loss => {
                let smoothed = event.rtt.smoothed;
                watching_phase(self, event.now, probe, |verus, _| verus.reduce(event.now, smoothed));
            }
            CongestionSignal::Timeout => {
                (self.in_flight, self.budget) = (Bytes::ZERO, Bytes::ZERO);
                if self.slow_start {
                    watching_phase(self, event.now, probe, |verus, _| verus.end_slow_start(event.now));
                } else {
                    self.losing = true;
                    self.target = self.minimum;
                }
            }
        }
        self.in_flight = self.in_flight.min(before);
        self.budget = self.budget.min(before - self.in_flight);
    }

    fn on_timer(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        if self.in_flight.is_zero() && !self.active {
            self.next_epoch = Timestamp::NEVER; // until a packet leaves
            return;
        }
        self.active = false;
        self.next_epoch = now + EPOCH;
        if now >= self.next_fit {
            self.curve.fit();
            self.next_fit = now + CURVE_INTERVAL;
        }
        if !self.slow_start {
            watching_phase(self, now, probe, |verus, _| verus.begin_epoch(now));
            probe.record(now, Measurement::Named("target", self.target));
            probe.record(now, Measurement::Named("window", self.window));
        }
        self.history.record(now, self.window as u32);
    }

    fn next_timer(&self) -> Timestamp {
        self.next_epoch
    }

    fn control(&self) -> Control {
        Control { window: self.window_bytes(), pacing: Pacing::Off, quantum: self.mss }
    }

    fn phase(&self) -> Phase {
        if self.slow_start { Phase::SlowStart } else { Phase::CongestionAvoidance }
    }
}

impl Verus {
    /// Reduces the window after the loss of a packet that left a round trip ago.
    fn reduce(&mut self, now: Timestamp, round_trip: Duration) {
        let lost = self.window_at(now, round_trip);
        if !self.losing {
            self.losing = true;
            self.window = (self.config.decrease * f64::from(lost)).min(self.window).max(1.0);
            self.target = self.curve.delay(self.window).unwrap_or(self.target);
        }
        if self.slow_start && self.window > SLOW_START_WINDOW {
            self.curve.truncate(lost.max(KEPT_WINDOWS) as usize);
            self.end_slow_start(now);
        }
    }
}

#[cfg(test)]
mod tests;
