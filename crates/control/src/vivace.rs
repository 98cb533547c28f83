//! PCC Vivace: the rate climbs the gradient of a utility of throughput, growth of the RTT and losses (Dong
//! et al., NSDI 2018).

mod line;
mod round;
mod step;
mod utility;

#[cfg(feature = "declare")]
use alloc::boxed::Box;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, Measurement, Pacing,
    PathHeader, Phase, Probe, RandomStream, Rate, Requirements, SendEvent, Timestamp,
};

use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use crate::watching_phase::watching_phase;
use round::Round;
use step::Step;
use utility::Outcome;

/// Pairs of monitor intervals in one round of probing.
const PAIRS: usize = 3;

/// The window as a multiple of the data that the pacing rate sends in a smoothed RTT (authors' kernel
/// module).
const WINDOW_GAIN: f64 = 2.0;

/// The smallest bound of the window, in segments (authors' kernel module).
const FLOOR_SEGMENTS: u64 = 4;

/// The parameters of Vivace.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default),
    schemars(
        title = "PCC Vivace",
        description = "the rate climbs the gradient of a utility of throughput, RTT growth and loss (NSDI 2018)",
        extend("x-follows" = "model")
    )
)]
pub struct VivaceConfig {
    /// t: the exponent of the throughput in the utility.
    #[cfg_attr(feature = "declare", schemars(range(max = 1.0), extend("exclusiveMinimum" = 0)))]
    pub exponent: f64,
    /// b: the weight of the growth of the RTT. With 0, the utility is the paper's loss-based one.
    #[cfg_attr(feature = "declare", schemars(range(min = 0.0)))]
    pub latency_coefficient: f64,
    /// c: the weight of the share of lost data.
    #[cfg_attr(feature = "declare", schemars(range(min = 0.0)))]
    pub loss_coefficient: f64,
    /// ε: the distance of the rates of a probe from the current rate, as a share of it.
    #[cfg_attr(
        feature = "declare",
        schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))
    )]
    pub probe_step: f64,
    /// The growth of the RTT per unit of time that is not attributed to the own rate.
    #[cfg_attr(feature = "declare", schemars(range(min = 0.0)))]
    pub gradient_threshold: f64,
    /// The smallest change of the rate.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub smallest_change: Rate,
    /// The lowest rate.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub lowest_rate: Rate,
}

impl Default for VivaceConfig {
    fn default() -> Self {
        Self {
            exponent: 0.9,
            latency_coefficient: 900.0,
            loss_coefficient: 11.35,
            probe_step: 0.05,
            gradient_threshold: 0.01,
            smallest_change: Rate::from_bps(500_000),
            lowest_rate: Rate::from_bps(500_000),
        }
    }
}

#[cfg(feature = "declare")]
impl Component<Controllers> for VivaceConfig {
    const ID: &'static str = "vivace";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Vivace::new(*self, facts.random, facts.initial_window, facts.mss)?))
    }
}

impl VivaceConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        let Self { exponent, latency_coefficient, loss_coefficient, probe_step, gradient_threshold, .. } =
            *self;
        check(exponent > 0.0 && exponent <= 1.0, "exponent", "greater than 0 and at most 1", exponent)?;
        for (name, value) in [
            ("latency_coefficient", latency_coefficient),
            ("loss_coefficient", loss_coefficient),
            ("gradient_threshold", gradient_threshold),
        ] {
            check(value >= 0.0 && value.is_finite(), name, "at least 0 and finite", value)?;
        }
        let is_share = probe_step > 0.0 && probe_step < 1.0;
        check(is_share, "probe_step", "greater than 0 and less than 1", probe_step)?;
        check(self.smallest_change != Rate::ZERO, "smallest_change", "greater than zero", 0.0)?;
        check(self.lowest_rate != Rate::ZERO, "lowest_rate", "greater than zero", 0.0)
    }
}

