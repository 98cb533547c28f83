//! The packet used in these tests.

use airpath_model::{Bytes, Ecn, Packet, PathHeader};

/// A packet that is identified by its number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TestPacket {
    pub(crate) number: u64,
    pub(crate) size: Bytes,
    pub(crate) ecn: Ecn,
    pub(crate) flow: u64,
    pub(crate) is_data: bool,
    pub(crate) header: PathHeader,
}

impl TestPacket {
    /// Creates a data packet of flow 0 without ECN.
    pub(crate) fn new(number: u64, size: Bytes) -> Self {
        Self { number, size, ecn: Ecn::NotEct, flow: 0, is_data: true, header: PathHeader::None }
    }
}

impl Packet for TestPacket {
    fn size(&self) -> Bytes {
        self.size
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    fn flow(&self) -> u64 {
        self.flow
    }

    fn is_data(&self) -> bool {
        self.is_data
    }

    fn path_header(&mut self) -> &mut PathHeader {
        &mut self.header
    }
}
