//! A hash table of TCP sockets for one network namespace.
//!
//! By default all namespaces share the established-hash table of the machine. A `sock_diag` dump walks all of
//! its buckets, which takes 4.7 ms for 262144 buckets and two hosts. Since Linux 6.1 a namespace gets a
//! separate table if `net.ipv4.tcp_child_ehash_entries` is not 0 in the namespace of the process that creates
//! it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

use nix::fcntl::{Flock, FlockArg};

/// The setting, in the namespace of the calling thread.
const CHILD_ENTRIES: &str = "/proc/sys/net/ipv4/tcp_child_ehash_entries";
/// Buckets of the table of the calling thread's namespace; negative if it is the shared table of the machine.
const ENTRIES: &str = "/proc/sys/net/ipv4/tcp_ehash_entries";
/// Buckets of a table: enough for a few thousand sockets, and few enough that a dump takes a few microseconds.
const BUCKETS: &str = "4096";

/// While the value exists, namespaces created by this thread get a separate table. Dropping it restores the
/// setting.
#[derive(Debug)]
pub(crate) struct OwnTables {
    /// Locked, so that no other process takes the temporary value for the one to restore.
    setting: Flock<File>,
    before: String,
}

impl OwnTables {
    /// Changes the setting if it is 0. Otherwise an administrator chose the size, and it stays unchanged.
    ///
    /// # Errors
    /// If the kernel does not have the setting, or does not let this process change it.
    pub(crate) fn request() -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(CHILD_ENTRIES)?;
        let setting = Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| error)?;
        let mut text = [0; 32];
        let length = setting.read_at(&mut text, 0)?;
        let before = String::from_utf8_lossy(&text[..length]).trim().to_owned();
        if before == "0" {
            setting.write_all_at(BUCKETS.as_bytes(), 0)?;
        }
        Ok(Self { setting, before })
    }
}

impl Drop for OwnTables {
    fn drop(&mut self) {
        // The descriptor belongs to the namespace in which it was opened, even if the thread has left it.
        let _ = self.setting.write_all_at(self.before.as_bytes(), 0);
    }
}

/// Returns whether the namespace of the calling thread has a separate table.
pub fn is_own() -> bool {
    std::fs::read_to_string(ENTRIES).is_ok_and(|entries| !entries.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use airpath_realtime::skipped;

    use super::*;
    use crate::namespace::NetworkNamespace;

    /// Runs in a separate namespace, so that hosts of other tests do not change the setting in the meantime.
    #[test]
    fn namespaces_have_their_own_tables_and_the_setting_is_restored() {
        let outer = match NetworkNamespace::new() {
            Ok(outer) => outer,
            Err(error) => return skipped(error),
        };
        let setting = || std::fs::read_to_string(CHILD_ENTRIES).unwrap().trim().to_owned();
        let work = || {
            match OwnTables::request() {
                Ok(tables) => {
                    assert_eq!(setting(), BUCKETS);
                    drop(tables);
                }
                Err(error) => return skipped(format_args!("{CHILD_ENTRIES}: {error}")),
            }
            assert_eq!(setting(), "0");
            let inner = NetworkNamespace::new().unwrap();
            assert!(inner.enter(is_own).unwrap());
            assert_eq!(setting(), "0");
            std::fs::write(CHILD_ENTRIES, "256").unwrap();
            drop(OwnTables::request().unwrap());
            assert_eq!(setting(), "256", "chosen by an administrator");
        };
        outer.enter(work).unwrap();
    }
}
