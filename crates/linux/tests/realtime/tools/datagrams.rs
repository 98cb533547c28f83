//! A constant stream of UDP datagrams, each compared on arrival.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use rustix::net::sockopt::{set_ip_recvtos, set_ip_tos};

use crate::support::namespace::Namespace;

/// Interval between datagrams.
const GAP: Duration = Duration::from_millis(4);
/// Timeout of the receiver, longer than the delay of any datagram.
const SILENCE: Duration = Duration::from_secs(1);
/// Expedited forwarding (RFC 3246), above the ECN field. It must not change either.
const EXPEDITED: u8 = 46 << 2;

/// A stream of 2 Mbit/s from one host to another.
pub(crate) struct Stream {
    over: Arc<AtomicBool>,
    sender: JoinHandle<u32>,
    receiver: JoinHandle<u32>,
}

impl Stream {
    pub(crate) fn start(from: &Namespace, (to, address): (&Namespace, &str)) -> Self {
        let to = to.within(|| UdpSocket::bind((address, 0)).unwrap());
        let from = from.within(|| UdpSocket::bind("0.0.0.0:0").unwrap());
        from.connect(to.local_addr().unwrap()).unwrap();
        to.set_read_timeout(Some(SILENCE)).unwrap();
        set_ip_recvtos(&to, true).unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        Self {
            over,
            sender: std::thread::spawn(move || send(&from, &ended)),
            receiver: std::thread::spawn(move || receive(&to)),
        }
    }

    /// Ends the stream. Returns the number of datagrams sent, and the number that arrived, in order and
    /// unchanged.
    pub(crate) fn end(self) -> (u32, u32) {
        self.over.store(true, Ordering::Relaxed);
        (self.sender.join().unwrap(), self.receiver.join().unwrap())
    }
}

fn send(socket: &UdpSocket, over: &AtomicBool) -> u32 {
    let began = Instant::now();
    let mut sent = 0;
    while !over.load(Ordering::Relaxed) {
        let (class, payload) = datagram(sent);
        set_ip_tos(socket, class).unwrap();
        socket.send(&payload).unwrap();
        sent += 1;
        std::thread::sleep((GAP * sent).saturating_sub(began.elapsed()));
    }
    sent
}

/// Receives datagrams until none arrives any more.
fn receive(socket: &UdpSocket) -> u32 {
    let (mut arrived, mut next) = (0, 0);
    let (mut buffer, mut control) = ([0; 2048], nix::cmsg_space!(u8));
    loop {
        let mut parts = [IoSliceMut::new(&mut buffer)];
        let message =
            match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty()) {
                Err(Errno::EAGAIN) => return arrived,
                message => message.unwrap(),
            };
        let class = message.cmsgs().unwrap().find_map(|one| match one {
            ControlMessageOwned::Ipv4Tos(class) => Some(class),
            _ => None,
        });
        let length = message.bytes;
        let number = u32::from_be_bytes(buffer[..4].try_into().unwrap());
        assert!(number >= next, "{number} after {next}");
        let (sent_class, payload) = datagram(number);
        assert_eq!(class, Some(sent_class), "{number}");
        assert!(buffer[..length] == payload, "{number} arrived changed");
        (arrived, next) = (arrived + 1, number + 1);
    }
}

/// Returns a datagram's traffic class, with all ECN fields in turn, and its payload: its number, the length
/// of a header for programs that take it for TCP, and bytes and a length that differ between datagrams.
fn datagram(number: u32) -> (u8, Vec<u8>) {
    let length = 900 + number % 101;
    let mut payload = number.to_be_bytes().to_vec();
    payload.push(5 << 4);
    payload.extend((0..length).map(|byte| ((byte * 7 + number * 13) % 251) as u8));
    (EXPEDITED | (number % 4) as u8, payload)
}
