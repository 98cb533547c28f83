//! One direction of a link: a queue, a transmitter on a channel, and the packets on their way to the far end.
//!
//! Attempts arrive in the order in which they left, so all that the event queue must know of a link is when the one
//! at the head of the line arrives. What happens inside before that (the end of a transmission, the next dequeue, the
//! queue's own timers) is caught up with in logical time, in order and with the exact instants, whenever something
//! touches the link. That is one event for each packet and link, for any queue discipline and any channel.
//!
//! A link with ARQ is the same line of attempts. What comes after a damaged one (the next attempt) can only arrive later than
//! all in the line, so it needs no event of its own but when the line is empty.

use std::collections::VecDeque;

use airpath_channel::{Arq, Attempt, Propagation};
use airpath_model::{Bytes, Channel, DropReason, Packet as _, Qdisc, QueueSink, Timestamp, Transmission};

use crate::packet::Packet;
use crate::part::{Air, Queue};
use crate::record::Recorder;

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Link {
    index: u32,
    /// Whether anything is measured here. What nobody asks about is not counted.
    watched: bool,
    qdisc: Queue,
    channel: Air,
    propagation: Propagation,
    /// When the transmission under way ends; the packet being sent is the last one on the way.
    sending_until: Option<Timestamp>,
    /// Attempts that have begun to leave, in the order of arrival at the far end.
    on_the_way: VecDeque<OnTheWay>,
    /// What happens to damaged packets; without it they are lost.
    arq: Option<Arq<Packet>>,
}

/// A packet between the two ends. Damaged packets stay in line: the link's next event may depend on them.
#[derive(Debug)]
struct OnTheWay {
    arrival: Timestamp,
    attempt: Attempt,
    arrives: bool,
    /// Gone when it was damaged and will be sent again.
    packet: Option<Packet>,
}

impl Link {
    /// An idle link; `watched` when it is recorded, captured, or flows are measured at it.
    pub(crate) fn new(
        index: u32,
        watched: bool,
        qdisc: Queue,
        channel: Air,
        propagation: Propagation,
        arq: Option<Arq<Packet>>,
    ) -> Self {
        let on_the_way = VecDeque::new();
        Self { index, watched, qdisc, channel, propagation, sending_until: None, on_the_way, arq }
    }

    /// A packet arrives at the near end at `now`.
    pub(crate) fn offer(&mut self, now: Timestamp, mut packet: Packet, recorder: &mut Recorder) {
        // Departures at the same instant come first, so they have made room.
        self.advance(now, recorder);
        packet.enqueued_at = now;
        if self.watched {
            recorder.on_arrival(self.index, now, &packet);
        }
        let mut sink = Sink { link: self.index, recorder };
        let taken = if self.sending_until.is_none() {
            self.qdisc.pass(now, packet, &mut sink)
        } else {
            self.qdisc.enqueue(now, packet, &mut sink);
            None
        };
        self.note_backlog(now, recorder);
        if let Some(packet) = taken {
            self.send_first(now, false, packet);
        }
    }

    /// The packet that the far end hands on at `now`, if it has one: ask until [`Link::next_event`] is later.
    pub(crate) fn deliver(&mut self, now: Timestamp, recorder: &mut Recorder) -> Option<Packet> {
        self.advance(now, recorder);
        if let Some(packet) = self.arq.as_mut().and_then(Arq::release) {
            return Some(packet);
        }
        self.on_the_way.front().filter(|head| head.arrival <= now)?;
        let OnTheWay { attempt, arrives, packet, .. } = self.on_the_way.pop_front()?;
        let packet = packet.filter(|_| arrives);
        match &mut self.arq {
            None => packet,
            Some(arq) => arq.receive(attempt, packet),
        }
    }

    /// When the link must be woken next, or now: the head's arrival; if nothing is on the way, the next repetition or the
    /// queue's timer while it holds packets back.
    pub(crate) fn next_event(&self, now: Timestamp) -> Timestamp {
        if self.arq.as_ref().is_some_and(Arq::can_release) {
            return now;
        }
        if let Some(head) = self.on_the_way.front() {
            return head.arrival;
        }
        let repeat = self.arq.as_ref().map_or(Timestamp::NEVER, Arq::next_repeat);
        if self.qdisc.backlog().packets > 0 { repeat.min(self.qdisc.next_timer()) } else { repeat }
    }

    /// Catches up with everything that happened inside up to and including `now`.
    #[inline]
    pub(crate) fn advance(&mut self, now: Timestamp, recorder: &mut Recorder) {
        let departure = self.sending_until.unwrap_or(Timestamp::NEVER);
        if departure <= now || self.qdisc.next_timer() <= now || self.arq.is_some() {
            self.catch_up(now, recorder);
        }
    }

