//! Attachment of a program to a device by a link, for which libbpf-rs has no call yet.
#![expect(unsafe_code, reason = "one call of libbpf that has no safe counterpart")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libbpf_rs::libbpf_sys::{BPF_TCX_EGRESS, BPF_TCX_INGRESS, bpf_attach_type, bpf_link_create};

/// Attaches `program` to the egress of the device with index `device` in the caller's network namespace. The
/// program stays attached while the returned link is open; the kernel closes it with the process. Requires
/// Linux 6.6.
pub(crate) fn attach_egress(program: BorrowedFd<'_>, device: u32) -> io::Result<OwnedFd> {
    attach(program, device, BPF_TCX_EGRESS)
}

/// Attaches `program` to the ingress of a device, as [`attach_egress`] does to the egress.
pub(crate) fn attach_ingress(program: BorrowedFd<'_>, device: u32) -> io::Result<OwnedFd> {
    attach(program, device, BPF_TCX_INGRESS)
}

fn attach(program: BorrowedFd<'_>, device: u32, side: bpf_attach_type) -> io::Result<OwnedFd> {
    let device = i32::try_from(device).map_err(io::Error::other)?;
    // SAFETY: the program's descriptor is open, and the options pointer may be null.
    let link = unsafe { bpf_link_create(program.as_raw_fd(), device, side, std::ptr::null()) };
    match link {
        // libbpf returns the negative error number.
        ..0 if link == -22 => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this kernel has no links to devices (tcx), which came with Linux 6.6",
        )),
        ..0 => Err(io::Error::from_raw_os_error(-link)),
        // SAFETY: the descriptor is new and has no other owner.
        _ => Ok(unsafe { OwnedFd::from_raw_fd(link) }),
    }
}
