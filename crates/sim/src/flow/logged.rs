//! A source of which a log is kept. A kind of its own, so that those without one do not ask for it at each packet.

use airpath_model::Timestamp;
use airpath_transport::Acknowledgment;

use super::ConnectionSource;
use crate::packet::{Body, Packet};
use crate::record::Recorder;
use crate::transmissions::{SegmentLog, Transmissions};

/// A source, and what its sender sees of its packets.
#[derive(Debug)]
pub(crate) struct LoggedSource {
    pub(crate) source: ConnectionSource,
    log: SegmentLog,
    connection: u32,
}

impl LoggedSource {
    pub(crate) fn new(source: ConnectionSource, kept: Transmissions) -> Self {
        Self { source, log: SegmentLog::new(kept), connection: 0 }
    }

    /// As [`ConnectionSource::poll_data`].
    pub(crate) fn poll_data(
        &mut self,
        now: Timestamp,
        flow: u32,
        hop: u32,
        recorder: &mut Recorder,
    ) -> Option<Packet> {
        let packet = self.source.poll_data(now, flow, hop, recorder)?;
        if std::mem::replace(&mut self.connection, packet.connection) != packet.connection {
            self.log.forget_connection();
        }
        if let Body::Segment { segment, .. } = &packet.body {
            self.log.on_sent(now, segment);
        }
        Some(packet)
    }

    /// As [`ConnectionSource::on_acknowledgment`]; the acknowledgment had so many bytes on the wire.
    pub(crate) fn on_acknowledgment(
        &mut self,
        now: Timestamp,
        (connection, bytes): (u32, u32),
        acknowledgment: &Acknowledgment,
        flow: u32,
        recorder: &mut Recorder,
    ) {
        if connection == self.connection {
            self.log.on_acknowledgment(now, acknowledgment, bytes);
        }
        self.source.on_acknowledgment(now, connection, acknowledgment, flow, recorder);
    }

    /// What its sender saw.
    pub(crate) fn finish(self) -> Transmissions {
        self.log.finish()
    }
}
