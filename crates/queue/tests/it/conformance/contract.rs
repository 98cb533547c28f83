//! The contract of `Qdisc`, checked by a ledger kept alongside the queue.

use std::collections::{BTreeMap, BTreeSet};

use airpath_model::{
    Backlog, Bytes, DropReason, Duration, Ecn, LoadCode, LoadWord, PathHeader, Qdisc, QueueSink, Rate,
    Timestamp, XcpHeader,
};
use airpath_queue::Limit;

use crate::packet::TestPacket;

/// An operation of a driver on a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// A packet arrives.
    Enqueue { size: Bytes, ecn: Ecn, flow: u64, is_data: bool },
    /// The link can accept a packet.
    Dequeue,
    /// Time passes. Timers run when they are due, or once at the end if the driver is late.
    Wait { span: Duration, late: bool },
}

/// An action of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Action {
    /// Returned this packet to the link.
    Sent(Timestamp, TestPacket),
    /// Returned no packet to the link.
    Nothing(Timestamp),
    /// Dropped this packet.
    Dropped(Timestamp, TestPacket, DropReason),
    /// Marked this packet.
    Marked(Timestamp, TestPacket),
}

/// Performs the operations and returns what the queue did, or how it broke the contract.
pub(crate) fn run(
    queue: &mut dyn Qdisc<TestPacket>,
    limit: Limit,
    lane: fn(&TestPacket) -> u64,
    operations: &[Operation],
) -> Result<Vec<Action>, String> {
    let mut ledger = Ledger::new(lane);
    let mut deeds = Vec::new();
    let mut now = Timestamp::ZERO;
    for (number, operation) in (0..).zip(operations) {
        match *operation {
            Operation::Enqueue { size, ecn, flow, is_data } => {
                let header = header(number);
                let packet = TestPacket { ecn, flow, is_data, header, ..TestPacket::new(number, size) };
                ledger.waiting.insert(number, packet);
                deeds.extend(watch(now, &mut ledger, |sink| queue.enqueue(now, packet, sink))?.1);
            }
            Operation::Dequeue => {
                let (packet, reported) = watch(now, &mut ledger, |sink| queue.dequeue(now, sink))?;
                deeds.extend(reported);
                deeds.push(packet.map_or(Action::Nothing(now), |packet| Action::Sent(now, packet)));
                packet.map_or(Ok(()), |packet| ledger.sent(packet))?;
            }
            Operation::Wait { span, late } => {
                let end = now + span;
                while queue.next_timer() <= end {
                    now = if late { end } else { now.max(queue.next_timer()) };
                    deeds.extend(watch(now, &mut ledger, |sink| queue.on_timer(now, sink))?.1);
                    check(queue.next_timer() > now, || format!("timer not later than its run at {now:?}"))?;
                }
                now = end;
            }
        }
        let (backlog, expected) = (queue.backlog(), ledger.backlog());
        check(backlog == expected, || format!("backlog {backlog:?}, but {expected:?} wait"))?;
        check(within(limit, backlog), || format!("{backlog:?} exceeds {limit:?}"))?;
    }
    Ok(deeds)
}

/// The packets in the queue, each as it was enqueued, and the state needed to check the other rules.
struct Ledger {
    waiting: BTreeMap<u64, TestPacket>,
    marked: BTreeSet<u64>,
    lane: fn(&TestPacket) -> u64,
    last_sent_of_lane: BTreeMap<u64, u64>,
}

impl Ledger {
    fn new(lane: fn(&TestPacket) -> u64) -> Self {
        Self { waiting: BTreeMap::new(), marked: BTreeSet::new(), lane, last_sent_of_lane: BTreeMap::new() }
    }

    fn backlog(&self) -> Backlog {
        Backlog {
            bytes: self.waiting.values().map(|packet| packet.size).sum(),
            packets: self.waiting.len() as u64,
        }
    }

