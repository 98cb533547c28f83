//! Attaching a program to a device by a link, which libbpf-rs has no call for yet.
#![expect(unsafe_code, reason = "one call of libbpf that has no safe counterpart")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libbpf_rs::libbpf_sys::{BPF_TCX_EGRESS, BPF_TCX_INGRESS, bpf_attach_type, bpf_link_create};

/// The link of a program to what leaves by the device with that index in the caller's network namespace: while it is open the
/// program is attached, and the kernel closes it with the process. Needs Linux 6.6.
pub(crate) fn attach_egress(program: BorrowedFd<'_>, device: u32) -> io::Result<OwnedFd> {
    attach(program, device, BPF_TCX_EGRESS)
}

/// As [`attach_egress`], to what comes in.
pub(crate) fn attach_ingress(program: BorrowedFd<'_>, device: u32) -> io::Result<OwnedFd> {
    attach(program, device, BPF_TCX_INGRESS)
}

fn attach(program: BorrowedFd<'_>, device: u32, side: bpf_attach_type) -> io::Result<OwnedFd> {
    let device = i32::try_from(device).map_err(io::Error::other)?;
    // SAFETY: the program's descriptor is open, and no options are given.
    let link = unsafe { bpf_link_create(program.as_raw_fd(), device, side, std::ptr::null()) };
    match link {
        // libbpf gives the negative error number.
        ..0 if link == -22 => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this kernel has no links to devices (tcx), which came with Linux 6.6",
        )),
        ..0 => Err(io::Error::from_raw_os_error(-link)),
        // SAFETY: a descriptor that was just made, and that nobody else has.
        _ => Ok(unsafe { OwnedFd::from_raw_fd(link) }),
    }
}
