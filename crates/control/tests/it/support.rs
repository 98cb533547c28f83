//! Shared parts of the suites: every controller of the crate by name, and a driver that proceeds in rounds.

use std::sync::LazyLock;

use airpath_conformance::Follows;
use airpath_control::{
    Abc, AbcConfig, AdditiveScaling, AfterFreeze, Agent, Bbr, BbrConfig, Bic, BicConfig, CongestionEvidence,
    Copa, CopaConfig, Cubic, CubicConfig, CubicEbe, EstimatedSsthresh, EveryOtherRound, Fixed, HighSpeed,
    HighSpeedConfig, Htcp, HtcpConfig, HystartPlusPlus, LedbatPlusPlus, LedbatPlusPlusConfig,
    LoadResponseConfig, LossDifferentiation, LossDifferentiationConfig, MinimumRtt, Mpcp, MpcpConfig,
    NewReno, Prague, PragueConfig, ProbingGrowth, Qfcp, RttScaling, SlowStart, StandardSlowStart, Vcp,
    VcpBounds, VcpConfig, VcpFreeze, Vegas, VegasConfig, Veno, VenoConfig, Westwood, WestwoodConfig,
    WestwoodReduction, WindowRule, Windowed, Xcp, XcpConfig,
};
use airpath_estimate::{AckRate, AckRateConfig, FilterConfig, SamplerConfig, Start, VirtualSamples};
use airpath_estimate::{CeilingProfile, EbeCeiling, EbeCeilingConfig};
use airpath_model::{
    AbcMark, AckEvent, Bytes, CongestionEvent, CongestionSignal, Controller, Duration, LoadCode, LoadWord,
    NullProbe, PathHeader, RandomStream, Rate, RateSample, RttEstimate, SendEvent, Timestamp, XcpHeader,
};

/// The largest payload of one packet, in all suites.
pub(crate) const MSS: Bytes = Bytes::new(1448);

/// A function that builds a controller.
pub(crate) type Function = fn() -> Box<dyn Controller>;

/// Builds a controller that starts with ten segments.
pub(crate) type Construct = Box<dyn Fn() -> Box<dyn Controller> + Send + Sync>;

/// A name and the constructor.
pub(crate) type Constructor = (&'static str, Construct);

/// Returns every controller: [`LISTED`], and with its defaults each declared controller that is not in that
/// list.
pub(crate) fn controllers() -> &'static [Constructor] {
    static ALL: LazyLock<Vec<Constructor>> = LazyLock::new(|| {
        let listed = LISTED.iter().map(|&(name, construct)| (name, Box::new(construct) as Construct));
        listed.chain(declared::not_listed()).collect()
    });
    &ALL
}

/// Information that the suites read from the declarations.
#[cfg(feature = "declare")]
pub(crate) mod declared {
    use super::*;
    use airpath_control::declare::{Components, ControllerFacts};
    use airpath_model::declare::Deserialize;

    static COMPONENTS: LazyLock<Components> = LazyLock::new(Components::builtin);

    /// Listed as `newreno-loss-differentiation`. A separate test wraps every controller in it.
    const WRAPPER: &str = "loss-differentiation";

    /// Returns the constructors of the controllers that [`LISTED`] does not name.
    pub(super) fn not_listed() -> impl Iterator<Item = Constructor> {
        let registry = &COMPONENTS.controllers;
        let is_listed = |id: &str| id == WRAPPER || LISTED.iter().any(|(name, _)| *name == id);
        registry.ids().filter(move |id| !is_listed(id)).map(|id| {
            let factory =
                registry.read(&registry.example(id), &COMPONENTS).expect("the defaults are in range");
            let construct = move || {
                let random = RandomStream::new(1, "flow/conformance/controller");
                let facts =
                    ControllerFacts { initial_window: MSS * 10, mss: MSS, handshake_rtt: None, random };
                factory.build(facts).expect("the defaults are in range")
            };
            (id, Box::new(construct) as Construct)
        })
    }

