//! The traffic of the sources of a plan over time, sampled from their own random streams in every backend.
//!
//! The simulator's flows send it over their own transport; the emulator sends the same traffic over the
//! kernel's sockets.

mod datagrams;
mod files;

use airpath_model::config::ConfigError;
use airpath_model::declare::{ComponentError, Variants, plain_kind};
use airpath_model::{Bytes, Duration, RandomStream, Rate, Timestamp};

use crate::plan::{Draw, FlowPlan, TrafficPlan};
use datagrams::{Pattern, Spacing};

pub use datagrams::{Datagram, Datagrams};
pub use files::Files;

/// The traffic of one flow. A source has one flow, or with random arrivals one flow for each arrival.
#[derive(Debug)]
pub struct Workload {
    /// The start of the flow.
    pub start: Timestamp,
    /// The time at which it stops sending new data; [`Timestamp::NEVER`] for the end of the run.
    pub stop: Timestamp,
    /// The data that it sends.
    pub sending: Sending,
}

/// The data that a flow sends.
#[derive(Debug)]
pub enum Sending {
    /// Data over transport connections.
    Files(Files),
    /// Datagrams, without congestion control.
    Datagrams(Datagrams),
}

plain_kind! {
    /// The traffic of a source.
    Traffic, "traffic", TrafficPlan
}

impl Variants<Traffic> for TrafficPlan {
    fn check(&self) -> Result<(), ComponentError> {
        match self {
            Self::ConstantBitRate { on_ns, off_ns, .. } if on_ns.is_some() != off_ns.is_some() => {
                Err(ComponentError::new("", "\"on\" and \"off\" must be given together"))
            }
            _ => Ok(()),
        }
    }

    fn build(&self, (): ()) -> Result<Self, ConfigError> {
        Ok(self.clone())
    }
}

/// Returns the flows of one source of a plan that lasts until `end`, in the order of their instances.
pub fn workloads(flow: &FlowPlan, end: Timestamp, seed: u64) -> Vec<Workload> {
    let stream = |part: &str| RandomStream::new(seed, &format!("flow/{}/{part}", flow.name));
    let (start, stop) = flow.span(seed);
    let one = |sending: Sending| vec![Workload { start, stop, sending }];
    let datagrams = |pattern: Pattern, start_off: bool| {
        one(Sending::Datagrams(Datagrams::new(pattern, stream("datagrams"), start, stop, start_off)))
    };
    match &flow.traffic {
        TrafficPlan::Bulk => one(Sending::Files(Files::Endless)),
        TrafficPlan::File { bytes } => one(Sending::Files(Files::One { size: Bytes::new(*bytes) })),
        TrafficPlan::Repeated { bytes, pause_ns } => {
            one(Sending::Files(Files::Repeated { size: *bytes, pause: *pause_ns, stream: stream("files") }))
        }
        TrafficPlan::Writes { bytes, interval_ns } => {
            let (sizes, intervals) = (stream("sizes"), stream("intervals"));
            one(Sending::Files(Files::Writes { size: *bytes, interval: *interval_ns, sizes, intervals }))
        }
        TrafficPlan::Arrivals { bytes, mean_interval_ns } => {
            let (mut arrivals, mut sizes) = (stream("arrivals"), stream("sizes"));
            let interval = Draw::Exponential { mean: *mean_interval_ns };
            let mut flows = Vec::new();
            let mut at = start + interval.duration(&mut arrivals);
            while at < end.min(stop) {
                let size = Bytes::new(bytes.at_least_one(&mut sizes));
                flows.push(Workload { start: at, stop, sending: Sending::Files(Files::One { size }) });
                at += interval.duration(&mut arrivals).max(Duration::from_nanos(1));
            }
            flows
        }
        TrafficPlan::ConstantBitRate { bps, packet_bytes, on_ns, off_ns, start_off } => {
            let pattern = Pattern::ConstantBitRate {
                spacing: Spacing::new(Rate::from_bps(*bps), Bytes::new(*packet_bytes)),
                size: *packet_bytes as u32, // checked against the largest packet
                periods: on_ns.zip(*off_ns),
            };
            datagrams(pattern, *start_off)
        }
        TrafficPlan::PoissonDatagrams { bps, packet_bytes } => {
            let mean_size = match *packet_bytes {
                Draw::Constant { value } => value,
                Draw::Uniform { low, high } => f64::midpoint(low, high),
                Draw::Exponential { mean } => mean,
            };
            datagrams(Pattern::Poisson { rate: Rate::from_bps(*bps), size: *packet_bytes, mean_size }, false)
        }
    }
}
