//! Accel-Brake Control (ABC) at a router: marks each departing packet with an accelerate or a brake.

use alloc::boxed::Box;

use airpath_model::config::{check, check_timer};
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
use airpath_model::{AbcMark, Backlog, Bytes, CapacitySource, Duration, Packet, PathHeader, Timestamp};

#[cfg(feature = "declare")]
use crate::declare::prelude::*;
use crate::sliding_rate::SlidingRate;
use crate::{ConfigError, RouterProtocol};

/// ABC's parameters at a router.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default),
    schemars(title = "ABC", description = "ABC: packets carry an accelerate or a brake.")
)]
pub struct AbcConfig {
    /// eta: the target utilisation (the authors' code: 0.98).
    #[cfg_attr(feature = "declare", schemars(range(max = 1), extend("exclusiveMinimum" = 0)))]
    pub target_utilisation: f64,
    /// delta: time in which an excessive queue is drained (the authors' script: 100 ms / 0.75). Stable above
    /// two thirds of the round-trip time.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub delta: Duration,
    /// d_t: queueing delay above which the target rate falls (the authors' script: 50 ms).
    pub delay_threshold: Duration,
    /// T: interval over which the dequeue rate is measured (the authors' code: 20 ms).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000)))]
    pub rate_window: Duration,
    /// Largest number of accelerates that the token bucket accumulates (the authors' code: 5).
    #[cfg_attr(feature = "declare", schemars(range(min = 1)))]
    pub token_limit: f64,
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Routers<P>> for AbcConfig {
    const ID: &'static str = "abc";

    fn build(&self, facts: ProtocolFacts) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        Ok(Box::new(Router::new(facts.limit, Abc::new(*self, facts.source)?)))
    }
}

impl Default for AbcConfig {
    /// Returns the released values for round trips of 100 ms (`exp.sh`, `cellular_packet_queue.cc`).
    fn default() -> Self {
        Self {
            target_utilisation: 0.98,
            delta: Duration::from_nanos(133_333_333),
            delay_threshold: Duration::from_millis(50),
            rate_window: Duration::from_millis(20),
            token_limit: 5.0,
        }
    }
}

/// ABC's router (Goyal et al., NSDI 2020, section 3.1).
///
/// For each departing packet the router computes the target rate `tr = η μ − (μ / δ) max(0, x − d_t)`, at
/// least zero, with μ from the capacity source and x the queueing delay, and the share of accelerates
/// `f = min(1, tr / (2 cr))`, with cr the rate of departures over the last T. Each data packet with a mark
/// adds f to a token bucket. If the bucket contains more than one token, an accelerate passes and takes one
/// token; otherwise it is turned into a brake. A brake is never changed, so that the slowest of several
/// routers determines the mark.
///
/// Our decisions: x is the backlog, including the departing packet, divided by μ (the authors' code counts
/// packets). cr counts all packets, with or without a mark, because all of them share μ (the authors' code
/// skips packets without ECN). The bucket is initially full (as in the authors' code; empty in the paper). Υ
/// of a source that probes multiplies μ in the first term. Without a capacity (an outage) all packets brake.
///
/// Series: `target_rate_bps` (tr, bit/s), `dequeue_rate_bps` (cr, bit/s) and `accelerate_fraction` (f), all
/// of the last departed packet and 0 before the first, and the series of the source.
#[derive(Debug)]
pub struct Abc {
    config: AbcConfig,
    source: Box<dyn CapacitySource>,
    dequeued: SlidingRate,
    tokens: f64,
    /// tr and cr, byte/s, and f.
    target_rate: f64,
    dequeue_rate: f64,
    fraction: f64,
}

impl Abc {
    /// Creates a router without measurements. Fails if a parameter is outside the range stated in
    /// [`AbcConfig`], or if the source never returns a capacity (`xcp-b`).
    pub fn new(config: AbcConfig, mut source: Box<dyn CapacitySource>) -> Result<Self, ConfigError> {
        let AbcConfig { target_utilisation: target, delta, rate_window, token_limit, .. } = config;
        check(target > 0.0 && target <= 1.0, "target_utilisation", "greater than 0 and at most 1", target)?;
        check(!delta.is_zero(), "delta", "greater than zero", delta.as_secs_f64())?;
        check_timer(rate_window, "rate_window")?;
        let several = token_limit >= 1.0 && token_limit.is_finite();
        check(several, "token_limit", "at least 1 and finite", token_limit)?;
        let knows = source.capacity(Timestamp::ZERO).is_some();
        check(knows, "source", "one that estimates a capacity, not only spare bandwidth", f64::NAN)?;
        Ok(Self {
            config,
            source,
            dequeued: SlidingRate::new(rate_window),
            tokens: token_limit,
            target_rate: 0.0,
            dequeue_rate: 0.0,
            fraction: 0.0,
        })
    }

    /// Computes tr, cr and f for the departure of a packet of `size` that leaves `backlog` behind.
    fn measure(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        let capacity = self.source.capacity(now).unwrap_or(0.0);
        let waits = (backlog.bytes + size).as_f64();
        // (μ / δ) (x − d_t), with x = waits / μ.
        let excess = waits - capacity * self.config.delay_threshold.as_secs_f64();
        let drained = excess.max(0.0) / self.config.delta.as_secs_f64();
        self.target_rate =
            (self.config.target_utilisation * self.source.probing() * capacity - drained).max(0.0);
        self.dequeue_rate = self.dequeued.on_departure(now, size);
        // The departing packet counts, so that the rate is above zero.
        self.fraction = (self.target_rate / (2.0 * self.dequeue_rate)).min(1.0);
    }
}

impl<P: Packet> RouterProtocol<P> for Abc {
    fn on_arrival(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog) {
        self.source.on_arrival(now, packet.size(), backlog);
    }

    fn on_departure(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog) {
        self.source.on_departure(now, packet.size(), backlog);
        self.measure(now, packet.size(), backlog);
        if packet.is_data()
            && let PathHeader::Abc(mark) = packet.path_header()
        {
            self.tokens = (self.tokens + self.fraction).min(self.config.token_limit);
            if *mark == AbcMark::Accelerate {
                if self.tokens > 1.0 {
                    self.tokens -= 1.0;
                } else {
                    *mark = AbcMark::Brake;
                }
            }
        }
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        self.source.on_timer(now, backlog);
    }

    fn next_timer(&self) -> Timestamp {
        self.source.next_timer()
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("target_rate_bps", self.target_rate * 8.0);
        report("dequeue_rate_bps", self.dequeue_rate * 8.0);
        report("accelerate_fraction", self.fraction);
        self.source.observe(report);
    }
}
