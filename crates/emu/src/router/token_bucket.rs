//! The kernel's token bucket at the root of a device: `tc-htb(8)` with one class. (`tc-tbf(8)` would fill the
//! bucket at each change of its rate, and thus release too much.)

use std::io;

use airpath_model::{Bytes, Duration, Rate};
use airpath_os_linux::{Context, Route};
use netlink_packet_core::DefaultNla;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption};

use crate::error::EmulationError;
use crate::host::MTU;

/// A token bucket, in the namespace of the thread that opened it.
#[derive(Debug)]
pub(crate) struct TokenBucket {
    route: Route,
    device: u32,
    limit: Bytes,
}

/// The queue discipline, and its one class, which takes all packets.
const ROOT: TcHandle = TcHandle { major: 1, minor: 0 };
const CLASS: TcHandle = TcHandle { major: 1, minor: 1 };
/// Attributes (`linux/rtnetlink.h`), and of the discipline's options (`linux/pkt_sched.h`).
const OPTIONS: u16 = 2;
const PARAMETERS: u16 = 1;
const INIT: u16 = 2;
const RATE64: u16 = 6;
const CEIL64: u16 = 7;
/// The version of the discipline's interface.
const VERSION: u32 = 3;
/// Packets have their actual length: no cells, no preamble.
const LINK_LAYER_ETHERNET: u8 = 1;
/// The kernel's unit of a bucket, in nanoseconds.
const TICK: u64 = 64;
/// The contents of the bucket, as a time: how late the kernel's timer may be without reducing the rate. A
/// packet may leave as long as the bucket is not in debt, so one additional packet can leave at once.
const SLACK: Duration = Duration::from_millis(2);

impl TokenBucket {
    /// Creates the token bucket of the device with that index, behind a queue of `limit`.
    pub(crate) fn new(device: u32, limit: Bytes, rate: Rate) -> Result<Self, EmulationError> {
        let mut bucket = Self { route: Route::open()?, device, limit };
        let init = [VERSION, 10, u32::from(CLASS.minor), 0, 0].map(u32::to_ne_bytes).concat();
        bucket.put("htb", (ROOT, TcHandle::ROOT), nested([(INIT, init)]))?;
        bucket.set(rate)?;
        let size = u32::try_from(limit.get()).unwrap_or(u32::MAX).to_ne_bytes().to_vec();
        bucket.put("bfifo", (TcHandle::UNSPEC, CLASS), TcAttribute::Other(DefaultNla::new(OPTIONS, size)))?;
        Ok(bucket)
    }

    /// Returns a token bucket without a device, whose rate cannot be set.
    #[cfg(test)]
    pub(super) fn none(limit: Bytes) -> Self {
        Self { route: Route::open().unwrap(), device: 0, limit }
    }

    /// Returns the limit of its queue.
    pub(crate) const fn limit(&self) -> Bytes {
        self.limit
    }

    /// Returns the number of bytes that a full bucket releases at once at that rate.
    pub(crate) fn burst(rate: Rate) -> Bytes {
        Bytes::new(u64::from(MTU) + (rate.as_bps() as f64 / 8.0 * SLACK.as_secs_f64()) as u64)
    }

    /// Sets the rate; the contents of the bucket stay.
    pub(crate) fn set(&mut self, rate: Rate) -> Result<(), EmulationError> {
        let bytes_per_second = rate.as_bps() / 8;
        let narrow = u32::try_from(bytes_per_second).unwrap_or(u32::MAX).to_ne_bytes();
        // `struct tc_ratespec`, for the rate and its ceiling.
        let specification = [&[0, LINK_LAYER_ETHERNET, 0, 0, 0, 0, 0, 0], &narrow[..]].concat();
        let bucket = (SLACK.as_nanos() / TICK) as u32;
        // `struct tc_htb_opt`: buckets of both, quantum, level, priority.
        let rest = [bucket, bucket, 10 * MTU, 0, 0].map(u32::to_ne_bytes).concat();
        let wide = bytes_per_second.to_ne_bytes().to_vec();
        let mut message = self.message("htb", (CLASS, ROOT));
        message.attributes.push(nested([
            (PARAMETERS, [specification.clone(), specification, rest].concat()),
            (RATE64, wide.clone()),
            (CEIL64, wide),
        ]));
        Ok(self.route.put_class(message).context("the rate of a token bucket")?)
    }

    /// Returns the number of packets that its queue has dropped because it was full.
    pub(crate) fn drops(&self) -> Result<u32, EmulationError> {
        let root = self.route.root_qdisc(self.device);
        let root = root.and_then(|root| root.ok_or_else(|| io::Error::other("it does not exist")));
        Ok(root.context("the counters of a token bucket")?.stats.drops)
    }

    fn put(
        &mut self,
        kind: &str,
        place: (TcHandle, TcHandle),
        options: TcAttribute,
    ) -> Result<(), EmulationError> {
        let mut message = self.message(kind, place);
        message.attributes.push(options);
        Ok(self.route.put_qdisc(message).context(format!("a queue of the kernel (sch_{kind})"))?)
    }

    /// Returns a message about a discipline or a class of that kind, with that handle under that parent.
    fn message(&self, kind: &str, (handle, parent): (TcHandle, TcHandle)) -> TcMessage {
        let mut message = TcMessage::with_index(self.device as i32);
        (message.header.handle, message.header.parent) = (handle, parent);
        message.attributes = vec![TcAttribute::Kind(kind.to_owned())];
        message
    }
}

fn nested<const N: usize>(options: [(u16, Vec<u8>); N]) -> TcAttribute {
    TcAttribute::Options(options.map(|(kind, value)| TcOption::Other(DefaultNla::new(kind, value))).into())
}