    fn sent(&mut self, packet: TestPacket) -> Result<(), String> {
        let given = self.waiting.get(&packet.number).copied();
        self.leaves(packet)?;
        let lane = given.map_or(0, |given| (self.lane)(&given));
        let before = self.last_sent_of_lane.insert(lane, packet.number);
        check(before < Some(packet.number), || format!("{packet:?} was overtaken by {before:?} of its lane"))
    }

    fn marked(&mut self, packet: TestPacket) -> Result<(), String> {
        let given =
            self.waiting.get(&packet.number).ok_or_else(|| format!("{packet:?} marked, but not there"))?;
        check(given.ecn.is_capable() && given.ecn != Ecn::Ce, || format!("{given:?} must not be marked"))?;
        check(packet.ecn == Ecn::Ce, || format!("{packet:?} reported as marked, but is not"))?;
        check(self.marked.insert(packet.number), || format!("{packet:?} marked twice"))
    }

    /// Processes a packet that the queue returned or dropped. It must have been in the queue, exactly once,
    /// and be unchanged except for a reported mark.
    fn leaves(&mut self, packet: TestPacket) -> Result<(), String> {
        let given = self
            .waiting
            .remove(&packet.number)
            .ok_or_else(|| format!("{packet:?} leaves, but was not there"))?;
        let ecn = if self.marked.contains(&packet.number) { Ecn::Ce } else { given.ecn };
        // The header of a data packet belongs to the routers that write it; the header of an acknowledgment
        // is an echo.
        let header = if given.is_data { packet.header } else { given.header };
        let expected = TestPacket { ecn, header, ..given };
        check(packet == expected, || format!("{given:?} became {packet:?}"))
    }
}

/// Makes one call to a queue, records what it reports, and enters it into the ledger.
fn watch<R>(
    now: Timestamp,
    ledger: &mut Ledger,
    call: impl FnOnce(&mut dyn QueueSink<TestPacket>) -> R,
) -> Result<(R, Vec<Action>), String> {
    let mut reported = Reported::default();
    let result = call(&mut reported);
    for deed in &reported.0 {
        let at = match *deed {
            Action::Dropped(at, packet, reason) => {
                check(reason != DropReason::Corruption, || format!("{packet:?}: queues damage nothing"))?;
                ledger.leaves(packet)?;
                at
            }
            Action::Marked(at, packet) => {
                ledger.marked(packet)?;
                at
            }
            Action::Sent(at, _) | Action::Nothing(at) => at,
        };
        check(at == now, || format!("{deed:?} reported at {now:?}"))?;
    }
    Ok((result, reported.0))
}

/// The actions that one call reported, in order.
#[derive(Default)]
struct Reported(Vec<Action>);

impl QueueSink<TestPacket> for Reported {
    fn on_drop(&mut self, now: Timestamp, packet: TestPacket, reason: DropReason) {
        self.0.push(Action::Dropped(now, packet, reason));
    }

    fn on_mark(&mut self, now: Timestamp, packet: &TestPacket) {
        self.0.push(Action::Marked(now, *packet));
    }
}

/// Returns a header of each kind in turn, XCP's with and without a round-trip time.
fn header(number: u64) -> PathHeader {
    let xcp =
        |rtt, delta_throughput| PathHeader::Xcp(XcpHeader { rtt, inter_packet: rtt / 10, delta_throughput });
    match number % 7 {
        0 => PathHeader::None,
        1 => xcp(Duration::from_millis(80), 1e24),
        2 => xcp(Duration::from_millis(20), -500.0),
        3 => xcp(Duration::ZERO, 0.0),
        4 => PathHeader::FairRate(Rate::UNLIMITED),
        5 => PathHeader::Load(LoadCode::Low),
        _ => PathHeader::Word(LoadWord { level: 0, digits: 2, digit: (number % 2) as u8 }),
    }
}

fn within(limit: Limit, backlog: Backlog) -> bool {
    match limit {
        Limit::Unlimited => true,
        Limit::Packets(most) => backlog.packets <= most,
        Limit::Bytes(most) => backlog.bytes <= most,
    }
}

fn check(holds: bool, breach: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(breach()) }
}
