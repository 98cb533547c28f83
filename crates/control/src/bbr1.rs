//! BBR, version 1: the largest delivery rate and the smallest round-trip time determine rate and window
//! (Linux 6.1, `net/ipv4/tcp_bbr.c`).
//!
//! One file per concept, as for version 3 ([`crate::Bbr`]), from which the parts with the same rules come:
//! rounds, the smallest round-trip time, the test for a full pipe, the limited span and the measurement of
//! bursts. Names in `typewriter` are those of Linux.

mod aggregation;
mod mode;
mod output;
mod policer;
mod probe_rtt;
mod recovery;

#[cfg(feature = "declare")]
use alloc::boxed::Box;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, Measurement, Pacing,
    PathHeader, Phase, Probe, RandomStream, Rate, RateSample, Requirements, SendEvent, Timestamp,
};

use crate::ConfigError;
use crate::bbr::full_pipe::FullPipe;
use crate::bbr::limited_span::LimitedSpan;
use crate::bbr::min_rtt::MinRtt;
use crate::bbr::rounds::Rounds;
#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use crate::watching_phase::watching_phase;
use crate::windowed_extremum::WindowedMaximum;
use aggregation::Aggregation;
use mode::{Cycle, Mode};
use policer::{Observation, Policer, Totals};
use probe_rtt::ProbeRtt;
use recovery::Recovery;

/// Rounds for which a delivery rate counts: a cycle of gains and two more.
const BANDWIDTH_ROUNDS: u64 = 10;

/// The parameters of BBR v1. The gains are not parameters, because they depend on each other.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default),
    schemars(
        title = "BBR v1",
        description = "paces at the largest delivery rate of ten rounds, ignores losses (Linux)",
        extend("x-follows" = "model")
    )
)]
pub struct Bbr1Config {
    /// Whether to detect token-bucket policers, and to send at their rate.
    pub policer: bool,
    /// Whether bursts of acknowledgments enlarge the window.
    pub aggregation: bool,
    /// Time for which a minimum of the RTT is valid. After this time without an RTT as small, BBR probes for
    /// one.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub min_rtt_window: Duration,
    /// Shortest time with four packets in flight during such a probe.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub probe_rtt_duration: Duration,
}

impl Default for Bbr1Config {
    fn default() -> Self {
        Self {
            policer: true,
            aggregation: true,
            min_rtt_window: Duration::from_secs(10),
            probe_rtt_duration: Duration::from_millis(200),
        }
    }
}

#[cfg(feature = "declare")]
impl Component<Controllers> for Bbr1Config {
    const ID: &'static str = "bbr1";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Bbr1::new(*self, facts.random, facts.initial_window, facts.mss)?))
    }
}

/// BBR, version 1.
///
/// The bandwidth is the largest delivery rate of ten rounds, and the round-trip time the smallest of ten
/// seconds. BBR paces at the bandwidth times a gain that cycles around one, and keeps at most twice the
/// product of both in flight. It ignores losses, except that it conserves packets for a round, and that heavy
/// losses at a constant delivery rate indicate a policer.
///
/// Window, limits and rates count payload. ECN echoes are ignored.
///
/// Telemetry: [`Measurement::Phase`] at each change, and [`Measurement::Bandwidth`] in each round.
#[derive(Clone, Debug)]
pub struct Bbr1 {
    config: Bbr1Config,
    random: RandomStream,
    mss: Bytes,
    mode: Mode,
    /// Whether the first event has started the clocks.
    begun: bool,
    totals: Totals,
    in_flight: Bytes,
    rounds: Rounds,
    max_bw: WindowedMaximum<Rate>,
    min_rtt: MinRtt,
    full_pipe: FullPipe,
    aggregation: Aggregation,
    policer: Policer,
    limited: LimitedSpan,
    probe_rtt: ProbeRtt,
    recovery: Recovery,
    idle_restart: bool,
    window: Bytes,
    pacing_rate: Rate,
    /// Whether the pacing rate is derived from a round-trip time.
    rate_from_rtt: bool,
}

