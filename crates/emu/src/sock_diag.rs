//! All TCP sockets of a host, as reported by the kernel's socket diagnosis (`sock_diag(7)`).

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};

use airpath_os_linux::{Context, Netlink, SystemError, inet_diag, socket_table};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetResponse, StateFlags};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

use crate::address::Side;
use crate::host::Host;
use crate::hosts::Hosts;
use crate::tcp_info::TcpInfo;

/// The kernel's report on one TCP socket.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TcpSocket {
    /// Local address and port.
    pub(crate) here: SocketAddrV4,
    /// Remote address and port.
    pub(crate) there: SocketAddrV4,
    /// Identifies the socket among all others, including later ones between the same ports.
    pub(crate) cookie: u64,
    /// Bytes that arrived in order and that the application has not read.
    pub(crate) unread_bytes: u32,
    /// Name of its congestion control; `None` once the socket is destroyed.
    pub(crate) congestion_control: Option<String>,
    /// The contents of `TCP_INFO`.
    pub(crate) info: TcpInfo,
}

/// The TCP sockets of one host.
pub(crate) trait Sockets {
    /// Returns every socket that sends or receives, or still might.
    fn sockets(&self) -> io::Result<Vec<TcpSocket>>;

    /// Returns the sockets that were destroyed since the last call, in their final state, and whether some
    /// are missing because the receive buffer was full.
    fn destroyed(&self) -> io::Result<(Vec<TcpSocket>, bool)>;
}

/// The diagnosis of one host's sockets.
#[derive(Debug)]
pub(crate) struct SockDiag {
    /// Whether a dump walks only the table of this host.
    pub(crate) own_table: bool,
    questions: Netlink,
    /// Receives notifications of destroyed sockets.
    destroyed: Netlink,
}

/// The group for notifications of destroyed TCP sockets over IPv4, and the one for IPv6, which includes
/// sockets of both families (`linux/sock_diag.h`).
const DESTROYED_IPV4: u32 = 1;
const DESTROYED_IPV6: u32 = 3;
/// Receive buffer for notifications between two reads: a few thousand sockets.
const ROOM: usize = 4 << 20;

impl SockDiag {
    /// Opens the diagnosis of a host's sockets, for use by any thread.
    ///
    /// # Errors
    /// If the kernel does not support it.
    pub(crate) fn of(host: &Host) -> Result<Self, SystemError> {
        let open = || -> io::Result<Self> {
            Ok(Self {
                own_table: socket_table::is_own(),
                questions: Netlink::open(NETLINK_SOCK_DIAG)?,
                destroyed: Netlink::listen(NETLINK_SOCK_DIAG, &[DESTROYED_IPV4, DESTROYED_IPV6], ROOM)?,
            })
        };
        host.enter(open)?.context("the kernel's diagnosis of sockets (CONFIG_INET_DIAG)")
    }

    /// Opens the diagnoses of both hosts, indexed by [`Side::index`].
    ///
    /// # Errors
    /// As [`SockDiag::of`].
    pub(crate) fn of_both(hosts: &Hosts) -> Result<[Self; 2], SystemError> {
        Ok([Self::of(hosts.host(Side::Senders))?, Self::of(hosts.host(Side::Receivers))?])
    }
}

impl Sockets for SockDiag {
    fn sockets(&self) -> io::Result<Vec<TcpSocket>> {
        let states = !(StateFlags::LISTEN | StateFlags::TIME_WAIT | StateFlags::SYN_RECV);
        let mut sockets = Vec::new();
        for family in inet_diag::FAMILIES {
            let request =
                inet_diag::request(family, ExtensionFlags::INFO | ExtensionFlags::CONG, states.clone());
            self.questions.dump(request, |bytes| sockets.extend(TcpSocket::parse(bytes)))?;
        }
        Ok(sockets)
    }

    fn destroyed(&self) -> io::Result<(Vec<TcpSocket>, bool)> {
        let mut sockets = Vec::new();
        let missing = self.destroyed.notifications(|bytes| sockets.extend(TcpSocket::parse(bytes)))?;
        Ok((sockets, missing))
    }
}

impl TcpSocket {
    /// Parses the kernel's report on a socket; returns `None` if it is not a connection over IPv4, or
    /// malformed.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let InetResponse { header, nlas } = inet_diag::response(bytes)?;
        let (mut congestion_control, mut info) = (None, None);
        for attribute in nlas {
            match attribute {
                Nla::TcpInfo(bytes) => info = TcpInfo::parse(&bytes),
                Nla::Congestion(name) => congestion_control = Some(name),
                _ => {}
            }
        }
        let id = header.socket_id;
        Some(Self {
            here: SocketAddrV4::new(ipv4(id.source_address)?, id.source_port),
            there: SocketAddrV4::new(ipv4(id.destination_address)?, id.destination_port),
            cookie: u64::from_ne_bytes(id.cookie),
            unread_bytes: header.recv_queue,
            congestion_control,
            info: info?,
        })
    }
}

