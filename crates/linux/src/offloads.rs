//! Offloads of a device, with which one packet in the kernel represents several on the wire.
#![expect(unsafe_code, reason = "the request that tells of offloads has no safe call")]

use std::io;
use std::os::fd::AsRawFd;
use std::ptr::from_mut;

use airpath_os_linux::Route;
use nix::libc;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

/// The requests `ETHTOOL_GTSO`, `ETHTOOL_GGSO` and `ETHTOOL_GGRO` of linux/ethtool.h, which return whether an
/// offload is on.
const SEGMENTS_IN_DEVICE: u32 = 0x1e;
const SEGMENTS_IN_KERNEL: u32 = 0x23;
const JOINS: u32 = 0x2b;

/// The segmentation offloads of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offloads {
    /// Whether segments leave the stack in large packets that are split later (TSO, GSO).
    pub(crate) sends_trains: bool,
    /// Whether arriving segments are merged (GRO).
    pub(crate) joins: bool,
}

impl Offloads {
    /// Returns the offloads of a device in this thread's network namespace.
    pub(crate) fn of(device: &str) -> io::Result<Self> {
        let index = if_nametoindex(device)?;
        let route = Route::open_with_timeout()?;
        let cut = is_on(device, SEGMENTS_IN_DEVICE)? || is_on(device, SEGMENTS_IN_KERNEL)?;
        Ok(Self {
            sends_trains: cut && route.max_gso_segments(index)? != Some(1),
            joins: is_on(device, JOINS)? && !route.is_tun(index)?,
        })
    }
}

/// `struct ethtool_value`.
#[repr(C)]
struct Question {
    command: u32,
    value: u32,
}

fn is_on(device: &str, command: u32) -> io::Result<bool> {
    nix::ioctl_readwrite_bad!(ask, libc::SIOCETHTOOL, libc::ifreq);

    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let mut question = Question { command, value: 0 };
    let mut request = libc::ifreq {
        ifr_name: [0; libc::IFNAMSIZ],
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: from_mut(&mut question).cast() },
    };
    // The last byte stays zero.
    for (place, &byte) in request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(device.as_bytes()) {
        *place = byte as libc::c_char; // the same bits
    }
    // SAFETY: the request points to a struct of the type that its command requires, and both outlive the
    // call.
    unsafe { ask(socket.as_raw_fd(), &raw mut request) }?;
    Ok(question.value != 0)
}