impl Bbr1 {
    /// Creates a sender with `initial_window` (bytes of payload); `mss` is the largest payload of one packet.
    /// The phase in which probing begins is sampled from `random`.
    ///
    /// Fails if a parameter is outside the range stated in [`Bbr1Config`], `mss` is zero, or the window is
    /// smaller than one packet.
    pub fn new(
        config: Bbr1Config,
        random: RandomStream,
        initial_window: Bytes,
        mss: Bytes,
    ) -> Result<Self, ConfigError> {
        check(!config.min_rtt_window.is_zero(), "min_rtt_window", "greater than zero", 0.0)?;
        check(!config.probe_rtt_duration.is_zero(), "probe_rtt_duration", "greater than zero", 0.0)?;
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        let mut bbr = Self {
            config,
            random,
            mss,
            mode: Mode::Startup,
            begun: false,
            totals: Totals::default(),
            in_flight: Bytes::ZERO,
            rounds: Rounds::default(),
            max_bw: WindowedMaximum::default(),
            min_rtt: new_min_rtt(config, Timestamp::ZERO),
            full_pipe: FullPipe::default(),
            aggregation: Aggregation::new(Timestamp::ZERO),
            policer: Policer::default(),
            limited: LimitedSpan::default(),
            probe_rtt: ProbeRtt::default(),
            recovery: Recovery::default(),
            idle_restart: false,
            window: initial_window,
            pacing_rate: Rate::ZERO,
            rate_from_rtt: false,
        };
        bbr.init_pacing_rate(Duration::ZERO);
        Ok(bbr)
    }

    /// Starts the clocks of the filters.
    fn begin(&mut self, now: Timestamp) {
        if !self.begun {
            self.begun = true;
            self.min_rtt = new_min_rtt(self.config, now);
            self.aggregation = Aggregation::new(now);
        }
    }

    /// Updates the model of the path and the mode (`bbr_update_model`).
    fn update_model(&mut self, event: &AckEvent, sample: Option<&RateSample>) {
        self.rounds.started = false;
        if let Some(sample) = sample {
            self.update_bandwidth(event, sample);
        }
        self.update_cycle(event);
        if let Some(sample) = sample
            && self.rounds.started
            && !sample.app_limited
            && !self.full_pipe.reached
        {
            self.full_pipe.on_round(self.max_bandwidth());
        }
        self.check_drain();
        self.update_min_rtt(event);
        self.check_probe_rtt(event.now, sample);
    }

    /// Takes a sample of the round-trip time. An acknowledgment of less than a packet, which the receiver may
    /// have delayed, replaces the minimum only by a smaller value.
    fn update_min_rtt(&mut self, event: &AckEvent) {
        let delayed = event.acked == event.advance && event.acked < event.mss;
        let is_smaller = |rtt| self.min_rtt.get().is_none_or(|minimum| rtt < minimum);
        let sample = event.rtt_sample.filter(|&rtt| !delayed || is_smaller(rtt));
        self.min_rtt.update(event.now, sample);
    }

    /// Counts rounds, and updates the estimates that depend on the delivery rate.
    fn update_bandwidth(&mut self, event: &AckEvent, sample: &RateSample) {
        self.rounds.update(sample.prior_delivered, self.totals.delivered);
        if self.rounds.started {
            self.recovery.conserving = false;
            self.aggregation.on_round();
        }
        self.update_policer(Observation {
            totals: self.totals,
            round_started: self.rounds.started,
            losses: !event.newly_lost.is_zero(),
            app_limited: sample.app_limited,
        });
        let rate = sample.rate();
        if !sample.app_limited || rate >= self.max_bandwidth() {
            self.max_bw.update(BANDWIDTH_ROUNDS, self.rounds.count, rate);
        }
        if !event.acked.is_zero() {
            self.aggregation.update(event.now, event.acked, self.bandwidth(), self.window, self.mss);
        }
    }

    /// Samples for a policer, or uses the rate of a detected one until its rounds are over.
    fn update_policer(&mut self, seen: Observation) {
        if !self.config.policer {
            return;
        }
        if self.policer.rate().is_none() {
            self.policer.sample(seen);
        } else if matches!(self.mode, Mode::ProbeBandwidth(_))
            && seen.round_started
            && self.policer.count_round()
        {
            self.start_probing_bandwidth();
        }
    }

