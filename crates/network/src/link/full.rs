//! One direction of a link: a queue, a transmitter on a channel, and the packets on their way to the far end.
//!
//! Attempts arrive in the order in which they left, so the event queue needs only the arrival time of the
//! head of the line. Earlier internal events (the end of a transmission, the next dequeue, the queue's own
//! timers) are processed whenever something accesses the link, in order and with their exact times. This
//! takes one event per packet and link, for any queue discipline and any channel.
//!
//! Preceding links that only delay packets, or that know their departures, announce arrivals in advance
//! ([`Link::announce`]). Announced packets are accepted when something accesses the link, each at its own
//! time, and need no events either. A link that [hands over](Link::take_departed) passes packets to the next
//! link once they have left, with their arrival times there. It must be woken only before the first possible
//! arrival: once per propagation delay.
//!
//! A link with ARQ is the same line of attempts. The attempt after a corrupted one can only arrive later than
//! all others in the line, so it needs an event of its own only if the line is empty.

use std::collections::VecDeque;
use std::sync::Arc;

use airpath_channel::{Arq, Attempt, Propagation};
use airpath_model::{
    Bytes, Channel, Damage, DropReason, Duration, Ecn, Packet as _, PathHeader, Qdisc, QueueSink, Timestamp,
    Transmission,
};

use crate::context::Context;
use crate::event::{Entry, Target};
use crate::link::OutsideQueue;
use crate::link::{Air, Queue};
use crate::lookahead::Arrivals;
use crate::packet::Packet;
use crate::prefetch;
use crate::routes::END_OF_ROUTE;

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Link {
    index: u32,
    /// Whether any measurement uses this link. Otherwise nothing is counted.
    watched: bool,
    qdisc: Queue,
    channel: Air,
    propagation: Propagation,
    /// End of the current transmission; the packet being sent is the last one in `on_the_way`.
    sending_until: Option<Timestamp>,
    /// Attempts that have begun to leave, in the order of arrival at the far end.
    on_the_way: VecDeque<OnTheWay>,
    /// Link-layer retransmission of corrupted packets; without it they are lost.
    arq: Option<Arq<Packet>>,
    /// Packets that will arrive at the near end.
    announced: Arrivals,
    /// The shortest time from leaving to arriving.
    delay: Duration,
    /// Time of the last delivery at the far end.
    popped_at: Timestamp,
    /// Whether packets may be announced to the link: see [`Link::takes_announcements`].
    takes_announcements: bool,
    /// The routes of all flows, if the next links take packets once they have left.
    routes: Option<Arc<[Target]>>,
    /// The least time from the far end of this link to endpoints of flows, if all packets go there next.
    to_ends: Option<Duration>,
    /// Whether departures are the only internal events: no timers, no drops except at the entrance, no
    /// retransmissions.
    queue_only_waits: bool,
}

/// A packet between the two ends. Corrupted packets stay in the line: the link's next event may depend on
/// them.
#[derive(Debug)]
struct OnTheWay {
    started: Timestamp,
    arrival: Timestamp,
    attempt: Attempt,
    arrives: bool,
    /// The link that takes it once it has left, or [`END_OF_ROUTE`]. Read at transmission, while the packet
    /// is in the processor's cache.
    next: Target,
    /// `None` if it was corrupted and will be retransmitted.
    packet: Option<Packet>,
}

impl Link {
    /// Creates an idle link; `watched` if it is recorded, captured, or flows are measured at it.
    pub(crate) fn new(
        index: u32,
        watched: bool,
        mut qdisc: Queue,
        channel: Air,
        propagation: Propagation,
        arq: Option<Arq<Packet>>,
    ) -> Self {
        Self {
            index,
            watched,
            takes_announcements: arq.is_none()
                && !propagation.shortest().is_zero()
                && qdisc.outside().is_none(),
            queue_only_waits: matches!(qdisc, Queue::DropTail(_)) && arq.is_none(),
            qdisc,
            channel,
            delay: propagation.shortest(),
            propagation,
            sending_until: None,
            on_the_way: VecDeque::new(),
            arq,
            announced: Arrivals::default(),
            popped_at: Timestamp::ZERO,
            routes: None,
            to_ends: None,
        }
    }

