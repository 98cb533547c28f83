//! State shared by all links of a network.

use airpath_model::{DropReason, Timestamp};

use crate::packet::{Packet, PacketPool};
use crate::record::Recorder;

/// The recorder and the packet pool.
#[derive(Debug)]
pub struct Context {
    /// The records.
    pub recorder: Recorder,
    /// The packet pool.
    pub pool: PacketPool,
}

impl Context {
    /// Records a lost packet, and returns it to the pool.
    pub(crate) fn on_gone(&mut self, link: u32, now: Timestamp, packet: Packet, reason: DropReason) {
        self.recorder.on_drop(link, now, &packet, reason);
        self.pool.take_back(packet);
    }
}
