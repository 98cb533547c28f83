//! Input of the emulator from real hosts and the kernel: packets, and the state of connections.

use crate::target::Target;
use airpath_emu::{Exchange, Side};
use airpath_model::Timestamp;
use airpath_sim::plan::Plan;

use crate::plans::examples;

/// Sends packets through the network of a plan, one after the other. Each is preceded by the host that sends
/// it and by its length.
pub(crate) fn network() -> Target {
    // These plans have no traces.
    let plans: Vec<Plan> = examples().into_iter().filter(|plan| plan.flows.len() > 1).take(3).collect();
    let parse = move |bytes: &[u8]| plans.iter().filter(|plan| passes(plan, bytes)).count() > 0;
    Target { name: "packets", seeds: seeds(), parse: Box::new(parse) }
}

fn passes(plan: &Plan, bytes: &[u8]) -> bool {
    let mut exchange = Exchange::new(plan, &[], 7, 4).unwrap().with_connections(plan, [0, 1]).unwrap();
    let (mut rest, mut now) = (bytes, 0);
    while let [forward, high, low, after @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(after.len());
        let (packet, after) = after.split_at(length);
        rest = after;
        now += 1_000_000;
        let at = Timestamp::from_nanos(now);
        exchange.advance(at, |_, _, _| ());
        let (slot, room) = exchange.room();
        let length = length.min(room.len());
        room[..length].copy_from_slice(&packet[..length]);
        let side = if forward % 2 == 0 { Side::Senders } else { Side::Receivers };
        exchange.accept(at, side, slot, length);
    }
    exchange.advance(Timestamp::from_nanos(now + 5_000_000_000), |_, _, _| ());
    let counts = exchange.counts();
    assert_eq!(counts.sent, counts.unknown + counts.delivered + counts.lost + counts.inside, "{counts:?}");
    assert_eq!(counts.inside, 0, "{counts:?}");
    counts.delivered > 0
}

/// Returns TCP and UDP packets between the hosts of two flows, some with XCP's option.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for options in
        [&[][..], &[253, 20, 0x41, 0x58, 1, 0, 0, 0, 0, 0, 0x9c, 0x40, 0, 1, 0x86, 0xa0, 0, 0, 7, 0xd0]]
    {
        for protocol in [6, 17] {
            let mut seed = Vec::new();
            for number in 0..6_u8 {
                let side = if number % 3 == 2 { Side::Receivers } else { Side::Senders };
                let packet = packet(side, usize::from(number % 2), protocol, options);
                seed.push(u8::from(side == Side::Receivers));
                seed.extend((packet.len() as u16).to_be_bytes());
                seed.extend(packet);
            }
            seeds.push(seed);
        }
    }
    seeds
}

fn packet(side: Side, flow: usize, protocol: u8, options: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 40];
    bytes[..2].copy_from_slice(&[0x45, 2]);
    bytes[8..10].copy_from_slice(&[64, protocol]);
    bytes[12..16].copy_from_slice(&side.address(flow).unwrap().octets());
    bytes[16..20].copy_from_slice(&side.other().address(flow).unwrap().octets());
    bytes[20..24].copy_from_slice(&[0x12, 0x34, 0x56, 0x78]);
    bytes[32..34].copy_from_slice(&[((20 + options.len()) / 4 * 16) as u8, 0x10]);
    bytes.extend(options);
    bytes.extend([7; 60]);
    let length = (bytes.len() as u16).to_be_bytes();
    bytes[2..4].copy_from_slice(&length);
    bytes
}

/// The kernel's report on a connection.
#[cfg(target_os = "linux")]
pub(crate) fn tcp_info() -> Target {
    let parse = |bytes: &[u8]| {
        let Some(info) = airpath_emu::TcpInfo::parse(bytes) else { return false };
        let _ = (info.in_flight_bytes(), info.in_slow_start());
        true
    };
    let seeds = [104, 192, 232, 248].map(|length| (0..length).map(|byte| byte as u8).collect()).to_vec();
    Target { name: "tcp-info", seeds, parse: Box::new(parse) }
}