    /// Returns whether packets may be announced to the link: there must be time to wake it before they can
    /// have arrived at its far end, and its queue must not be external.
    pub(crate) fn takes_announcements(&self) -> bool {
        self.takes_announcements
    }

    /// Hands over all further packets to the next links of these routes once they have left. `to_ends` is the
    /// least time from the far end of this link to endpoints of flows, if all packets go there next.
    pub(crate) fn hand_over(&mut self, routes: &Arc<[Target]>, to_ends: Option<Duration>) {
        debug_assert!(self.takes_announcements());
        self.routes = Some(Arc::clone(routes));
        self.to_ends = to_ends;
    }

    /// Returns whether a packet that arrives at the far end at `arrival`, and all later ones, reach endpoints
    /// of flows after `horizon`.
    #[inline]
    pub(crate) fn ends_after(&self, horizon: Timestamp, arrival: Timestamp) -> bool {
        self.to_ends.is_some_and(|least| arrival + least > horizon)
    }

    /// Returns whether the next links take its packets once they have left.
    #[inline]
    pub(crate) fn hands_over(&self) -> bool {
        self.routes.is_some()
    }

    /// Announces a packet that will arrive at the near end by that event. Returns whether the link must be
    /// woken earlier than scheduled.
    pub(crate) fn announce(&mut self, event: Entry, packet: Packet) -> bool {
        self.announced.announce(event, packet) && self.sending_until.is_none()
    }

    /// Accepts the announced packets that do not come after an event. Returns their number.
    #[inline]
    pub(crate) fn take_in(&mut self, until: Entry, context: &mut Context) -> u64 {
        let mut taken = 0;
        while let Some((event, packet)) = self.announced.take_until(until) {
            self.offer(event.at(), packet, context);
            taken += 1;
        }
        taken
    }

    /// Returns the next packet that has left, its next link, its arrival time there, and the time at which
    /// that event would have been scheduled. If packets are handed over, call this until it returns `None`.
    #[inline]
    pub(crate) fn departed(&self) -> Option<(&Packet, Target, Timestamp, Timestamp)> {
        let head = self.on_the_way.front().filter(|_| self.has_departed())?;
        Some((head.packet.as_ref()?, head.next, head.arrival, head.started.max(self.popped_at)))
    }

    /// Removes packets that have left and do not arrive.
    #[inline]
    pub(crate) fn pass_over_lost(&mut self, context: &mut Context) {
        while self.has_departed() && self.on_the_way.front().is_some_and(|head| !head.arrives) {
            if let Some(packet) = self.take_departed() {
                context.pool.take_back(packet);
            }
        }
    }

    /// Removes and returns the packet that [`Link::departed`] returned.
    #[inline]
    pub(crate) fn take_departed(&mut self) -> Option<Packet> {
        let OnTheWay { arrival, packet, .. } = self.on_the_way.pop_front()?;
        prefetch::line(&self.on_the_way, |next| next.packet.as_ref());
        self.popped_at = arrival;
        packet
    }

    /// Returns whether the head of the line has left completely.
    #[inline]
    fn has_departed(&self) -> bool {
        self.on_the_way.len() > usize::from(self.sending_until.is_some())
    }

    /// Returns the packet at a position of the line, and its next link.
    #[inline]
    pub(crate) fn behind(&self, places: usize) -> Option<(&Packet, Target)> {
        let behind = self.on_the_way.get(places)?;
        Some((behind.packet.as_ref()?, behind.next))
    }

