//! TCP connections of any process as separate flows: the kernel's reports on them, and their end.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddrV4, TcpListener};
use std::thread;

use airpath_emu::{Connections, Side};
use nix::sched::{CloneFlags, setns};

use crate::support::connections::*;
use crate::support::skipped;

#[test]
fn short_connections_and_both_directions_are_recorded() {
    let Some(emulation) = observed(&two_ways(100)) else { return };
    let listener = listener(&emulation);
    // Ten between two samples, then one in which both sides send.
    for number in 1..=10 {
        transfer(both_ends(&emulation, &listener), 1000 * number);
    }
    let (mut here, mut there) = both_ends(&emulation, &listener);
    here.write_all(b"a question").unwrap();
    there.read_exact(&mut [0; 10]).unwrap();
    there.write_all(&vec![0; 20_000]).unwrap();
    here.read_exact(&mut vec![0; 20_000]).unwrap();
    let (outcome, Connections { flows, .. }, _) = stop(emulation);
    let goodput = |from: Side| -> Vec<i64> {
        let of_side = flows.iter().filter(|flow| flow.from == from);
        of_side.map(|flow| of_flow(&outcome, flow, "goodput_bytes")).collect()
    };
    let questions: Vec<i64> = (1..=10).map(|number| 1000 * number).chain([10]).collect();
    assert_eq!(goodput(Side::Senders), questions);
    assert_eq!(goodput(Side::Receivers), [20_000]);
    let back = flows.last().unwrap();
    assert_eq!((back.connection, back.from), (flows[10].connection, Side::Receivers));
    let delivered = of_flow(&outcome, back, "delivered_packets");
    // 14 packets of 1448 bytes, and possible retransmissions of the kernel, not all of which need be out.
    assert!((14..=back.summary.sent_packets as i64).contains(&delivered), "{delivered} of {back:?}");
    // Packets in the opposite direction use their own path; packets without data are not counted.
    assert_eq!(table(&outcome, "flows").integers("sent_packets")[..2], [0, 0]);
}

#[test]
fn all_connections_are_closed() {
    let Some(emulation) = observed(&two_ways(1)) else { return };
    let anywhere = SocketAddrV4::new(Side::Senders.address(0).unwrap(), PORT);
    let _listening = emulation.host(Side::Senders).enter(|| TcpListener::bind(anywhere)).unwrap().unwrap();
    if let Err(error) = emulation.host(Side::Senders).destroy_sockets() {
        skipped(error);
        return;
    }
    let listener = listener(&emulation);
    let (mut here, there) = both_ends(&emulation, &listener);
    here.set_nonblocking(true).unwrap();
    while here.write(&[0; 4096]).is_ok() {}
    let namespaces = Side::BOTH.map(|side| File::open(emulation.host(side).namespace_path()).unwrap());
    let counted = || {
        thread::scope(|scope| {
            let count = |namespace| {
                move || {
                    setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
                    let table = std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap();
                    table.lines().skip(1).count()
                }
            };
            namespaces.each_ref().map(|namespace| scope.spawn(count(namespace)).join().unwrap())
        })
    };
    assert_eq!(counted(), [1, 2], "those of the connection, and one that listens");
    // Unsent data is never read: without special treatment it would be retransmitted again and again.
    drop((here, there));
    emulation.stop(None).unwrap();
    assert_eq!(counted(), [0, 0]);
}
