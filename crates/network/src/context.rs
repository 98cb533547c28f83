//! State shared by all links of a network.

use airpath_model::{DropReason, Timestamp};

use crate::packet::{Packet, PacketPool};
use crate::record::Recorder;

/// The recorder, and the memory of packets.
#[derive(Debug)]
pub struct Context {
    /// The records.
    pub recorder: Recorder,
    /// The memory of packets.
    pub pool: PacketPool,
}

impl Context {
    /// Records a lost packet, and takes back its memory.
    pub(crate) fn on_gone(&mut self, link: u32, now: Timestamp, packet: Packet, reason: DropReason) {
        self.recorder.on_drop(link, now, &packet, reason);
        self.pool.take_back(packet);
    }
}
