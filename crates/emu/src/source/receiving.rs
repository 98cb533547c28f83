//! The receivers' host: accepts, reads and counts everything that arrives.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;

use airpath_os_linux::{Context, SystemError};
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{MsgFlags, recv};

use super::report::SourceSummary;
use super::sockets;
use super::wakeups::{Token, Wakeups};
use crate::address::{Side, flow_of};
use crate::error::EmulationError;

/// Headers of IPv4 and UDP in bytes.
pub(super) const DATAGRAM_HEADERS: u64 = 28;

/// Accepts connections and datagrams.
#[derive(Debug)]
pub(super) struct Receivers {
    listeners: Vec<TcpListener>,
    datagrams: UdpSocket,
    connections: Vec<Option<Receiving>>,
    /// Indices of empty entries of `connections`.
    empty: Vec<usize>,
    /// Bytes that each flow's application has received since the last query.
    goodput: Vec<u64>,
    /// The receive window of each flow in bytes, if it is limited.
    windows: Vec<Option<u32>>,
    buffer: Vec<u8>,
}

/// One connection.
#[derive(Debug)]
struct Receiving {
    stream: TcpStream,
    flow: usize,
    /// Its receive window in bytes, if it is limited.
    window: Option<u32>,
}

impl Receivers {
    /// Opens the listening sockets for flows with these windows. Call it inside the receivers' host.
    pub(super) fn open(windows: Vec<Option<u32>>) -> Result<Self, EmulationError> {
        // The kernel never shrinks an offered window, so a window must be set before its connection exists:
        // on the listener of that address.
        let limited = windows
            .iter()
            .enumerate()
            .filter_map(|(flow, window)| Some((Side::Receivers.address(flow)?, Some((*window)?))));
        let listeners = std::iter::once((Ipv4Addr::UNSPECIFIED, None))
            .chain(limited)
            .map(|(address, window)| sockets::listener(address, window))
            .collect::<io::Result<_>>()
            .context("a listening socket")?;
        Ok(Self {
            listeners,
            datagrams: sockets::datagram_receiver().context("a socket for datagrams")?,
            connections: Vec::new(),
            empty: Vec::new(),
            goodput: Vec::new(),
            windows,
            buffer: vec![0; 1 << 20],
        })
    }

    /// Watches the sockets.
    pub(super) fn watch(&self, wakeups: &Wakeups) -> Result<(), SystemError> {
        for listener in &self.listeners {
            wakeups
                .watch(listener, EpollFlags::EPOLLIN, Token::Listener)
                .context("waiting for connections")?;
        }
        wakeups.watch(&self.datagrams, EpollFlags::EPOLLIN, Token::Datagrams).context("waiting for datagrams")
    }

    /// Accepts the waiting connections.
    pub(super) fn accept(&mut self, wakeups: &Wakeups, summary: &mut SourceSummary) {
        for listener in 0..self.listeners.len() {
            self.accept_at(listener, wakeups, summary);
        }
    }

    fn accept_at(&mut self, listener: usize, wakeups: &Wakeups, summary: &mut SourceSummary) {
        loop {
            let (stream, sender) = match self.listeners[listener].accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => {
                    summary.fault(0, &format!("a connection could not be accepted: {error}"));
                    return;
                }
            };
            let Some(flow) = stream.local_addr().ok().and_then(|local| flow(sender, local)) else { continue };
            let number = self.empty.pop().unwrap_or(self.connections.len());
            let window = self.windows.get(flow).copied().flatten();
            let watched = stream
                .set_nonblocking(true)
                .and_then(|()| Ok(wakeups.watch(&stream, EpollFlags::EPOLLIN, Token::Receiving(number))?));
            if let Err(error) = watched {
                summary.fault(flow, &format!("a connection could not be received: {error}"));
                self.empty.extend((number < self.connections.len()).then_some(number));
                continue;
            }
            let receiving = Some(Receiving { stream, flow, window });
            if number == self.connections.len() {
                self.connections.push(receiving);
            } else {
                self.connections[number] = receiving;
            }
        }
    }

    /// Reads the data of a connection. At its end, closes it, which notifies the sender that everything has
    /// arrived.
    pub(super) fn take(&mut self, number: usize) {
        let Some(Some(Receiving { stream, flow, window })) = self.connections.get(number) else { return };
        let flow = *flow;
        if let Some(bytes) = *window {
            // The kernel resets the limit when it learns how much memory packets take. If it cannot be set,
            // the connection has ended, as the next call will show.
            let _ = sockets::limit_window(stream, bytes);
        }
        loop {
            // The data is not used, so the kernel need not copy it.
            match recv(stream.as_raw_fd(), &mut self.buffer, MsgFlags::MSG_TRUNC) {
                Ok(0) => break,
                Ok(bytes) => count(&mut self.goodput, flow, bytes as u64),
                Err(nix::errno::Errno::EAGAIN) => return,
                Err(nix::errno::Errno::EINTR) => {}
                Err(_) => break, // its sender gets the error and reports it
            }
        }
        self.connections[number] = None;
        self.empty.push(number);
    }

    /// Reads the datagrams that have arrived.
    pub(super) fn take_datagrams(&mut self) {
        let Ok(local) = self.datagrams.local_addr() else { return };
        while let Ok((bytes, sender)) = self.datagrams.recv_from(&mut self.buffer) {
            // The socket accepts all addresses; each sender uses the address across from its own.
            let across = match sender.ip() {
                IpAddr::V4(ip) => {
                    ip.to_bits() ^ Side::Senders.prefix().to_bits() ^ Side::Receivers.prefix().to_bits()
                }
                IpAddr::V6(_) => continue,
            };
            let local = SocketAddr::new(IpAddr::V4(across.into()), local.port());
            if let Some(flow) = flow(sender, local) {
                count(&mut self.goodput, flow, bytes as u64 + DATAGRAM_HEADERS);
            }
        }
    }

    /// Returns the bytes that a flow's application has received since the last call. Datagrams count with
    /// their headers, as in a simulation.
    pub(super) fn take_goodput(&mut self, flow: usize) -> u64 {
        self.goodput.get_mut(flow).map(std::mem::take).unwrap_or_default()
    }
}

fn count(goodput: &mut Vec<u64>, flow: usize, bytes: u64) {
    if goodput.len() <= flow {
        goodput.resize(flow + 1, 0);
    }
    goodput[flow] += bytes;
}

/// Returns the flow between these addresses.
fn flow(sender: SocketAddr, receiver: SocketAddr) -> Option<usize> {
    match (sender.ip(), receiver.ip()) {
        (IpAddr::V4(sender), IpAddr::V4(receiver)) => flow_of(Side::Senders, sender, receiver),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goodput_restarts_after_each_sample() {
        let mut receivers = Receivers {
            listeners: Vec::new(),
            datagrams: UdpSocket::bind("127.0.0.1:0").unwrap(),
            connections: Vec::new(),
            empty: Vec::new(),
            goodput: Vec::new(),
            windows: Vec::new(),
            buffer: Vec::new(),
        };
        count(&mut receivers.goodput, 3, 100);
        count(&mut receivers.goodput, 3, 11);
        assert_eq!(receivers.take_goodput(3), 111);
        assert_eq!(receivers.take_goodput(3), 0);
        assert_eq!(receivers.take_goodput(70), 0);
    }
}
