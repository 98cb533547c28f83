//! XCP's router (Katabi, Handley and Rohrs, SIGCOMM 2002; draft-falk-xcp-spec-03).

use alloc::boxed::Box;

use airpath_model::config::{check, check_timer};
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError};
use airpath_model::{Backlog, Bytes, CapacitySource, Duration, Packet, PathHeader, Timestamp, XcpForm};

#[cfg(feature = "declare")]
use crate::declare::prelude::*;
use crate::{ConfigError, RouterProtocol};

mod control;
mod feedback;
mod flows;
mod persistent_queue;
mod upsilon;

pub use control::XcpControl;
pub use feedback::XcpFeedback;
pub use flows::XcpFlows;
pub use upsilon::UpsilonOn;

/// XCP's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default),
    schemars(title = "XCP", description = "XCP: each packet carries the change of rate that routers allow.")
)]
pub struct XcpConfig {
    /// Quantity that feedback changes: the `rate` (draft-falk-xcp-spec-03, ns-2.35: it applies to the
    /// sender's newest RTT, and residues bound the total feedback of an interval) or the `window` (Katabi et
    /// al. 2002: it applies to the RTT in the header of the packet, without residues).
    pub form: XcpForm,
    /// Gain on spare bandwidth (Katabi et al. 2002: 0.4; stable below pi/(4√2) = 0.555).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub alpha: f64,
    /// Gain on the persistent queue (Katabi et al. 2002: alpha²√2 = 0.226).
    #[cfg_attr(feature = "declare", schemars(range(min = 0)))]
    pub beta: f64,
    /// Share of the traffic that is shuffled between flows (Katabi et al. 2002: 0.1).
    #[cfg_attr(feature = "declare", schemars(range(min = 0, max = 1)))]
    pub gamma: f64,
    /// Shortest control interval (ns-2.35: 1 ms; the draft recommends 5 to 10 ms).
    #[cfg_attr(
        feature = "declare",
        schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000, "x-at-most" = "max_interval"))
    )]
    pub min_interval: Duration,
    /// Longest control interval, and cap of each packet's RTT (ns-2.35: 1 s; the draft allows 0.5 to 1 s).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub max_interval: Duration,
    /// Bytes over which negative feedback is shared: those of `all` packets (ns-2.35) or of `data` packets,
    /// on which it can be written (Katabi et al. 2002).
    pub negative_share: NegativeShare,
    /// Quantity that Upsilon of EBE's queue maintainer multiplies: the `capacity` (the only one that has an
    /// effect on a link at rest), the `spare` bandwidth C - y, the `feedback`, or `positive-feedback` only.
    pub upsilon_on: UpsilonOn,
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Routers<P>> for XcpConfig {
    const ID: &'static str = "xcp";

    fn check(&self) -> Result<(), ComponentError> {
        check_order("min_interval", self.min_interval, "max_interval", self.max_interval)
    }

    fn needs(&self) -> ProtocolNeeds {
        ProtocolNeeds { xcp_alpha: Some(self.alpha), ..ProtocolNeeds::default() }
    }

    fn build(&self, facts: ProtocolFacts) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        Ok(Box::new(Router::new(facts.limit, Xcp::new(*self, facts.source, facts.buffer)?)))
    }
}

/// The bytes over which XCP's negative feedback is shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum NegativeShare {
    /// All bytes that arrived (ns-2.35 `xcp/xcpq.cc`). The share of acknowledgments and of packets of other
    /// protocols is not written on any packet, so that a link with many of them comes to rest above its
    /// target.
    #[default]
    All,
    /// Bytes of packets on which feedback can be written (the sum of s over packets of SIGCOMM 2002, section
    /// 3.5.2).
    Data,
}

impl XcpConfig {
    /// The paper's gains, with the bounds of ns-2.35 (`xcp/xcpq.cc`): 1 ms and 1 s. The draft specifies at
    /// least 5 to 10 ms and at most 0.5 to 1 s.
    pub const NS2: Self = Self {
        alpha: 0.4,
        beta: 0.226,
        gamma: 0.1,
        min_interval: Duration::from_millis(1),
        max_interval: Duration::from_secs(1),
        negative_share: NegativeShare::All,
        upsilon_on: UpsilonOn::Capacity,
        form: XcpForm::Rate,
    };

    fn check(&self) -> Result<(), ConfigError> {
        let Self { alpha, beta, gamma, min_interval, max_interval, .. } = *self;
        check(alpha > 0.0 && alpha.is_finite(), "alpha", "greater than zero and finite", alpha)?;
        check(beta >= 0.0 && beta.is_finite(), "beta", "at least zero and finite", beta)?;
        check((0.0..=1.0).contains(&gamma), "gamma", "from 0 to 1", gamma)?;
        check_timer(min_interval, "min_interval")?;
        let longest = max_interval.as_secs_f64();
        check(max_interval >= min_interval, "max_interval", "at least min_interval", longest)
    }
}

impl Default for XcpConfig {
    fn default() -> Self {
        Self::NS2
    }
}

/// XCP with any [`CapacitySource`], in the rate form unless [`XcpConfig::form`] selects the window form. It
/// computes the [`XcpControl`] of each interval and writes the resulting [`XcpFeedback`] on the data packets
/// of the next interval.
///
/// Where the texts differ, this implementation follows ns-2.35: y counts every byte through the queue,
/// including acknowledgments; shares are clipped to the residues before feedback is formed; a packet without
/// an RTT gets zero feedback; without any packet with an RTT d falls back to 50 ms; a departing packet counts
/// in the persistent queue that it sees; all traffic shares one queue (`tcp_xcp_on_ = 0`).
///
/// Differences from ns-2.35: timers start without a random offset, at 50 ms, so that a run is a function of
/// its scenario (routers and flows that are equal in both directions then stay in step; use random start
/// times of flows). An interval in which only packets without an RTT arrived gives no positive feedback; ns-2
/// divides by Σ X = 1 s in this case.
///
/// Reports the quantities of [`XcpControl::observe`].
#[derive(Debug)]
pub struct Xcp {
    control: XcpControl,
    feedback: XcpFeedback,
    max_interval: Duration,
}

impl Xcp {
    /// Creates a router without measurements at the start of the run. `buffer` is the size of its queue, from
    /// which sources compute thresholds; for a queue limited in packets, it is that number of packets of the
    /// largest size. Fails if a parameter is outside the range stated in [`XcpConfig`].
    pub fn new(
        config: XcpConfig,
        source: Box<dyn CapacitySource>,
        buffer: Bytes,
    ) -> Result<Self, ConfigError> {
        let max_interval = config.max_interval;
        let control = XcpControl::new(config, source, buffer)?;
        Ok(Self { control, feedback: XcpFeedback::default(), max_interval })
    }
}

impl<P: Packet> RouterProtocol<P> for Xcp {
    fn on_arrival(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog) {
        let size = packet.size();
        self.control.on_arrival(now, size, backlog);
        if packet.is_data()
            && let PathHeader::Xcp(header) = packet.path_header()
        {
            self.control.flows().on_arrival(header, size, self.max_interval);
        }
    }

    fn on_departure(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog) {
        let size = packet.size();
        self.control.on_departure(now, size, backlog);
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
        if let Some(feedback) = self.control.on_timer(now, backlog) {
            self.feedback = feedback;
        }
    }

    fn next_timer(&self) -> Timestamp {
        self.control.next_timer()
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        self.control.observe(report);
    }
}
