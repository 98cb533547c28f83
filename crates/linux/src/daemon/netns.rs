//! The network namespace that a daemon works in.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sched::{CloneFlags, setns};

use crate::Error;

/// Where `ip netns` keeps its names.
const NAMES: &str = "/run/netns";

/// The namespace of this thread, and the name under which others know it.
///
/// A process that works in a namespace keeps it alive. So the daemon looks whether its name is still there, and ends when
/// somebody has removed it.
#[derive(Debug)]
pub struct Namespace {
    /// The file that names it, and its number.
    named: Option<(PathBuf, u64)>,
}

impl Namespace {
    /// Moves this thread into the namespace `name`, of `ip netns` or a path; stays where it is without one. Must come before
    /// other threads are made.
    pub fn enter(name: Option<&str>) -> Result<Self, Error> {
        let Some(name) = name else { return Ok(Self::current()) };
        let path = if name.contains('/') { PathBuf::from(name) } else { Path::new(NAMES).join(name) };
        let said = |source| Error::File { path: path.clone(), source };
        let file = File::open(&path).map_err(said)?;
        let number = file.metadata().map_err(said)?.ino();
        setns(&file, CloneFlags::CLONE_NEWNET).map_err(|error| said(error.into()))?;
        Ok(Self { named: Some((path, number)) })
    }

    /// That of this thread; known by name when `ip netns` has one for it.
    fn current() -> Self {
        let own = fs::metadata("/proc/thread-self/ns/net").map(|metadata| metadata.ino());
        let named = own.ok().and_then(|own| {
            let entries = fs::read_dir(NAMES).ok()?;
            let mut paths = entries.flatten().map(|entry| entry.path());
            paths.find(|path| number(path) == Some(own)).map(|path| (path, own))
        });
        Self { named }
    }

    /// An error when the namespace had a name and has it no more.
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
