//! The optional records of a sender.

use airpath_model::Timestamp;
use airpath_network::{Packet, Recorder, Transmissions};
use airpath_transport::Acknowledgment;

use super::ConnectionSource;
use super::limit_meter::LimitMeter;
use super::segment_log::SegmentLog;

/// The records of one sender that a plan requests.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Packet events.
    log: Option<SegmentLog>,
    /// The time under each limit.
    limits: Option<LimitMeter>,
}

impl Watch {
    pub(crate) fn keep_log(&mut self, transmissions: Transmissions) {
        self.log = Some(SegmentLog::new(transmissions));
    }

    pub(crate) fn measure_limits(&mut self) {
        self.limits = Some(LimitMeter::default());
    }

    /// Records the transmission of a packet.
    #[cold]
    pub(crate) fn on_packet(&mut self, now: Timestamp, packet: &Packet) {
        if let Some(log) = &mut self.log {
            log.on_packet(now, packet);
        }
    }

    /// Records that an acknowledgment of `bytes` bytes on the wire arrives at `source`, before `source`
    /// processes it.
    #[cold]
    pub(crate) fn on_acknowledgment(
        &mut self,
        now: Timestamp,
        (connection, bytes): (u32, u32),
        acknowledgment: &Acknowledgment,
        source: &ConnectionSource,
    ) {
        if let Some(log) = &mut self.log {
            log.on_acknowledgment(now, (connection, bytes), acknowledgment);
        }
        self.advance(now, source);
    }

    /// Records the limit of `source`, whose state may change at `now`.
    #[cold]
    pub(crate) fn advance(&mut self, now: Timestamp, source: &ConnectionSource) {
        if let Some(limits) = &mut self.limits {
            limits.advance(now, source.limit());
        }
    }

    /// Records the limits of flow `flow` in the interval that ends at `now`.
    pub(crate) fn record_limits(
        &mut self,
        now: Timestamp,
        source: &ConnectionSource,
        flow: u32,
        recorder: &mut Recorder,
    ) {
        self.advance(now, source);
        if let Some(limits) = &mut self.limits {
            recorder.on_limits(flow, now, &limits.take());
        }
    }

    /// Returns the packet events, if recorded.
    pub(crate) fn into_log(self) -> Option<Transmissions> {
        self.log.map(SegmentLog::finish)
    }
}