    /// Returns the rules that a controller declares; its name may have a suffix in [`LISTED`].
    pub(crate) fn follows(name: &str) -> Follows {
        let is_it =
            |id: &str| name.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        let schema = COMPONENTS.controllers.schemas().find(|(id, _)| is_it(id)).map(|(_, schema)| schema);
        let declared = schema.and_then(|schema| schema.get("x-follows"));
        declared
            .map_or(Follows::Rfc5681, |declared| Follows::deserialize(declared).expect("these rules exist"))
    }
}

/// Without declarations there is no information to read.
#[cfg(not(feature = "declare"))]
pub(crate) mod declared {
    pub(super) fn not_listed() -> impl Iterator<Item = super::Constructor> {
        std::iter::empty()
    }

    pub(crate) fn follows(name: &str) -> super::Follows {
        match name {
            _ if super::MODEL_BASED.contains(&name) => super::Follows::Model,
            _ if name.starts_with("xcp") || name.starts_with("abc") => super::Follows::Routers,
            _ => super::Follows::Rfc5681,
        }
    }
}

/// Controllers with more than one set of parameters, and those without a declaration. Other controllers with
/// a declaration are added automatically.
pub(crate) const LISTED: [(&str, Function); 48] = [
    ("newreno", || windowed(NewReno::default(), StandardSlowStart::default())),
    ("newreno-per-acknowledgment", || {
        windowed(NewReno::default(), StandardSlowStart::new(1).expect("in range"))
    }),
    ("newreno-hystart++", || windowed(NewReno::default(), HystartPlusPlus::default())),
    ("cubic", || windowed(cubic(CubicConfig::RFC9438), StandardSlowStart::default())),
    ("cubic-hystart++", || windowed(cubic(CubicConfig::RFC9438), HystartPlusPlus::default())),
    ("cubic-2008", || windowed(cubic(CubicConfig::LINUX2008), StandardSlowStart::default())),
    ("cubic-2008-hystart++", || windowed(cubic(CubicConfig::LINUX2008), HystartPlusPlus::default())),
    ("vegas", || windowed(vegas(), StandardSlowStart::default())),
    ("vegas-every-other-round", || windowed(vegas(), EveryOtherRound::default())),
    ("bic", || windowed(bic(), StandardSlowStart::default())),
    ("highspeed", || windowed(high_speed(), StandardSlowStart::default())),
    ("htcp", || windowed(htcp(), StandardSlowStart::default())),
    ("veno", || windowed(veno(), StandardSlowStart::default())),
    ("prague", || prague(PragueConfig::default().virtual_rtt)),
    // Longer than the round trips of the suites.
    ("prague-longer-rounds", || prague(Duration::from_secs(1))),
    // Shorter than any round trip.
    ("dctcp", || prague(Duration::from_nanos(1))),
    ("fixed", || fixed(None)),
    ("agent", || Box::new(Agent::new(MSS * 10, MSS).expect("ten segments are a valid window"))),
    ("xcp", || xcp(true)),
    ("xcp-without-halving", || xcp(false)),
    ("qfcp", || Box::new(Qfcp::new(MSS * 10, MSS).expect("ten segments are a valid window"))),
    ("abc", || abc(None)),
    ("abc-with-cubic", || abc(Some(windowed(cubic(CubicConfig::RFC9438), StandardSlowStart::default())))),
    ("fixed-paced", || fixed(Some(Rate::from_bps(5_000_000)))),
    ("vcp", || vcp(VcpConfig::default())),
    ("vcp-authors", || {
        vcp_with(LoadResponseConfig {
            rtt_scaling: RttScaling::Smoothed,
            bounds: VcpBounds::Authors,
            freeze: VcpFreeze::DecreasesOnly,
            ..LoadResponseConfig::default()
        })
    }),
    ("vcp-guarded", || {
        vcp_with(LoadResponseConfig {
            additive_scaling: AdditiveScaling::Linear,
            after_freeze: AfterFreeze::Guarded,
            ..LoadResponseConfig::default()
        })
    }),
    ("vcp-obeying", || {
        vcp_with(LoadResponseConfig {
            additive_scaling: AdditiveScaling::None,
            rtt_cap: false,
            after_freeze: AfterFreeze::Obey,
            ..LoadResponseConfig::default()
        })
    }),
    ("mpcp", || mpcp(MpcpConfig { digits: 2, ..MpcpConfig::default() })),
    ("cubic-ebe", || cubic_ebe(CeilingProfile::Recommended, ProbingGrowth::Acknowledged)),
    ("cubic-ebe-journal", || cubic_ebe(CeilingProfile::Journal, ProbingGrowth::Acknowledged)),
    ("cubic-ebe-increment", || cubic_ebe(CeilingProfile::None, ProbingGrowth::Increment)),
    // The fourth kind of growth is not in the list: the paper read literally causes unbounded windows.
    ("cubic-ebe-ceiling", || cubic_ebe(CeilingProfile::Recommended, ProbingGrowth::Ceiling)),
    ("bbr", || {
        let random = RandomStream::new(1, "flow/conformance/controller");
        Box::new(Bbr::new(BbrConfig::default(), random, MSS * 10, MSS).expect("in range"))
    }),
    ("copa", || copa(false)),
    ("copa-competitive", || copa(true)),
    ("ledbat++", || {
        let config = LedbatPlusPlusConfig::default();
        Box::new(LedbatPlusPlus::new(config, MSS * 10, MSS).expect("in range"))
    }),
    ("mpcp-of-four", || mpcp(MpcpConfig { digits: 4, ..MpcpConfig::default() })),
    ("westwood", || westwood(SamplerConfig::PerAck, bilinear(VirtualSamples::Zero))),
    ("westwood-zoh", || {
        let start = Start::First;
        westwood(SamplerConfig::PerAck, FilterConfig::ZeroOrderHold { tau: Duration::from_secs(1), start })
    }),
    ("westwood-aa", || westwood(SamplerConfig::RoundTrip, bilinear(VirtualSamples::Held))),
    ("westwood+", || {
        let config = WestwoodConfig {
            reduction: WestwoodReduction::AfterRecovery,
            guard: false,
            minimum_rtt: MinimumRtt::SinceTimeout,
            ..WestwoodConfig::default()
        };
        let estimator = ack_rate(AckRateConfig::WestwoodPlus { ticks_per_second: 1000 });
        windowed(Westwood::new(estimator, config), StandardSlowStart::default())
    }),
    ("dynapara", || {
        westwood(SamplerConfig::PerAck, FilterConfig::TwoState { good: 0.9, bad: 0.6, timed: false })
    }),
    ("dynapara-timed", || {
        westwood(SamplerConfig::PerAck, FilterConfig::TwoState { good: 0.5, bad: 0.2, timed: true })
    }),
    ("sarbe", || {
        let sampler = SamplerConfig::ReceiverClock { resolution: Duration::from_micros(1) };
        westwood(sampler, FilterConfig::Stability { beta: 0.8, window: 8 })
    }),
    ("westwood-delivery-rate", || westwood(SamplerConfig::DeliveryRate, FilterConfig::None)),
    ("newreno-hoe", || {
        let sampler = SamplerConfig::BackToBack { acks: 3, spacing: Duration::from_millis(1) };
        let estimator = ack_rate(AckRateConfig::Filtered { sampler, filter: FilterConfig::First });
        windowed(NewReno::default(), EstimatedSsthresh::new(StandardSlowStart::default(), estimator))
    }),
    ("newreno-loss-differentiation", || {
        let newreno = windowed(NewReno::default(), StandardSlowStart::default());
        differentiated(CongestionEvidence::QueueingDelay, newreno)
    }),
];

