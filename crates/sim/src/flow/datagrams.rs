//! Sources that send datagrams and listen to nobody.

use airpath_model::{Duration, Ecn, PathHeader, Timestamp};

use crate::packet::{Body, Contents};
use crate::workload::Datagram;

/// A datagram as a packet that leaves at `now`.
pub(crate) fn packet(now: Timestamp, Datagram { sequence, size }: Datagram) -> Contents {
    Contents {
        flow: 0,
        connection: 0,
        hop: 0,
        size,
        ecn: Ecn::NotEct,
        sent_at: now,
        enqueued_at: now,
        queueing: Duration::ZERO,
        body: Body::Datagram { sequence, path: PathHeader::None },
    }
}
