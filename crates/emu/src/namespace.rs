//! Network namespaces without a name: held by a descriptor, so that the kernel frees them with the process, however it
//! ends. Nothing is left in `/run/netns`.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use crate::error::{Asked, EmulationError};
use crate::socket_table::OwnTables;

/// A network namespace of our own.
#[derive(Debug)]
pub struct NetworkNamespace {
    descriptor: OwnedFd,
}

impl NetworkNamespace {
    /// A fresh namespace, with nothing in it but a loopback device that is down.
    ///
    /// # Errors
    /// Where the process may not make one: it needs root, or [`become_root_in_user_namespace`].
    pub fn new() -> Result<Self, EmulationError> {
        let descriptor = in_thread(|| {
            // Without a table of its own a namespace works too, but asking for its sockets takes longer.
            let _own = OwnTables::request();
            unshare(CloneFlags::CLONE_NEWNET)
                .asked("a network namespace (needs root or a user namespace; `airpath doctor` says more)")?;
            File::open("/proc/thread-self/ns/net").asked("the descriptor of a network namespace")
        })?;
        Ok(Self { descriptor: descriptor.into() })
    }

    /// A file by which other processes of the same user find the namespace, as long as this process holds it.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.descriptor.as_raw_fd()).into()
    }

    /// Does some work in a thread within the namespace, and waits for it. Sockets that it opens, and threads and processes
    /// that it starts, stay in the namespace wherever they go.
    ///
    /// # Errors
    /// Where the namespace cannot be entered.
    pub fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, EmulationError> {
        in_thread(|| {
            setns(self.descriptor.as_fd(), CloneFlags::CLONE_NEWNET).asked("entering a network namespace")?;
            Ok(work())
        })
    }
}

/// Makes this process root in a user namespace of its own, in which an ordinary user may make network namespaces and TUN
/// devices. Files that it makes still belong to the user. Does nothing for root.
///
/// # Errors
/// Where the kernel forbids it (`kernel.unprivileged_userns_clone`, `AppArmor`, containers), or the process has more than
/// one thread: call it first of all.
pub fn become_root_in_user_namespace() -> Result<(), EmulationError> {
    if nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    unshare(CloneFlags::CLONE_NEWUSER).asked(
        "a user namespace (the kernel must allow it to users, and the process may have only one thread;\
         \n`airpath doctor` says more)",
    )?;
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("0 {user} 1"))?;
    write("/proc/self/gid_map", &format!("0 {group} 1"))
}

/// Writes a setting of the kernel.
pub(crate) fn write(path: &str, value: &str) -> Result<(), EmulationError> {
    std::fs::write(path, value).asked(format!("writing {value:?} to {path}"))
}

/// Does some work in a thread of its own, whose namespaces may change; a panic goes on here.
pub(crate) fn in_thread<R: Send>(
    work: impl FnOnce() -> Result<R, EmulationError> + Send,
) -> Result<R, EmulationError> {
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
