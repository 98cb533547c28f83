//! BBR, version 3: a model of the path instead of a reaction to losses (draft-ietf-ccwg-bbr-06).
//!
//! One file per concept. The filters and models of the algorithm are separate types. Their use in each state
//! is in `startup`, `probe_bandwidth` and `probe_rtt`; `losses` contains the response to congestion, and
//! `output` computes window, rate and quantum. Section numbers are those of the draft, and names in
//! `typewriter` are its names. Version 1 ([`crate::Bbr1`]) uses the parts whose rules are the same.

mod ack_aggregation;
pub(crate) mod ack_epoch;
mod bandwidth_filter;
pub(crate) mod full_pipe;
pub(crate) mod limited_span;
mod long_term;
mod losses;
pub(crate) mod min_rtt;
pub(crate) mod output;
mod probe_bandwidth;
mod probe_rtt;
pub(crate) mod rounds;
mod short_term;
mod startup;
mod state;

#[cfg(feature = "declare")]
use alloc::boxed::Box;

#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError};
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, Measurement, Pacing,
    PathHeader, Phase, Probe, RandomStream, Rate, RateSample, Requirements, SendEvent, Timestamp,
};

use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use crate::watching_phase::watching_phase;
use ack_aggregation::AckAggregation;
use airpath_model::config::check;
use bandwidth_filter::BandwidthFilter;
use full_pipe::FullPipe;
use limited_span::LimitedSpan;
use long_term::LongTerm;
use losses::Undo;
use min_rtt::MinRtt;
use probe_bandwidth::ProbeCycle;
use probe_rtt::ProbeRtt;
use rounds::Rounds;
use short_term::ShortTerm;
use state::State;

/// `MinPipeCwnd` in segments. With fewer segments in flight, a path with delayed acknowledgments would not
/// stay busy (5.6.4.3).
pub(crate) const MIN_PIPE_SEGMENTS: u64 = 4;

/// The parameters of BBR under the draft's names. The gains are not parameters, because they depend on each
/// other (section 5.6.1).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default), schemars(extend("x-follows" = "model")))]
pub struct BbrConfig {
    /// LossThresh: the share of lost data in a round above which too much data is in flight.
    #[cfg_attr(feature = "declare", schemars(range(min = 0.0, max = 1.0)))]
    pub loss_threshold: f64,
    /// Number of separate losses in a round at which a probe counts as too high (the draft and Linux: 1;
    /// Google's QUIC and s2n-quic: 2, so that single random losses do not end a probe).
    #[cfg_attr(feature = "declare", schemars(range(min = 1, max = 1_000_000)))]
    pub probe_loss_events: u32,
    /// Beta: the share of a limit that remains after one round with losses.
    #[cfg_attr(feature = "declare", schemars(range(max = 1.0), extend("exclusiveMinimum" = 0)))]
    pub beta: f64,
    /// Headroom: the share of the limit on data in flight that is left to other flows while cruising.
    #[cfg_attr(feature = "declare", schemars(range(min = 0.0), extend("exclusiveMaximum" = 1)))]
    pub headroom: f64,
    /// ProbeRTTInterval: after this time without a smaller RTT, BBR probes for one.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "x-at-most" = "min_rtt_window")))]
    pub probe_rtt_interval: Duration,
    /// ProbeRTTDuration: the shortest time with little data in flight during such a probe.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub probe_rtt_duration: Duration,
    /// MinRTTFilterLen: the time for which a minimum of the RTT is valid; at least `probe_rtt_interval`.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub min_rtt_window: Duration,
}

impl Default for BbrConfig {
    fn default() -> Self {
        Self {
            loss_threshold: 0.02,
            probe_loss_events: 1,
            beta: 0.7,
            headroom: 0.15,
            probe_rtt_interval: Duration::from_secs(5),
            probe_rtt_duration: Duration::from_millis(200),
            min_rtt_window: Duration::from_secs(10),
        }
    }
}

#[cfg(feature = "declare")]
impl Component<Controllers> for BbrConfig {
    const ID: &'static str = "bbr";

    fn check(&self) -> Result<(), ComponentError> {
        if self.min_rtt_window >= self.probe_rtt_interval {
            return Ok(());
        }
        let problem = r#""min_rtt_window" ({min_rtt_window}) must be at least "probe_rtt_interval" ({probe_rtt_interval})"#;
        Err(ComponentError::new("", problem))
    }

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Bbr::new(*self, facts.random, facts.initial_window, facts.mss)?))
    }
}

