//! Events of live connections, as recorded by the programs of the host.

use std::collections::BTreeMap;

use airpath_linux::host::{Record, Told};

use crate::support::replay;

/// The events of one connection's controller, and its windows.
pub(crate) struct Connection {
    pub(crate) mss: u32,
    /// Initial window, bytes.
    pub(crate) first_window: u32,
    pub(crate) told: Vec<replay::Told>,
    /// Window after each event, bytes.
    pub(crate) windows: Vec<u64>,
}

/// Returns the connections with events, in the order in which they began.
pub(crate) fn connections(records: Vec<Record>) -> Vec<Connection> {
    // Connections are numbered as they begin.
    let mut connections: BTreeMap<u64, Vec<Record>> = BTreeMap::new();
    for record in records {
        connections.entry(record.connection).or_default().push(record);
    }
    connections.values().map(|records| connection(records)).collect()
}

/// Returns the connection with the most events.
pub(crate) fn longest(records: Vec<Record>) -> Connection {
    connections(records).into_iter().max_by_key(|connection| connection.told.len()).unwrap()
}

fn connection(records: &[Record]) -> Connection {
    let Told::Start { mss } = records[0].told else { panic!("it begins with {:?}", records[0]) };
    let told = |record: &Record| match record.told {
        Told::Ack(event) => replay::Told::Ack(event),
        Told::Congestion(event) => replay::Told::Congestion(event),
        Told::Spurious => replay::Told::Spurious,
        Told::Start { .. } => panic!("a connection starts once"),
    };
    Connection {
        mss,
        first_window: records[0].window as u32,
        told: records[1..].iter().map(told).collect(),
        windows: records[1..].iter().map(|record| record.window).collect(),
    }
}
