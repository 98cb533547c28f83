//! The network namespace in which a daemon works.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sched::{CloneFlags, setns};

use crate::Error;

/// The directory in which `ip netns` keeps its names.
const NAMES: &str = "/run/netns";

/// The namespace of this thread, and the name by which other processes find it.
///
/// A process in a namespace keeps the namespace alive. The daemon therefore checks that the name still
/// exists, and ends if the name was removed.
#[derive(Debug)]
pub struct Namespace {
    /// The file that names the namespace, and its inode number.
    named: Option<(PathBuf, u64)>,
}

impl Namespace {
    /// Moves this thread into the namespace `name`, which is a name of `ip netns` or a path; `None` changes
    /// nothing. Call it before other threads are created.
    pub fn enter(name: Option<&str>) -> Result<Self, Error> {
        let Some(name) = name else { return Ok(Self::current()) };
        let path = if name.contains('/') { PathBuf::from(name) } else { Path::new(NAMES).join(name) };
        let said = |source| Error::File { path: path.clone(), source };
        let file = File::open(&path).map_err(said)?;
        let number = file.metadata().map_err(said)?.ino();
        setns(&file, CloneFlags::CLONE_NEWNET).map_err(|error| said(error.into()))?;
        Ok(Self { named: Some((path, number)) })
    }

    /// Returns the namespace of this thread, with its name if `ip netns` has one for it.
    fn current() -> Self {
        let own = fs::metadata("/proc/thread-self/ns/net").map(|metadata| metadata.ino());
        let named = own.ok().and_then(|own| {
            let entries = fs::read_dir(NAMES).ok()?;
            let mut paths = entries.flatten().map(|entry| entry.path());
            paths.find(|path| number(path) == Some(own)).map(|path| (path, own))
        });
        Self { named }
    }

    /// Returns an error if the namespace had a name and the name no longer exists.
    pub fn check(&self) -> Result<(), Error> {
        match &self.named {
            Some((path, own)) if number(path) != Some(*own) => {
                Err(Error::NamespaceGone { name: path.display().to_string() })
            }
            _ => Ok(()),
        }
    }
}

fn number(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| metadata.ino())
}
