//! TUN devices that exist as long as their descriptor: this process reads and writes the packets of a
//! namespace's network stack.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use airpath_os_linux::Context;
use nix::libc;

use crate::error::EmulationError;

/// An open TUN device. It is not persistent: when it is closed, the kernel removes it.
#[derive(Debug)]
pub struct Tun {
    file: File,
}

impl Tun {
    /// Creates a device of this name in the network namespace of the calling thread. Packets have no
    /// additional header (`IFF_NO_PI`); reads and writes do not block.
    ///
    /// # Errors
    /// If `/dev/net/tun` (or the file named by the environment variable `AIRPATH_TUN`) does not exist, or may
    /// not be used.
    pub fn new(name: &str) -> Result<Self, EmulationError> {
        let path = device_file();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path)
            .context(format!("opening {path} (`airpath doctor` says more)"))?;
        claim(&file, name).context(format!("making the TUN device {name}"))?;
        Ok(Self { file })
    }

    /// Reads one packet; returns `None` if none waits. A packet longer than `buffer` is truncated.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match nix::unistd::read(&self.file, buffer) {
            Ok(length) => Ok(Some(length)),
            Err(nix::Error::EAGAIN | nix::Error::EINTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Passes one packet to the network stack; returns `false` if it does not accept it.
    pub(crate) fn write(&self, packet: &[u8]) -> bool {
        nix::unistd::write(&self.file, packet).is_ok_and(|written| written == packet.len())
    }
}

#[cfg(test)]
impl Tun {
    /// Creates a device without a network stack: packets sent to the other end are read here, and the
    /// reverse.
    pub(crate) fn pair() -> (Self, std::os::unix::net::UnixDatagram) {
        let (here, there) = std::os::unix::net::UnixDatagram::pair().unwrap();
        here.set_nonblocking(true).unwrap();
        there.set_nonblocking(true).unwrap();
        (Self { file: std::os::fd::OwnedFd::from(here).into() }, there)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Returns the file that creates TUN devices.
pub fn device_file() -> String {
    std::env::var("AIRPATH_TUN").unwrap_or_else(|_| "/dev/net/tun".to_owned())
}

#[expect(unsafe_code, reason = "there is no safe call for this request")]
fn claim(file: &File, name: &str) -> nix::Result<()> {
    nix::ioctl_write_ptr_bad!(
        set_interface,
        nix::request_code_write!(b'T', 202, size_of::<libc::c_int>()),
        libc::ifreq
    );

    let mut request = libc::ifreq {
        ifr_name: [0; libc::IFNAMSIZ],
        ifr_ifru: libc::__c_anonymous_ifr_ifru {
            ifru_flags: (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short,
        },
    };
    // The last byte stays zero.
    for (place, &byte) in request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(name.as_bytes()) {
        *place = byte as libc::c_char;
    }
    // SAFETY: the descriptor is open while `file` is borrowed, and the request, which the kernel reads and
    // writes, is initialized and lives until the call returns.
    unsafe { set_interface(file.as_raw_fd(), &raw const request) }.map(drop)
}
