//! XCP's router (Katabi, Handley and Rohrs, SIGCOMM 2002; draft-falk-xcp-spec-03).

use alloc::boxed::Box;

use airpath_model::{
    Backlog, Bytes, CapacitySource, ControlInterval, Duration, Packet, PathHeader, Timestamp,
};

use crate::interval_meter::IntervalMeter;
use crate::{ConfigError, RouterProtocol};
use airpath_model::config::check;

use feedback::Feedback;
use flows::Flows;
use persistent_queue::PersistentQueue;

mod feedback;
mod flows;
mod persistent_queue;

/// Length of the first control interval, and d where no flow tells its RTT (ns-2.35 `xcp/xcpq.h`).
const INITIAL_INTERVAL: Duration = Duration::from_millis(50);

/// XCP's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct XcpConfig {
    /// Gain on spare bandwidth, greater than zero; stable below π / (4 √2) = 0.555 (SIGCOMM 2002, theorem 1).
    pub alpha: f64,
    /// Gain on the persistent queue, not negative; α² √2 in the theorem.
    pub beta: f64,
    /// Share of the traffic that is shuffled between flows in each interval, 0 to 1.
    pub gamma: f64,
    /// Shortest control interval, greater than zero.
    pub min_interval: Duration,
    /// Longest control interval, and cap of each packet's RTT; not below the shortest.
    pub max_interval: Duration,
    /// Whose bytes share the negative feedback.
    pub negative_share: NegativeShare,
}

/// Whose bytes share XCP's negative feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NegativeShare {
    /// All that arrived (ns-2.35 `xcp/xcpq.cc`). The part that falls to acknowledgments and foreign packets is written on
    /// nobody, so that a link with many of them comes to rest above its target.
    #[default]
    All,
    /// Those of packets that feedback can be written on (the sum of s over packets of SIGCOMM 2002, section 3.5.2).
    Data,
}

impl XcpConfig {
    /// The paper's gains, with the bounds of ns-2.35 (`xcp/xcpq.cc`): 1 ms and 1 s. The draft has at least 5 to 10 ms
    /// and at most 0.5 to 1 s.
    pub const NS2: Self = Self {
        alpha: 0.4,
        beta: 0.226,
        gamma: 0.1,
        min_interval: Duration::from_millis(1),
        max_interval: Duration::from_secs(1),
        negative_share: NegativeShare::All,
    };
}

impl Default for XcpConfig {
    fn default() -> Self {
        Self::NS2
    }
}

/// XCP in the rate form, with any [`CapacitySource`].
///
/// Once an interval of d, the mean round-trip time over flows: F = α S − β Q / d, with S and Q from
/// [`CapacitySource::spare`] (C − y and the persistent queue, for a source that knows the capacity). F and the shuffled
/// traffic h = max(0, γ y − |F|) are given out to the packets of the next interval, positive feedback by X = RTT/window
/// and negative by size, as long as residues last.
///
/// Decided where texts differ, as ns-2.35 does: y counts every byte through the queue, acknowledgments included; shares
/// are clipped to the residues before feedback is formed; a packet without an RTT gets zero feedback; without any such
/// packet d falls back to 50 ms; a departing packet counts in the persistent queue that it sees; all traffic shares one
/// queue (`tcp_xcp_on_ = 0`).
///
/// Unlike ns-2.35: timers start without a random offset, at 50 ms, so that a run is a function of its scenario (routers
/// and flows that are equal in both directions then stay in step; draw the starts of flows). And an interval in which
/// only packets without an RTT came gives no positive feedback, where ns-2 divides by Σ X = 1 s.
///
/// Series: `feedback` (F, byte/s), `input_rate_bps` (bit/s), `persistent_queue_bytes`, `mean_rtt_s`,
/// `control_interval_s` (seconds; the interval under way), and those of the source.
#[derive(Debug)]
pub struct Xcp {
    config: XcpConfig,
    source: Box<dyn CapacitySource>,
    buffer: Bytes,
    meter: IntervalMeter,
    flows: Flows,
    persistent_queue: PersistentQueue,
    feedback: Feedback,
    /// When the control interval under way ends.
    control_due: Timestamp,
    control_interval: Duration,
    /// Of the last finished interval: d, F (byte/s), y (byte/s).
    mean_rtt: Duration,
    aggregate: f64,
    input_rate: f64,
}

