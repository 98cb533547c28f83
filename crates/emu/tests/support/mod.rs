//! What tests on real hosts have in common.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::wildcard_imports, reason = "plans are written with most of their types")]

use std::net::{SocketAddrV4, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use airpath_emu::{Emulated, Emulation, Hosts, Options, Side};
use airpath_sim::plan::*;

pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const MILLISECOND: u64 = 1_000_000;

/// Whether hosts can be made here; says why not.
pub(crate) fn hosts_can_be_made() -> bool {
    match Hosts::new() {
        Ok(_) => true,
        Err(error) => {
            eprintln!("skipped: {error}");
            false
        }
    }
}

/// A link with a drop-tail queue of some packets.
pub(crate) fn link(name: &str, rate: RatePlan, delay_ms: f64, queue_packets: u64) -> LinkPlan {
    LinkPlan {
        name: name.to_owned(),
        rate,
        delay_ns: Draw::Constant { value: delay_ms * MILLISECOND as f64 },
        jitter_ns: None,
        loss: 0.0,
        bursts: None,
        arq: None,
        queue: QueuePlan::DropTail { limit_bytes: None, limit_packets: Some(queue_packets) },
        record: true,
    }
}

pub(crate) fn constant(bps: u64) -> RatePlan {
    RatePlan::Constant { bps }
}

/// Flows over link 0, with acknowledgments over link 1.
pub(crate) fn plan(seconds: u64, links: Vec<LinkPlan>, flows: usize) -> Plan {
    let flow = |number| FlowPlan {
        name: format!("flow{number}"),
        path: vec![0],
        reverse_path: vec![1],
        measured_at: 0,
        start_ns: Draw::Constant { value: 0.0 },
        stop_ns: None,
        traffic: TrafficPlan::Bulk,
        controller: None,
        transport: None,
        estimators: vec![],
    };
    Plan {
        duration_ns: seconds * SECOND,
        record: RecordPlan {
            measure_from_ns: 0,
            interval_ns: 100 * MILLISECOND,
            packets: false,
            estimate_samples: false,
            capture: vec![],
        },
        estimators: vec![],
        links,
        flows: (0..flows).map(flow).collect(),
    }
}

/// An emulation of a plan, or `None` where there can be none.
pub(crate) fn emulation(plan: &Plan) -> Option<Emulation> {
    hosts_can_be_made().then(|| Emulation::start(plan, &[], 1, &Options::default()).unwrap())
}

/// A socket of a flow's address in a host.
pub(crate) fn socket(emulation: &Emulation, side: Side, flow: usize, port: u16) -> UdpSocket {
    let address = SocketAddrV4::new(side.address(flow).unwrap(), port);
    let socket = emulation.host(side).enter(|| UdpSocket::bind(address)).unwrap().unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    socket
}

/// Bytes of IP and UDP headers.
pub(crate) const HEADERS: usize = 28;

/// What a receiver of datagrams saw.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// Bytes of IP packets, for each tenth of a second since its first packet.
    pub(crate) tenths: Vec<u64>,
    pub(crate) packets: u64,
    pub(crate) highest: u64,
}

impl Received {
    /// Bit/s between two instants in seconds since the first packet.
    pub(crate) fn rate(&self, from: f64, to: f64) -> f64 {
        let tenths = &self.tenths[(from * 10.0) as usize..(to * 10.0) as usize];
        8.0 * tenths.iter().sum::<u64>() as f64 / (to - from)
    }
}

/// Sends datagrams of `size` bytes (of IP) of flow 0 at `bps` for a time, more than the link takes; counts what arrives by
/// the receiver's own clock. Ends the emulation.
pub(crate) fn flood(emulation: Emulation, bps: u64, size: usize, lasting: Duration) -> (Received, Emulated) {
    let sender = socket(&emulation, Side::Senders, 0, 5000);
    let receiver = socket(&emulation, Side::Receivers, 0, 5001);
    sender.connect((Side::Receivers.address(0).unwrap(), 5001)).unwrap();
    let receiving = thread::spawn(move || {
        let mut received = Received::default();
        let mut buffer = [0; 2048];
        let mut first = None;
        while let Ok(length) = receiver.recv(&mut buffer) {
            let since = first.get_or_insert_with(Instant::now).elapsed();
            let tenth = (since.as_secs_f64() * 10.0) as usize;
            if received.tenths.len() <= tenth {
                received.tenths.resize(tenth + 1, 0);
            }
            received.tenths[tenth] += (length + HEADERS) as u64;
            received.packets += 1;
            let number = u64::from_be_bytes(*buffer.first_chunk().unwrap());
            received.highest = received.highest.max(number);
        }
        received
    });
    let began = Instant::now();
    let mut payload = vec![0; size - HEADERS];
    let mut sent = 0_u64;
    while began.elapsed() < lasting {
        let due = (began.elapsed().as_secs_f64() * bps as f64 / 8.0 / size as f64) as u64;
        while sent < due {
            payload[..8].copy_from_slice(&sent.to_be_bytes());
            sender.send(&payload).unwrap();
            sent += 1;
        }
        thread::sleep(Duration::from_micros(500));
    }
    let received = receiving.join().unwrap();
    (received, emulation.stop(None).unwrap())
}
