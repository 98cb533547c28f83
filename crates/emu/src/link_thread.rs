//! The thread that moves packets between the devices and the network, by the clock.
//!
//! It looks at what is due, writes it, reads what has come, and waits for the next of either. A packet counts as come at
//! the instant at which it is read, and everything due before that instant happens first; so whatever the thread's
//! lateness, the network's own time only runs forward and its departures follow from each other, not from the clock.
//!
//! Where routers of the kernel stand between links, packets go there and come back. What came back while the thread was held
//! up counts as come before: nothing went to the router meanwhile, so that it was there already, and the kernel let it go when
//! its turn came. The link is thus not idle because this thread was held up.

use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

use airpath_model::{Duration, Timestamp};
use nix::poll::{PollFd, PollFlags};

use crate::address::Side;
use crate::capture::Capture;
use crate::clock::Clock;
use crate::exchange::Exchange;
use crate::router::Relay;
use crate::timing::{LATE, Timing};
use crate::tun::Tun;

/// Something that is to be done with the network and what is inside, between two packets.
pub(crate) type Request = Box<dyn FnOnce(&mut Exchange) + Send>;

/// All that the thread works with.
pub(crate) struct LinkThread {
    pub(crate) exchange: Exchange,
    pub(crate) devices: [Tun; 2],
    /// Ways to the routers of the kernel.
    pub(crate) relays: Vec<Relay>,
    pub(crate) timing: Timing,
    /// What passes the devices of hosts.
    pub(crate) at_hosts: Capture<File>,
    /// What comes to links.
    pub(crate) at_links: Capture<Vec<u8>>,
    pub(crate) clock: Clock,
    pub(crate) requests: Receiver<Request>,
    pub(crate) stop: Arc<AtomicBool>,
    /// Nobody wants the tables any more.
    pub(crate) abandoned: Arc<AtomicBool>,
    /// Width of a row of the series.
    pub(crate) interval: Duration,
    /// When the last interval ends.
    pub(crate) end: Timestamp,
    /// The longest time between two looks at the devices while packets could have come unseen.
    pub(crate) longest_gap: Duration,
    /// The sum of those that were longer than [`LATE`] beyond the sleep that was asked for, without that sleep.
    pub(crate) unseen: Duration,
    /// When it last woke from a sleep that counts as rest.
    pub(crate) woke_at: Timestamp,
    /// When it last looked at the clock, or was to wake: since then it may have been held up.
    pub(crate) looked_at: Timestamp,
}

/// Packets read from one device before the other is looked at.
const BATCH: usize = 32;
/// What is due this soon is waited for without sleeping: falling asleep and waking up takes about as long.
const SPIN: Duration = Duration::from_micros(30);
/// How long the thread may be awake, and how long it then rests even if there is something to do. The kernel gives
/// ordinary threads that wait for a processor 5 % of each second of it; if a real-time thread leaves them less, it takes
/// them 50 ms at a time, which would hold up packets for as long.
pub(crate) const AWAKE: Duration = Duration::from_micros(500);
pub(crate) const REST: Duration = Duration::from_micros(50);
/// Packets wait no longer than about this for what else was asked for.
const REQUESTS: Duration = Duration::from_micros(20);
/// The longest sleep: requests and the wish to stop are seen this soon.
const LONGEST_SLEEP: Duration = Duration::from_millis(5);

