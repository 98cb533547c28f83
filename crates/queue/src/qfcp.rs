//! QFCP's router, which assigns one fair rate to all flows of an output.

use alloc::boxed::Box;

use airpath_model::{
    Backlog, Bytes, CapacitySource, ControlInterval, Duration, Packet, PathHeader, Rate, Timestamp,
};

#[cfg(feature = "declare")]
use crate::declare::prelude::*;
use crate::interval_meter::IntervalMeter;
use crate::{ConfigError, RouterProtocol};
use airpath_model::config::{check, check_timer};
#[cfg(feature = "declare")]
use airpath_model::declare::Component;

/// Smallest rate assigned to a flow, byte/s. It is above zero, so that the count of flows stays finite.
const LEAST_RATE: f64 = 1.0;

/// Largest factor by which the count of flows changes in an interval.
const MOST_CHANGE: f64 = 2.0;

/// Size of a packet that fills an Ethernet frame, in bytes.
const FULL_PACKET: f64 = 1500.0;

/// Smallest share of the capacity that is assigned while a queue drains.
const LEAST_SHARE: f64 = 0.05;

/// QFCP's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default),
    schemars(title = "QFCP", description = "QFCP: packets carry the fair rate of a flow.")
)]
pub struct QfcpConfig {
    /// Gain on the queue: R = (C - beta q/d)/N (0.5, as recalled from the literature).
    #[cfg_attr(feature = "declare", schemars(range(min = 0)))]
    pub beta: f64,
    /// Time between two updates of the fair rate, longer than the round trips (our choice: VCP's load-factor
    /// interval).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000)))]
    pub control_interval: Duration,
}

impl Default for QfcpConfig {
    fn default() -> Self {
        Self { beta: 0.5, control_interval: Duration::from_millis(200) }
    }
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Routers<P>> for QfcpConfig {
    const ID: &'static str = "qfcp";

    fn build(&self, facts: ProtocolFacts) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        Ok(Box::new(Router::new(facts.limit, Qfcp::new(*self, facts.source, facts.buffer)?)))
    }
}

/// QFCP (Pu and Hamdi, IEEE Transactions on Wireless Communications 7(6), 2008; only the abstract of the text
/// was available).
///
/// Once an interval d: N = y / R, R ← (C − β q / d) / N. The rate in every data packet is lowered to R. C and
/// q come from [`CapacitySource::spare`] (C = S + y).
///
/// Our decisions, because the text is not available:
///
/// - d is a constant. The header of QFCP carries no round-trip time here, so that the mean round-trip time is
///   unknown. In addition, a rate to which senders respond only an interval later would make the equation
///   oscillate without end (its characteristic polynomial z² − θ z + θ, with θ the round trip over d, has
///   roots of modulus √θ).
/// - q is the shortest queue of the interval. y counts all bytes, including acknowledgments: traffic of other
///   protocols counts as a share of a flow and leaves less for the QFCP flows.
/// - N is at least one; at least 5 % of C is assigned while a queue drains; R is at least one byte per
///   second.
/// - N changes by a factor of at most 2 per interval, and by a factor nearer to 1 if R is less than a full
///   packet per interval: with more flows than that, few have responded yet. Otherwise N would be 1 after
///   each silent interval, all flows would be assigned all of C, and most of their packets would be lost.
/// - No rate is assigned before the end of the first interval. Timers start at 0.
///
/// Series: `fair_rate_bps` (R, bit/s; 0 before the first), `flow_count` (N), `input_rate_bps` (bit/s), and
/// the series of the source.
#[derive(Debug)]
pub struct Qfcp {
    config: QfcpConfig,
    source: Box<dyn CapacitySource>,
    buffer: Bytes,
    meter: IntervalMeter,
    due: Timestamp,
    /// R, byte/s.
    fair_rate: Option<f64>,
    /// N of the last interval; the next field is y (byte/s).
    flows: f64,
    input_rate: f64,
}

impl Qfcp {
    /// Creates a router without measurements at the start of the run; `buffer` is the size of its queue.
    /// Fails if a parameter is outside the range stated in [`QfcpConfig`].
    pub fn new(
        config: QfcpConfig,
        source: Box<dyn CapacitySource>,
        buffer: Bytes,
    ) -> Result<Self, ConfigError> {
        let QfcpConfig { beta, control_interval: interval } = config;
        check(beta >= 0.0 && beta.is_finite(), "beta", "at least zero and finite", beta)?;
        check_timer(interval, "control_interval")?;
        Ok(Self {
            config,
            source,
            buffer,
            meter: IntervalMeter::new(),
            due: Timestamp::ZERO + interval,
            fair_rate: None,
            flows: 1.0,
            input_rate: 0.0,
        })
    }

    fn on_interval(&mut self, now: Timestamp, backlog: Backlog) {
        let passed = self.meter.finish(now, backlog);
        let probing = self.source.probing();
        let spare = self.source.spare(&ControlInterval {
            now,
            length: passed.length,
            input_rate: passed.input_rate,
            probing,
            mean_rtt: self.config.control_interval,
            queue: passed.shortest_queue.as_f64(),
            shortest_queue: passed.shortest_queue.as_f64(),
            mean_queue: passed.mean_queue,
            last_queue: passed.last_queue.as_f64(),
            buffer: self.buffer.as_f64(),
        });
        self.input_rate = passed.input_rate;
        let capacity = (spare.bandwidth + passed.input_rate).max(0.0);
        let given = capacity - self.config.beta * spare.queue / self.config.control_interval.as_secs_f64();
        if let Some(rate) = self.fair_rate {
            // The share of the flows that send a packet in an interval; the other flows have not responded
            // yet.
            let heard = (rate * self.config.control_interval.as_secs_f64() / FULL_PACKET).min(1.0);
            let most = libm::pow(MOST_CHANGE, heard);
            self.flows = (passed.input_rate / rate).clamp(self.flows / most, self.flows * most).max(1.0);
        }
        self.fair_rate = Some((given.max(LEAST_SHARE * capacity) / self.flows).max(LEAST_RATE));
        self.due = now + self.config.control_interval;
    }
}

impl<P: Packet> RouterProtocol<P> for Qfcp {
    fn on_arrival(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog) {
        self.source.on_arrival(now, packet.size(), backlog);
        self.meter.on_arrival(now, packet.size(), backlog);
    }

    fn on_departure(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog) {
        self.source.on_departure(now, packet.size(), backlog);
        self.meter.on_departure(now, packet.size(), backlog);
        if packet.is_data()
            && let PathHeader::FairRate(rate) = packet.path_header()
            && let Some(fair_rate) = self.fair_rate
        {
            *rate = (*rate).min(Rate::from_bps_f64(fair_rate * 8.0));
        }
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        if self.source.next_timer() <= now {
            self.source.on_timer(now, backlog);
        }
        if self.due <= now {
            self.on_interval(now, backlog);
        }
    }

    fn next_timer(&self) -> Timestamp {
        self.due.min(self.source.next_timer())
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("fair_rate_bps", self.fair_rate.unwrap_or(0.0) * 8.0);
        report("flow_count", self.flows);
        report("input_rate_bps", self.input_rate * 8.0);
        self.source.observe(report);
    }
}
