//! What the link thread does for a router: packets out, packets back, rates at their instants.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use airpath_model::{Bytes, Duration, Rate, Timestamp};

use super::record::RouterRecord;
use super::tickets::Tickets;
use super::token_bucket::TokenBucket;
use crate::exchange::Exchange;
use crate::host::MTU;
use crate::slots::SLOT;
use crate::tun::Tun;

/// One router's device and token bucket.
#[derive(Debug)]
pub(crate) struct Relay {
    device: Tun,
    bucket: TokenBucket,
    /// Those that are still to come.
    steps: VecDeque<(Timestamp, Rate)>,
    tickets: Tickets,
    /// How often the token bucket had dropped something when it was last asked.
    drops: u32,
    second: Second,
    record: RouterRecord,
}

/// This part of the queue, and a full bucket, may leave the kernel before its transmission begins.
const EARLY_PART: u64 = 10;

/// What came back within the second under way.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    number: u64,
    bytes: u64,
    /// Whether packets waited all the time.
    busy: bool,
    rate: Rate,
    /// What the rates gave from its beginning to `since`, bytes.
    expected: f64,
    since: Timestamp,
}

impl Relay {
    /// For a link whose rates are `steps`, of which the first is set.
    pub(super) fn new(link: usize, device: Tun, bucket: TokenBucket, steps: Vec<(Timestamp, Rate)>) -> Self {
        let mut steps = VecDeque::from(steps);
        let fastest = steps.iter().map(|(_, rate)| *rate).max().unwrap_or_default();
        let early_bound =
            TokenBucket::burst(fastest).get() + u64::from(MTU) + bucket.limit().get() / EARLY_PART;
        let first = steps.pop_front();
        Self {
            device,
            bucket,
            steps,
            tickets: Tickets::default(),
            drops: 0,
            second: Second { rate: first.map_or(Rate::ZERO, |(_, rate)| rate), ..Second::default() },
            record: RouterRecord { link, early_bound, ..RouterRecord::default() },
        }
    }

    /// When its rate changes next.
    pub(crate) fn next_step(&self) -> Timestamp {
        self.steps.front().map_or(Timestamp::NEVER, |(at, _)| *at)
    }

    /// Sets the rate that is due at `now`.
    pub(crate) fn step(&mut self, now: Timestamp) {
        while let Some((at, rate)) = self.steps.front().copied().filter(|(at, _)| *at <= now) {
            self.steps.pop_front();
            let began = Instant::now();
            if let Err(error) = self.bucket.set(rate) {
                self.record.refused = error.to_string();
            }
            self.record.changes += 1;
            let late = now.since(at).as_secs_f64() + began.elapsed().as_secs_f64();
            self.record.latest_change_s = self.record.latest_change_s.max(late);
            self.end_seconds(at);
            self.second.pass(at);
            self.second.rate = rate;
        }
    }

    /// Lets all packets that the network has for it go to the router.
    pub(crate) fn send(&mut self, now: Timestamp, exchange: &mut Exchange) {
        while let Some((slot, bytes)) = exchange.next_out(self.record.link) {
            let mut copy = [0; SLOT];
            let length = bytes.len();
            copy[..length].copy_from_slice(bytes);
            let there = self.tickets.give(slot, &mut copy[..length]);
            let taken = there && self.device.write(&copy[..length]);
            // Only what would fill the queue can have been dropped: all else need not be asked about.
            let full = exchange.outside(self.record.link).bytes > self.bucket.limit();
            if !taken || full && self.has_dropped() {
                exchange.lose_outside(now, self.record.link, slot);
                if there {
                    self.tickets.take_last();
                }
            }
        }
    }

    /// Reads all packets that have come back, which count as come at `now`.
    pub(crate) fn read_back(&mut self, now: Timestamp, exchange: &mut Exchange) {
        let mut bytes = [0; SLOT];
        while let Ok(Some(length)) = self.device.read(&mut bytes) {
            self.receive(now, &mut bytes[..length.min(SLOT)], exchange);
        }
    }

    /// A packet with these bytes has come back at `now`. Those that went before and did not come back are lost.
    fn receive(&mut self, now: Timestamp, bytes: &mut [u8], exchange: &mut Exchange) {
        let Self { tickets, record, .. } = self;
        let slot = tickets.redeem(bytes, |slot| {
            record.vanished += 1;
            exchange.lose_outside(now, record.link, slot);
        });
        if let Some(slot) = slot {
            exchange.come_back(now, record.link, slot, bytes);
            self.count(now, bytes.len() as u64);
        } else {
            record.strangers += 1;
        }
    }

    /// Notes what has left the kernel and still waits for the link.
    pub(crate) fn note_early(&mut self, exchange: &mut Exchange) {
        let early = exchange.network().early(self.record.link).get();
        self.record.early_bytes = self.record.early_bytes.max(early);
    }

    /// How it was so far.
    pub(crate) fn record(&self) -> RouterRecord {
        self.record.clone()
    }

    /// Whether the token bucket has dropped something since it was last asked: in our call to write, so the last packet.
    fn has_dropped(&mut self) -> bool {
        match self.bucket.drops() {
            Ok(drops) => std::mem::replace(&mut self.drops, drops) != drops,
            Err(error) => {
                self.record.refused = error.to_string();
                false
            }
        }
    }

    fn count(&mut self, now: Timestamp, bytes: u64) {
        self.end_seconds(now);
        self.second.bytes += bytes;
        self.second.busy &= !self.tickets.is_empty();
    }

    /// Ends the second under way if it is over, and those without packets.
    fn end_seconds(&mut self, now: Timestamp) {
        let number = now.as_nanos() / SECOND.as_nanos();
        if number == self.second.number {
            return;
        }
        let end = Timestamp::ZERO + SECOND * (self.second.number + 1);
        self.second.pass(end);
        let Second { bytes, busy, rate, expected, .. } = self.second;
        if busy && number == self.second.number + 1 {
            self.record.worst_second = self.record.worst_second.max(misfit(bytes, expected, rate));
        }
        let since = Timestamp::ZERO + SECOND * number;
        self.second = Second { number, since, expected: 0.0, bytes: 0, busy: true, rate };
    }
}

impl Second {
    /// What the rate gives up to `at` counts.
    fn pass(&mut self, at: Timestamp) {
        self.expected += self.rate.as_bps() as f64 / 8.0 * at.since(self.since).as_secs_f64();
        self.since = at;
    }
}

const SECOND: Duration = Duration::from_millis(1000);

/// The share by which what came in a second differs from what was expected, beyond a packet and a full bucket.
fn misfit(bytes: u64, expected: f64, rate: Rate) -> f64 {
    let allowed = (Bytes::new(u64::from(MTU)) + TokenBucket::burst(rate)).as_f64();
    ((bytes as f64 - expected).abs() - allowed).max(0.0) / expected.max(1.0)
}

impl AsFd for Relay {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_and_a_full_bucket_are_no_misfit() {
        let rate = Rate::from_bps(8_000_000);
        let allowed = 1500 + TokenBucket::burst(rate).get();
        assert!(
            misfit(1_000_000 - allowed, 1e6, rate) < 1e-12 && misfit(1_000_000 + allowed, 1e6, rate) < 1e-12
        );
        assert!((misfit(1_000_000 - allowed - 10_000, 1e6, rate) - 0.01).abs() < 1e-12);
    }
}
