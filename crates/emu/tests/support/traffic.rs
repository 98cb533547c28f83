//! TCP over lossy links, and its end.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use airpath_emu::{Emulation, Side};
use airpath_network::{Column, Outcome};
use airpath_plan::{LinkPlan, Plan};

use super::{PATIENCE, constant, link, plan};

/// Sends that many bytes over one connection of the first flow; returns the duration in seconds.
pub(crate) fn transfer(emulation: &Emulation, bytes: usize) -> f64 {
    let to = SocketAddrV4::new(Side::Receivers.address(0).unwrap(), 80);
    let from = Side::Senders.address(0).unwrap();
    let listener = emulation.host(Side::Receivers).enter(|| TcpListener::bind(to)).unwrap().unwrap();
    let content: Vec<u8> = (0..bytes).map(|number| (number * number / 8) as u8).collect();
    let expected = content.clone();
    let receiving = thread::spawn(move || {
        let (mut connection, peer) = listener.accept().unwrap();
        assert_eq!(peer.ip(), from);
        let mut received = Vec::new();
        connection.read_to_end(&mut received).unwrap();
        assert!(received == expected, "the content differs");
        connection.write_all(b"!").unwrap();
    });
    let began = Instant::now();
    let mut connection = emulation.host(Side::Senders).enter(|| TcpStream::connect(to)).unwrap().unwrap();
    connection.write_all(&content).unwrap();
    connection.shutdown(Shutdown::Write).unwrap();
    connection.read_exact(&mut [0]).unwrap();
    let took = began.elapsed().as_secs_f64();
    receiving.join().unwrap();
    took
}

/// Returns a plan of a link that loses one packet in a hundred, and a reverse link.
pub(crate) fn lossy(seconds: u64) -> Plan {
    let there = LinkPlan { loss: 0.01, ..link("there", constant(10_000_000), 10.0, 100) };
    plan(seconds, vec![there, link("back", constant(10_000_000), 10.0, 100)], 1)
}

/// Waits until no connection of either host sends or acknowledges anything any more: packets lost at its end
/// are retransmitted some 200 ms later.
pub(crate) fn until_connections_are_over(emulation: &Emulation) {
    const TIME_WAIT: &str = "06";
    let is_over = |side| {
        let table = || std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap();
        let table = emulation.host(side).enter(table).unwrap();
        table.lines().skip(1).all(|line| line.split_whitespace().nth(3) == Some(TIME_WAIT))
    };
    let deadline = Instant::now() + PATIENCE;
    while !Side::BOTH.into_iter().all(is_over) {
        assert!(Instant::now() < deadline, "a connection is still open");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the sum of a column.
pub(crate) fn sum(outcome: &Outcome, name: &str, column: &str) -> i64 {
    let table = outcome.tables.iter().find(|table| table.name == name).unwrap();
    match table.column(column).unwrap() {
        Column::I64(values) => values.iter().sum(),
        Column::F64(_) => panic!("{column} is not whole"),
    }
}
