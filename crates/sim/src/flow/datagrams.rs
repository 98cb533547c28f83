//! Sources of datagrams without feedback.

use airpath_model::{Duration, PathHeader, Timestamp};
use airpath_network::{Body, Contents};

use airpath_plan::workload::Datagram;

/// Returns a datagram of the flow as a packet that is sent at `now` on the route that starts at `hop`.
pub(crate) fn packet(now: Timestamp, flow: u32, hop: u32, datagram: Datagram) -> Contents {
    let Datagram { sequence, size } = datagram;
    Contents {
        flow,
        connection: 0,
        hop,
        size,
        enqueued_at: now,
        queueing: Duration::ZERO,
        body: Body::Datagram { sequence, sent_at: now, path: PathHeader::None },
    }
}
