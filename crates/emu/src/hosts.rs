//! Both ends of an emulated network, and the processes in them.

use std::process::{Child, Command};

use crate::address::Side;
use crate::error::EmulationError;
use crate::host::Host;
use crate::processes::Processes;
use crate::tun::Tun;

/// Both hosts. Dropping them ends all processes that were started in them.
#[derive(Debug)]
pub struct Hosts {
    senders: Host,
    receivers: Host,
    processes: Processes,
}

impl Hosts {
    /// Both hosts, and the TUN devices of senders and receivers.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn new() -> Result<(Self, [Tun; 2]), EmulationError> {
        let (senders, near) = Host::new(Side::Senders)?;
        let (receivers, far) = Host::new(Side::Receivers)?;
        let processes = Processes::new()?;
        Ok((Self { senders, receivers, processes }, [near, far]))
    }

    /// One of them.
    pub const fn host(&self, side: Side) -> &Host {
        match side {
            Side::Senders => &self.senders,
            Side::Receivers => &self.receivers,
        }
    }

    /// Starts a command in a host. It ends with the hosts at the latest, also when this process is killed.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn spawn(&self, side: Side, command: &mut Command) -> Result<Child, EmulationError> {
        self.host(side).spawn(&self.processes, command)
    }
}
