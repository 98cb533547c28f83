//! TCP connections as separate flows.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::thread;

use airpath_emu::{ConnectionFlow, Connections, Emulated, Emulation, Options, Side};
use airpath_network::{Outcome, Table};
use airpath_plan::Plan;

use super::{constant, hosts_can_be_made, link, plan};

pub(crate) const PORT: u16 = 80;

/// Returns a plan of two links of `mbps` with a delay of 10 ms each; packets outside connections belong to
/// flows 0 and 1.
pub(crate) fn two_ways(mbps: u64) -> Plan {
    two_ways_of(mbps, 10.0)
}

pub(crate) fn two_ways_of(mbps: u64, delay_ms: f64) -> Plan {
    let link = |name| link(name, constant(mbps * 1_000_000), delay_ms, 100);
    let mut plan = plan(3600, vec![link("there"), link("back")], 2);
    let back = &mut plan.flows[1];
    (back.path, back.reverse_path, back.measured_at) = (vec![1], vec![0], 1);
    plan
}

/// Returns an emulation whose connections are observed, or `None` if it cannot be started.
pub(crate) fn observed(plan: &Plan) -> Option<Emulation> {
    let options = Options { connections: Some([0, 1]), ..Options::default() };
    hosts_can_be_made().then(|| Emulation::start(plan, &[], 1, &options).unwrap())
}

pub(crate) fn listener(emulation: &Emulation) -> TcpListener {
    let at = SocketAddrV4::new(Side::Receivers.address(0).unwrap(), PORT);
    emulation.host(Side::Receivers).enter(|| TcpListener::bind(at)).unwrap().unwrap()
}

pub(crate) fn connect(emulation: &Emulation) -> TcpStream {
    let to = SocketAddrV4::new(Side::Receivers.address(0).unwrap(), PORT);
    emulation.host(Side::Senders).enter(|| TcpStream::connect(to)).unwrap().unwrap()
}

/// Returns both endpoints of a connection.
pub(crate) fn both_ends(emulation: &Emulation, listener: &TcpListener) -> (TcpStream, TcpStream) {
    let here = connect(emulation);
    (here, listener.accept().unwrap().0)
}

/// Sends this many bytes and reads them, then closes the connection.
pub(crate) fn transfer((mut from, mut to): (TcpStream, TcpStream), bytes: usize) {
    let reading = thread::spawn(move || {
        let mut read = Vec::new();
        to.read_to_end(&mut read).unwrap();
        read.len()
    });
    from.write_all(&vec![7; bytes]).unwrap();
    from.shutdown(Shutdown::Write).unwrap();
    from.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(reading.join().unwrap(), bytes);
}

pub(crate) fn stop(emulation: Emulation) -> (Outcome, Connections, Emulated) {
    let emulated = emulation.stop(None).unwrap();
    let connections = emulated.connections.clone().unwrap();
    assert_eq!(connections.sampled.missing, "");
    assert_eq!(connections.beyond_packets, 0);
    assert!(connections.flows.iter().all(|flow| flow.told), "{connections:?}");
    (emulated.outcome.clone(), connections, emulated)
}

pub(crate) fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|table| table.name == name).unwrap()
}

/// Returns a value of a flow in the table `flows`.
pub(crate) fn of_flow(outcome: &Outcome, flow: &ConnectionFlow, column: &str) -> i64 {
    table(outcome, "flows").integers(column)[flow.flow as usize]
}

/// Returns the values of a flow in its series.
pub(crate) fn series(outcome: &Outcome, flow: &ConnectionFlow, column: &str) -> Vec<f64> {
    let series = outcome.flow_series.table();
    let rows = series.integers("flow").iter().zip(series.reals(column));
    rows.filter(|&(&of, _)| of == i64::from(flow.flow)).map(|(_, &value)| value).collect()
}