/// Wraps a controller in the heuristic.
pub(crate) fn differentiated(
    evidence: CongestionEvidence,
    controller: Box<dyn Controller>,
) -> Box<dyn Controller> {
    let config =
        LossDifferentiationConfig { history: 8, history_threshold: 2, evidence, ..Default::default() };
    Box::new(LossDifferentiation::new(config, controller).expect("in range"))
}

fn westwood(sampler: SamplerConfig, filter: FilterConfig) -> Box<dyn Controller> {
    let estimator = ack_rate(AckRateConfig::Filtered { sampler, filter });
    windowed(Westwood::new(estimator, WestwoodConfig::default()), StandardSlowStart::default())
}

fn bilinear(virtual_samples: VirtualSamples) -> FilterConfig {
    FilterConfig::Bilinear { tau: Duration::from_secs(1), virtual_samples, start: Start::First }
}

fn ack_rate(config: AckRateConfig) -> AckRate {
    AckRate::new(config).expect("the parameters are in range")
}

/// Controllers whose window follows a model of the path. The rules of RFC 5681 for when and by how much a
/// window may grow or shrink do not apply to them.
pub(crate) const MODEL_BASED: [&str; 6] = ["bbr", "bbr1", "copa", "copa-competitive", "sprout", "verus"];

fn copa(competitive: bool) -> Box<dyn Controller> {
    let config = CopaConfig { competitive, ..CopaConfig::default() };
    Box::new(Copa::new(config, MSS * 10, MSS).expect("in range"))
}