/// PCC Vivace with the utility of latency and loss.
///
/// The sender measures the utility of a rate over a monitor interval of about one round trip. It doubles the
/// rate until the utility falls. Then it probes pairs of rates around the current one, and moves in the
/// better direction by steps that are proportional to the gradient of the utility, until the utility falls
/// again. A single loss or a mark changes nothing; a timeout halves the rate.
///
/// Rates count payload, in Mbit/s (10⁶ bit).
///
/// Telemetry: [`Measurement::Phase`] at each change of state, and at the end of each round `rate` in byte/s, and
/// `utility` and `rtt_gradient` of its last interval.
#[derive(Clone, Debug)]
pub struct Vivace {
    config: VivaceConfig,
    random: RandomStream,
    mss: Bytes,
    initial_window: Bytes,
    state: State,
    /// Zero before the first sample of the round-trip time.
    rate: f64,
    round: Round,
    /// The last interval that the state compares with.
    latest: Outcome,
    /// Steps in the present direction.
    steps: u32,
    step: Step,
    smoothed: Duration,
    /// Payload that was sent; of it, payload that is no longer in flight; payload that was acknowledged.
    sent: u64,
    left: u64,
    delivered: Bytes,
    /// The rate before the last timeout, in case it was spurious.
    before_timeout: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The rate doubles while the utility grows.
    Starting,
    /// Pairs of rates are compared.
    Probing,
    /// The rate moves in one direction.
    Rising,
    Falling,
}

impl Vivace {
    /// Creates a sender with `initial_window` (bytes of payload); `mss` is the largest payload of one packet.
    /// The order of the rates of a pair is sampled from `random`.
    ///
    /// Fails if a parameter is outside the range stated in [`VivaceConfig`], `mss` is zero, or the window is
    /// smaller than one packet.
    pub fn new(
        config: VivaceConfig,
        random: RandomStream,
        initial_window: Bytes,
        mss: Bytes,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        Ok(Self {
            config,
            random,
            mss,
            initial_window,
            state: State::Starting,
            rate: 0.0,
            round: Round::default(),
            latest: Outcome::default(),
            steps: 0,
            step: Step::default(),
            smoothed: Duration::ZERO,
            sent: 0,
            left: 0,
            delivered: Bytes::ZERO,
            before_timeout: None,
        })
    }

    fn lowest(&self) -> f64 {
        megabits(self.config.lowest_rate)
    }

    /// Returns the rate at which packets leave now.
    fn pacing(&self) -> f64 {
        self.round.rate().unwrap_or(self.rate)
    }

    /// Plans the monitor intervals of the next round. The first one begins with the next packet.
    fn begin_round(&mut self) {
        self.round = Round::default();
        if self.state != State::Probing {
            self.round.plan(self.rate);
            return;
        }
        let faster = self.rate * (1.0 + self.config.probe_step);
        let slower = self.rate * (1.0 - self.config.probe_step);
        for _ in 0..PAIRS {
            let faster_first = self.random.chance(0.5);
            self.round.plan(if faster_first { faster } else { slower });
            self.round.plan(if faster_first { slower } else { faster });
        }
    }

    /// Draws the conclusion from a round whose packets all arrived or were lost.
    fn finish_round(&mut self) {
        // If the application had no data, the intervals do not show what the rate does.
        if !self.round.is_app_limited() {
            match self.state {
                State::Starting => self.finish_doubling(),
                State::Probing => self.finish_probe(),
                State::Rising | State::Falling => self.finish_step(),
            }
        }
        self.begin_round();
    }

    fn finish_doubling(&mut self) {
        let outcome = self.round.outcome(0, &self.config);
        if outcome.utility > self.latest.utility {
            self.rate *= 2.0;
            self.latest = outcome;
        } else {
            self.rate = (self.rate / 2.0).max(self.lowest());
            self.state = State::Probing;
        }
    }

    /// Compares the rates of each pair. More than half of the pairs suffice to rise, all are needed to fall.
    fn finish_probe(&mut self) {
        let pairs: [[Outcome; 2]; PAIRS] = core::array::from_fn(|pair| {
            let [first, second] =
                [2 * pair, 2 * pair + 1].map(|index| self.round.outcome(index, &self.config));
            if first.rate < second.rate { [first, second] } else { [second, first] }
        });
        let rises = |[slower, faster]: &[Outcome; 2]| faster.utility > slower.utility;
        let rising = pairs.iter().filter(|pair| rises(pair)).count();
        let rate = self.rate;
        let (state, chosen) = match rising {
            0 => (State::Falling, 0),
            _ if 2 * rising > PAIRS => (State::Rising, 1),
            _ if rate <= self.lowest() => {
                (self.state, self.latest) = (State::Starting, Outcome::default());
                return;
            }
            _ => return,
        };
        let mut difference = 0.0;
        for pair in pairs.iter().filter(|pair| rises(pair) == (state == State::Rising)) {
            difference += (pair[1].utility - pair[0].utility).abs();
            self.latest = pair[chosen];
        }
        let slope = difference / PAIRS as f64 / (2.0 * self.config.probe_step * rate);
        let sign = if state == State::Rising { 1.0 } else { -1.0 };
        self.rate *= 1.0 + sign * self.config.probe_step;
        (self.state, self.steps, self.step) = (state, 1, Step::default());
        self.move_by(sign, slope, 1);
    }

