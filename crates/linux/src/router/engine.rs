//! The computations of a router between two readings of its queue: the algorithm crates, driven by samples,
//! with their results converted to the integers of the BPF programs. Independent of clock and kernel.

use airpath_model::config::ConfigError;
use airpath_model::{Backlog, Bytes, CapacitySource, Timestamp};
use airpath_queue::{
    LoadFactor, LoadFactorConfig, QueueSample, XcpConfig, XcpControl, XcpFeedback, XcpFlows,
};

use super::fixed_point::FixedShares;

/// Instructions to the programs at the end of a control interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guidance {
    /// VCP's code, 1 to 3, to which lower codes of data packets are raised.
    Code(u8),
    /// XCP's feedback for the packets of the next interval.
    Shares(FixedShares),
}

/// Sums over the data packets that arrived with an XCP header since the last sample, in the programs' integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderSums {
    /// Σ X, nanoseconds.
    pub x_ns: u64,
    /// Σ X RTT, nanoseconds times microseconds over 1024.
    pub x_rtt: u64,
    /// Bytes of these packets.
    pub bytes: u64,
}

/// A router protocol.
#[derive(Debug)]
pub enum Engine {
    /// VCP's load factor.
    Vcp(LoadFactor),
    /// XCP's control.
    Xcp(Box<XcpControl>),
}

impl Engine {
    /// Creates VCP with the authors' parameters over `source`, which must have a capacity.
    pub fn vcp(source: Box<dyn CapacitySource>) -> Result<Self, ConfigError> {
        LoadFactor::new(LoadFactorConfig::default(), source).map(Self::Vcp)
    }

    /// Creates XCP with the papers' gains over `source`, for a queue of `buffer` bytes.
    pub fn xcp(source: Box<dyn CapacitySource>, buffer: Bytes) -> Result<Self, ConfigError> {
        XcpControl::new(XcpConfig::NS2, source, buffer).map(|control| Self::Xcp(Box::new(control)))
    }

    /// Processes the traffic since the last sample.
    pub fn on_sample(&mut self, now: Timestamp, sample: &QueueSample, headers: &HeaderSums) {
        match self {
            Self::Vcp(load_factor) => load_factor.on_sample(now, sample),
            Self::Xcp(control) => {
                headers.tell(control.flows());
                control.on_sample(now, sample);
            }
        }
    }

    /// Runs the timers that are due. Returns the instructions to the programs if a control interval ended.
    pub fn on_timer(&mut self, now: Timestamp, backlog: Backlog) -> Option<Guidance> {
        match self {
            Self::Vcp(load_factor) => {
                // The codes of docs/reference/linux/wire.md; 0 is for senders that do not participate.
                load_factor.on_timer(now, backlog).then(|| Guidance::Code(load_factor.code() as u8 + 1))
            }
            Self::Xcp(control) => control.on_timer(now, backlog).map(|feedback| shares(&feedback)),
        }
    }

    /// Returns the time at which [`Engine::on_timer`] is due.
    pub fn next_timer(&self) -> Timestamp {
        match self {
            Self::Vcp(load_factor) => load_factor.next_timer(),
            Self::Xcp(control) => control.next_timer(),
        }
    }

    /// Reports quantities by name, as documented for the queue.
    pub fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        match self {
            Self::Vcp(load_factor) => load_factor.observe(report),
            Self::Xcp(control) => control.observe(report),
        }
    }
}

fn shares(feedback: &XcpFeedback) -> Guidance {
    Guidance::Shares(FixedShares::new(feedback))
}

impl HeaderSums {
    fn tell(&self, flows: &mut XcpFlows) {
        let sum_x = self.x_ns as f64 * 1e-9;
        let sum_x_rtt = self.x_rtt as f64 * 1024e-15;
        flows.on_arrivals(sum_x, sum_x_rtt, Bytes::new(self.bytes));
    }
}