fn windowed<S, W>(rule: W, slow_start: S) -> Box<dyn Controller>
where
    S: SlowStart + 'static,
    W: WindowRule + 'static,
{
    Box::new(Windowed::new(rule, slow_start, MSS * 10, MSS).expect("ten segments are a valid window"))
}

/// Creates the rule with parameters known to be in range.
pub(crate) fn cubic(config: CubicConfig) -> Cubic {
    Cubic::new(config).expect("the parameters are in range")
}

fn vegas() -> Vegas {
    Vegas::new(VegasConfig::default()).expect("the parameters are in range")
}

/// Creates the rule with Linux's parameters.
pub(crate) fn bic() -> Bic {
    Bic::new(BicConfig::default()).expect("the parameters are in range")
}

/// Creates the rule with the RFC's parameters.
pub(crate) fn high_speed() -> HighSpeed {
    HighSpeed::new(HighSpeedConfig::default()).expect("the parameters are in range")
}

/// Creates the rule with the draft's parameters.
pub(crate) fn htcp() -> Htcp {
    Htcp::new(HtcpConfig::default()).expect("the parameters are in range")
}

/// Creates the rule with the paper's parameters.
pub(crate) fn veno() -> Veno {
    Veno::new(VenoConfig::default()).expect("the parameters are in range")
}

fn prague(virtual_rtt: Duration) -> Box<dyn Controller> {
    let rule = Prague::new(PragueConfig { virtual_rtt, ..PragueConfig::default() });
    windowed(rule.expect("the parameters are in range"), StandardSlowStart::default())
}

fn cubic_ebe(profile: CeilingProfile, growth: ProbingGrowth) -> Box<dyn Controller> {
    let estimator = EbeCeiling::new(EbeCeilingConfig { profile, ..EbeCeilingConfig::default() });
    let rule = CubicEbe::new(cubic(CubicConfig::LINUX2008), estimator.expect("in range"), growth);
    windowed(rule, StandardSlowStart::default())
}

fn xcp(halve_on_loss: bool) -> Box<dyn Controller> {
    Box::new(
        Xcp::new(XcpConfig { halve_on_loss, ..XcpConfig::default() }, MSS * 10, MSS)
            .expect("ten segments are a valid window"),
    )
}

fn abc(second: Option<Box<dyn Controller>>) -> Box<dyn Controller> {
    Box::new(Abc::new(AbcConfig::default(), second, MSS * 10, MSS).expect("the parameters are in range"))
}

