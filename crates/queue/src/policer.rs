//! Traffic policing by a token bucket.

use core::fmt::Debug;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
use airpath_model::{Backlog, Bytes, DropReason, Packet, Qdisc, QueueSink, Rate, Timestamp};

#[cfg(feature = "declare")]
use crate::declare::{QueueFacts, Queues};
use crate::{ConfigError, DropTail, Limit};
#[cfg(feature = "declare")]
use alloc::boxed::Box;

/// A policer: a token bucket that drops packets in excess of its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct PolicerConfig {
    /// The rate at which the bucket fills, headers included.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "examples" = [10_000_000])))]
    pub rate: Rate,
    /// The size of the bucket: the largest burst that passes. At least the largest packet of any flow.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "examples" = [100_000])))]
    pub burst: Bytes,
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Queues<P>> for PolicerConfig {
    const ID: &'static str = "policer";

    fn build(&self, facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        Ok(Box::new(Policer::new(facts.limit, *self)?))
    }
}

/// A token bucket in front of a drop-tail buffer.
///
/// The bucket is initially full and fills at the configured rate. If the bucket contains fewer tokens than
/// the size of an arriving packet, the packet is dropped and takes no tokens. Otherwise it takes as many
/// tokens as its size and enters the buffer, where it waits only for the link. A packet that is dropped
/// because the buffer is full has already taken its tokens, because policing comes first.
///
/// Series: `bucket_bytes`.
#[derive(Debug)]
pub struct Policer<P> {
    buffer: DropTail<P>,
    bucket: TokenBucket,
}

impl<P> Policer<P> {
    /// Creates an empty queue with a full bucket.
    ///
    /// # Errors
    /// The rate or the burst is zero.
    pub fn new(limit: Limit, config: PolicerConfig) -> Result<Self, ConfigError> {
        Ok(Self { buffer: DropTail::new(limit), bucket: TokenBucket::new(config)? })
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for Policer<P> {
    fn enqueue(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) {
        if self.bucket.take(now, packet.size()) {
            self.buffer.enqueue(now, packet, sink);
        } else {
            sink.on_drop(now, packet, DropReason::Early);
        }
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P> {
        self.buffer.dequeue(now, sink)
    }

    fn backlog(&self) -> Backlog {
        self.buffer.backlog()
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("bucket_bytes", self.bucket.tokens as f64 / PER_BYTE as f64);
    }
}

/// Units of tokens per byte: a nanosecond at one bit per second adds one unit, so that filling is exact.
const PER_BYTE: u128 = 8_000_000_000;

/// A token bucket without rounding.
#[derive(Debug)]
struct TokenBucket {
    rate: Rate,
    size: u128,
    /// The tokens at the last arrival.
    tokens: u128,
    filled_at: Timestamp,
}

impl TokenBucket {
    fn new(config: PolicerConfig) -> Result<Self, ConfigError> {
        let PolicerConfig { rate, burst } = config;
        check(rate > Rate::ZERO, "rate", "greater than zero", 0.0)?;
        check(!burst.is_zero(), "burst", "at least one byte", 0.0)?;
        let size = u128::from(burst.get()) * PER_BYTE;
        Ok(Self { rate, size, tokens: size, filled_at: Timestamp::ZERO })
    }

    /// Takes the tokens of a packet if there are enough. Returns whether there were.
    fn take(&mut self, now: Timestamp, size: Bytes) -> bool {
        let elapsed = now.since(self.filled_at);
        self.filled_at = now;
        let gained = u128::from(self.rate.as_bps()) * u128::from(elapsed.as_nanos());
        self.tokens = self.tokens.saturating_add(gained).min(self.size);
        let needed = u128::from(size.get()) * PER_BYTE;
        let enough = needed <= self.tokens;
        if enough {
            self.tokens -= needed;
        }
        enough
    }
}
