//! Attaching a program to a device by a link, which libbpf-rs has no call for yet.
#![expect(unsafe_code, reason = "one call of libbpf that has no safe counterpart")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use libbpf_rs::ProgramMut;
use libbpf_sys::{BPF_TCX_EGRESS, BPF_TCX_INGRESS, bpf_link_create};

use super::loss::Hook;

/// The link of `program` to the device: while it is open the program is attached, and the kernel closes it with the
/// process. Needs Linux 6.6.
pub(super) fn attach(program: &ProgramMut<'_>, device: u32, hook: Hook) -> io::Result<OwnedFd> {
    let attach_type = match hook {
        Hook::Egress => BPF_TCX_EGRESS,
        Hook::Ingress => BPF_TCX_INGRESS,
    };
    let device = i32::try_from(device).map_err(io::Error::other)?;
    // SAFETY: the program's descriptor is open, and no options are given.
    let link = unsafe { bpf_link_create(program.as_fd().as_raw_fd(), device, attach_type, std::ptr::null()) };
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