impl BbrConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        let Self { loss_threshold, probe_loss_events, beta, headroom, .. } = *self;
        check((0.0..=1.0).contains(&loss_threshold), "loss_threshold", "from 0 to 1", loss_threshold)?;
        let counted = (1..=1_000_000).contains(&probe_loss_events);
        check(counted, "probe_loss_events", "from 1 to 1000000", f64::from(probe_loss_events))?;
        check(beta > 0.0 && beta <= 1.0, "beta", "greater than 0 and at most 1", beta)?;
        check((0.0..1.0).contains(&headroom), "headroom", "at least 0 and less than 1", headroom)?;
        let interval = self.probe_rtt_interval;
        check(!interval.is_zero(), "probe_rtt_interval", "greater than zero", 0.0)?;
        check(!self.probe_rtt_duration.is_zero(), "probe_rtt_duration", "greater than zero", 0.0)?;
        let window = self.min_rtt_window;
        let range = "at least probe_rtt_interval (seconds)";
        check(window >= interval, "min_rtt_window", range, window.as_secs_f64())
    }
}

/// BBR, version 3 (draft-ietf-ccwg-bbr-06).
///
/// BBR estimates the bandwidth of the path from delivery rates, and the round-trip time of the path without
/// queues. It paces at the estimated bandwidth and keeps about the product of both in flight. It probes for
/// more bandwidth every two or three seconds, and for a smaller round-trip time if it has not observed one
/// for five seconds. Losses lower its limits only if many occur in one round, or while BBR is not probing.
///
/// Window, limits and rates count payload. An ECN echo counts as a round with too many losses.
///
/// Telemetry: [`Measurement::Phase`] at each change of state, and [`Measurement::Bandwidth`] (the rate in the
/// model) in each round.
#[derive(Clone, Debug)]
pub struct Bbr {
    config: BbrConfig,
    random: RandomStream,
    mss: Bytes,
    initial_window: Bytes,
    state: State,
    /// Whether the first packet has been sent, which starts the clocks.
    begun: bool,
    /// `C.delivered`.
    delivered: Bytes,
    in_flight: Bytes,
    rounds: Rounds,
    max_bw: BandwidthFilter,
    min_rtt: MinRtt,
    full_pipe: FullPipe,
    aggregation: AckAggregation,
    short_term: ShortTerm,
    long_term: LongTerm,
    limited: LimitedSpan,
    /// `BBR.bw`: the upper bound of the bandwidth in the model.
    bandwidth: Rate,
    cycle: ProbeCycle,
    probe_rtt: ProbeRtt,
    drain_start_round: u64,
    /// Whether loss recovery is in progress. After a timeout it ends when `timeout_until` has been delivered.
    in_recovery: bool,
    timeout_until: Option<Bytes>,
    /// `prior_cwnd`.
    prior_window: Bytes,
    undo: Undo,
    idle_restart: bool,
    window: Bytes,
    pacing_rate: Rate,
    /// Whether the pacing rate is derived from a round-trip time.
    rate_from_rtt: bool,
}

impl Bbr {
    /// Creates a sender with `initial_window` (bytes of payload); `mss` is the largest payload of one packet.
    /// The times between probes are sampled from `random`.
    ///
    /// Fails if a parameter is outside the range stated in [`BbrConfig`], `mss` is zero, or the window is
    /// smaller than one packet.
    pub fn new(
        config: BbrConfig,
        random: RandomStream,
        initial_window: Bytes,
        mss: Bytes,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        let mut bbr = Self {
            config,
            random,
            mss,
            initial_window,
            state: State::Startup,
            begun: false,
            delivered: Bytes::ZERO,
            in_flight: Bytes::ZERO,
            rounds: Rounds::default(),
            max_bw: BandwidthFilter::default(),
            min_rtt: MinRtt::new(config.probe_rtt_interval, config.min_rtt_window, Timestamp::ZERO),
            full_pipe: FullPipe::default(),
            aggregation: AckAggregation::new(Timestamp::ZERO),
            short_term: ShortTerm::default(),
            long_term: LongTerm::default(),
            limited: LimitedSpan::default(),
            bandwidth: Rate::ZERO,
            cycle: ProbeCycle::default(),
            probe_rtt: ProbeRtt::default(),
            drain_start_round: 0,
            in_recovery: false,
            timeout_until: None,
            prior_window: Bytes::ZERO,
            undo: Undo::default(),
            idle_restart: false,
            window: initial_window,
            pacing_rate: Rate::ZERO,
            rate_from_rtt: false,
        };
        bbr.init_pacing_rate(Duration::ZERO);
        Ok(bbr)
    }

