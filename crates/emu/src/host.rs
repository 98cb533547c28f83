//! One end of the emulated network: a namespace with its own network stack and one TUN device.

use std::path::PathBuf;
use std::process::{Child, Command};

use airpath_os_linux::{Context, NetworkNamespace, Route, SystemError, device_index, inet_diag, write};
use netlink_packet_route::link::LinkAttribute;

use crate::address::{PREFIX_LENGTH, Side};
use crate::error::EmulationError;
use crate::processes::Processes;
use crate::tun::Tun;

/// The name of each host's device.
pub const DEVICE: &str = "air0";
/// Largest IP packet in bytes: that of Ethernet.
pub const MTU: u32 = 1500;
/// Largest number of packets from the stack that wait to be read. The kernel drops further packets, which is
/// not part of the model: the record of validity counts these drops.
pub(crate) const DEVICE_QUEUE: u32 = 16_384;

/// One end of the emulated network.
#[derive(Debug)]
pub struct Host {
    side: Side,
    namespace: NetworkNamespace,
}

impl Host {
    /// Creates a host with all addresses of its side, and a route to the other side over its device.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn new(side: Side) -> Result<(Self, Tun), EmulationError> {
        let namespace = NetworkNamespace::new()?;
        let tun = namespace.enter(|| set_up(side))??;
        Ok((Self { side, namespace }, tun))
    }

    /// Returns the side of this host.
    pub const fn side(&self) -> Side {
        self.side
    }

    /// Returns a file by which other processes of the same user find the host's network namespace while it
    /// exists.
    pub fn namespace_path(&self) -> PathBuf {
        self.namespace.path()
    }

    /// Runs `work` in a thread inside the host, and waits for it. Sockets that it opens, and threads that it
    /// starts, stay in the host.
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    pub fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, SystemError> {
        self.namespace.enter(work)
    }

    /// Starts a command inside the host.
    pub(crate) fn spawn(&self, processes: &Processes, command: &mut Command) -> Result<Child, SystemError> {
        processes.spawn(&self.namespace, command)
    }

    /// Destroys all TCP sockets of the host, in any state; returns their number.
    ///
    /// # Errors
    /// If the kernel does not support it (`CONFIG_INET_DIAG_DESTROY`).
    pub fn destroy_sockets(&self) -> Result<usize, SystemError> {
        self.enter(inet_diag::destroy_sockets)?.context("destroying sockets (CONFIG_INET_DIAG_DESTROY)")
    }

    /// Returns whether a socket in the host waits for connections (TCP) or datagrams (UDP).
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    pub fn is_listening(&self) -> Result<bool, SystemError> {
        self.enter(|| {
            [("tcp", TCP_LISTEN), ("tcp6", TCP_LISTEN), ("udp", UDP_UNCONNECTED), ("udp6", UDP_UNCONNECTED)]
                .into_iter()
                .any(|(protocol, state)| {
                    std::fs::read_to_string(format!("/proc/thread-self/net/{protocol}"))
                        .is_ok_and(|table| has_socket(&table, state))
                })
        })
    }

    /// Returns the number of packets since the start that the kernel dropped at the device because they were
    /// read too late.
    pub(crate) fn device_drops(&self) -> Result<u64, EmulationError> {
        let text = self
            .enter(|| std::fs::read_to_string("/proc/thread-self/net/dev"))?
            .context("the counters of the device")?;
        Ok(transmit_drops(&text, DEVICE).unwrap_or_default())
    }
}

fn set_up(side: Side) -> Result<Tun, EmulationError> {
    let tun = Tun::new(DEVICE)?;
    without_ipv6()?;
    // Path information of one connection must not influence the next one, or runs depend on each other.
    write("/proc/sys/net/ipv4/tcp_no_metrics_save", "1")?;
    let routing = Route::open()?;
    let (loopback, device) = (device_index("lo")?, device_index(DEVICE)?);
    routing.up(loopback, Vec::new())?;
    routing.up(device, vec![LinkAttribute::Mtu(MTU), LinkAttribute::TxQueueLen(DEVICE_QUEUE)])?;
    let first = side.address(0).ok_or_else(|| EmulationError::Broken("no addresses".to_owned()))?;
    routing.add_address(device, first)?;
    routing.add_local_network(loopback, (side.prefix(), PREFIX_LENGTH))?;
    routing.add_network(device, (side.other().prefix(), PREFIX_LENGTH), Some(first))?;
    Ok(tun)
}

/// The model does not contain IPv6. Without it, a namespace sends no packets on its own.
pub(crate) fn without_ipv6() -> Result<(), SystemError> {
    let setting = format!("/proc/sys/net/ipv6/conf/{DEVICE}/disable_ipv6");
    if std::path::Path::new(&setting).exists() { write(&setting, "1") } else { Ok(()) }
}

/// States in the tables of sockets under `/proc/net`.
const TCP_LISTEN: &str = "0A";
const UDP_UNCONNECTED: &str = "07";

/// Returns whether a table of sockets has a socket in this state, the fourth field of a row.
fn has_socket(table: &str, state: &str) -> bool {
    table.lines().skip(1).any(|row| row.split_whitespace().nth(3) == Some(state))
}

/// Returns the counter of dropped packets towards the device from the text of `/proc/net/dev`.
fn transmit_drops(text: &str, device: &str) -> Option<u64> {
    let counters = text.lines().find_map(|line| line.trim_start().strip_prefix(device)?.strip_prefix(':'))?;
    // Eight receive counters; then bytes, packets, errors, drops.
    counters.split_whitespace().nth(8 + 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_listening_socket_is_found() {
        let table = "  sl  local_address rem_address   st\n   0: 0100080A:1F90 00000000:0000 0A 0:0\n";
        assert!(super::has_socket(table, super::TCP_LISTEN));
        assert!(!super::has_socket(table, super::UDP_UNCONNECTED));
    }

    #[test]
    fn the_counter_is_found() {
        let text = "Inter-|   Receive\n face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  \
                    air0: 1 2 3 4 5 6 7 8 9 10 11 77 13 14 15 16\n";
        assert_eq!(super::transmit_drops(text, "air0"), Some(77));
        assert_eq!(super::transmit_drops(text, "air1"), None);
    }
}