    /// Enqueues or drops a packet that arrives at the near end at `now`.
    pub(crate) fn offer(&mut self, now: Timestamp, mut packet: Packet, context: &mut Context) {
        // Departures at the same instant come first, and make room.
        self.advance(now, context);
        packet.enqueued_at = now;
        if self.watched {
            context.recorder.on_arrival(self.index, now, &packet);
        }
        let mut sink = Sink { link: self.index, context };
        let taken = if self.sending_until.is_none() {
            self.qdisc.pass(now, packet, &mut sink)
        } else {
            self.qdisc.enqueue(now, packet, &mut sink);
            None
        };
        self.note_backlog(now, context);
        if let Some(packet) = taken {
            self.send_first(now, false, packet);
        }
    }

    /// Returns the next packet that the far end delivers at `now`, if any. Call this until
    /// [`Link::next_event`] is later.
    pub(crate) fn deliver(&mut self, now: Timestamp, context: &mut Context) -> Option<Packet> {
        self.advance(now, context);
        if let Some(packet) = self.arq.as_mut().and_then(Arq::release) {
            return Some(packet);
        }
        self.on_the_way.front().filter(|head| head.arrival <= now)?;
        let OnTheWay { attempt, arrives, packet, .. } = self.on_the_way.pop_front()?;
        self.popped_at = now;
        let packet = match packet {
            Some(packet) if !arrives => {
                context.pool.take_back(packet);
                None
            }
            packet => packet,
        };
        match &mut self.arq {
            None => packet,
            Some(arq) => arq.receive(attempt, packet),
        }
    }

    /// Returns the next wake-up time of the link, possibly now, and the time at which that event would have
    /// been scheduled. It is the arrival of the head; if nothing is in flight, the next retransmission, or
    /// the queue's timer while the queue holds packets back. Packets that are announced, or sent and handed
    /// over, must be processed before they can have arrived.
    pub(crate) fn next_event(&self, now: Timestamp) -> (Timestamp, Timestamp) {
        if self.arq.as_ref().is_some_and(Arq::can_release) {
            return (now, now);
        }
        if let Some(head) = self.on_the_way.front().filter(|_| !self.hands_over()) {
            return (head.arrival, head.started.max(self.popped_at));
        }
        let holds_back = self.qdisc.backlog().packets > 0;
        let timer = if holds_back { self.qdisc.next_timer() } else { Timestamp::NEVER };
        if !self.takes_announcements() {
            let repeat = self.arq.as_ref().map_or(Timestamp::NEVER, Arq::next_repeat);
            return (repeat.min(timer), now);
        }
        let starts = self.sending_until.unwrap_or_else(|| timer.min(self.announced.next().at()));
        let wake = if starts.is_scheduled() { starts + self.delay - ONE_EARLIER } else { starts };
        (wake.max(now), now)
    }

    /// Processes all internal events up to and including `now`.
    #[inline]
    pub(crate) fn advance(&mut self, now: Timestamp, context: &mut Context) {
        let departure = self.sending_until.unwrap_or(Timestamp::NEVER);
        if self.queue_only_waits {
            if departure <= now {
                self.let_leave(now, context);
            }
        } else if departure <= now || self.qdisc.next_timer() <= now || self.arq.is_some() {
            self.catch_up(now, context);
        }
    }

    /// Processes departures as [`Link::catch_up`] does, for a link at which only departures happen.
    fn let_leave(&mut self, now: Timestamp, context: &mut Context) {
        while let Some(departs) = self.sending_until.filter(|departs| *departs <= now) {
            self.note_departure(departs, context);
            let Queue::DropTail(queue) = &mut self.qdisc else { return };
            let Some(packet) = queue.take() else {
                self.sending_until = None;
                return;
            };
            // A read from memory takes as long as processing about ten packets, and the address of the flow
            // is known only from the packet.
            if let Some(packet) = queue.behind(12) {
                packet.prefetch();
            }
            if context.recorder.has_many_flows()
                && let Some(packet) = queue.behind(6)
            {
                context.recorder.prefetch(packet.flow);
            }
            if self.watched {
                context.recorder.on_backlog(self.index, departs, Qdisc::<Packet>::backlog(queue));
            }
            self.send_waiting(departs, true, Attempt::default(), packet);
        }
    }

