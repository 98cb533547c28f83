//! Kite: the window is the estimated capacity times the base delay plus a target, which grows with the
//! variation of the capacity.

mod capacity;
mod delay;
mod loss_limit;
mod variation;

#[cfg(feature = "declare")]
use alloc::boxed::Box;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, Measurement, Pacing,
    PathHeader, Phase, Probe, Rate, Requirements, SendEvent, Timestamp,
};

use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use capacity::Capacity;
use delay::Delays;
use loss_limit::LossLimit;
use variation::Variation;

/// The smallest window outside timeouts, in segments.
const FLOOR_SEGMENTS: f64 = 4.0;

/// Packets in the target of each flow. Delayed acknowledgments, pacing and whole packets use some of them.
const TARGET_PACKETS: f64 = 4.0;

/// Part of the target in seconds, times the square root of the capacity in packets per second. A larger flow
/// has a smaller target, so that shares become equal.
const TARGET_ROOT: f64 = 0.1;

/// A queue that is shorter is empty, in seconds, but at least 1.5 ticks of the receiver's clock.
const EMPTY: f64 = 0.002;

/// The same as a multiple of the mean delay by jitter.
const JITTERS: f64 = 2.0;

/// Pacing rate as a multiple of the capacity, on a calm and on a moving link.
const PACING_GAIN: [f64; 2] = [4.0 / 3.0, 2.0];

/// Time at the pacing rate that may leave back to back, in seconds.
const BURST: f64 = 0.002;

/// The lowest pacing rate, in packets per second.
const SLOWEST: f64 = 10.0;

/// Growth of the capacity in three round trips below which the start ends.
const START_GROWTH: f64 = 1.25;

/// Shortest duration of a drain, in seconds, in addition to the round-trip time.
const DRAIN: f64 = 0.1;

/// Shortest time between the starts of two drains, in seconds.
const BETWEEN_DRAINS: f64 = 1.0;

/// Share of the base delay in the window of a drain.
const DRAIN_SHARE: f64 = 0.5;

/// The parameters of Kite.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default),
    schemars(
        title = "Kite",
        description = "capacity times base delay plus a target that grows with the variation of the capacity",
        extend("x-follows" = "model")
    )
)]
pub struct KiteConfig {
    /// Constant part of the target queueing delay on a moving link.
    pub target: Duration,
    /// Part of the target on a moving link, as a share of the base delay.
    #[cfg_attr(feature = "declare", schemars(range(min = 0.0)))]
    pub base_share: f64,
    /// Largest target.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub max_target: Duration,
    /// Whether the target follows the variation of the capacity. Otherwise every link is treated as a moving
    /// one: a longer queue on fixed links, and a larger share next to flows that fill the buffer.
    pub adaptive: bool,
    /// Time without an empty queue after which the queue is drained.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub drain_interval: Duration,
    /// Resolution to which the receiver's timestamps are rounded down; its clock ticks at least this often.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub tick: Duration,
    /// Whether Kite sets the pacing rate. Otherwise the stack paces by the window, if it paces.
    pub pacing: bool,
}

impl Default for KiteConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(20),
            base_share: 0.3,
            max_target: Duration::from_millis(100),
            adaptive: true,
            drain_interval: Duration::from_secs(5),
            tick: Duration::from_millis(1),
            pacing: true,
        }
    }
}

#[cfg(feature = "declare")]
impl Component<Controllers> for KiteConfig {
    const ID: &'static str = "kite";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Kite::new(*self, facts.initial_window, facts.mss)?))
    }
}

