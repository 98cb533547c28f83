//! Both ends of an emulated network, and their processes.

use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use airpath_os_linux::SystemError;

use crate::address::Side;
use crate::error::EmulationError;
use crate::host::Host;
use crate::processes::Processes;
use crate::router::Router;
use crate::tun::Tun;

/// Both hosts, and routers between them. Dropping them ends all processes that were started in them, and all
/// their TCP connections.
#[derive(Debug)]
pub struct Hosts {
    senders: Host,
    receivers: Host,
    routers: Vec<Router>,
    processes: Processes,
}

impl Hosts {
    /// Creates both hosts; returns also the TUN devices of senders and receivers.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn new() -> Result<(Self, [Tun; 2]), EmulationError> {
        let (senders, near) = Host::new(Side::Senders)?;
        let (receivers, far) = Host::new(Side::Receivers)?;
        let processes = Processes::new()?;
        Ok((Self { senders, receivers, routers: Vec::new(), processes }, [near, far]))
    }

    /// Adds routers between the hosts.
    pub(crate) fn connect(&mut self, routers: Vec<Router>) {
        self.routers = routers;
    }

    /// Returns the routers, each for one link.
    pub fn routers(&self) -> &[Router] {
        &self.routers
    }

    /// Returns one of the hosts.
    pub const fn host(&self, side: Side) -> &Host {
        match side {
            Side::Senders => &self.senders,
            Side::Receivers => &self.receivers,
        }
    }

    /// Starts a command in a host. It ends with the hosts at the latest, also if this process is killed.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(&self, side: Side, command: &mut Command) -> Result<Child, SystemError> {
        self.host(side).spawn(&self.processes, command)
    }
}

/// Time limit for destroying sockets at the end, and the interval between attempts.
const DESTROYING: Duration = Duration::from_millis(500);
const AGAIN_AFTER: Duration = Duration::from_millis(5);

impl Drop for Hosts {
    /// Connections that were not closed would continue for minutes and keep the namespace of their host alive.
    fn drop(&mut self) {
        self.processes.end();
        let until = Instant::now() + DESTROYING;
        let mut none_left = false;
        while Instant::now() < until {
            let left: Result<usize, SystemError> =
                [&self.senders, &self.receivers].into_iter().map(Host::destroy_sockets).sum();
            match left {
                // A process that was just ending may have opened another one.
                Ok(0) if none_left => return,
                Ok(left) => none_left = left == 0,
                // Not supported by the kernel: the sockets end by themselves.
                Err(_) => return,
            }
            thread::sleep(AGAIN_AFTER);
        }
    }
}
