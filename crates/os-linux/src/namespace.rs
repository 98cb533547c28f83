//! Network namespaces without a name. A descriptor keeps each alive, so the kernel removes it when the
//! process ends, even if it is killed. Nothing remains in `/run/netns`.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use crate::error::{Context, SystemError};
use crate::socket_table::OwnTables;

/// A network namespace that this process created.
#[derive(Debug)]
pub struct NetworkNamespace {
    descriptor: OwnedFd,
}

impl NetworkNamespace {
    /// Creates a namespace, which contains only a loopback device that is down.
    ///
    /// # Errors
    /// If the process may not create one: it needs root, or [`become_root_in_user_namespace`].
    pub fn new() -> Result<Self, SystemError> {
        let descriptor = in_thread(|| {
            // A namespace also works without a separate socket table, but listing its sockets then takes
            // longer.
            let _own = OwnTables::request();
            unshare(CloneFlags::CLONE_NEWNET).context(
                "a network namespace (needs root or a user namespace; `airpath doctor` says more)",
            )?;
            File::open("/proc/thread-self/ns/net").context("the descriptor of a network namespace")
        })?;
        Ok(Self { descriptor: descriptor.into() })
    }

    /// Returns the path of a file by which other processes of the same user can enter the namespace while
    /// this process keeps it alive.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.descriptor.as_raw_fd()).into()
    }

    /// Runs `work` in a thread inside the namespace, and waits for it. Sockets that it opens, and threads and
    /// processes that it starts, stay in the namespace.
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    pub fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, SystemError> {
        in_thread(|| {
            setns(self.descriptor.as_fd(), CloneFlags::CLONE_NEWNET)
                .context("entering a network namespace")?;
            Ok(work())
        })
    }
}

/// Makes this process root in a new user namespace, in which an ordinary user may create network namespaces
/// and TUN devices. Files that it creates still belong to the user. Does nothing for root.
///
/// # Errors
/// If the kernel forbids it (`kernel.unprivileged_userns_clone`, `AppArmor`, containers), or if the process
/// has more than one thread: call it before anything else.
pub fn become_root_in_user_namespace() -> Result<(), SystemError> {
    if nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    unshare(CloneFlags::CLONE_NEWUSER).context(
        "a user namespace (the kernel must allow it to users, and the process may have only one thread;\
         \n`airpath doctor` says more)",
    )?;
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("0 {user} 1"))?;
    write("/proc/self/gid_map", &format!("0 {group} 1"))
}

/// Writes a setting of the kernel.
///
/// # Errors
/// If the system refuses it.
pub fn write(path: &str, value: &str) -> Result<(), SystemError> {
    std::fs::write(path, value).context(format!("writing {value:?} to {path}"))
}

/// Runs `work` in a separate thread, which may change its namespaces. A panic continues in the calling
/// thread.
pub fn in_thread<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