    /// Executes the part of `OnInit` that needs a clock.
    fn begin(&mut self, now: Timestamp) {
        if !self.begun {
            self.begun = true;
            self.min_rtt = MinRtt::new(self.config.probe_rtt_interval, self.config.min_rtt_window, now);
            self.aggregation = AckAggregation::new(now);
        }
    }

    /// Implements `UpdateModelAndState` (section 5.2.3).
    fn update_model_and_state(&mut self, event: &AckEvent, sample: Option<&RateSample>) {
        self.update_rates(sample);
        self.aggregation.update(
            event.now,
            event.acked,
            self.bandwidth,
            self.window,
            self.rounds.count,
            !self.full_pipe.reached,
        );
        if let Some(sample) = sample
            && self.rounds.started
            && !sample.app_limited
        {
            self.full_pipe.on_round(sample.rate());
        }
        self.check_startup_done(event, sample);
        self.check_drain_done(event.now);
        self.update_probe_bandwidth(event, sample);
        self.min_rtt.update(event.now, event.rtt_sample);
        self.check_probe_rtt(event);
        if let Some(sample) = sample {
            self.short_term.advance_latest(sample);
        }
        self.bandwidth = self.max_bw.maximum().min(self.short_term.bandwidth);
    }

    /// Implements `UpdateLatestDeliverySignals` and `UpdateCongestionSignals`.
    fn update_rates(&mut self, sample: Option<&RateSample>) {
        let Some(sample) = sample else {
            self.rounds.started = false;
            self.short_term.without_sample();
            return;
        };
        self.short_term.update_latest(sample, self.delivered);
        self.rounds.update(sample.prior_delivered, self.delivered);
        if self.rounds.started {
            self.cycle.count_round();
        }
        self.max_bw.update(sample.rate(), sample.app_limited);
        let (probing, beta) = (self.state.is_probing(), self.config.beta);
        self.short_term.adapt(probing, beta, self.max_bw.maximum(), self.window);
    }

    /// Enters a state, which determines the gains.
    fn enter(&mut self, state: State) {
        self.state = state;
    }
}

impl Controller for Bbr {
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
            bbr.delivered =
                sample.map_or(bbr.delivered + event.acked, |rate| rate.prior_delivered + rate.delivered);
            bbr.limited.update(event.now, bbr.delivered);
            if !bbr.rate_from_rtt && !event.rtt.smoothed.is_zero() {
                bbr.rate_from_rtt = true;
                bbr.init_pacing_rate(event.rtt.smoothed);
            }
            bbr.follow_recovery(event.in_recovery);
            bbr.on_losses(event, sample.as_ref());
            if !event.acked.is_zero() {
                bbr.update_model_and_state(event, sample.as_ref());
                bbr.update_control(event.acked);
                if bbr.rounds.started {
                    probe.record(event.now, Measurement::Bandwidth(bbr.bandwidth.as_bps() as f64 / 8.0));
                }
            }
        });
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        watching_phase(self, event.now, probe, |bbr, _| {
            bbr.begin(event.now);
            bbr.mss = event.mss;
            match event.signal {
                CongestionSignal::Loss => bbr.enter_fast_recovery(),
                CongestionSignal::Timeout => bbr.on_timeout(event),
                CongestionSignal::EcnCe => bbr.on_echo(event.now),
            }
        });
    }

    fn on_spurious(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        watching_phase(self, now, probe, |bbr, _| bbr.undo_losses());
    }

    fn control(&self) -> Control {
        Control { window: self.window, pacing: Pacing::At(self.pacing_rate), quantum: self.quantum() }
    }

    fn phase(&self) -> Phase {
        self.state.phase()
    }
}

#[cfg(test)]
mod tests;