/// Kite: a sender for links whose capacity moves.
///
/// The capacity `C` is a time-weighted average of delivery rates, measured with the receiver's timestamps (or
/// with the arrivals of acknowledgments if there are none). The window is `C (base + T)`. The target `T`
/// follows the variation of the capacity between round trips. If the queue has not been empty for a while,
/// all flows drain it together. Losses do not change the window; many losses with a long queue limit `T`. ECN
/// echoes are ignored.
///
/// Telemetry: [`Measurement::Phase`] at each change of state, and once a round [`Measurement::Bandwidth`],
/// `target` and `queue` in seconds, and `variation`.
#[derive(Clone, Debug)]
pub struct Kite {
    config: KiteConfig,
    mss: Bytes,
    state: State,
    /// Payload in bytes.
    window: f64,
    /// Payload in bytes per second; `None` before the first sample of the round-trip time.
    pacing: Option<f64>,
    /// Whether a timeout limits the window to one segment until new data is acknowledged.
    timed_out: bool,
    delays: Delays,
    capacity: Capacity,
    variation: Variation,
    loss_limit: LossLimit,
    /// T, in seconds.
    target: f64,
    /// When the queue was last empty, in seconds.
    empty_at: f64,
    /// Start and end of the latest drain, in seconds.
    drain: [f64; 2],
    round: u64,
    /// Round and capacity of the latest check whether the start still finds more.
    start: (u64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Run,
    Drain,
}

impl Kite {
    /// Creates a sender with `initial_window` (bytes of payload); `mss` is the largest payload of one packet.
    ///
    /// Fails if a parameter is outside the range stated in [`KiteConfig`], `mss` is zero, or the window is
    /// smaller than one packet.
    pub fn new(config: KiteConfig, initial_window: Bytes, mss: Bytes) -> Result<Self, ConfigError> {
        let share = config.base_share;
        check(share >= 0.0 && share.is_finite(), "base_share", "at least 0 and finite", share)?;
        check(!config.max_target.is_zero(), "max_target", "greater than zero", 0.0)?;
        check(!config.drain_interval.is_zero(), "drain_interval", "greater than zero", 0.0)?;
        check(!config.tick.is_zero(), "tick", "greater than zero", 0.0)?;
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        Ok(Self {
            config,
            mss,
            state: State::Start,
            window: initial_window.as_f64(),
            pacing: None,
            timed_out: false,
            delays: Delays::default(),
            capacity: Capacity::default(),
            variation: Variation::default(),
            loss_limit: LossLimit::default(),
            target: 0.0,
            empty_at: 0.0,
            drain: [f64::NEG_INFINITY; 2],
            round: 0,
            start: (0, 0.0),
        })
    }

    /// Returns the arrival time of the newest data at the receiver, in ns of the receiver's clock.
    fn stamp(&self, event: &AckEvent) -> u64 {
        let tick = self.config.tick.as_nanos();
        event.receiver_time.map_or(event.now.as_nanos(), |time| time.as_nanos() / tick * tick)
    }

    /// Returns the queueing delay below which the queue counts as empty, in seconds.
    fn empty(&self) -> f64 {
        EMPTY.max(1.5 * self.config.tick.as_secs_f64()).max(JITTERS * self.delays.jitter())
    }

    /// Returns the part of the target that a link with full variation has, in seconds.
    fn full_target(&self) -> f64 {
        self.config.target.as_secs_f64() + self.config.base_share * self.delays.base()
    }

    /// Returns 0 on a calm link, 1 on a moving one, and intermediate values in between.
    fn motion(&self) -> f64 {
        if self.config.adaptive { self.variation.motion() } else { 1.0 }
    }

    fn update_target(&mut self) {
        let packets = self.capacity.get() / self.mss.as_f64();
        let shares = TARGET_PACKETS / packets + TARGET_ROOT / libm::sqrt(packets);
        let target = self.full_target() * self.motion() + self.delays.jitter() + shares;
        self.target = target.min(self.config.max_target.as_secs_f64()).min(self.loss_limit.get());
    }

    /// Updates the estimates. Returns whether the acknowledgment completed a sample of the capacity.
    fn update_model(&mut self, event: &AckEvent) -> bool {
        let stamp = self.stamp(event);
        if let Some(rtt) = event.rtt_sample {
            self.delays.update(event.now, stamp, rtt, event.rtt.smoothed);
        }
        let (now, queue) = (event.now.as_secs_f64(), self.delays.queue());
        let round_trip = event.rtt.smoothed.as_secs_f64();
        self.loss_limit.update(now, round_trip, event, queue, self.target);
        if event.acked.is_zero() {
            return false;
        }
        let undisturbed = self.state != State::Drain && now >= self.drain[1] + self.delays.base();
        let arrival = capacity::Arrival {
            stamp: stamp as f64 * 1e-9,
            payload: event.acked.as_f64(),
            packet: event.mss.as_f64(),
            queue,
            limited: event.window_limited,
            round_trip,
            empty: self.empty(),
            tick: self.config.tick.as_secs_f64(),
        };
        if self.state == State::Run && now >= self.drain[1] + self.delays.base() + round_trip {
            self.variation.update(&arrival);
        } else {
            self.variation.pause();
        }
        let starts = self.state == State::Start;
        let sampled = self.capacity.update(&arrival, starts, undisturbed);
        // The start sends in bursts, and in its first samples few packets.
        if sampled && !starts {
            self.delays.update_jitter(event.now, self.capacity.jitter());
        }
        sampled
    }

