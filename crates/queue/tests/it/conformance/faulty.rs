//! Queues that break the contract, each in one way.

use airpath_model::{
    Backlog, Bytes, DropReason, Duration, Ecn, PathHeader, Qdisc, QueueSink, Rate, Timestamp,
};
use airpath_queue::{DropTail, Limit};

use crate::packet::TestPacket;

/// A violation of the contract.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    DropsInSilence,
    ReportsDropsTwice,
    ReportsDropsLate,
    SendsTwice,
    Reorders,
    CountsNoBytes,
    IgnoresItsLimit,
    MarksInSilence,
    MarksWithoutEcn,
    ClearsMarks,
    ShrinksPackets,
    WritesOnEchoes,
    TimerStandsStill,
}

impl Fault {
    pub(crate) const ALL: [Self; 13] = [
        Self::DropsInSilence,
        Self::ReportsDropsTwice,
        Self::ReportsDropsLate,
        Self::SendsTwice,
        Self::Reorders,
        Self::CountsNoBytes,
        Self::IgnoresItsLimit,
        Self::MarksInSilence,
        Self::MarksWithoutEcn,
        Self::ClearsMarks,
        Self::ShrinksPackets,
        Self::WritesOnEchoes,
        Self::TimerStandsStill,
    ];
}

/// A drop-tail queue with a fault.
#[derive(Debug)]
pub(crate) struct Faulty {
    inner: DropTail<TestPacket>,
    fault: Fault,
    last_sent: Option<TestPacket>,
}

impl Faulty {
    pub(crate) fn new(limit: Limit, fault: Fault) -> Self {
        let limit = if fault == Fault::IgnoresItsLimit { Limit::Unlimited } else { limit };
        Self { inner: DropTail::new(limit), fault, last_sent: None }
    }
}

impl Qdisc<TestPacket> for Faulty {
    fn enqueue(&mut self, now: Timestamp, mut packet: TestPacket, sink: &mut dyn QueueSink<TestPacket>) {
        match self.fault {
            Fault::MarksInSilence if packet.ecn.is_capable() => packet.ecn = Ecn::Ce,
            Fault::MarksWithoutEcn if !packet.ecn.is_capable() => {
                packet.ecn = Ecn::Ce;
                sink.on_mark(now, &packet);
            }
            Fault::ClearsMarks if packet.ecn == Ecn::Ce => packet.ecn = Ecn::Ect0,
            _ => {}
        }
        self.inner.enqueue(now, packet, &mut FaultySink { sink, fault: self.fault });
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<TestPacket>) -> Option<TestPacket> {
        if self.fault == Fault::SendsTwice && self.last_sent.is_some() {
            return self.last_sent.take();
        }
        let mut packet = self.inner.dequeue(now, sink)?;
        if self.fault == Fault::Reorders
            && let Some(next) = self.inner.dequeue(now, sink)
        {
            self.inner.enqueue(now, packet, sink);
            packet = next;
        }
        if self.fault == Fault::ShrinksPackets {
            packet.size -= Bytes::new(1);
        }
        if self.fault == Fault::WritesOnEchoes && !packet.is_data {
            packet.header = PathHeader::FairRate(Rate::ZERO);
        }
        self.last_sent = Some(packet);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        let backlog = self.inner.backlog();
        if self.fault == Fault::CountsNoBytes { Backlog { bytes: Bytes::ZERO, ..backlog } } else { backlog }
    }

    fn next_timer(&self) -> Timestamp {
        if self.fault == Fault::TimerStandsStill {
            Timestamp::ZERO + Duration::from_millis(50)
        } else {
            Timestamp::NEVER
        }
    }
}

/// A sink that corrupts the calls that it forwards.
struct FaultySink<'a> {
    sink: &'a mut dyn QueueSink<TestPacket>,
    fault: Fault,
}

impl QueueSink<TestPacket> for FaultySink<'_> {
    fn on_drop(&mut self, now: Timestamp, packet: TestPacket, reason: DropReason) {
        match self.fault {
            Fault::DropsInSilence => {}
            Fault::ReportsDropsTwice => {
                self.sink.on_drop(now, packet, reason);
                self.sink.on_drop(now, packet, reason);
            }
            Fault::ReportsDropsLate => self.sink.on_drop(now + Duration::from_nanos(1), packet, reason),
            _ => self.sink.on_drop(now, packet, reason),
        }
    }
}
