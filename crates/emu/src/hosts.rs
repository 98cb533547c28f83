//! Both ends of an emulated network, and the processes in them.

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

/// Both hosts, and routers between them. Dropping them ends all processes that were started in them, and all their TCP connections.
#[derive(Debug)]
pub struct Hosts {
    senders: Host,
    receivers: Host,
    routers: Vec<Router>,
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
        Ok((Self { senders, receivers, routers: Vec::new(), processes }, [near, far]))
    }

    /// Puts these routers between them.
    pub(crate) fn connect(&mut self, routers: Vec<Router>) {
        self.routers = routers;
    }

    /// The routers, each for one link.
    pub fn routers(&self) -> &[Router] {
        &self.routers
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
    pub fn spawn(&self, side: Side, command: &mut Command) -> Result<Child, SystemError> {
        self.host(side).spawn(&self.processes, command)
    }
}

/// How long sockets are looked for at most at the end, and how long to wait before one looks again.
const DESTROYING: Duration = Duration::from_millis(500);
const AGAIN_AFTER: Duration = Duration::from_millis(5);

impl Drop for Hosts {
    /// Connections that nobody closed would go on for minutes without anybody, and keep their host's namespace so long.
    fn drop(&mut self) {
        self.processes.end();
        let until = Instant::now() + DESTROYING;
        let mut none_left = false;
        while Instant::now() < until {
            let left: Result<usize, SystemError> =
                [&self.senders, &self.receivers].into_iter().map(Host::destroy_sockets).sum();
            match left {
                // A process that was just ending may have opened one more.
                Ok(0) if none_left => return,
                Ok(left) => none_left = left == 0,
                // The kernel cannot: they end by themselves.
                Err(_) => return,
            }
            thread::sleep(AGAIN_AFTER);
        }
    }
}