fn fixed(pacing: Option<Rate>) -> Box<dyn Controller> {
    Box::new(Fixed::new(MSS * 10, pacing, MSS).expect("ten segments are a valid window"))
}

fn vcp_with(response: LoadResponseConfig) -> Box<dyn Controller> {
    vcp(VcpConfig { response, ..VcpConfig::default() })
}

fn vcp(config: VcpConfig) -> Box<dyn Controller> {
    Box::new(Vcp::new(config, MSS * 10, MSS).expect("the parameters are in range"))
}

fn mpcp(config: MpcpConfig) -> Box<dyn Controller> {
    Box::new(Mpcp::new(config, MSS * 10, MSS).expect("the parameters are in range"))
}

/// The fate of the packets of one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    /// All arrive.
    Delivered,
    /// The application has only this number of packets.
    Limited(u64),
    /// The first is lost, and recovery takes the next round.
    Lost,
    /// All are lost.
    TimedOut,
}

/// Drives a controller in rounds over a path that carries `capacity` packets in a round trip of `base_rtt`.
/// More data in flight lengthens the round trip, up to twice; losses are scripted and not caused by overflow.
/// Routers report the ratio of the packets of the round to the capacity as the load. Packets beyond the
/// capacity are marked if the controller counts marks.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) controller: Box<dyn Controller>,
    now: Timestamp,
    number: u64,
    base_rtt: Duration,
    capacity: u64,
    in_recovery: bool,
    delivered: Bytes,
    /// The longest round trip as a multiple of the one without a queue.
    longest: f64,
}

impl Rounds {
    pub(crate) fn new(controller: Box<dyn Controller>, base_rtt: Duration, capacity: u64) -> Self {
        let (now, delivered) = (Timestamp::ZERO, Bytes::ZERO);
        Self { controller, now, number: 0, base_rtt, capacity, in_recovery: false, delivered, longest: 2.0 }
    }

    /// Makes the queue unlimited, so that data never arrives faster than the capacity. Controllers that
    /// measure the capacity require that.
    pub(crate) fn with_endless_queue(self) -> Self {
        Self { longest: f64::INFINITY, ..self }
    }

    /// Returns the window, in packets.
    pub(crate) fn window(&self) -> f64 {
        self.controller.control().window.as_f64() / MSS.as_f64()
    }

    /// Simulates one round: a window of packets is sent at its start, and the acknowledgments arrive evenly
    /// over the following round trip.
    pub(crate) fn round(&mut self, fate: Fate) {
        self.number += 1;
        let allowed = (self.controller.control().window.get() / MSS.get()).max(1);
        let packets = if let Fate::Limited(count) = fate { allowed.min(count) } else { allowed };
        let rtt = self.base_rtt.mul_f64((packets as f64 / self.capacity as f64).clamp(1.0, self.longest));
        let load = packets as f64 / self.capacity as f64;
        let mut echoes = Vec::new();
        for sent in 1..=packets {
            let mut event = SendEvent::at(self.now, MSS);
            event.mss = MSS;
            event.in_flight = MSS * sent;
            event.rtt = self.estimate(rtt);
            let header = self.controller.on_sent(&event, &mut NullProbe);
            echoes.push(through_routers(header, load, packets, rtt));
        }
        match fate {
            Fate::TimedOut => {
                self.wait_until(self.now + Duration::from_secs(1));
                self.signal(CongestionSignal::Timeout, packets, rtt);
                self.in_recovery = false;
            }
            Fate::Lost => {
                self.wait_until(self.now + rtt);
                self.signal(CongestionSignal::Loss, packets, rtt);
                self.in_recovery = true;
            }
            Fate::Delivered | Fate::Limited(_) => {
                self.acknowledge(&echoes, packets < allowed, rtt);
                self.in_recovery = false;
            }
        }
    }

    /// Advances the clock and calls the timers that expire until then.
    fn wait_until(&mut self, end: Timestamp) {
        while self.controller.next_timer() <= end {
            self.now = self.controller.next_timer();
            self.controller.on_timer(self.now, &mut NullProbe);
        }
        self.now = end;
    }

