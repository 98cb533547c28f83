//! What can go wrong between here and the kernel.

use std::path::PathBuf;

/// Why a program could not be loaded or attached.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel or its loader refused.
    #[error("{action}: {source}")]
    Bpf {
        /// What was tried.
        action: &'static str,
        /// What the loader says.
        source: libbpf_rs::Error,
    },
    /// A file or folder could not be opened.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// There is no cgroup to attach to.
    #[error("control groups of version 2 are not mounted (mount -t cgroup2 none /sys/fs/cgroup)")]
    NoCgroups,
    /// The devices of the machine could not be listed.
    #[error("cannot list the devices: {source}")]
    Devices {
        /// What the system says.
        source: std::io::Error,
    },
    /// A program could not be attached to a device.
    #[error("device {device}: {source}")]
    Device {
        /// Which, as it was given.
        device: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The system refused something else.
    #[error("{action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// The configuration is wrong.
    #[error("{problem}")]
    Config {
        /// The field, what was found, what is accepted.
        problem: String,
    },
    /// There is no such device.
    #[error("device {device:?} does not exist in this network namespace")]
    NoDevice {
        /// Its name.
        device: String,
    },
    /// A router needs a queue to look over.
    #[error(
        "device {device:?} has no queue; give it one that limits its rate, such as by \
             \"tc qdisc add dev {device} root tbf rate 10mbit burst 5kb limit 575kb\""
    )]
    NoQueue {
        /// Its name.
        device: String,
    },
    /// The device of a router was removed while it worked.
    #[error("device {device:?} was removed, which ended the router")]
    DeviceGone {
        /// Its name.
        device: String,
    },
    /// The network namespace of a router was removed while it worked.
    #[error("network namespace {name:?} was removed, which ended the router")]
    NamespaceGone {
        /// Its name.
        name: String,
    },
    /// Another daemon does the same already.
    #[error("another airpathd is running as {name}; \"airpathd detach {name}\" ends it")]
    AlreadyRunning {
        /// Its name.
        name: String,
    },
    /// No daemon of that name runs here.
    #[error("no airpathd is running as {name} in this network namespace")]
    NotRunning {
        /// Its name.
        name: String,
    },
    /// A daemon runs and says nothing.
    #[error("{name} does not answer within {} s", patience.as_secs())]
    Silent {
        /// Its name.
        name: String,
        /// How long it was waited for.
        patience: std::time::Duration,
    },
    /// A daemon does not answer this user.
    #[error("{name}: {reason}")]
    Refused {
        /// Its name.
        name: String,
        /// What it says.
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
        /// What may be chosen: ours, and those that are registered.
        accepted: Vec<String>,
    },
}

impl Error {
    /// For `map_err`: what was tried when the loader failed.
    pub(crate) fn bpf(action: &'static str) -> impl FnOnce(libbpf_rs::Error) -> Self {
        move |source| Self::Bpf { action, source }
    }
}
