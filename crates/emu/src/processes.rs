//! Child processes that never outlive the emulation.
//!
//! They are in a separate process namespace, whose first process waits on a pipe that only this process holds
//! open. If this process ends, by any signal, the pipe closes, the first process ends, and the kernel kills
//! all others in the namespace.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;

use airpath_os_linux::{Context, NetworkNamespace, SystemError, in_thread};
use nix::sched::{CloneFlags, setns, unshare};

/// A process namespace with its first process.
#[derive(Debug)]
pub(crate) struct Processes {
    namespace: OwnedFd,
    first: Option<Child>,
}

impl Processes {
    pub(crate) fn new() -> Result<Self, SystemError> {
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWPID).context("a process namespace")?;
            // `cat` ends when its input does. It ignores Ctrl-C.
            let first = Command::new("cat")
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .current_dir("/")
                .process_group(0)
                .spawn()
                .context("starting `cat`, which watches over child processes")?;
            let namespace = File::open("/proc/thread-self/ns/pid_for_children")
                .context("the descriptor of a process namespace")?;
            Ok(Self { namespace: namespace.into(), first: Some(first) })
        })
    }

    /// Starts a command inside a network namespace.
    pub(crate) fn spawn(
        &self,
        network: &NetworkNamespace,
        command: &mut Command,
    ) -> Result<Child, SystemError> {
        let name = command.get_program().to_string_lossy().into_owned();
        network.enter(|| {
            setns(self.namespace.as_fd(), CloneFlags::CLONE_NEWPID)
                .context("entering a process namespace")?;
            command.spawn().context(format!("starting `{name}`"))
        })?
    }
}

impl Processes {
    /// Ends all processes of the namespace; no more can be started then.
    pub(crate) fn end(&mut self) {
        let Some(mut first) = self.first.take() else { return };
        // Fails only if it has already ended.
        let _ = first.kill();
        // It ends when all others have been waited for, which is the task of the processes that started them.
        thread::spawn(move || first.wait());
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.end();
    }
}
