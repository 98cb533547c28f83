//! One side of all connections: a quinn endpoint.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use airpath_model::{RandomStream, Timestamp};
use quinn_proto::{
    Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, Endpoint, EndpointConfig, ServerConfig,
};

use super::plaintext::Plaintext;

/// The sides of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    /// The source of data, which opens connections.
    Senders,
    /// The destination of data.
    Receivers,
}

impl Side {
    /// Both, in the order of their indices.
    pub(super) const BOTH: [Self; 2] = [Self::Senders, Self::Receivers];

    /// Returns the index: 0 or 1.
    pub(super) const fn index(self) -> usize {
        self as usize
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Senders => "senders",
            Self::Receivers => "receivers",
        }
    }
}

/// An endpoint with its connections.
pub(super) struct Host {
    pub(super) endpoint: Endpoint,
    /// Boxed, because quinn's connections are large and are taken out for every datagram.
    connections: Vec<Option<Box<End>>>,
}

/// One endpoint of a connection.
pub(super) struct End {
    pub(super) connection: Connection,
    /// Its source, and the index of the connection among those of the source.
    pub(super) source: usize,
    pub(super) transfer: u32,
    /// Time of the requested wake-up.
    pub(super) due: Timestamp,
}

impl Host {
    /// Creates a side of the run with that seed; `server` accepts connections that no flow has claimed.
    pub(super) fn new(side: Side, seed: u64, server: Option<Arc<ServerConfig>>) -> Self {
        let mut config = EndpointConfig::new(Arc::new(Plaintext));
        config.rng_seed(Some(bytes_of(seed, side))).cid_generator(|| Box::new(Counted(0)));
        config.max_udp_payload_size(u16::MAX - 8).expect("the largest that UDP has");
        Self { endpoint: Endpoint::new(Arc::new(config), server, false, None), connections: Vec::new() }
    }

    /// Stores an endpoint.
    pub(super) fn put(&mut self, handle: ConnectionHandle, end: Box<End>) {
        if self.connections.len() <= handle.0 {
            self.connections.resize_with(handle.0 + 1, || None);
        }
        self.connections[handle.0] = Some(end);
    }

    /// Takes an endpoint out, to work on it.
    pub(super) fn take(&mut self, handle: ConnectionHandle) -> Option<Box<End>> {
        self.connections.get_mut(handle.0)?.take()
    }

    /// Returns an endpoint.
    pub(super) fn end(&mut self, handle: ConnectionHandle) -> Option<&mut End> {
        self.connections.get_mut(handle.0)?.as_deref_mut()
    }
}

/// Returns the address of a side of a connection. Addresses distinguish connections in logs; they are not
/// used for routing.
pub(super) fn address(side: Side, source: usize) -> SocketAddr {
    let prefix = 0xfd00_u128 << 112 | (side as u128 + 1) << 64;
    SocketAddr::new(IpAddr::V6(Ipv6Addr::from(prefix | source as u128)), 443)
}

/// Returns the generator of the first identifier of each opened connection. It never returns an identifier
/// that a host issues itself, or the connection would be mistaken for that one.
pub(super) fn first_identifiers() -> Arc<dyn Fn() -> ConnectionId + Send + Sync> {
    let next = AtomicU64::new(1 << 63);
    Arc::new(move || ConnectionId::new(&next.fetch_add(1, Ordering::Relaxed).to_be_bytes()))
}

/// Sequential identifiers: in a simulation they need not be unpredictable.
#[derive(Debug)]
struct Counted(u64);

impl ConnectionIdGenerator for Counted {
    fn generate_cid(&mut self) -> ConnectionId {
        self.0 += 1;
        ConnectionId::new(&self.0.to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        size_of::<u64>()
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}

/// Returns the seed of quinn's random numbers, such as the packet numbers that it skips.
fn bytes_of(seed: u64, side: Side) -> [u8; 32] {
    let mut stream = RandomStream::new(seed, &format!("quic/{}", side.name()));
    let mut bytes = [0; 32];
    for part in bytes.chunks_exact_mut(8) {
        part.copy_from_slice(&stream.bits().to_be_bytes());
    }
    bytes
}
