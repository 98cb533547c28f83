//! Common parts of tests on real hosts.

use std::net::{SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use airpath_emu::{Emulation, Hosts, Options, Side};
use airpath_plan::{Input, Plan};

use super::skipped;

/// Timeout of tests for operations that take milliseconds. It only bounds a test that would never end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(200);

/// Returns whether hosts can be created here; prints the reason if not.
pub(crate) fn hosts_can_be_made() -> bool {
    match Hosts::new() {
        Ok(_) => true,
        Err(error) => {
            skipped(error);
            false
        }
    }
}

/// Returns an emulation of a plan, or `None` if it cannot be started.
pub(crate) fn emulation(plan: &Plan) -> Option<Emulation> {
    emulation_with(plan, &[], &Options::default())
}

/// Like [`emulation`], with the traces of the plan, and options.
pub(crate) fn emulation_with(plan: &Plan, traces: &[Arc<Input>], options: &Options) -> Option<Emulation> {
    hosts_can_be_made().then(|| Emulation::start(plan, traces, 1, options).unwrap())
}

/// Returns a socket with the address of a flow in a host.
pub(crate) fn socket(emulation: &Emulation, side: Side, flow: usize, port: u16) -> UdpSocket {
    let address = SocketAddrV4::new(side.address(flow).unwrap(), port);
    let socket = emulation.host(side).enter(|| UdpSocket::bind(address)).unwrap().unwrap();
    // Every datagram arrives, so that a longer wait would never end.
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}