    /// Enters the next phase of the cycle of gains if the current one is over (`bbr_is_next_cycle_phase`).
    fn update_cycle(&mut self, event: &AckEvent) {
        let Mode::ProbeBandwidth(cycle) = self.mode else { return };
        let elapsed = self.totals.at.since(cycle.since);
        let long_enough = self.min_rtt.get().is_some_and(|min_rtt| elapsed > min_rtt);
        let (gain, in_flight) = (self.pacing_gain(), event.in_flight_before);
        let over = if gain > 1.0 {
            // The next quantum counts. A path with a small buffer may not hold the product times the gain.
            let next = in_flight + self.mss * self.quantum_packets();
            long_enough && (!event.newly_lost.is_zero() || next >= self.inflight(gain))
        } else {
            long_enough || gain < 1.0 && in_flight <= self.inflight(1.0)
        };
        if over {
            self.mode = Mode::ProbeBandwidth(cycle.next(self.totals.at));
        }
    }

    /// Ends Startup if the pipe is full, and Drain if the queue is gone.
    fn check_drain(&mut self) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && self.in_flight <= self.inflight(1.0) {
            self.start_probing_bandwidth();
        }
    }

    fn start_probing_bandwidth(&mut self) {
        self.mode = Mode::ProbeBandwidth(Cycle::new(self.totals.at, &mut self.random));
    }
}

/// Creates the filter of the round-trip time. A minimum that expires requires a probe; in version 3 the probe
/// comes earlier.
fn new_min_rtt(config: Bbr1Config, now: Timestamp) -> MinRtt {
    MinRtt::new(config.min_rtt_window, config.min_rtt_window, now)
}

impl Controller for Bbr1 {
    fn requirements(&self) -> Requirements {
        Requirements { pacing: true, rate_samples: true, window_in_recovery: true, ..Requirements::default() }
    }

    fn on_sent(&mut self, event: &SendEvent, probe: &mut dyn Probe) -> PathHeader {
        self.begin(event.now);
        if event.in_flight <= event.payload {
            watching_phase(self, event.now, probe, |bbr, _| bbr.restart_from_idle(event));
        }
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        watching_phase(self, event.now, probe, |bbr, probe| {
            bbr.begin(event.now);
            bbr.mss = event.mss;
            bbr.in_flight = event.in_flight;
            let sample = bbr.limited.sample(event);
            bbr.totals.delivered = sample
                .map_or(bbr.totals.delivered + event.acked, |rate| rate.prior_delivered + rate.delivered);
            bbr.totals.lost += event.newly_lost;
            if !event.acked.is_zero() {
                bbr.totals.at = event.now;
            }
            bbr.limited.update(event.now, bbr.totals.delivered);
            bbr.follow_recovery(event);
            bbr.update_model(event, sample.as_ref());
            if !bbr.rate_from_rtt && !event.rtt.smoothed.is_zero() {
                bbr.rate_from_rtt = true;
                bbr.init_pacing_rate(event.rtt.smoothed);
            }
            bbr.set_pacing_rate(bbr.pacing_gain());
            bbr.set_window(event);
            if bbr.rounds.started {
                probe.record(event.now, Measurement::Bandwidth(bbr.bandwidth().bytes_per_second()));
            }
        });
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        watching_phase(self, event.now, probe, |bbr, _| {
            bbr.begin(event.now);
            bbr.mss = event.mss;
            // The acknowledgments report fast recovery.
            if event.signal == CongestionSignal::Timeout {
                bbr.on_timeout(event);
            }
        });
    }

    fn on_spurious(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        watching_phase(self, now, probe, |bbr, _| bbr.undo_losses());
    }

    fn control(&self) -> Control {
        let quantum = self.mss * self.quantum_packets();
        Control { window: self.window, pacing: Pacing::At(self.pacing_rate), quantum }
    }

    fn phase(&self) -> Phase {
        self.mode.phase(self.pacing_gain())
    }
}

#[cfg(test)]
mod tests;
