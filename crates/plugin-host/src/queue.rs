//! A library as a queue discipline of the engine.
#![allow(unsafe_code, reason = "calls the functions of a library")]

use core::ffi::c_int;
use core::fmt::Debug;
use core::mem::size_of;
use core::ptr;

use airpath_model::{Backlog, DropReason, Ecn, Packet, Qdisc, QueueSink, Timestamp};
use airpath_plugin::abi::{self, code};
use airpath_queue::Limit;
use airpath_queue::declare::QueueFacts;

use crate::answer::Timers;
use crate::host::{Host, Verdict};
use crate::instance::{Instance, Origin};
use crate::packets::Packets;
use crate::recorded::Recorded;
use crate::waiting::waiting;

/// A queue of a library. It keeps the packets; the library knows their numbers only.
#[derive(Debug)]
pub(crate) struct LibraryQueue<P> {
    instance: Instance<abi::Queue>,
    // After the instance, which has a pointer to it.
    host: Host,
    decision: abi::Decision,
    limit: Limit,
    packets: Packets<P>,
    timers: Timers,
    recorded: Recorded,
}

// SAFETY: the only pointer besides those of the instance and the host is `decision.error`, which is read after a call only.
unsafe impl<P: Send> Send for LibraryQueue<P> {}

impl<P: Packet> LibraryQueue<P> {
    /// Creates an instance, or returns the reason of the failure.
    pub(crate) fn new(origin: &Origin<abi::Queue>, mut facts: QueueFacts<'_>) -> Result<Self, String> {
        let host = Host::of_queue();
        let (limit_bytes, limit_packets) = match facts.limit {
            Limit::Unlimited => (abi::NEVER, abi::NEVER),
            Limit::Packets(packets) => (abi::NEVER, packets),
            Limit::Bytes(bytes) => (bytes.get(), abi::NEVER),
        };
        let link = abi::Link {
            size: size_of::<abi::Link>() as u32,
            reserved: 0,
            buffer: facts.buffer.get(),
            limit_bytes,
            limit_packets,
            seed: facts.random.bits(),
            values: origin.values.as_ptr(),
            host: host.functions(),
        };
        let mut decision = abi::Decision {
            size: size_of::<abi::Decision>() as u32,
            reserved: 0,
            packet: 0,
            next_timer: abi::NEVER,
            error: ptr::null(),
        };
        let create = origin.component.table.create;
        // SAFETY: both structs are as the header requires, and live longer than the call.
        let state =
            create.map_or(ptr::null_mut(), |create| unsafe { create(&raw const link, &raw mut decision) });
        let instance = Instance::new(origin, state, &decision)?;
        let (packets, timers, recorded) = (Packets::default(), Timers::default(), Recorded::default());
        Ok(Self { instance, host, decision, limit: facts.limit, packets, timers, recorded })
    }

    /// Performs what the library decided in a call, and checks the answer. Returns whether all is well.
    #[inline]
    fn settle(&mut self, name: &str, code: c_int, now: Timestamp, sink: &mut dyn QueueSink<P>) -> bool {
        self.recorded.now = now;
        let decided = !self.host.verdicts().is_empty() || !self.host.recorded().is_empty();
        if decided && let Err(problem) = self.perform(name, now, sink) {
            self.fail(&problem, now);
            return false;
        }
        if !self.instance.check(name, code, &self.decision, now) {
            self.decision.next_timer = abi::NEVER;
            return false;
        }
        if !self.limit.holds(self.packets.backlog()) {
            self.fail(&self.packets.too_many(), now);
            return false;
        }
        true
    }

    #[inline(never)]
    fn perform(&mut self, name: &str, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Result<(), String> {
        let Self { instance, host, packets, recorded, .. } = self;
        recorded.take(name, host.recorded(), &instance.component().quantities)?;
        for (number, verdict) in host.verdicts().drain(..) {
            match verdict {
                Verdict::Drop(reason) => {
                    let reason =
                        if reason == code::DROP_OVERFLOW { DropReason::Overflow } else { DropReason::Early };
                    let packet = packets.take(number).ok_or_else(|| not_there(name, number))?;
                    sink.on_drop(now, packet, reason);
                }
                Verdict::Mark => {
                    let packet = packets.get_mut(number).ok_or_else(|| not_there(name, number))?;
                    if packet.ecn().is_capable() && packet.ecn() != Ecn::Ce {
                        packet.set_ecn(Ecn::Ce);
                        sink.on_mark(now, packet);
                    }
                }
            }
        }
        Ok(())
    }

    /// Reports a fault. The queue passes nothing on from now on.
    #[cold]
    fn fail(&mut self, problem: &str, now: Timestamp) {
        self.instance.fail(problem, now);
        self.decision.next_timer = abi::NEVER;
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for LibraryQueue<P> {
    fn enqueue(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) {
        if self.instance.failed() {
            return sink.on_drop(now, packet, DropReason::Overflow);
        }
        let Backlog { bytes, packets } = self.packets.backlog();
        let mut arrival = abi::Packet {
            size: size_of::<abi::Packet>() as u32,
            flags: flags(&packet, self.limit.admits(self.packets.backlog(), packet.size())),
            now: now.as_nanos(),
            id: 0,
            bytes: packet.size().get(),
            flow: packet.flow(),
            waiting_bytes: bytes.get(),
            waiting_packets: packets,
        };
        arrival.id = self.packets.add(packet);
        let code = self.instance.call(self.instance.table().enqueue, &arrival, &mut self.decision);
        self.settle("enqueue", code, now, sink);
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P> {
        if self.instance.failed() {
            return None;
        }
        self.decision.packet = 0;
        let event = waiting(now, None, self.packets.backlog());
        let code = self.instance.call(self.instance.table().dequeue, &event, &mut self.decision);
        if !self.settle("dequeue", code, now, sink) || self.decision.packet == 0 {
            return None;
        }
        let taken = self.packets.take(self.decision.packet);
        if taken.is_none() {
            self.fail(&not_there("dequeue", self.decision.packet), now);
        }
        taken
    }

    fn backlog(&self) -> Backlog {
        self.packets.backlog()
    }

    fn on_timer(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) {
        if self.instance.failed() {
            return;
        }
        self.decision.next_timer = abi::NEVER;
        let function = self.instance.table().on_timer;
        if let Err(problem) = self.timers.count_for(function.is_some(), now) {
            return self.fail(&problem, now);
        }
        let event = waiting(now, None, self.packets.backlog());
        let code = self.instance.call(function, &event, &mut self.decision);
        self.settle("on_timer", code, now, sink);
    }

    fn next_timer(&self) -> Timestamp {
        Timestamp::from_nanos(self.decision.next_timer)
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        let observe = self.instance.table().observe;
        self.recorded.observe(&self.instance, &self.host, observe, self.decision, report);
    }
}

/// Returns the text of the error that a packet does not wait.
#[cold]
fn not_there(function: &str, packet: u64) -> String {
    format!("in {function}, there is no packet {packet} in the queue")
}

/// Returns the properties of a packet that are flags of the interface.
#[inline]
fn flags<P: Packet>(packet: &P, fits: bool) -> u32 {
    let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
    let ecn = packet.ecn();
    flag(fits, code::PACKET_FITS)
        | flag(packet.is_data(), code::PACKET_DATA)
        | flag(ecn.is_capable(), code::PACKET_ECN_CAPABLE)
        | flag(ecn == Ecn::Ect1, code::PACKET_ECT1)
        | flag(ecn == Ecn::Ce, code::PACKET_MARKED)
}
