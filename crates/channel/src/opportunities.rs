//! Recorded packet-delivery opportunities, with the rules of Mahimahi's `mm-link`.

use alloc::sync::Arc;

use airpath_model::{Bytes, Timestamp, Transmission};

use crate::InvalidChannel;

/// Bytes delivered per line of a Mahimahi trace.
pub const OPPORTUNITY_SIZE: Bytes = Bytes::new(1500);

/// The behavior after the last opportunity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEnd {
    /// The trace repeats, with its last instant as time zero: opportunities recorded at time zero coincide
    /// with the last one of the previous period.
    Repeat,
    /// Nothing is delivered any more.
    Stop,
}

/// Packet-delivery opportunities of a recorded link.
///
/// Each opportunity delivers a number of bytes at one instant. Waiting packets may share it; a packet that is
/// larger than the remaining bytes takes these, and leaves with the opportunity that delivers its last byte.
/// Unused bytes are lost: in particular, a packet that arrives at an idle link misses the opportunities of
/// that very instant.
#[derive(Clone, Debug)]
pub struct Opportunities {
    instants: Arc<[u64]>,
    size: Bytes,
    end: TraceEnd,
    /// Start of the current period.
    lap: Timestamp,
    /// The first entry not yet used or lost; past the end once a trace that stops is over.
    next: usize,
    /// The last used opportunity, and its remaining bytes.
    now: Timestamp,
    left: Bytes,
}

impl Opportunities {
    /// Creates opportunities of `size` bytes at `instants`: nanoseconds since the start, not decreasing, the
    /// last greater than zero. Copies share the instants.
    pub fn new(instants: Arc<[u64]>, size: Bytes, end: TraceEnd) -> Result<Self, InvalidChannel> {
        let Some(last) = instants.last() else {
            return Err(InvalidChannel::Empty);
        };
        if *last == 0 {
            return Err(InvalidChannel::NoDuration);
        }
        if let Some(index) = instants.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(InvalidChannel::OutOfOrder { index: index + 1 });
        }
        if size.is_zero() {
            return Err(InvalidChannel::NoSize);
        }
        Ok(Self {
            instants,
            size,
            end,
            lap: Timestamp::ZERO,
            next: 0,
            now: Timestamp::ZERO,
            left: Bytes::ZERO,
        })
    }

    /// Returns the instant of the opportunity that delivers the last byte of a packet; [`Timestamp::NEVER`]
    /// if the trace ends before.
    pub fn departs(&mut self, transmission: &Transmission) -> Timestamp {
        let start = transmission.start;
        if !(transmission.continues && start == self.now) {
            self.left = Bytes::ZERO;
        }
        self.now = start;
        while self.next_instant() < start || (!transmission.continues && self.next_instant() == start) {
            self.advance();
        }
        let mut missing = transmission.size;
        while missing > self.left {
            missing -= self.left;
            self.now = self.next_instant();
            if !self.now.is_scheduled() {
                return Timestamp::NEVER;
            }
            self.advance();
            self.left = self.size;
        }
        self.left -= missing;
        self.now
    }

    /// Returns the bits of all opportunities after the end of the last query up to and including `until`;
    /// those at time zero belong to the first query.
    pub fn offered_bits(&mut self, until: Timestamp) -> f64 {
        let mut opportunities = 0_u64;
        while self.next_instant() <= until {
            self.advance();
            opportunities += 1;
        }
        opportunities as f64 * self.size.bits() as f64
    }

    fn next_instant(&self) -> Timestamp {
        self.instants.get(self.next).map_or(Timestamp::NEVER, |instant| {
            Timestamp::from_nanos(self.lap.as_nanos().saturating_add(*instant))
        })
    }

    fn advance(&mut self) {
        self.next += 1;
        if self.next == self.instants.len() && self.end == TraceEnd::Repeat {
            self.lap =
                Timestamp::from_nanos(self.lap.as_nanos().saturating_add(self.instants[self.next - 1]));
            self.next = 0;
        }
    }
}
