//! Routers of the kernel. The router of a link of the plan is a network namespace that forwards packets over
//! one device, whose queue and rate are the kernel's. The other properties of the link (propagation, losses,
//! records) stay with the network.
//!
//! Packets enter and leave by the same device: packets that the link thread writes to it are received there,
//! forwarded, queued at its egress in front of a token bucket, and read again when they leave. A router
//! daemon for that queue, such as `airpathd router`, enters the namespace.

mod record;
mod relay;
mod status;
mod tickets;
mod token_bucket;

use std::path::PathBuf;
use std::sync::Arc;

use airpath_model::{Bytes, Duration, Rate, Timestamp};
use airpath_network::rate_steps;
use airpath_os_linux::{NetworkNamespace, Route, SystemError, device_index, write};
use airpath_plan::{Input, Part, Plan};
use netlink_packet_route::link::LinkAttribute;

use crate::address::{PREFIX_LENGTH, Side};
use crate::error::EmulationError;
use crate::host::{DEVICE, DEVICE_QUEUE, MTU, without_ipv6};
use crate::tun::Tun;
pub use record::RouterRecord;
pub(crate) use relay::Relay;
pub(crate) use status::Listener;
use token_bucket::TokenBucket;

/// The namespace of a router.
#[derive(Debug)]
pub struct Router {
    link: usize,
    namespace: NetworkNamespace,
}

/// The shortest time between two rates of a link: at each step down, the packet in transmission was counted
/// at the higher rate, and leaves early by a part of its transmission time.
const SHORTEST_STEP: Duration = Duration::from_millis(100);

impl Router {
    /// Creates the router of link number `link` of the plan. Also returns its relay for the link thread.
    pub(crate) fn new(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        link: usize,
    ) -> Result<(Self, Relay), EmulationError> {
        let steps = steps(plan, inputs, seed, link)?;
        let planned = &plan.links[link];
        let (Some(limit), _) = planned.queue.limits() else {
            return Err(refused(
                &planned.name,
                "queue.limit",
                "a router of the kernel needs a limit in bytes".to_owned(),
            ));
        };
        if planned.arq.is_some() {
            return Err(refused(
                &planned.name,
                "arq",
                "a router of the kernel does not know the time in which corrupted packets are retransmitted; accepted: no arq"
                    .to_owned(),
            ));
        }
        let namespace = NetworkNamespace::new()?;
        let (limit, first) = (Bytes::new(limit), steps[0].1);
        let (device, bucket) = namespace.enter(|| set_up(limit, first))??;
        Ok((Self { link, namespace }, Relay::new(link, device, bucket, steps)))
    }

    /// Creates the queue of a router in a separate namespace, and removes it again.
    ///
    /// # Errors
    /// If the kernel refuses it: it may lack a queue discipline.
    pub fn tried() -> Result<(), EmulationError> {
        let (limit, rate) = (Bytes::new(64 * u64::from(MTU)), Rate::from_bps(10_000_000));
        NetworkNamespace::new()?.enter(|| set_up(limit, rate))?.map(drop)
    }

    /// Returns the index of its link in the plan.
    pub const fn link(&self) -> usize {
        self.link
    }

    /// Returns a file by which other processes of the same user find its network namespace while it exists.
    /// Its device is [`DEVICE`].
    pub fn namespace_path(&self) -> PathBuf {
        self.namespace.path()
    }

    /// Runs `work` in a thread inside the namespace, and waits for it.
    pub(crate) fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, SystemError> {
        self.namespace.enter(work)
    }
}

/// Returns the rates of a link, if a token bucket supports them.
fn steps(
    plan: &Plan,
    inputs: &[Arc<Input>],
    seed: u64,
    link: usize,
) -> Result<Vec<(Timestamp, Rate)>, EmulationError> {
    let steps = rate_steps(plan, inputs, seed, link)?;
    let name = &plan.links[link].name;
    if steps.iter().any(|(_, rate)| rate.as_bps() < 8 * u64::from(MTU)) {
        let least = 8 * MTU / 1000;
        return Err(refused(
            name,
            "rate",
            format!(
                "it falls below {least} kbit/s, one packet in a second, but the token bucket of a router of the kernel \
                 cannot be still; accepted: at least {least} kbit/s"
            ),
        ));
    }
    if steps.windows(2).any(|pair| pair[1].0.since(pair[0].0) < SHORTEST_STEP) {
        return Err(refused(
            name,
            "rate",
            "it changes more often than every 100 ms, for which the token bucket of a router of the kernel is too coarse; \
             accepted: steps of at least 100 ms"
                .to_owned(),
        ));
    }
    Ok(steps)
}

fn refused(link: &str, field: &str, problem: String) -> EmulationError {
    EmulationError::not_emulated(Part::Link(link.to_owned()), field, problem)
}

/// Sets up the calling thread's namespace: packets that arrive by the device leave by it again, over a token
/// bucket.
fn set_up(limit: Bytes, rate: Rate) -> Result<(Tun, TokenBucket), EmulationError> {
    let device = Tun::new(DEVICE)?;
    without_ipv6()?;
    write("/proc/sys/net/ipv4/ip_forward", "1")?;
    for whose in ["all", "default", DEVICE] {
        // Both directions use the same device, so the reverse path filter must be off.
        write(&format!("/proc/sys/net/ipv4/conf/{whose}/rp_filter"), "0")?;
        write(&format!("/proc/sys/net/ipv4/conf/{whose}/send_redirects"), "0")?;
    }
    let routing = Route::open()?;
    let index = device_index(DEVICE)?;
    routing.up(index, vec![LinkAttribute::Mtu(MTU), LinkAttribute::TxQueueLen(DEVICE_QUEUE)])?;
    for side in Side::BOTH {
        routing.add_network(index, (side.prefix(), PREFIX_LENGTH), None)?;
    }
    Ok((device, TokenBucket::new(index, limit, rate)?))
}