    fn catch_up(&mut self, now: Timestamp, context: &mut Context) {
        loop {
            let departure = self.sending_until.unwrap_or(Timestamp::NEVER);
            let timer = self.qdisc.next_timer();
            let repeat = match &self.arq {
                Some(arq) if self.sending_until.is_none() => arq.next_repeat(),
                _ => Timestamp::NEVER,
            };
            let next = departure.min(timer).min(repeat);
            if next > now || !next.is_scheduled() {
                return;
            }
            if departure == next {
                if self.arq.is_some() {
                    self.finish(context);
                } else {
                    self.note_departure(departure, context);
                    self.sending_until = None;
                }
                self.start(departure, true, context);
            } else if timer == next {
                self.qdisc.on_timer(timer, &mut Sink { link: self.index, context });
                self.note_backlog(timer, context);
                if self.sending_until.is_none() {
                    self.start(timer, false, context);
                }
            } else {
                self.start(repeat, false, context);
            }
        }
    }

    /// Returns the number of packets inside the link: announced, waiting, being sent, in flight, waiting for
    /// retransmission, or held at the far end.
    pub(crate) fn packets_inside(&self) -> u64 {
        let being_damaged =
            self.sending_until.is_some() && self.on_the_way.back().is_some_and(|last| !last.arrives);
        let on_the_way = self.on_the_way.iter().filter(|packet| packet.arrives).count();
        let in_repair = self.arq.as_ref().map_or(0, Arq::packets);
        self.announced.len()
            + self.qdisc.backlog().packets
            + on_the_way as u64
            + u64::from(being_damaged)
            + in_repair
    }

    /// Returns the queue if it is external.
    pub(crate) fn outside(&mut self) -> Option<&mut OutsideQueue> {
        self.qdisc.outside()
    }

    /// Takes back the packet with this handle from the external queue at `now`, with this ECN field and
    /// header. Does nothing if that packet is not in the external queue.
    pub(crate) fn come_back(
        &mut self,
        now: Timestamp,
        handle: u32,
        (ecn, path): (Ecn, PathHeader),
        context: &mut Context,
    ) {
        self.advance(now, context);
        let Some(queue) = self.qdisc.outside() else { return };
        let Some(mut packet) = queue.take(handle) else { return };
        packet.set_ecn(ecn);
        *packet.path_header() = path;
        queue.put_back(packet);
        if self.sending_until.is_none() {
            self.start(now, false, context);
        }
    }

    /// Records that the owner of the external queue dropped the packet with this handle at `now`.
    pub(crate) fn lose_outside(&mut self, now: Timestamp, handle: u32, context: &mut Context) {
        self.advance(now, context);
        let Some(packet) = self.outside().and_then(|queue| queue.take(handle)) else { return };
        context.on_gone(self.index, now, packet, DropReason::Overflow);
        self.note_backlog(now, context);
    }

    /// Reports the quantities of the queue to the context.
    pub(crate) fn observe(&self, now: Timestamp, context: &mut Context) {
        let index = self.index;
        self.qdisc.observe(&mut |name, value| context.recorder.on_observation(index, now, name, value));
    }

    /// Returns the bits offered since the last call; `None` if unlimited.
    pub(crate) fn offered_bits(&mut self, until: Timestamp) -> Option<f64> {
        self.channel.offered_bits(until)
    }

    /// Returns the corruption by the channel and its expectation, if they are recorded.
    pub(crate) fn damage(&self) -> Option<Damage> {
        self.channel.damage()
    }

    fn note_backlog(&self, now: Timestamp, context: &mut Context) {
        if self.watched {
            context.recorder.on_backlog(self.index, now, self.qdisc.backlog());
        }
    }

