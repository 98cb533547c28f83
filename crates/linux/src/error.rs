//! Errors of the daemon, the loader and the kernel.

use std::path::PathBuf;

/// The reason why a program could not be loaded or attached.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel or its loader refused.
    #[error("{action}: {source}")]
    Bpf {
        /// The attempted action.
        action: &'static str,
        /// The loader's error.
        source: libbpf_rs::Error,
    },
    /// A file or folder could not be opened.
    #[error("{path}: {source}")]
    File {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// There is no cgroup to attach to.
    #[error("control groups of version 2 are not mounted (mount -t cgroup2 none /sys/fs/cgroup)")]
    NoCgroups,
    /// The devices of the machine could not be listed.
    #[error("cannot list the devices: {source}")]
    Devices {
        /// The system's error.
        source: std::io::Error,
    },
    /// A program could not be attached to a device.
    #[error("device {device}: {source}")]
    Device {
        /// The device, as given.
        device: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The system refused another operation.
    #[error("{action}: {source}")]
    System {
        /// The attempted action.
        action: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// The configuration is wrong.
    #[error("{problem}")]
    Config {
        /// The field, the value found, and the accepted values.
        problem: String,
    },
    /// There is no such device.
    #[error("device {device:?} does not exist in this network namespace")]
    NoDevice {
        /// Its name.
        device: String,
    },
    /// A router needs a queue discipline that it can measure.
    #[error(
        "device {device:?} has no queue; give it one that limits its rate, such as by \
             \"tc qdisc add dev {device} root tbf rate 10mbit burst 5kb limit 575kb\""
    )]
    NoQueue {
        /// Its name.
        device: String,
    },
    /// The device of a router was removed while the router ran.
    #[error("device {device:?} was removed, which ended the router")]
    DeviceGone {
        /// Its name.
        device: String,
    },
    /// The network namespace of a router was removed while the router ran.
    #[error("network namespace {name:?} was removed, which ended the router")]
    NamespaceGone {
        /// Its name.
        name: String,
    },
    /// Another daemon with the same name is running.
    #[error("another airpathd is running as {name}; \"airpathd detach {name}\" ends it")]
    AlreadyRunning {
        /// Its name.
        name: String,
    },
    /// No daemon of that name is running here.
    #[error("no airpathd is running as {name} in this network namespace")]
    NotRunning {
        /// Its name.
        name: String,
    },
    /// A daemon is running but does not respond.
    #[error("{name} does not answer within {} s", patience.as_secs())]
    Silent {
        /// Its name.
        name: String,
        /// The time waited.
        patience: std::time::Duration,
    },
    /// A daemon refuses requests of this user.
    #[error("{name}: {reason}")]
    Refused {
        /// Its name.
        name: String,
        /// The daemon's reason.
        reason: String,
    },
    /// The loader has not mapped the programs' variables.
    #[error("this kernel cannot map the global variables of BPF programs; accepted: Linux 5.5 or later")]
    NoGlobals,
    /// There is no such congestion controller.
    #[error("this kernel has no controller {name:?}; accepted: {}", accepted.join(", "))]
    NoController {
        /// The name as given.
        name: String,
        /// The available controllers: airpath's, and those registered in the kernel.
        accepted: Vec<String>,
    },
}

impl Error {
    /// Returns a conversion for `map_err` that adds the attempted action to the loader's error.
    pub(crate) fn bpf(action: &'static str) -> impl FnOnce(libbpf_rs::Error) -> Self {
        move |source| Self::Bpf { action, source }
    }
}
