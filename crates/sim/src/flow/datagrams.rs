//! Sources that send datagrams and listen to nobody.

use airpath_model::{Duration, Ecn, PathHeader, Timestamp};

use crate::packet::{Body, Contents};
use crate::workload::Datagram;

/// A datagram of that flow as a packet that leaves at `now`.
pub(crate) fn contents(
    now: Timestamp,
    flow: u32,
    hop: u32,
    Datagram { sequence, size }: Datagram,
) -> Contents {
    Contents {
        flow,
        connection: 0,
        hop,
        size,
        ecn: Ecn::NotEct,
        sent_at: now,
        enqueued_at: now,
        queueing: Duration::ZERO,
        body: Body::Datagram { sequence, path: PathHeader::None },
    }
}
