//! Routers over a queue that is always empty: what arrives has left.

use airpath_linux::router::{Counters, HeaderSums};
use airpath_model::{Bytes, Ecn, Packet, PathHeader};
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

/// What passed between two looks at the counters.
pub(crate) fn between(before: &Counters, after: &Counters) -> (QueueSample, HeaderSums) {
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
