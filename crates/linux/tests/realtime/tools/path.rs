//! Two hosts connected by a wire, and the recorded events of one host's controllers.

use std::time::Duration;

use airpath_linux::host::{Host, HostConfig, HostCounters, Record};

use crate::support::OwnCgroup;
use crate::support::load;
use crate::tools::namespaces::Pair;
use crate::tools::wire::{Way, Wire};

/// Two hosts connected by a wire that can delay, change and drop packets.
pub(crate) struct Path {
    pub(crate) pair: Pair,
    host: Host,
    delay: Duration,
    _wire: Wire,
    _group: OwnCgroup,
}

impl Path {
    /// Creates a path that delays each packet by `delay`. Before that, `passes` may change the frame, and
    /// returns false to drop it.
    pub(crate) fn new(
        delay: Duration,
        passes: impl FnMut(Way, &mut Vec<u8>) -> bool + Send + 'static,
    ) -> Self {
        let (group, pair) = (OwnCgroup::join("airpath-path"), Pair::over_a_wire());
        let wire = Wire::new(pair.middle.as_ref().unwrap(), delay, passes);
        let devices = Some(pair.devices());
        let host =
            load(&HostConfig { cgroup: group.folder.clone(), devices, record: true, controller: None });
        Self { pair, host, delay, _wire: wire, _group: group }
    }

    /// Sends `bytes` over one connection. Returns the events of its controller, and the counters. Checks that
    /// all data arrives unchanged and without checksum errors.
    pub(crate) fn transfer(&self, controller: &str, bytes: usize) -> (Vec<Record>, HostCounters) {
        self.host.records().unwrap();
        self.pair.transfer(controller, bytes);
        let records = self.records();
        for namespace in [&self.pair.left, &self.pair.right] {
            assert_eq!(namespace.tcp_counter("InCsumErrors"), 0, "{controller}");
        }
        (records, self.host.counters())
    }

    /// Returns the events of controllers since the last call.
    pub(crate) fn news(&self) -> Vec<Record> {
        self.host.records().unwrap()
    }

    /// Returns the events of the first connection since the last call.
    pub(crate) fn records(&self) -> Vec<Record> {
        // The last acknowledgments are still in flight.
        std::thread::sleep(10 * self.delay);
        let mut records = self.host.records().unwrap();
        let connection = records[0].connection;
        records.retain(|record| record.connection == connection);
        assert_eq!(self.host.records_lost(), 0);
        records
    }
}