impl Xcp {
    /// A router that has seen nothing at the start of the run. `buffer` is the size of its queue, which sources reckon
    /// thresholds from; a queue limited in packets gives that many of the largest. Fails when a parameter is outside
    /// the range that [`XcpConfig`] states.
    pub fn new(
        config: XcpConfig,
        source: Box<dyn CapacitySource>,
        buffer: Bytes,
    ) -> Result<Self, ConfigError> {
        let XcpConfig { alpha, beta, gamma, min_interval, max_interval, .. } = config;
        check(alpha > 0.0 && alpha.is_finite(), "alpha", "greater than zero and finite", alpha)?;
        check(beta >= 0.0 && beta.is_finite(), "beta", "at least zero and finite", beta)?;
        check((0.0..=1.0).contains(&gamma), "gamma", "from 0 to 1", gamma)?;
        check(!min_interval.is_zero(), "min_interval", "greater than zero", 0.0)?;
        let longest = max_interval.as_secs_f64();
        check(max_interval >= min_interval, "max_interval", "at least min_interval", longest)?;
        let control_interval = INITIAL_INTERVAL.clamp(min_interval, max_interval);
        Ok(Self {
            config,
            source,
            buffer,
            meter: IntervalMeter::new(),
            flows: Flows::default(),
            persistent_queue: PersistentQueue::new(INITIAL_INTERVAL),
            feedback: Feedback::default(),
            control_due: Timestamp::ZERO + control_interval,
            control_interval,
            mean_rtt: INITIAL_INTERVAL,
            aggregate: 0.0,
            input_rate: 0.0,
        })
    }

    fn on_control_timeout(&mut self, now: Timestamp, backlog: Backlog) {
        let passed = self.meter.finish(now, backlog);
        let flows = core::mem::take(&mut self.flows);
        self.mean_rtt = flows.mean_rtt().unwrap_or(INITIAL_INTERVAL);
        self.input_rate = passed.input_rate;
        let spare = self.source.spare(&ControlInterval {
            now,
            length: passed.length,
            input_rate: passed.input_rate,
            mean_rtt: self.mean_rtt,
            queue: self.persistent_queue.bytes().as_f64(),
            shortest_queue: passed.shortest_queue.as_f64(),
            mean_queue: passed.mean_queue,
            last_queue: passed.last_queue.as_f64(),
            buffer: self.buffer.as_f64(),
        });
        let aggregate = self.config.alpha * spare.bandwidth
            - self.config.beta * spare.queue / self.mean_rtt.as_secs_f64();
        // Without arrivals nothing is known of the flows, and nothing is given.
        self.aggregate = if passed.input.is_zero() || !aggregate.is_finite() { 0.0 } else { aggregate };
        let shuffled = self.config.gamma * passed.input_rate;
        let sharing = match self.config.negative_share {
            NegativeShare::All => passed.input,
            NegativeShare::Data => flows.bytes(),
        };
        self.feedback = Feedback::new(self.aggregate, shuffled, flows.sum_x(), sharing.as_f64());
        self.control_interval = self.mean_rtt.clamp(self.config.min_interval, self.config.max_interval);
        self.control_due = now + self.control_interval;
    }
}

impl<P: Packet> RouterProtocol<P> for Xcp {
    fn on_arrival(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog) {
        let size = packet.size();
        self.source.on_arrival(now, size, backlog);
        self.meter.on_arrival(now, size, backlog);
        self.persistent_queue.on_arrival(now, backlog);
        if packet.is_data()
            && let PathHeader::Xcp(header) = packet.path_header()
        {
            self.flows.on_arrival(header, size, self.config.max_interval);
        }
    }

    fn on_departure(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog) {
        let size = packet.size();
        self.source.on_departure(now, size, backlog);
        self.meter.on_departure(now, size, backlog);
        self.persistent_queue.on_departure(now, size, backlog);
        if packet.is_data()
            && let PathHeader::Xcp(header) = packet.path_header()
        {
            header.delta_throughput = if header.rtt.is_zero() {
                0.0
            } else {
                let x = header.inter_packet.as_secs_f64();
                self.feedback.give(x, size.as_f64(), header.delta_throughput)
            };
        }
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        // The source first: the protocol asks it about what has been measured up to now.
        if self.source.next_timer() <= now {
            self.source.on_timer(now, backlog);
        }
        if self.persistent_queue.due() <= now {
            let capacity = self.source.capacity(now);
            self.persistent_queue.on_timer(now, backlog, self.mean_rtt, capacity);
        }
        if self.control_due <= now {
            self.on_control_timeout(now, backlog);
        }
    }

    fn next_timer(&self) -> Timestamp {
        self.control_due.min(self.persistent_queue.due()).min(self.source.next_timer())
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("feedback", self.aggregate);
        report("input_rate_bps", self.input_rate * 8.0);
        report("persistent_queue_bytes", self.persistent_queue.bytes().as_f64());
        report("mean_rtt_s", self.mean_rtt.as_secs_f64());
        report("control_interval_s", self.control_interval.as_secs_f64());
        self.source.observe(report);
    }
}