/// Returns the IPv4 address, also of an IPv6 socket.
fn ipv4(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(address) => address.to_ipv4_mapped(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use proptest::prelude::*;

    use super::*;
    use airpath_realtime::skipped;

    /// Creates a host, or returns `None` and reports the reason if that is impossible.
    fn host() -> Option<Host> {
        match Host::new(Side::Senders) {
            Ok((host, _)) => Some(host),
            Err(error) => {
                skipped(error);
                None
            }
        }
    }

    /// Returns both endpoints of a connection over loopback within a host, and the listener.
    fn connection(host: &Host, listen: &str) -> (TcpStream, TcpStream, TcpListener) {
        let open = || {
            let listener = TcpListener::bind((listen, 0)).unwrap();
            let here = TcpStream::connect(("127.0.0.1", listener.local_addr().unwrap().port())).unwrap();
            (here, listener.accept().unwrap().0, listener)
        };
        host.enter(open).unwrap()
    }

    fn of<'a>(sockets: &'a [TcpSocket], stream: &TcpStream) -> &'a TcpSocket {
        let port = stream.local_addr().unwrap().port();
        sockets.iter().find(|socket| socket.here.port() == port).unwrap()
    }

    #[test]
    fn sockets_of_both_families_are_reported_while_open_and_when_closed() {
        let Some(host) = host() else { return };
        let diag = SockDiag::of(&host).unwrap();
        for listen in ["127.0.0.1", "::"] {
            let (mut here, mut there, _listener) = connection(&host, listen);
            here.write_all(&[1; 3000]).unwrap();
            there.read_exact(&mut [0; 1000]).unwrap();
            let sockets = diag.sockets().unwrap();
            assert_eq!(sockets.len(), 2, "{sockets:?}");
            let (sender, receiver) = (of(&sockets, &here), of(&sockets, &there));
            assert_eq!((sender.here, sender.there), (receiver.there, receiver.here));
            assert_ne!(sender.cookie, receiver.cookie);
            assert_eq!(sender.info.bytes_sent, Some(3000));
            assert_eq!((receiver.info.bytes_received, receiver.unread_bytes), (Some(3000), 2000));
            assert!(sender.congestion_control.is_some());
            let cookies = [sender.cookie, receiver.cookie];

            there.read_exact(&mut [0; 2000]).unwrap();
            drop(here);
            // The end of data has arrived before the other side closes, too.
            assert_eq!(there.peek(&mut [0]).unwrap(), 0);
            drop(there);
            let mut destroyed: Vec<TcpSocket> = Vec::new();
            let all = |destroyed: &[TcpSocket]| {
                cookies.iter().all(|cookie| destroyed.iter().any(|socket| socket.cookie == *cookie))
            };
            let began = std::time::Instant::now();
            while !all(&destroyed) {
                // This only bounds a test that would never end.
                assert!(began.elapsed().as_secs() < 600, "{destroyed:?}");
                std::thread::sleep(std::time::Duration::from_millis(5));
                let (more, missing) = diag.destroyed().unwrap();
                assert!(!missing);
                destroyed.extend(more);
            }
            let told = cookies.map(|cookie| destroyed.iter().find(|socket| socket.cookie == cookie).unwrap());
            assert_eq!(told[0].info.bytes_sent, Some(3000));
            // The FIN of the other side counts as a byte, here not read.
            assert_eq!((told[1].info.bytes_received, told[1].unread_bytes), (Some(3001), 1));
            assert_eq!(diag.sockets().unwrap(), []);
        }
    }

    #[test]
    fn all_sockets_of_a_host_are_destroyed_and_no_others() {
        let (Some(host), Some(other)) = (host(), host()) else { return };
        // The listener stays open: one that is dropped lives on in a process that another test is just starting.
        let (mut here, _there, listener) = connection(&host, "::");
        let (mut elsewhere, _far, _other) = connection(&other, "127.0.0.1");
        match host.destroy_sockets() {
            Err(SystemError { error, .. }) if error.kind() == io::ErrorKind::Unsupported => return,
            destroyed => assert_eq!(destroyed.unwrap(), 3),
        }
        assert_eq!(here.write(&[1]).unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
        assert_eq!(host.destroy_sockets().unwrap(), 0);
        drop(listener);
        elsewhere.write_all(&[1]).unwrap();
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..600), family in 0_usize..2, lengths in any::<[u8; 4]>()) {
            let _ = TcpSocket::parse(&bytes);
            // Bytes that look more like a socket with attributes.
            if bytes.len() > 80 {
                bytes[0] = inet_diag::FAMILIES[family];
                let mut at = 72;
                for (kind, length) in (1_u16..).zip(lengths) {
                    let Some(header) = bytes.get_mut(at..at + 4) else { break };
                    header[..2].copy_from_slice(&u16::from(length).to_ne_bytes());
                    header[2..].copy_from_slice(&(kind * 2).to_ne_bytes());
                    at += usize::from(length).next_multiple_of(4).max(4);
                }
                let _ = TcpSocket::parse(&bytes);
            }
        }
    }
}