    fn signal(&mut self, signal: CongestionSignal, packets: u64, rtt: Duration) {
        let mut event = CongestionEvent::at(self.now, signal);
        event.mss = MSS;
        event.flight_size = MSS * packets;
        event.rtt = self.estimate(rtt);
        event.consecutive = u32::from(signal == CongestionSignal::Timeout);
        self.controller.on_congestion(&event, &mut NullProbe);
    }

    fn acknowledge(&mut self, echoes: &[PathHeader], limited: bool, rtt: Duration) {
        let start = self.now;
        let packets = echoes.len() as u64;
        let unmarked = if self.controller.requirements().accurate_ecn { self.capacity } else { packets };
        for (packet, &echo) in (1..).zip(echoes) {
            self.wait_until(start + rtt.mul_f64(packet as f64 / packets as f64));
            if packet == unmarked + 1 {
                self.signal(CongestionSignal::EcnCe, packets, rtt);
            }
            let mut event = AckEvent::at(self.now);
            event.acked = MSS;
            event.advance = MSS;
            event.congestion_experienced = packet > unmarked;
            event.marked = if packet > unmarked { MSS } else { Bytes::ZERO };
            event.receiver_time = Some(self.now);
            event.latest_sent_at = Some(start);
            event.mss = MSS;
            event.in_flight_before = MSS * (packets - packet + 1);
            event.in_flight = MSS * (packets - packet);
            event.rtt_sample = Some(rtt);
            event.rtt = self.estimate(rtt);
            event.round = self.number;
            event.window_limited = !limited;
            event.in_recovery = self.in_recovery;
            event.latest_sent_at = Some(start);
            event.in_flight_at_send = MSS * packet;
            event.rate = Some(RateSample {
                delivered: MSS * packet,
                lost: Bytes::ZERO,
                interval: self.now.since(start),
                prior_delivered: self.delivered,
                app_limited: limited,
            });
            event.path = echo;
            self.controller.on_ack(&event, &mut NullProbe);
        }
        self.delivered += MSS * packets;
    }

    fn estimate(&self, rtt: Duration) -> RttEstimate {
        RttEstimate { latest: rtt, smoothed: rtt, variation: Duration::ZERO, minimum: self.base_rtt }
    }
}

/// Returns the header of a packet after routers on a path with that load have written load factors. Other
/// requests are not answered.
fn through_routers(header: PathHeader, load: f64, packets: u64, rtt: Duration) -> PathHeader {
    // The throughput of one flow that sends that number of packets per round trip, in byte/s.
    let throughput = packets as f64 * MSS.as_f64() / rtt.as_secs_f64();
    let capacity = throughput / load;
    match header {
        PathHeader::Xcp(header) => {
            let delta = 0.4 * (capacity - throughput) / packets as f64;
            PathHeader::Xcp(XcpHeader { delta_throughput: delta.min(header.delta_throughput), ..header })
        }
        PathHeader::FairRate(rate) => PathHeader::FairRate(rate.min(Rate::from_bps_f64(8.0 * capacity))),
        PathHeader::Abc(_) if load < 1.0 => PathHeader::Abc(AbcMark::Accelerate),
        PathHeader::Abc(_) => PathHeader::Abc(AbcMark::Brake),
        PathHeader::Load(_) if load < 0.8 => PathHeader::Load(LoadCode::Low),
        PathHeader::Load(_) if load < 1.0 => PathHeader::Load(LoadCode::High),
        PathHeader::Load(_) => PathHeader::Load(LoadCode::Overload),
        PathHeader::Word(word) => {
            let highest = f64::from((1_u32 << (2 * word.digits)) - 1);
            let level = (load.min(1.2) / 1.2 * highest).round() as u16;
            PathHeader::Word(LoadWord { level, ..word })
        }
        _ => PathHeader::None,
    }
}
