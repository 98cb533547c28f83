//! qlog: event logs of QUIC endpoints (draft-ietf-quic-qlog-main-schema, draft-ietf-quic-qlog-quic-events).

mod read;
mod write;

pub use read::{
    Damage, LoggedMetrics, LoggedPacket, PacketSpace, QlogEvent, QlogReadError, QlogReport, QlogSink,
    TraceHead, looks_like_qlog, read_qlog,
};
pub use write::{EventWriter, OWN_NAMESPACE, VERSION, WrittenEvent, WrittenMetrics, number};
