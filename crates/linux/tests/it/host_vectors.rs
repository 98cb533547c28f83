//! The packet programs of hosts, run by the kernel on handmade packets. These belong to no connection, so no
//! program may change them. `live.rs` and `host_options.rs` test packets of connections.

use airpath_linux::host::{Host, HostConfig, PacketProgram};

use crate::support::load;
use crate::support::packets::{ETHERNET, Segment, checksums_hold, datagram, xcp_option};
use crate::support::{OwnCgroup, alone, can_host};

/// Each program and its return value for passing a packet.
const GO_ON: [(PacketProgram, i32); 3] =
    [(PacketProgram::Ingress, 1), (PacketProgram::EgressEthernet, -1), (PacketProgram::EgressBare, -1)];

fn check_untouched(host: &Host, frame: &[u8]) {
    for (program, go_on) in GO_ON {
        let (answer, left) = host.run(program, frame).unwrap();
        assert_eq!((answer, left.len()), (go_on, frame.len()), "{program:?}");
        // The kernel passes packets of the cgroup without their Ethernet header.
        assert_eq!(left[ETHERNET..], frame[ETHERNET..], "{program:?}");
    }
}

#[test]
fn packets_of_other_connections_are_unchanged() {
    if !can_host("host vectors") {
        return;
    }
    let _alone = alone();
    let group = OwnCgroup::join("airpath-vectors");
    let config =
        HostConfig { cgroup: group.folder.clone(), devices: Some(Vec::new()), ..HostConfig::default() };
    let host = load(&config);
    for ipv6 in [false, true] {
        for ecn in 0..4 {
            for payload in [0, 1, 1000] {
                let options = xcp_option(100_000, 100_000, 1000);
                let segment = Segment { ipv6, ecn, options, payload }.frame();
                for frame in [segment, datagram(ipv6, ecn, payload)] {
                    assert!(checksums_hold(&frame));
                    check_untouched(&host, &frame);
                    // At the position of the TCP header's bits, a datagram has its payload, if any.
                    let bits_at = ETHERNET + if ipv6 { 40 } else { 20 } + 12;
                    for bits in (0..8).filter(|_| frame.len() > bits_at) {
                        let mut marked = frame.clone();
                        marked[bits_at] |= bits << 1;
                        check_untouched(&host, &marked);
                    }
                }
            }
        }
        let segment = Segment { ipv6, payload: 1, ..Segment::default() }.frame();
        // The kernel itself rejects frames without the fixed part of an IP header.
        let fixed = ETHERNET + if ipv6 { 40 } else { 20 };
        for frame in [segment, datagram(ipv6, 1, 20)] {
            for length in fixed..frame.len() {
                check_untouched(&host, &frame[..length]);
            }
        }
    }
    let counters = host.counters();
    assert_eq!((counters.echoes_by_bits, counters.malformed), (0, 0));
}
