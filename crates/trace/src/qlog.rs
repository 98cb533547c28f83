//! qlog: what the ends of QUIC connections log (draft-ietf-quic-qlog-main-schema, draft-ietf-quic-qlog-quic-events).

mod write;

pub use write::{EventWriter, OWN_NAMESPACE, VERSION, WrittenEvent, WrittenMetrics, number};
