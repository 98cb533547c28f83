//! Sockets of sources and receivers.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::libc;
use nix::sys::socket::sockopt::{Linger, ReusePort, TcpCongestion, TcpMaxSeg};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, bind, connect, setsockopt, socket};

use super::settings::TcpSettings;

/// The port at which receivers accept connections and datagrams.
pub(super) const PORT: u16 = 5001;

/// Upper bound of bytes that are written but not yet sent. It is large enough that the sender never waits for
/// the application, and small enough that a source stops quickly and that a hundred sources need little
/// memory.
const NOT_SENT: u32 = 1 << 17;

/// Opens a non-blocking connection from one address to another, which is writable once established.
pub(super) fn connection(from: Ipv4Addr, to: Ipv4Addr, settings: &TcpSettings) -> io::Result<TcpStream> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let descriptor = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    setsockopt(&descriptor, TcpCongestion, &settings.congestion_control.clone().into()).map_err(|error| {
        io::Error::other(format!(
            "the kernel has no congestion control \"{}\" for us ({error})",
            settings.congestion_control
        ))
    })?;
    throw_away_when_closed(&descriptor)?;
    setsockopt(&descriptor, TcpMaxSeg, &settings.announced_mss)?;
    set_number(&descriptor, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, NOT_SENT)?;
    if settings.paced {
        // Any limit below the one that means "none" makes the kernel pace.
        set_number(&descriptor, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, u32::MAX - 1)?;
    }
    bind(descriptor.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(from, 0)))?;
    match connect(descriptor.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(to, PORT))) {
        Ok(()) | Err(nix::errno::Errno::EINPROGRESS) => Ok(TcpStream::from(descriptor)),
        Err(error) => Err(error.into()),
    }
}

/// Makes the kernel discard unsent data when a connection is closed, even if its process was killed.
/// Otherwise the connection would continue for minutes and keep its host's namespace and its controller
/// alive.
fn throw_away_when_closed(connection: impl AsFd) -> io::Result<()> {
    setsockopt(&connection, Linger, &libc::linger { l_onoff: 1, l_linger: 0 })?;
    Ok(())
}

/// Limits the window that a receiver offers to a number of bytes. Earlier offers stay valid.
pub(super) fn limit_window(connection: impl AsFd, bytes: u32) -> io::Result<()> {
    set_number(connection, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, bytes)
}

/// Opens a datagram socket from one address to another.
pub(super) fn datagrams(from: Ipv4Addr, to: Ipv4Addr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(SocketAddrV4::new(from, 0))?;
    socket.connect(SocketAddrV4::new(to, PORT))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Listens for connections to an address of this host, or to any address without its own listener. `window`
/// limits their receive window, in bytes.
pub(super) fn listener(address: Ipv4Addr, window: Option<u32>) -> io::Result<TcpListener> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let descriptor: OwnedFd = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    setsockopt(&descriptor, ReusePort, &true)?;
    if let Some(bytes) = window {
        limit_window(&descriptor, bytes)?;
    }
    bind(descriptor.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(address, PORT)))?;
    let backlog = nix::sys::socket::Backlog::new(4096)?;
    nix::sys::socket::listen(&descriptor, backlog)?;
    Ok(TcpListener::from(descriptor))
}

/// Opens a socket for datagrams to any address of this host.
pub(super) fn datagram_receiver() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Sets a 32-bit socket option.
fn set_number(socket: impl AsFd, level: libc::c_int, option: libc::c_int, value: u32) -> io::Result<()> {
    // No safe library has these options.
    #[expect(unsafe_code, reason = "the kernel reads four bytes that are there")]
    // SAFETY: the descriptor lives for the call, and `value` may be read for its size.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size_of::<u32>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn unsent_data_of_a_closed_connection_is_discarded() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        throw_away_when_closed(&stream).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        while stream.write(&[0; 1 << 12]).is_ok() {}
        drop(stream); // as the kernel closes those of a killed process
        let error = receiver.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}
