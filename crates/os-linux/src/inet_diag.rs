//! Requests to the kernel's diagnosis of TCP sockets (`sock_diag(7)`).

use std::io;

use netlink_packet_core::ParseableParametrized;
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
use netlink_packet_sock_diag::{AF_INET, AF_INET6, IPPROTO_TCP, SOCK_DIAG_BY_FAMILY};
use netlink_packet_sock_diag::{SockDiagDestroy, SockDiagMessage};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

use crate::netlink::Netlink;

/// The address families of TCP sockets. Sockets of IPv6 may have connections over IPv4.
pub const FAMILIES: [u8; 2] = [AF_INET, AF_INET6];

/// Returns a request for all TCP sockets of an address family in some states.
pub fn request(family: u8, extensions: ExtensionFlags, states: StateFlags) -> SockDiagMessage {
    let socket_id = if family == AF_INET { SocketId::new_v4() } else { SocketId::new_v6() };
    SockDiagMessage::InetRequest(InetRequest { family, protocol: IPPROTO_TCP, extensions, states, socket_id })
}

/// Parses the response about a socket of one of the families.
pub fn response(bytes: &[u8]) -> Option<InetResponse> {
    match SockDiagMessage::parse_with_param(bytes, SOCK_DIAG_BY_FAMILY) {
        Ok(SockDiagMessage::InetResponse(response)) => Some(*response),
        _ => None,
    }
}

/// Destroys all TCP sockets of the calling thread's namespace, in any state, and returns the number of sockets that were found.
///
/// # Errors
/// If the kernel does not support it (`CONFIG_INET_DIAG_DESTROY`).
pub fn destroy_sockets() -> io::Result<usize> {
    let netlink = Netlink::open(NETLINK_SOCK_DIAG)?;
    let mut found = Vec::new();
    for family in FAMILIES {
        let all = request(family, ExtensionFlags::empty(), StateFlags::all());
        netlink.dump(all, |bytes| found.extend(response(bytes)))?;
    }
    for InetResponse { header, .. } in &found {
        let request = InetRequest {
            family: header.family,
            protocol: IPPROTO_TCP,
            extensions: ExtensionFlags::empty(),
            states: StateFlags::all(),
            socket_id: header.socket_id.clone(),
        };
        match netlink.request(SockDiagDestroy::new(SockDiagMessage::InetRequest(request)), 0) {
            // The socket was closed in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(found.len())
}
