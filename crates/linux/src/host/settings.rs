//! Settings of a host, in a configuration file or as arguments.

use std::path::PathBuf;

use serde::Deserialize;

use super::{Device, HostConfig};
use crate::{Error, capability};

/// The table `[host]` of a configuration file, or the arguments of `airpathd host`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct HostSettings {
    /// Folder of the cgroup (version 2) whose connections exchange feedback with routers [default: all of the
    /// machine]
    #[arg(long)]
    pub cgroup: Option<PathBuf>,
    /// Controller for each new connection of the cgroup: airpath's or another of this kernel [default: each
    /// keeps its own]
    #[arg(long)]
    pub controller: Option<String>,
    /// Egress device: NAME or /PATH/OF/NAMESPACE:NAME; can be repeated [default: all of this network
    /// namespace but the loopback]
    #[arg(long = "device", value_name = "DEVICE")]
    #[serde(default)]
    pub devices: Vec<Device>,
}

impl HostSettings {
    /// Returns these settings, with those that are absent taken from `file`.
    #[must_use]
    pub fn over(self, file: Self) -> Self {
        Self {
            cgroup: self.cgroup.or(file.cgroup),
            controller: self.controller.or(file.controller),
            devices: if self.devices.is_empty() { file.devices } else { self.devices },
        }
    }
}

impl TryFrom<HostSettings> for HostConfig {
    type Error = Error;

    fn try_from(settings: HostSettings) -> Result<Self, Error> {
        let HostSettings { cgroup, controller, devices } = settings;
        Ok(Self {
            cgroup: cgroup.or_else(capability::cgroup_root).ok_or(Error::NoCgroups)?,
            controller,
            devices: (!devices.is_empty()).then_some(devices),
            record: false,
        })
    }
}
