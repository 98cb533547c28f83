//! The link thread's interface to a router: packets there, packets back, and changes of the rate.

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
    /// Future changes of the rate.
    steps: VecDeque<(Timestamp, Rate)>,
    tickets: Tickets,
    /// The token bucket's number of drops when it was last queried.
    drops: u32,
    second: Second,
    record: RouterRecord,
}

/// The limit of the queue divided by this, a packet and a full bucket may leave the kernel before their
/// transmission begins.
const EARLY_PART: u64 = 10;

/// Packets that came back within the current second.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    number: u64,
    bytes: u64,
    /// Whether packets waited all the time.
    busy: bool,
    rate: Rate,
    /// Bytes at the configured rates from its beginning to `since`.
    expected: f64,
    since: Timestamp,
}

impl Relay {
    /// Creates a relay for a link whose rates are `steps`, of which the first is set.
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

    /// Creates a relay for link 0 without a kernel: packets for the router arrive at the other end.
    #[cfg(test)]
    pub(crate) fn pair(limit: Bytes, rate: Rate) -> (Self, std::os::unix::net::UnixDatagram) {
        let (device, router) = Tun::pair();
        (Self::new(0, device, TokenBucket::none(limit), vec![(Timestamp::ZERO, rate)]), router)
    }

    /// Returns the time of the next change of its rate.
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

    /// Sends all packets that the network has for the router.
    pub(crate) fn send(&mut self, now: Timestamp, exchange: &mut Exchange) {
        while let Some((slot, bytes)) = exchange.next_out(self.record.link) {
            let mut copy = [0; SLOT];
            let length = bytes.len();
            copy[..length].copy_from_slice(bytes);
            let there = self.tickets.give(slot, &mut copy[..length]);
            let taken = there && self.device.write(&copy[..length]);
            // Only a packet that would fill the queue can have been dropped; otherwise no query is needed.
            let full = exchange.outside(self.record.link).bytes > self.bucket.limit();
            if !taken || full && self.has_dropped() {
                exchange.lose_outside(now, self.record.link, slot);
                if there {
                    self.tickets.take_last();
                }
            }
        }
    }

    /// Reads all packets that have come back; their arrival time is `now`.
    pub(crate) fn read_back(&mut self, now: Timestamp, exchange: &mut Exchange) {
        let mut bytes = [0; SLOT];
        while let Ok(Some(length)) = self.device.read(&mut bytes) {
            self.receive(now, &mut bytes[..length.min(SLOT)], exchange);
        }
    }

    /// Accepts a packet with these bytes that came back at `now`. Earlier packets that did not come back are
    /// lost.
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

    /// Records the bytes that have left the kernel and still wait for the link.
    pub(crate) fn note_early(&mut self, exchange: &mut Exchange) {
        let early = exchange.network().early(self.record.link).get();
        self.record.early_bytes = self.record.early_bytes.max(early);
    }

    /// Returns the measurements so far.
    pub(crate) fn record(&self) -> RouterRecord {
        self.record.clone()
    }

    /// Returns whether the token bucket has dropped something since the last query: within our call to write,
    /// so the last packet.
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

    /// Ends the current second if it is over, and following ones without packets.
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
    /// Counts the bytes at the current rate up to `at`.
    fn pass(&mut self, at: Timestamp) {
        self.expected += self.rate.as_bps() as f64 / 8.0 * at.since(self.since).as_secs_f64();
        self.since = at;
    }
}

const SECOND: Duration = Duration::from_millis(1000);

/// Returns the relative difference between received and expected bytes of a second, beyond a packet and a
/// full bucket.
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
    fn one_packet_and_a_full_bucket_are_within_tolerance() {
        let rate = Rate::from_bps(8_000_000);
        let allowed = 1500 + TokenBucket::burst(rate).get();
        assert!(
            misfit(1_000_000 - allowed, 1e6, rate) < 1e-12 && misfit(1_000_000 + allowed, 1e6, rate) < 1e-12
        );
        assert!((misfit(1_000_000 - allowed - 10_000, 1e6, rate) - 0.01).abs() < 1e-12);
    }
}
