//! One direction of a link: a queue, a transmitter on a channel, and the packets on their way to the far end.
//!
//! A link is a FIFO, so all that the event queue must know of it is when the packet at its head arrives. What
//! happens inside before that (the end of a transmission, the next dequeue, the queue's own timers) is caught up
//! with in logical time, in order and with the exact instants, whenever something touches the link. That is one
//! event for each packet and link, for any queue discipline and any channel.

use std::collections::VecDeque;

use airpath_channel::Propagation;
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
    /// Packets that have begun to leave, in the order of arrival at the far end.
    on_the_way: VecDeque<OnTheWay>,
}

/// A packet between the two ends. Damaged packets stay in line: the link's next event may depend on them.
#[derive(Debug)]
struct OnTheWay {
    arrival: Timestamp,
    arrives: bool,
    packet: Packet,
}

impl Link {
    /// An idle link; `watched` when it is recorded, captured, or flows are measured at it.
    pub(crate) fn new(
        index: u32,
        watched: bool,
        qdisc: Queue,
        channel: Air,
        propagation: Propagation,
    ) -> Self {
        Self { index, watched, qdisc, channel, propagation, sending_until: None, on_the_way: VecDeque::new() }
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
            self.send(now, false, packet);
        }
    }

    /// The packet that arrives at the far end at `now`, if one does and is undamaged.
    pub(crate) fn deliver(&mut self, now: Timestamp, recorder: &mut Recorder) -> Option<Packet> {
        self.advance(now, recorder);
        match self.on_the_way.front() {
            Some(head) if head.arrival <= now => {
                self.on_the_way.pop_front().and_then(|head| head.arrives.then_some(head.packet))
            }
            _ => None,
        }
    }

    /// When the link must be woken next: the head's arrival, or the queue's timer while it holds packets back.
    pub(crate) fn next_event(&self) -> Timestamp {
        match self.on_the_way.front() {
            Some(head) => head.arrival,
            None if self.qdisc.backlog().packets > 0 => self.qdisc.next_timer(),
            None => Timestamp::NEVER,
        }
    }

    /// Catches up with everything that happened inside up to and including `now`.
    #[inline]
    pub(crate) fn advance(&mut self, now: Timestamp, recorder: &mut Recorder) {
        let departure = self.sending_until.unwrap_or(Timestamp::NEVER);
        if departure <= now || self.qdisc.next_timer() <= now {
            self.catch_up(now, recorder);
        }
    }

    fn catch_up(&mut self, now: Timestamp, recorder: &mut Recorder) {
        loop {
            let departure = self.sending_until.unwrap_or(Timestamp::NEVER);
            let timer = self.qdisc.next_timer();
            if departure.min(timer) > now || !departure.min(timer).is_scheduled() {
                return;
            }
            if departure <= timer {
                self.finish(recorder);
                self.start(departure, true, recorder);
            } else {
                self.qdisc.on_timer(timer, &mut Sink { link: self.index, recorder });
                self.note_backlog(timer, recorder);
                if self.sending_until.is_none() {
                    self.start(timer, false, recorder);
                }
            }
        }
    }

    /// Packets inside the link: waiting, being sent, or on the way.
    pub(crate) fn packets_inside(&self) -> u64 {
        let being_damaged =
            self.sending_until.is_some() && self.on_the_way.back().is_some_and(|last| !last.arrives);
        let on_the_way = self.on_the_way.iter().filter(|packet| packet.arrives).count();
        self.qdisc.backlog().packets + on_the_way as u64 + u64::from(being_damaged)
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
        if let (Some(departs), Some(last)) = (self.sending_until.take(), self.on_the_way.back()) {
            if self.watched {
                recorder.on_departure(self.index, departs, &last.packet);
            }
            if !last.arrives {
                recorder.on_drop(self.index, departs, &last.packet, DropReason::Corruption);
            }
        }
    }

    /// The transmitter is free at `now` and takes the next packet, if the queue gives one.
    fn start(&mut self, now: Timestamp, continues: bool, recorder: &mut Recorder) {
        let taken = self.qdisc.dequeue(now, &mut Sink { link: self.index, recorder });
        self.note_backlog(now, recorder);
        if let Some(packet) = taken {
            self.send(now, continues, packet);
        }
    }

    fn send(&mut self, now: Timestamp, continues: bool, mut packet: Packet) {
        let waited = now.since(packet.enqueued_at);
        packet.queueing += waited;
        let size = Bytes::new(u64::from(packet.size));
        let passage = self.channel.transmit(&Transmission { start: now, size, continues });
        let arrival = self.propagation.arrival(passage.departs);
        self.on_the_way.push_back(OnTheWay { arrival, arrives: passage.arrives, packet });
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
