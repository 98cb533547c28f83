//! A sender and a receiver, connected by a path that delays, queues and loses, but never reorders.

use std::collections::VecDeque;

use airpath_model::{Bytes, Duration, NullProbe, Timestamp};
use airpath_transport::{Acknowledgment, Receiver, ReceiverConfig, Segment, Sender, SenderConfig};

use crate::controller::{Handle, Rule};

/// The conditions of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    /// The one-way delay.
    pub(crate) delay: Duration,
    /// The transmission time of one segment.
    pub(crate) spacing: Duration,
    /// The queue limit in segments.
    pub(crate) queue: usize,
    /// Probabilities in per mille.
    pub(crate) data_loss: u64,
    pub(crate) ack_loss: u64,
    pub(crate) seed: u64,
}

pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) controller: Handle,
    receiver: Receiver,
    conditions: Conditions,
    random: u64,
    now: Timestamp,
    wire_free: Timestamp,
    data: VecDeque<(Timestamp, Segment)>,
    acks: VecDeque<(Timestamp, Acknowledgment)>,
    /// All segments sent, with their times.
    pub(crate) sent: Vec<(Timestamp, Segment)>,
    /// The end of the new data sent, and the latest cumulative acknowledgment at the sender.
    next: u64,
    acknowledged: u64,
    right_edge: u64,
    /// The bytes that have arrived, to check the receiver's acknowledgments.
    arrived: Vec<bool>,
    prefix: usize,
}

impl Connection {
    pub(crate) fn new(
        config: SenderConfig,
        receiver: ReceiverConfig,
        controller: (Rule, Bytes),
        conditions: Conditions,
        payload: u64,
    ) -> Self {
        let controller = Handle::new(controller.0, controller.1);
        let mut sender = Sender::new(config, controller.controller()).expect("a valid configuration");
        sender.offer(Bytes::new(payload));
        sender.finish();
        Self {
            sender,
            controller,
            receiver: Receiver::new(receiver),
            conditions,
            random: conditions.seed | 1,
            now: Timestamp::ZERO,
            wire_free: Timestamp::ZERO,
            data: VecDeque::new(),
            acks: VecDeque::new(),
            sent: Vec::new(),
            next: 0,
            acknowledged: 0,
            right_edge: config.receive_window.get(),
            arrived: vec![false; usize::try_from(payload).expect("small")],
            prefix: 0,
        }
    }

    /// Runs to the end and checks every step.
    pub(crate) fn run(&mut self) {
        self.transmit();
        let mut events = 0;
        while !self.sender.is_complete() {
            let next = self.next_event();
            assert!(next.is_scheduled(), "deadlock at {:?}: {:?}", self.now, self.sender);
            assert!(next >= self.now, "time goes back from {:?} to {next:?}", self.now);
            events += 1;
            assert!(events < 2_000_000, "no end at {:?}: {:?}", self.now, self.sender);
            self.now = next;
            self.step();
            if self.next > self.acknowledged {
                assert!(self.sender.next_timer().is_scheduled(), "data outstanding without a timer");
            }
        }
        assert_eq!(self.receiver.delivered().get(), self.arrived.len() as u64);
        assert_eq!(self.prefix, self.arrived.len(), "everything arrived");
        assert_eq!(self.sender.in_flight(), Bytes::ZERO);
        assert_eq!(self.sender.delivered().get(), self.arrived.len() as u64, "each byte counted once");
    }

    fn next_event(&self) -> Timestamp {
        let head = |at: Option<Timestamp>| at.unwrap_or(Timestamp::NEVER);
        head(self.data.front().map(|entry| entry.0))
            .min(head(self.acks.front().map(|entry| entry.0)))
            .min(self.sender.next_timer())
            .min(self.receiver.next_timer())
    }

    fn step(&mut self) {
        let now = self.now;
        if let Some(segment) = due(&mut self.data, now) {
            self.deliver(&segment);
        } else if let Some(ack) = due(&mut self.acks, now) {
            self.acknowledged = self.acknowledged.max(ack.cumulative);
            self.right_edge = self.right_edge.max(ack.cumulative.saturating_add(ack.receive_window.get()));
            self.sender.on_ack(now, &ack, &mut NullProbe);
            self.transmit();
        } else if self.sender.next_timer() <= now {
            self.sender.on_timer(now, &mut NullProbe);
            self.transmit();
            assert!(self.sender.next_timer() > now, "a timer that does not move");
        } else {
            self.receiver.on_timer(now);
            self.answer();
        }
    }

    fn deliver(&mut self, segment: &Segment) {
        let range = segment.sequence as usize..segment.end() as usize;
        self.arrived[range].fill(true);
        while self.arrived.get(self.prefix) == Some(&true) {
            self.prefix += 1;
        }
        self.receiver.on_segment(self.now, segment);
        assert_eq!(self.receiver.delivered().get(), self.prefix as u64, "in order, and only what arrived");
        self.answer();
    }

    fn answer(&mut self) {
        while let Some(ack) = self.receiver.poll_ack(self.now) {
            for (left, right) in ack.sack_ranges() {
                assert!(left > ack.cumulative && left < right);
                // Checking each byte of each block would itself be quadratic.
                let whole = self.arrived.len() > 300_000
                    || self.arrived[left as usize..right as usize].iter().all(|arrived| *arrived);
                assert!(whole, "a block with a hole");
            }
            if self.chance() >= self.conditions.ack_loss {
                self.acks.push_back((self.now + self.conditions.delay, ack));
            }
        }
    }

    fn transmit(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now, &mut NullProbe) {
            self.check_sent(&segment);
            self.sent.push((self.now, segment));
            let waiting =
                self.wire_free.since(self.now).as_nanos().div_ceil(self.conditions.spacing.as_nanos());
            if waiting as usize > self.conditions.queue {
                continue;
            }
            self.wire_free = self.wire_free.max(self.now) + self.conditions.spacing;
            if self.chance() >= self.conditions.data_loss {
                self.data.push_back((self.wire_free + self.conditions.delay, segment));
            }
        }
    }

    fn check_sent(&mut self, segment: &Segment) {
        assert!(segment.payload > 0);
        assert!(segment.end() <= self.right_edge, "beyond the receive window");
        if segment.retransmission {
            assert!(segment.sequence >= self.acknowledged && segment.end() <= self.next);
        } else {
            assert_eq!(segment.sequence, self.next, "new data goes forward");
            self.next = segment.end();
        }
        let (in_flight, window) = (self.sender.in_flight(), self.sender.control().window);
        let alone = in_flight.get() == u64::from(segment.payload);
        assert!(
            self.sender.in_recovery() || in_flight <= window || alone,
            "{in_flight:?} exceeds {window:?}"
        );
    }

    /// Returns a uniform value from 0 to 999 (xorshift).
    fn chance(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % 1000
    }
}

fn due<T>(queue: &mut VecDeque<(Timestamp, T)>, now: Timestamp) -> Option<T> {
    if queue.front()?.0 <= now { queue.pop_front().map(|entry| entry.1) } else { None }
}