    fn catch_up(&mut self, now: Timestamp, recorder: &mut Recorder) {
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
                self.finish(recorder);
                self.start(departure, true, recorder);
            } else if timer == next {
                self.qdisc.on_timer(timer, &mut Sink { link: self.index, recorder });
                self.note_backlog(timer, recorder);
                if self.sending_until.is_none() {
                    self.start(timer, false, recorder);
                }
            } else {
                self.start(repeat, false, recorder);
            }
        }
    }

    /// Packets inside the link: waiting, being sent, on the way, to be sent again, or held at the far end.
    pub(crate) fn packets_inside(&self) -> u64 {
        let being_damaged =
            self.sending_until.is_some() && self.on_the_way.back().is_some_and(|last| !last.arrives);
        let on_the_way = self.on_the_way.iter().filter(|packet| packet.arrives).count();
        let in_repair = self.arq.as_ref().map_or(0, Arq::packets);
        self.qdisc.backlog().packets + on_the_way as u64 + u64::from(being_damaged) + in_repair
    }

    /// What the queue reports of itself.
    pub(crate) fn observe(&self, now: Timestamp, recorder: &mut Recorder) {
        let index = self.index;
        self.qdisc.observe(&mut |name, value| recorder.on_observation(index, now, name, value));
    }

    /// Bits offered since the last question; `None` when unlimited.
    pub(crate) fn offered_bits(&mut self, until: Timestamp) -> Option<f64> {
        self.channel.offered_bits(until)
    }

    fn note_backlog(&self, now: Timestamp, recorder: &mut Recorder) {
        if self.watched {
            recorder.on_backlog(self.index, now, self.qdisc.backlog());
        }
    }

    /// The transmission under way ends.
    fn finish(&mut self, recorder: &mut Recorder) {
        let Some(departs) = self.sending_until.take() else { return };
        let Some(last) = self.on_the_way.back_mut() else { return };
        let Some(packet) = last.packet.take() else { return };
        if self.watched && last.attempt.is_repeat() {
            recorder.on_link_retransmission(self.index, &packet);
        }
        let lost_or_sent = match &mut self.arq {
            Some(arq) if !last.arrives => arq.on_damage(departs, last.attempt, packet),
            _ => Some(packet),
        };
        let Some(packet) = lost_or_sent else { return };
        if self.watched {
            recorder.on_departure(self.index, departs, &packet);
        }
        if !last.arrives {
            recorder.on_drop(self.index, departs, &packet, DropReason::Corruption);
        }
        last.packet = Some(packet);
    }

    /// The transmitter is free at `now` and takes a packet that is to be sent again, else the next that the queue gives.
    fn start(&mut self, now: Timestamp, continues: bool, recorder: &mut Recorder) {
        if let Some((attempt, packet)) = self.arq.as_mut().and_then(|arq| arq.repeat(now)) {
            return self.send(now, continues, attempt, packet);
        }
        let taken = self.qdisc.dequeue(now, &mut Sink { link: self.index, recorder });
        self.note_backlog(now, recorder);
        if let Some(packet) = taken {
            self.send_first(now, continues, packet);
        }
    }

    fn send_first(&mut self, now: Timestamp, continues: bool, mut packet: Packet) {
        let waited = now.since(packet.enqueued_at);
        packet.queueing += waited;
        let attempt = self.arq.as_mut().map_or_else(Attempt::default, Arq::first_attempt);
        self.send(now, continues, attempt, packet);
    }

    fn send(&mut self, now: Timestamp, continues: bool, attempt: Attempt, packet: Packet) {
        let size = Bytes::new(u64::from(packet.size));
        let passage = self.channel.transmit(&Transmission { start: now, size, continues });
        let arrival = self.propagation.arrival(passage.departs);
        self.on_the_way.push_back(OnTheWay {
            arrival,
            attempt,
            arrives: passage.arrives,
            packet: Some(packet),
        });
        self.sending_until = Some(passage.departs);
    }
}

/// Tells the recorder what a queue did.
struct Sink<'a> {
    link: u32,
    recorder: &'a mut Recorder,
}

impl QueueSink<Packet> for Sink<'_> {
    fn on_drop(&mut self, now: Timestamp, packet: Packet, reason: DropReason) {
        self.recorder.on_drop(self.link, now, &packet, reason);
    }

    fn on_mark(&mut self, _now: Timestamp, packet: &Packet) {
        debug_assert!(packet.ecn().is_capable());
        self.recorder.on_mark(self.link);
    }
}
