//! One side of all connections: an endpoint of quinn.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use airpath_model::{RandomStream, Timestamp};
use quinn_proto::{
    Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, Endpoint, EndpointConfig, ServerConfig,
};

use super::plaintext::Plaintext;

/// The sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    /// Where data comes from, which opens connections.
    Senders,
    /// Where data goes.
    Receivers,
}

impl Side {
    /// Both, by their numbers.
    pub(super) const BOTH: [Self; 2] = [Self::Senders, Self::Receivers];

    /// Its number: 0 or 1.
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
    connections: Vec<Option<End>>,
}

/// One end of a connection.
pub(super) struct End {
    pub(super) connection: Connection,
    /// Whose it is, and which of that source's.
    pub(super) source: usize,
    pub(super) transfer: u32,
    /// When it wants to be woken.
    pub(super) due: Timestamp,
}

impl Host {
    /// A side of the run with that seed; `server` is what connections are accepted with that no flow has claimed.
    pub(super) fn new(side: Side, seed: u64, server: Option<Arc<ServerConfig>>) -> Self {
        let mut config = EndpointConfig::new(Arc::new(Plaintext));
        config.rng_seed(Some(bytes_of(seed, side))).cid_generator(|| Box::new(Counted(0)));
        config.max_udp_payload_size(u16::MAX - 8).expect("the largest that UDP has");
        Self { endpoint: Endpoint::new(Arc::new(config), server, false, None), connections: Vec::new() }
    }

    /// Keeps an end.
    pub(super) fn put(&mut self, handle: ConnectionHandle, end: End) {
        if self.connections.len() <= handle.0 {
            self.connections.resize_with(handle.0 + 1, || None);
        }
        self.connections[handle.0] = Some(end);
    }

    /// Takes an end out, to work on it.
    pub(super) fn take(&mut self, handle: ConnectionHandle) -> Option<End> {
        self.connections.get_mut(handle.0)?.take()
    }

    /// An end.
    pub(super) fn end(&mut self, handle: ConnectionHandle) -> Option<&mut End> {
        self.connections.get_mut(handle.0)?.as_mut()
    }
}

/// Where a side of a connection is. Addresses tell connections apart for whoever looks at them; nothing routes by them.
pub(super) fn address(side: Side, source: usize) -> SocketAddr {
    let prefix = 0xfd00_u128 << 112 | (side as u128 + 1) << 64;
    SocketAddr::new(IpAddr::V6(Ipv6Addr::from(prefix | source as u128)), 443)
}

/// What chooses the first identifier of each connection that is opened: none that a host gives out itself, or the
/// connection would be taken for that one.
pub(super) fn first_identifiers() -> Arc<dyn Fn() -> ConnectionId + Send + Sync> {
    let next = AtomicU64::new(1 << 63);
    Arc::new(move || ConnectionId::new(&next.fetch_add(1, Ordering::Relaxed).to_be_bytes()))
}

/// Identifiers in turn: they need not be guessed by nobody here.
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

/// What quinn draws from: packet numbers that it leaves out, and the like.
fn bytes_of(seed: u64, side: Side) -> [u8; 32] {
    let mut stream = RandomStream::new(seed, &format!("quic/{}", side.name()));
    let mut bytes = [0; 32];
    for part in bytes.chunks_exact_mut(8) {
        part.copy_from_slice(&stream.bits().to_be_bytes());
    }
    bytes
}
