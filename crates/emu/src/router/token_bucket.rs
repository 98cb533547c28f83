//! The kernel's token bucket (`tc-tbf(8)`) at the root of a device.

use std::io;

use airpath_model::{Bytes, Rate};
use netlink_packet_core::{DefaultNla, NLM_F_CREATE, NLM_F_REPLACE, Parseable};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption};
use netlink_sys::protocols::NETLINK_ROUTE;

use crate::error::{Asked, EmulationError};
use crate::host::MTU;
use crate::netlink::Netlink;

/// A token bucket, in the namespace of the thread that opened it.
#[derive(Debug)]
pub(crate) struct TokenBucket {
    netlink: Netlink,
    device: i32,
    limit: Bytes,
}

/// Attributes of its options (`linux/pkt_sched.h`).
const PARAMETERS: u16 = 1;
const RATE64: u16 = 4;
const BURST: u16 = 6;
/// Packets are as long as they are: no cells, no preamble.
const LINK_LAYER_ETHERNET: u8 = 1;
/// How late the kernel's timer may be without the rate falling short, seconds: what the bucket holds beyond one packet.
const SLACK_S: f64 = 2.0e-3;

impl TokenBucket {
    /// For the device of that index, before a queue of `limit`.
    pub(crate) fn open(device: u32, limit: Bytes) -> Result<Self, EmulationError> {
        let netlink = Netlink::open(NETLINK_ROUTE).asked("a routing socket")?;
        Ok(Self { netlink, device: device as i32, limit })
    }

    /// What its queue holds at most.
    pub(crate) const fn limit(&self) -> Bytes {
        self.limit
    }

    /// What a full bucket lets go at once at that rate.
    pub(crate) fn burst(rate: Rate) -> Bytes {
        Bytes::new(u64::from(MTU) + (rate.as_bps() as f64 / 8.0 * SLACK_S) as u64)
    }

    /// Puts it there with a rate, or changes the rate of the one that is there, which fills the bucket.
    pub(crate) fn set(&mut self, rate: Rate) -> Result<(), EmulationError> {
        let mut message = TcMessage::with_index(self.device);
        message.header.parent = TcHandle::ROOT;
        message.attributes =
            vec![TcAttribute::Kind("tbf".to_owned()), TcAttribute::Options(self.options(rate))];
        self.netlink
            .ask(RouteNetlinkMessage::NewQueueDiscipline(message), NLM_F_CREATE | NLM_F_REPLACE)
            .asked("a token bucket (the kernel's sch_tbf)")
    }

    /// Packets that its queue has dropped because it was full.
    pub(crate) fn drops(&mut self) -> Result<u32, EmulationError> {
        let device = self.device;
        let question = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::with_index(device));
        let mut drops = None;
        self.netlink
            .dump(question, |answer| {
                let message = TcMessage::parse(answer).ok();
                let root =
                    message.filter(|one| one.header.index == device && one.header.parent == TcHandle::ROOT);
                for attribute in root.into_iter().flat_map(|root| root.attributes) {
                    if let TcAttribute::Stats(stats) = attribute {
                        drops = Some(stats.drops);
                    }
                }
            })
            .and_then(|()| drops.ok_or_else(|| io::Error::other("it is not there")))
            .asked("the counters of a token bucket")
    }

    /// `struct tc_tbf_qopt`, the rate again in 64 bits, and the size of the bucket.
    fn options(&self, rate: Rate) -> Vec<TcOption> {
        let bytes_per_second = rate.as_bps() / 8;
        let narrow = u32::try_from(bytes_per_second).unwrap_or(u32::MAX);
        let limit = u32::try_from(self.limit.get()).unwrap_or(u32::MAX);
        let mut parameters = Vec::with_capacity(36);
        parameters.extend([0, LINK_LAYER_ETHERNET, 0, 0, 0, 0, 0, 0]);
        parameters.extend(narrow.to_ne_bytes());
        parameters.extend([0; 12]); // no peak rate
        parameters.extend(limit.to_ne_bytes());
        parameters.extend([0; 8]); // the bucket is said below
        let burst = u32::try_from(Self::burst(rate).get()).unwrap_or(u32::MAX);
        [
            (PARAMETERS, parameters),
            (RATE64, bytes_per_second.to_ne_bytes().to_vec()),
            (BURST, burst.to_ne_bytes().to_vec()),
        ]
        .map(|(kind, value)| TcOption::Other(DefaultNla::new(kind, value)))
        .into()
    }
}
