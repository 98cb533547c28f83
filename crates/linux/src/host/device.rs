//! Devices by which the packets of a host leave.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::str::FromStr;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sched::{CloneFlags, setns};

use crate::{Error, tcx};

/// `ARPHRD_ETHER` and `ARPHRD_LOOPBACK`: packets begin with an Ethernet header.
const WITH_ETHERNET: [u16; 2] = [1, 772];

/// A device, in this network namespace or another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// A file that stands for the network namespace (`/run/netns/NAME`, `/proc/PID/ns/net`); `None` for the own one.
    pub namespace: Option<PathBuf>,
    /// Its name there.
    pub name: String,
}

impl FromStr for Device {
    type Err = String;

    /// `NAME`, or `NAMESPACE:NAME` with the path of the namespace's file.
    fn from_str(text: &str) -> Result<Self, String> {
        let (namespace, name) = match text.rsplit_once(':') {
            // Names of devices may hold colons, paths begin with a slash.
            Some((path, name)) if path.starts_with('/') => (Some(PathBuf::from(path)), name),
            _ => (None, text),
        };
        if name.is_empty() || name.len() > 15 || name.contains('/') {
            return Err(format!(
                "{name:?} is no name of a device: NAME or /PATH/OF/NAMESPACE:NAME is accepted"
            ));
        }
        Ok(Self { namespace, name: name.to_owned() })
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(formatter, "{}:{}", namespace.display(), self.name),
            None => formatter.write_str(&self.name),
        }
    }
}

impl Device {
    /// All devices of the own namespace that are up, the loopback excepted.
    pub(super) fn all() -> Result<Vec<Self>, Error> {
        let addresses = getifaddrs().map_err(|error| Error::Devices { source: error.into() })?;
        Ok(addresses
            .filter(|entry| entry.address.is_some_and(|address| address.as_link_addr().is_some()))
            .filter(|entry| {
                entry.flags.contains(InterfaceFlags::IFF_UP)
                    && !entry.flags.contains(InterfaceFlags::IFF_LOOPBACK)
            })
            .map(|entry| Self { namespace: None, name: entry.interface_name })
            .collect())
    }

    /// Attaches one of two programs to what leaves by it: for packets that begin with an Ethernet header, or with IP.
    pub(super) fn attach(&self, ethernet: BorrowedFd<'_>, bare: BorrowedFd<'_>) -> Result<OwnedFd, Error> {
        let here = || -> io::Result<OwnedFd> {
            let (index, kind) = self.find()?;
            tcx::attach_egress(if WITH_ETHERNET.contains(&kind) { ethernet } else { bare }, index)
        };
        let attached = match &self.namespace {
            None => here(),
            // A thread enters the namespace, so that this process stays in its own.
            Some(path) => std::thread::scope(|scope| {
                let there = scope.spawn(|| {
                    setns(File::open(path)?, CloneFlags::CLONE_NEWNET)?;
                    here()
                });
                there.join().unwrap_or_else(|_| {
                    Err(io::Error::other("the thread that entered the namespace panicked"))
                })
            }),
        };
        attached.map_err(|source| Error::Device { device: self.to_string(), source })
    }

    /// Its index and its kind (`ARPHRD_…`), in the thread's namespace.
    fn find(&self) -> io::Result<(u32, u16)> {
        getifaddrs()?
            .filter(|entry| entry.interface_name == self.name)
            .find_map(|entry| {
                let address = entry.address?;
                let link = address.as_link_addr()?;
                Some((u32::try_from(link.ifindex()).ok()?, link.hatype()))
            })
            .ok_or_else(|| {
                io::Error::new(io::ErrorKind::NotFound, "there is no such device in the namespace")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_a_name_with_or_without_a_namespace() {
        let parse = |text: &str| text.parse::<Device>();
        assert_eq!(parse("eth0"), Ok(Device { namespace: None, name: "eth0".to_owned() }));
        let there = Device { namespace: Some("/run/netns/a:b".into()), name: "tun0".to_owned() };
        assert_eq!(parse("/run/netns/a:b:tun0"), Ok(there.clone()));
        assert_eq!(there.to_string(), "/run/netns/a:b:tun0");
        for wrong in ["", "/run/netns/a:", "a/b", "a-name-of-sixteen"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
