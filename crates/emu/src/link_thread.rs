//! The thread that moves packets between the devices and the network, in real time.
//!
//! It writes packets that are due, reads packets that have arrived, and waits for the next of either. The
//! arrival time of a packet is the time at which it is read, and everything due before that time happens
//! first. Even if the thread is late, the network's own time therefore only advances, and its departures
//! follow from each other, not from the clock.
//!
//! If there are routers of the kernel between links, packets are sent to them and come back. Packets that
//! came back while the thread was delayed count as having come back earlier. No packet was sent to the router
//! in the meantime, so these packets were there already, and the kernel released them when it was their turn.
//! The delay of this thread therefore does not make the link idle.

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

/// Work on the network and its contents, to be done between two packets.
pub(crate) type Request = Box<dyn FnOnce(&mut Exchange) + Send>;

/// The state of the thread.
pub(crate) struct LinkThread {
    pub(crate) exchange: Exchange,
    pub(crate) devices: [Tun; 2],
    /// Connections to the routers of the kernel.
    pub(crate) relays: Vec<Relay>,
    pub(crate) timing: Timing,
    /// Packets at the devices of hosts.
    pub(crate) at_hosts: Capture<File>,
    /// Packets at the entrances of links.
    pub(crate) at_links: Capture<Vec<u8>>,
    pub(crate) clock: Clock,
    pub(crate) requests: Receiver<Request>,
    pub(crate) stop: Arc<AtomicBool>,
    /// Set if the tables are no longer needed.
    pub(crate) abandoned: Arc<AtomicBool>,
    /// Width of a row of the series.
    pub(crate) interval: Duration,
    /// End of the last interval.
    pub(crate) end: Timestamp,
    /// The longest time between two polls of the devices while packets could arrive unnoticed.
    pub(crate) longest_gap: Duration,
    /// The sum of those times that exceeded the requested sleep by more than [`LATE`], without that sleep.
    pub(crate) unseen: Duration,
    /// Time of the last wake-up from a sleep that counts as rest.
    pub(crate) woke_at: Timestamp,
    /// Time of the last reading of the clock, or of the planned wake-up: the thread may have been delayed
    /// since.
    pub(crate) looked_at: Timestamp,
}

/// Largest number of packets that are read from one device before the other is polled.
const BATCH: usize = 32;
/// Events due within this time are waited for without sleeping: falling asleep and waking up takes about as
/// long.
const SPIN: Duration = Duration::from_micros(30);
/// Longest time for which the thread is awake, and the time for which it then rests even if there is work.
/// The kernel gives ordinary threads that wait for a processor 5 % of each second of it. If a real-time
/// thread leaves them less, the kernel gives them 50 ms at a time, which would delay packets for as long.
pub(crate) const AWAKE: Duration = Duration::from_micros(500);
pub(crate) const REST: Duration = Duration::from_micros(50);
/// Approximate time for which requests may delay packets.
const REQUESTS: Duration = Duration::from_micros(20);
/// The longest sleep, which bounds the reaction time to requests and to the stop flag.
const LONGEST_SLEEP: Duration = Duration::from_millis(5);

impl LinkThread {
    /// Runs until the run ends, or until it is stopped and the current interval of the series is over: no
    /// table contains a partial interval.
    pub(crate) fn run(&mut self) {
        let mut stopped = false;
        loop {
            let now = self.clock.now();
            let until = self.read_back(now);
            // Reports on an interval precede its end, and the thread may have slept over both. Packets that come
            // back meanwhile are read in the next turn: at `until` they would be early.
            let requested = self.do_requests(REQUESTS);
            self.advance_to(until);
            if !stopped && self.stop.load(Ordering::Acquire) {
                stopped = true;
                // All earlier requests.
                self.do_requests(Duration::MAX);
                let intervals = now.as_nanos() / self.interval.as_nanos() + 1;
                self.end = self.end.min(Timestamp::ZERO + self.interval * intervals);
            }
            if now >= self.end || self.abandoned.load(Ordering::Relaxed) {
                return;
            }
            let came: usize = Side::BOTH.map(|side| self.read(side)).iter().sum();
            // A packet ends this sleep; any other delay goes unnoticed.
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

    /// Ends the last interval, whose rows are then complete. Called after the end, when all endpoints have
    /// reported.
    pub(crate) fn close(&mut self) {
        self.do_requests(Duration::MAX);
        self.advance_to(self.end);
    }

    /// Executes requests for about `time`; returns whether there were any.
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

    /// Reads the packets that have come back from routers. Returns the time to advance to at `now`: the last
    /// interval stays open, because reports on endpoints may follow.
    fn read_back(&mut self, now: Timestamp) -> Timestamp {
        let until = now.min(self.end - Duration::from_nanos(1));
        for relay in &mut self.relays {
            relay.read_back(self.looked_at.min(until), &mut self.exchange);
        }
        self.looked_at = until;
        until
    }

    /// Delivers the packets that are due up to `until`, and sets the rates that are due.
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

    /// Captures packets at links, before the slots of departed packets are reused.
    fn capture_links(&mut self) {
        let Self { exchange, at_links, .. } = self;
        exchange.captured(|at, link, packet| at_links.on_packet(link as usize, at, packet));
    }

    /// Reads the packets that wait at a device; returns their number.
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
            let until = self.read_back(now);
            self.advance_to(until);
            self.exchange.accept(now, side, slot, length);
            self.capture_links();
            for relay in &mut self.relays {
                relay.send(now, &mut self.exchange);
            }
        }
        BATCH
    }

    /// Sleeps for `time`, or only until a packet arrives.
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
