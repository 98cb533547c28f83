//! Marking instead of dropping.

use airpath_model::{Ecn, Packet, QueueSink, Timestamp};

/// Marks a packet and returns whether it now carries the mark. If its sender does not support ECN, the packet
/// must be dropped instead. A packet that arrived with a mark keeps it, and the mark is not reported again.
pub(crate) fn mark<P: Packet>(now: Timestamp, packet: &mut P, sink: &mut dyn QueueSink<P>) -> bool {
    match packet.ecn() {
        Ecn::NotEct => false,
        Ecn::Ce => true,
        Ecn::Ect0 | Ecn::Ect1 => {
            packet.set_ecn(Ecn::Ce);
            sink.on_mark(now, packet);
            true
        }
    }
}
