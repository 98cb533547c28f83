//! Network namespaces without a name: the kernel frees them with the process, even if it is killed.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::Mutex;

use nix::sched::{CloneFlags, setns, unshare};

/// The inode numbers of all namespaces that this process created.
pub(crate) static MADE: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// A network namespace, kept alive by a descriptor.
pub(crate) struct Namespace(File);

impl Namespace {
    pub(crate) fn new() -> Self {
        let made = std::thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET).unwrap();
            File::open("/proc/thread-self/ns/net").unwrap()
        });
        let namespace = made.join().unwrap();
        MADE.lock().unwrap().insert(namespace.metadata().unwrap().ino());
        Self(namespace)
    }

    /// Returns the path of a file that represents it.
    pub(crate) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// Returns a command to run inside. Its PATH also contains the tools of administrators.
    pub(crate) fn inside(&self, words: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
        command.arg(format!("--net={}", self.path())).args(words).env("PATH", path);
        command
    }

    /// Runs a command inside, which must succeed, and returns its output.
    pub(crate) fn command(&self, words: &str) -> String {
        let output = self.inside(&words.split(' ').collect::<Vec<_>>()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a function inside, in a separate thread.
    pub(crate) fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                setns(&self.0, CloneFlags::CLONE_NEWNET).unwrap();
                work()
            });
            inside.join().unwrap()
        })
    }

    /// Returns a counter of TCP.
    pub(crate) fn tcp_counter(&self, name: &str) -> u64 {
        self.counter("Tcp:", name)
    }

    /// Returns a counter of a protocol (`/proc/net/snmp`).
    pub(crate) fn counter(&self, protocol: &str, name: &str) -> u64 {
        let text = self.within(|| std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap());
        let mut lines = text.lines().filter(|line| line.starts_with(protocol));
        let names: Vec<&str> = lines.next().unwrap().split(' ').collect();
        let values: Vec<&str> = lines.next().unwrap().split(' ').collect();
        values[names.iter().position(|given| *given == name).unwrap()].parse().unwrap()
    }
}

impl Drop for Namespace {
    /// Ends the TCP connections inside. Orphaned connections would otherwise retransmit for minutes in an
    /// unused namespace, and each keeps its controller loaded: to the next test, the program would seem to be
    /// left over.
    fn drop(&mut self) {
        let _ = self.inside(&["ss", "--kill", "--tcp", "--all"]).output();
    }
}
