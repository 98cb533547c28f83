//! Parts shared by the deterministic tests (`it`) and the tests in real time (`realtime`).
#![allow(dead_code, unused_imports, reason = "each of the two binaries uses a part")]

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use airpath_linux::host::{Host, HostConfig};
use airpath_linux::{Error, capability};
use nix::time::{ClockId, clock_gettime};
use rustix::fs::{FlockOperation, flock};

mod can_load;
pub(crate) mod empty_queue;
pub(crate) mod lab;
pub(crate) mod namespace;
pub(crate) mod packets;
pub(crate) mod replay;
pub(crate) mod standing;

pub(crate) use can_load::{can_control, can_host, can_load, can_route, skipped};

/// Locks hosts for one test at a time on this machine, since the controllers' names are global. Waits for
/// tests of other processes too. The kernel unlocks the file when the process ends.
pub(crate) fn alone() -> File {
    let lock = File::create(std::env::temp_dir().join("airpath-hosts.lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    lock
}

/// The longest time for which the router's programs continue without a beat. A test beats before each packet,
/// so only a pause of this length between two system calls could disturb it.
pub(crate) const LONGEST_HOLD: Duration = Duration::from_secs(10);

/// Returns the time of the programs' clock, nanoseconds.
pub(crate) fn clock() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// A control group that this process joins, and leaves on drop.
pub(crate) struct OwnCgroup {
    pub(crate) folder: PathBuf,
    parent: PathBuf,
}

impl OwnCgroup {
    /// Creates and joins the group `name`.
    pub(crate) fn join(name: &str) -> Self {
        let parent = capability::cgroup_root().expect("control groups, version 2, are mounted");
        let folder = parent.join(format!("{name}-{}", std::process::id()));
        // A killed test leaves its group, and process ids are reused.
        let _ = fs::remove_dir(&folder);
        fs::create_dir(&folder).unwrap();
        let group = Self { folder, parent };
        fs::write(group.folder.join("cgroup.procs"), "0").unwrap();
        group
    }
}

impl Drop for OwnCgroup {
    fn drop(&mut self) {
        let _ = fs::write(self.parent.join("cgroup.procs"), "0");
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Loads the host side. Waits while another process of this machine uses the controllers' names.
pub(crate) fn load(config: &HostConfig) -> Host {
    let until = Instant::now() + Duration::from_secs(90);
    loop {
        match Host::load(config) {
            Ok(host) => return host,
            Err(Error::Bpf { action, .. }) if action.contains("register") && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(500));
            }
            Err(error) => panic!("{error}"),
        }
    }
}