    /// Records the end of the current transmission at `departs`, without ARQ.
    #[inline]
    fn note_departure(&self, departs: Timestamp, context: &mut Context) {
        let Some(OnTheWay { arrives, packet: Some(packet), .. }) = self.on_the_way.back() else { return };
        if self.watched {
            context.recorder.on_departure(self.index, departs, packet);
        }
        if !arrives {
            context.recorder.on_drop(self.index, departs, packet, DropReason::Corruption);
        }
    }

    /// Ends the current transmission, with ARQ.
    fn finish(&mut self, context: &mut Context) {
        let Some(departs) = self.sending_until.take() else { return };
        let Some(last) = self.on_the_way.back_mut() else { return };
        let Some(packet) = last.packet.take() else { return };
        if self.watched && last.attempt.is_repeat() {
            context.recorder.on_link_retransmission(self.index, &packet);
        }
        let lost_or_sent = match &mut self.arq {
            Some(arq) if !last.arrives => arq.on_damage(departs, last.attempt, packet),
            _ => Some(packet),
        };
        let Some(packet) = lost_or_sent else { return };
        if self.watched {
            context.recorder.on_departure(self.index, departs, &packet);
        }
        if !last.arrives {
            context.recorder.on_drop(self.index, departs, &packet, DropReason::Corruption);
        }
        last.packet = Some(packet);
    }

    /// Starts a transmission at `now`: a packet waiting for retransmission if there is one, otherwise the
    /// next one from the queue.
    fn start(&mut self, now: Timestamp, continues: bool, context: &mut Context) {
        if let Some((attempt, packet)) = self.arq.as_mut().and_then(|arq| arq.repeat(now)) {
            return self.send(now, continues, attempt, packet);
        }
        let taken = self.qdisc.dequeue(now, &mut Sink { link: self.index, context });
        self.note_backlog(now, context);
        if let Some(packet) = taken {
            self.send_first(now, continues, packet);
        }
    }

    fn send_first(&mut self, now: Timestamp, continues: bool, packet: Packet) {
        let attempt = self.arq.as_mut().map_or_else(Attempt::default, Arq::first_attempt);
        self.send_waiting(now, continues, attempt, packet);
    }

    /// Sends a packet that has waited since it entered the queue.
    #[inline]
    fn send_waiting(&mut self, now: Timestamp, continues: bool, attempt: Attempt, mut packet: Packet) {
        let waited = now.since(packet.enqueued_at);
        packet.queueing += waited;
        self.send(now, continues, attempt, packet);
    }

    #[inline]
    fn send(&mut self, now: Timestamp, continues: bool, attempt: Attempt, mut packet: Packet) {
        let size = Bytes::new(u64::from(packet.size));
        let next = self.routes.as_ref().map_or(END_OF_ROUTE, |routes| packet.go_on(routes));
        let passage = self.channel.transmit(&Transmission { start: now, size, continues });
        let arrival = self.propagation.arrival(passage.departs);
        self.on_the_way.push_back(OnTheWay {
            started: now,
            arrival,
            attempt,
            arrives: passage.arrives,
            next,
            packet: Some(packet),
        });
        self.sending_until = Some(passage.departs);
    }
}

/// A link must be woken before the instant at which a packet could come out of it.
const ONE_EARLIER: Duration = Duration::from_nanos(1);

/// Reports the actions of a queue to the context.
struct Sink<'a> {
    link: u32,
    context: &'a mut Context,
}

impl QueueSink<Packet> for Sink<'_> {
    fn on_drop(&mut self, now: Timestamp, packet: Packet, reason: DropReason) {
        self.context.on_gone(self.link, now, packet, reason);
    }

    fn on_mark(&mut self, _now: Timestamp, packet: &Packet) {
        debug_assert!(packet.ecn().is_capable());
        self.context.recorder.on_mark(self.link);
    }
}
