//! A wire implemented by a thread: it connects two devices of a namespace that forwards nothing, and may
//! delay, change and drop each packet.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::ifaddrs::getifaddrs;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, bind, recv, send, socket};
use nix::sys::time::TimeSpec;

use crate::support::namespace::Namespace;

/// Direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// From left to right.
    There,
    /// From right to left.
    Back,
}

/// Forwards IPv4 until it is dropped.
pub(crate) struct Wire {
    cut: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Wire {
    /// Connects the devices `in` and `out` of `middle`. Each packet is delayed by `delay`. Before that,
    /// `passes` may change the frame, and returns false to drop it.
    pub(crate) fn new(
        middle: &Namespace,
        delay: Duration,
        mut passes: impl FnMut(Way, &mut Vec<u8>) -> bool + Send + 'static,
    ) -> Self {
        let ends = middle.within(|| ["in", "out"].map(end));
        let cut = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&cut);
        let thread = std::thread::spawn(move || {
            let mut under_way = VecDeque::new();
            while !ended.load(Ordering::Relaxed) {
                wait(&ends, under_way.front());
                for (way, from) in [(Way::There, &ends[0]), (Way::Back, &ends[1])] {
                    while let Some(mut frame) = receive(from) {
                        if passes(way, &mut frame) {
                            under_way.push_back((Instant::now() + delay, way, frame));
                        }
                    }
                }
                while under_way.front().is_some_and(|(due, ..)| *due <= Instant::now()) {
                    let Some((_, way, frame)) = under_way.pop_front() else { break };
                    let to = &ends[usize::from(way == Way::There)];
                    // If the device rejects the frame, it is lost, as with any device.
                    let _ = send(to.as_raw_fd(), &frame, MsgFlags::empty());
                }
            }
        });
        Self { cut, thread: Some(thread) }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.cut.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Opens a socket for the frames of a device in this thread's namespace. For IPv4 it receives incoming
/// frames, but not those that it sends itself.
fn end(device: &str) -> OwnedFd {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Packet, SockType::Raw, flags, SockProtocol::EthIp).unwrap();
    let of_device = |entry: nix::ifaddrs::InterfaceAddress| {
        entry.address.filter(|_| entry.interface_name == device)?.as_link_addr().copied()
    };
    let address = getifaddrs().unwrap().find_map(of_device).unwrap();
    bind(socket.as_raw_fd(), &address).unwrap();
    socket
}

fn receive(socket: &OwnedFd) -> Option<Vec<u8>> {
    let mut frame = vec![0; 2048];
    let length = recv(socket.as_raw_fd(), &mut frame, MsgFlags::empty()).ok()?;
    frame.truncate(length);
    Some(frame)
}

/// Waits until a frame arrives or the first one is due; at most 20 ms, so that the thread notices its end.
fn wait(ends: &[OwnedFd; 2], first: Option<&(Instant, Way, Vec<u8>)>) {
    let longest = Duration::from_millis(20);
    let wait = first.map_or(longest, |(due, ..)| due.saturating_duration_since(Instant::now()).min(longest));
    let mut polled = [0, 1].map(|place| PollFd::new(ends[place].as_fd(), PollFlags::POLLIN));
    let _ = ppoll(&mut polled, Some(TimeSpec::from(wait)), None);
}