    /// Grows the window by the acknowledged data until a queue builds up, the capacity stops growing, or
    /// packets are lost.
    fn continue_start(&mut self, event: &AckEvent, sampled: bool) {
        self.empty_at = event.now.as_secs_f64();
        if event.window_limited {
            self.window += event.acked.as_f64();
        }
        let round_trip = event.rtt.smoothed.as_secs_f64();
        if round_trip > 0.0 {
            self.pacing = Some((2.0 * self.window / round_trip).max(2.0 * SLOWEST * self.mss.as_f64()));
        }
        let capacity = self.capacity.get();
        if capacity == 0.0 {
            return;
        }
        let (round, before) = self.start;
        let mut ends = sampled && self.delays.queue() > self.full_target() || event.newly_lost > self.mss * 2;
        if event.round > round + 3 {
            ends |= capacity < START_GROWTH * before;
            self.start = (event.round, capacity);
        }
        if ends {
            self.state = State::Run;
            self.drain[0] = self.empty_at;
        }
    }

    /// Begins or ends a drain if it is time to.
    fn check_drain(&mut self, now: f64, round_trip: f64) {
        if self.delays.queue() < self.empty() {
            self.empty_at = now;
        }
        let interval = self.config.drain_interval.as_secs_f64();
        match self.state {
            State::Run if now - self.empty_at > interval && now - self.drain[0] > BETWEEN_DRAINS => {
                self.state = State::Drain;
                self.drain = [now, now + DRAIN + round_trip];
            }
            State::Drain if now >= self.drain[1] => {
                self.state = State::Run;
                self.empty_at = now;
            }
            _ => {}
        }
    }

    fn update_window(&mut self) {
        let (capacity, base, packet) = (self.capacity.get(), self.delays.base(), self.mss.as_f64());
        let span = match self.state {
            State::Start => return,
            State::Run => base + self.target,
            State::Drain => DRAIN_SHARE * base,
        };
        self.window = (capacity * span).max(FLOOR_SEGMENTS * packet);
        if self.state == State::Run {
            let gain = PACING_GAIN[0] + (PACING_GAIN[1] - PACING_GAIN[0]) * self.motion();
            self.pacing = Some((gain * self.window / span).max(SLOWEST * packet));
        }
    }

    fn record(&mut self, event: &AckEvent, before: State, probe: &mut dyn Probe) {
        if self.state != before {
            probe.record(event.now, Measurement::Phase(self.phase()));
        }
        if event.round > self.round {
            self.round = event.round;
            probe.record(event.now, Measurement::Bandwidth(self.capacity.get()));
            probe.record(event.now, Measurement::Named("target", self.target));
            probe.record(event.now, Measurement::Named("queue", self.delays.queue()));
            probe.record(event.now, Measurement::Named("variation", self.variation.get()));
        }
    }
}

impl Controller for Kite {
    fn requirements(&self) -> Requirements {
        Requirements { pacing: self.config.pacing, window_in_recovery: true, ..Requirements::default() }
    }

    fn on_sent(&mut self, event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        if event.in_flight <= event.payload && !event.retransmission {
            // Nothing was in flight before: the open sample would count the idleness.
            self.capacity.discard();
        }
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        let before = self.state;
        self.mss = event.mss;
        self.timed_out &= event.acked.is_zero();
        let sampled = self.update_model(event);
        if self.capacity.get() > 0.0 {
            self.update_target();
        }
        if self.state == State::Start {
            self.continue_start(event, sampled);
        } else {
            self.check_drain(event.now.as_secs_f64(), event.rtt.smoothed.as_secs_f64());
        }
        self.update_window();
        self.record(event, before, probe);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        self.mss = event.mss;
        self.timed_out |= event.signal == CongestionSignal::Timeout;
    }

    fn on_spurious(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {
        self.timed_out = false;
    }

    fn control(&self) -> Control {
        let window = if self.timed_out { self.mss } else { Bytes::from_f64(self.window) };
        let (pacing, quantum) = match self.pacing {
            _ if !self.config.pacing => (Pacing::FromWindow, self.mss),
            None => (Pacing::Off, self.mss),
            Some(rate) => {
                (Pacing::At(Rate::from_bps_f64(rate * 8.0)), Bytes::from_f64(rate * BURST).max(self.mss))
            }
        };
        Control { window, pacing, quantum }
    }

    fn phase(&self) -> Phase {
        match self.state {
            State::Start => Phase::SlowStart,
            State::Run => Phase::Steady,
            State::Drain => Phase::Drain,
        }
    }
}

#[cfg(test)]
mod tests;
