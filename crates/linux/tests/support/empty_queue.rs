//! Routers over a queue that is always empty: each packet departs when it arrives.

use airpath_estimate::Configured;
use airpath_linux::router::{Counters, Engine, HeaderSums, Programs, Protocol};
use airpath_model::{Backlog, Bytes, Ecn, Packet, PathHeader, Rate, Timestamp};
use airpath_queue::QueueSample;

/// A packet of the simulator's router; without a header it carries no data.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    pub(crate) size: Bytes,
    pub(crate) header: PathHeader,
}

impl Packet for Data {
    fn size(&self) -> Bytes {
        self.size
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ecn(&mut self, _ecn: Ecn) {}
    fn flow(&self) -> u64 {
        0
    }
    fn is_data(&self) -> bool {
        self.header != PathHeader::None
    }
    fn path_header(&mut self) -> &mut PathHeader {
        &mut self.header
    }
}

/// Returns the daemon's computations for a link of that capacity.
pub(crate) fn engine(protocol: Protocol, capacity: Rate, buffer: Bytes) -> Engine {
    let source = Box::new(Configured::new(capacity));
    let engine = match protocol {
        Protocol::Vcp => Engine::vcp(source),
        Protocol::Xcp => Engine::xcp(source, buffer),
    };
    engine.unwrap()
}

/// Runs the daemon's step at `now` with the difference of `counters` and `last`, and updates the programs'
/// guidance if an interval has ended.
pub(crate) fn step(
    engine: &mut Engine,
    programs: &Programs,
    last: &mut Counters,
    counters: Counters,
    now: Timestamp,
) {
    let (sample, headers) = between(last, &counters);
    *last = counters;
    engine.on_sample(now, &sample, &headers);
    while engine.next_timer() <= now {
        if let Some(guidance) = engine.on_timer(now, Backlog::default()) {
            programs.guide(&guidance);
        }
    }
}

/// Returns the packets between two samples of the counters.
fn between(before: &Counters, after: &Counters) -> (QueueSample, HeaderSums) {
    let arrived = Bytes::new(after.bytes - before.bytes);
    let sample = QueueSample {
        arrived,
        departed: arrived,
        departed_packets: after.packets - before.packets,
        ..QueueSample::default()
    };
    let headers = HeaderSums {
        x_ns: after.sum_x - before.sum_x,
        x_rtt: after.sum_x_rtt - before.sum_x_rtt,
        bytes: after.data_bytes - before.data_bytes,
    };
    (sample, headers)
}
