//! Egress devices of a host.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::str::FromStr;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::{InterfaceFlags, if_nametoindex};
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::LinkAddr;
use serde::Deserialize;

use crate::{Error, tcx};

/// `ARPHRD_ETHER` and `ARPHRD_LOOPBACK`, the types of devices whose packets begin with an Ethernet header.
const WITH_ETHERNET: [u16; 2] = [1, 772];

/// A device, in this network namespace or another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Device {
    /// The file of the network namespace (`/run/netns/NAME`, `/proc/PID/ns/net`); `None` for the current one.
    pub namespace: Option<PathBuf>,
    /// Its name in that namespace.
    pub name: String,
}

impl FromStr for Device {
    type Err = String;

    /// Parses `NAME`, or `NAMESPACE:NAME` with the path of the namespace's file.
    fn from_str(text: &str) -> Result<Self, String> {
        let (namespace, name) = match text.rsplit_once(':') {
            // Device names may contain colons; paths begin with a slash.
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

impl TryFrom<String> for Device {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
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
    /// Returns all devices of the current namespace that are up, except the loopback.
    pub(super) fn all() -> Result<Vec<Self>, Error> {
        let addresses = getifaddrs().map_err(|error| Error::Devices { source: error.into() })?;
        let mut names: Vec<String> = addresses
            .filter(|entry| entry.flags.contains(InterfaceFlags::IFF_UP))
            .filter(|entry| !entry.flags.contains(InterfaceFlags::IFF_LOOPBACK))
            .map(|entry| entry.interface_name)
            .collect();
        // The list has one entry per address.
        names.sort();
        names.dedup();
        Ok(names.into_iter().map(|name| Self { namespace: None, name }).collect())
    }

    /// Attaches one of two programs to the device's egress: for packets that begin with an Ethernet header,
    /// or with an IP header.
    pub(super) fn attach(&self, ethernet: BorrowedFd<'_>, bare: BorrowedFd<'_>) -> Result<OwnedFd, Error> {
        let attached = self.within(|| {
            let (index, with_ethernet) = self.find()?;
            tcx::attach_egress(if with_ethernet { ethernet } else { bare }, index)
        });
        attached.map_err(|source| Error::Device { device: self.to_string(), source })
    }

    /// Runs `work` in the network namespace of the device.
    pub(super) fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let Some(path) = &self.namespace else { return work() };
        // A separate thread enters the namespace, so that this process stays in its own.
        std::thread::scope(|scope| {
            let there = scope.spawn(|| {
                setns(File::open(path)?, CloneFlags::CLONE_NEWNET)?;
                work()
            });
            there
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the thread that entered the namespace panicked")))
        })
    }

    /// Returns the device's index in the thread's namespace, and whether its packets begin with an Ethernet
    /// header.
    fn find(&self) -> io::Result<(u32, bool)> {
        let index = if_nametoindex(self.name.as_str())?;
        // Devices without hardware addresses, such as TUN, have no entry with their type.
        let ethernet = getifaddrs()?
            .filter(|entry| entry.interface_name == self.name)
            .filter_map(|entry| entry.address?.as_link_addr().map(LinkAddr::hatype))
            .any(|kind| WITH_ETHERNET.contains(&kind));
        Ok((index, ethernet))
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