impl LinkThread {
    /// Works until the run ends, or is stopped and the interval of the series under way is over: what is not in a whole
    /// interval is in no table.
    pub(crate) fn run(&mut self) {
        let mut stopped = false;
        loop {
            let now = self.clock.now();
            self.advance(now);
            if !stopped && self.stop.load(Ordering::Acquire) {
                stopped = true;
                // All that was asked for before.
                self.do_requests(Duration::MAX);
                let intervals = now.as_nanos() / self.interval.as_nanos() + 1;
                self.end = self.end.min(Timestamp::ZERO + self.interval * intervals);
            }
            if now >= self.end || self.abandoned.load(Ordering::Relaxed) {
                return;
            }
            let requested = self.do_requests(REQUESTS);
            let came: usize = Side::BOTH.map(|side| self.read(side)).iter().sum();
            // A packet ends this sleep; of any other delay nobody hears.
            let mut asleep = Duration::ZERO;
            if now.since(self.woke_at) > AWAKE {
                self.sleep(REST, false);
            } else if came == 0 && !requested {
                let steps = self.relays.iter().map(Relay::next_step);
                let next = steps.fold(self.exchange.next_event(), Timestamp::min);
                let left = next.since(self.clock.now());
                if left > SPIN {
                    asleep = (left - SPIN).min(LONGEST_SLEEP);
                    self.sleep(asleep, true);
                }
            }
            let gap = self.clock.now().since(now);
            self.longest_gap = self.longest_gap.max(gap);
            if gap > asleep + LATE {
                self.unseen += gap - asleep;
            }
        }
    }

    /// After the end, when everybody has said what they know: ends the last interval, whose rows are then whole.
    pub(crate) fn close(&mut self) {
        self.do_requests(Duration::MAX);
        self.advance_to(self.end);
    }

    /// Does what was asked for, for about a time; gives whether there was anything.
    fn do_requests(&mut self, time: Duration) -> bool {
        let began = self.clock.now();
        let mut any = false;
        while let Ok(request) = self.requests.try_recv() {
            request(&mut self.exchange);
            any = true;
            if self.clock.now().since(began) > time {
                break;
            }
        }
        any
    }

    /// Writes what is due up to `until`, now, and sets the rates that are; reads what has come back from routers before that.
    /// The last interval stays open: what ends of flows say of it may come after it.
    fn advance(&mut self, until: Timestamp) {
        let until = until.min(self.end - Duration::from_nanos(1));
        for relay in &mut self.relays {
            relay.read_back(self.looked_at.min(until), &mut self.exchange);
        }
        self.looked_at = until;
        self.advance_to(until);
    }

    fn advance_to(&mut self, until: Timestamp) {
        let Self { exchange, devices, timing, at_hosts, clock, relays, .. } = self;
        exchange.advance(until, |due, side, packet| {
            let now = clock.now();
            let taken = devices[side.index()].write(packet);
            timing.on_delivery(side, due, now, packet.len(), taken);
            at_hosts.on_packet(side.index(), now, packet);
        });
        for relay in relays {
            relay.step(until);
            relay.send(until, exchange);
            relay.note_early(exchange);
        }
        self.capture_links();
    }

    /// Captures what has come to links, before anything is read into the places of packets that are gone.
    fn capture_links(&mut self) {
        let Self { exchange, at_links, .. } = self;
        exchange.captured(|at, link, packet| at_links.on_packet(link as usize, at, packet));
    }

    /// Reads what waits at a device; gives how many packets.
    fn read(&mut self, side: Side) -> usize {
        for read in 0..BATCH {
            let (slot, room) = self.exchange.room();
            let Ok(Some(length)) = self.devices[side.index()].read(room) else {
                self.exchange.leave(slot);
                return read;
            };
            let now = self.clock.now();
            if now >= self.end {
                self.exchange.leave(slot);
                return read;
            }
            self.at_hosts.on_packet(side.index(), now, &room[..length.min(room.len())]);
            self.advance(now);
            self.exchange.accept(now, side, slot, length);
            self.capture_links();
            for relay in &mut self.relays {
                relay.send(now, &mut self.exchange);
            }
        }
        BATCH
    }

    /// Sleeps for a time, or only until a packet comes.
    fn sleep(&mut self, time: Duration, until_packet: bool) {
        let began = self.clock.now();
        let relays = self.relays.iter().map(Relay::as_fd);
        let mut devices: Vec<PollFd<'_>> = (self.devices.iter().map(Tun::as_fd).chain(relays))
            .map(|device| PollFd::new(device, PollFlags::POLLIN))
            .collect();
        let watched = if until_packet { &mut devices[..] } else { &mut [] };
        self.clock.wait(watched, time);
        let now = self.clock.now();
        if now.since(began) >= REST {
            self.woke_at = now;
        }
        self.looked_at = now.min(began + time).max(self.looked_at);
    }
}

#[cfg(test)]
mod tests;