    /// Continues in the same direction while the utility confirms it. Otherwise goes back by one step.
    fn finish_step(&mut self) {
        let outcome = self.round.outcome(0, &self.config);
        let (utility, rate) = (outcome.utility - self.latest.utility, outcome.rate - self.latest.rate);
        let sign = if self.state == State::Rising { 1.0 } else { -1.0 };
        let slope = if rate == 0.0 { 0.0 } else { utility / rate };
        if slope * sign > 0.0 {
            self.steps += 1;
            self.latest = outcome;
            self.move_by(sign, slope.abs(), self.steps);
        } else {
            self.move_by(-sign, slope.abs(), 1);
            self.state = State::Probing;
        }
    }

    /// Changes the rate by the next step in the direction of `sign`; `steps` counts the steps there.
    fn move_by(&mut self, sign: f64, slope: f64, steps: u32) {
        let change = self.step.next(slope, self.rate, steps);
        self.rate += sign * change.max(megabits(self.config.smallest_change));
        if self.rate < self.lowest() {
            (self.rate, self.state, self.step) = (self.lowest(), State::Probing, Step::default());
        }
    }

    fn record(&self, now: Timestamp, probe: &mut dyn Probe) {
        let last = self.round.last(&self.config);
        probe.record(now, Measurement::Named("rate", self.rate * 1e6 / 8.0));
        probe.record(now, Measurement::Named("utility", last.utility));
        probe.record(now, Measurement::Named("rtt_gradient", last.gradient));
    }
}

/// Returns a rate in Mbit/s.
fn megabits(rate: Rate) -> f64 {
    rate.as_bps_f64() * 1e-6
}

impl Controller for Vivace {
    fn requirements(&self) -> Requirements {
        Requirements { pacing: true, window_in_recovery: true, ..Requirements::default() }
    }

    fn on_sent(&mut self, event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        self.mss = event.mss;
        if self.rate > 0.0 {
            self.round.on_sent(event.now, self.sent, event.rtt.smoothed, event.app_limited);
        }
        self.sent += event.payload.get();
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        self.mss = event.mss;
        self.smoothed = event.rtt.smoothed;
        self.delivered += event.acked;
        if self.rate <= 0.0 && !self.smoothed.is_zero() {
            self.rate = megabits(Rate::over(self.initial_window, self.smoothed)).max(self.lowest());
            self.begin_round();
        }
        // The data that left the network without being acknowledged was lost. This also counts the losses
        // that a timer detected.
        let left = self.sent.saturating_sub(event.in_flight.get());
        let lost = left.saturating_sub(self.left).saturating_sub(event.acked.get());
        self.round.on_lost(self.left, lost);
        self.left = left;
        if let Some(rtt) = event.rtt_sample {
            self.round.on_rtt(event.now, rtt);
        }
        if self.round.is_complete(left) {
            self.record(event.now, probe);
            watching_phase(self, event.now, probe, |vivace, _| vivace.finish_round());
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        self.mss = event.mss;
        if event.consecutive <= 1 {
            self.before_timeout = None;
        }
        if event.signal == CongestionSignal::Timeout && self.rate > 0.0 {
            self.before_timeout.get_or_insert(self.rate);
            watching_phase(self, event.now, probe, |vivace, _| {
                vivace.rate = (vivace.rate / 2.0).max(vivace.lowest());
                vivace.state = State::Probing;
                vivace.begin_round();
            });
        }
    }

    fn on_spurious(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {
        if let Some(before) = self.before_timeout.take() {
            self.rate = self.rate.max(before);
            self.begin_round();
        }
    }

    fn control(&self) -> Control {
        if self.rate <= 0.0 {
            return Control { window: self.initial_window, pacing: Pacing::Off, quantum: self.mss };
        }
        let pacing = Pacing::At(Rate::from_bps_f64(self.pacing() * 1e6));
        let bound = Rate::from_bps_f64(WINDOW_GAIN * self.rate * 1e6).bytes_in(self.smoothed);
        // At most the window that slow start would have reached.
        let largest = self.initial_window + self.delivered;
        let window = bound.max(self.mss * FLOOR_SEGMENTS).min(largest);
        Control { window, pacing, quantum: self.mss }
    }

    fn phase(&self) -> Phase {
        match self.state {
            State::Starting => Phase::SlowStart,
            State::Probing => Phase::CongestionAvoidance,
            State::Rising => Phase::ProbeUp,
            State::Falling => Phase::ProbeDown,
        }
    }
}

#[cfg(test)]
mod tests;
