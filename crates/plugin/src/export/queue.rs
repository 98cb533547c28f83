//! The table of a [`QueuePlugin`].

use core::ffi::{c_int, c_void};
use core::marker::PhantomData;
use core::mem::size_of;

use airpath_model::{DropReason, Qdisc, QueueSink, Timestamp};

use super::{Host, call, destroy, values};
use crate::abi::{self, code};
use crate::{LinkFacts, QueuePlugin, QueuedPacket, link};

pub(super) struct Exported<P>(PhantomData<P>);

impl<P: QueuePlugin> Exported<P> {
    pub(super) const TABLE: &'static abi::Queue = &abi::Queue {
        size: size_of::<abi::Queue>() as u32,
        abi: abi::ABI,
        title: P::TITLE.as_ptr(),
        description: P::DESCRIPTION.as_ptr(),
        parameters: P::PARAMETERS.as_ptr().cast(),
        parameter_count: P::PARAMETERS.len() as u32,
        reserved: 0,
        quantities: P::QUANTITIES.as_ptr(),
        create: Some(create::<P>),
        destroy: Some(destroy::<P::Queue>),
        enqueue: Some(enqueue::<P>),
        dequeue: Some(dequeue::<P>),
        on_timer: Some(on_timer::<P>),
        observe: Some(observe::<P>),
    };
}

impl QueueSink<QueuedPacket> for Host {
    fn on_drop(&mut self, _now: Timestamp, packet: QueuedPacket, reason: DropReason) {
        let reason = if reason == DropReason::Overflow { code::DROP_OVERFLOW } else { code::DROP_EARLY };
        if let Some(abi::Host { context, drop: Some(drop), .. }) = self.functions() {
            // SAFETY: this is during a function of the instance.
            unsafe { drop(*context, packet.id, reason) };
        }
    }

    fn on_mark(&mut self, _now: Timestamp, packet: &QueuedPacket) {
        if let Some(abi::Host { context, mark: Some(mark), .. }) = self.functions() {
            // SAFETY: this is during a function of the instance.
            unsafe { mark(*context, packet.id) };
        }
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn create<P: QueuePlugin>(
    link: *const abi::Link,
    decision: *mut abi::Decision,
) -> *mut c_void {
    // SAFETY: the host passes both, for the time of this call. They are of this minor version of the interface or later.
    let (link, decision) = unsafe { (&*link, &mut *decision) };
    super::create(decision, link.host, P::QUANTITIES, |decision| {
        // SAFETY: the host passes a value for each parameter.
        let values = unsafe { values(P::PARAMETERS, link.values) };
        let queue = P::build(LinkFacts::of(link), &values)?;
        decision.next_timer = link::timer(queue.next_timer());
        Ok(queue)
    })
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn enqueue<P: QueuePlugin>(
    instance: *mut c_void,
    packet: *const abi::Packet,
    decision: *mut abi::Decision,
) -> c_int {
    // SAFETY: the host passes an event for the time of this call, and an instance of `create`.
    unsafe {
        let packet = &*packet;
        call(instance, decision, |queue: &mut P::Queue, host, decision| {
            queue.enqueue(Timestamp::from_nanos(packet.now), QueuedPacket::of(packet), host);
            decision.next_timer = link::timer(queue.next_timer());
        })
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn dequeue<P: QueuePlugin>(
    instance: *mut c_void,
    waiting: *const abi::Waiting,
    decision: *mut abi::Decision,
) -> c_int {
    // SAFETY: the host passes an event for the time of this call, and an instance of `create`.
    unsafe {
        let now = Timestamp::from_nanos((*waiting).now);
        call(instance, decision, |queue: &mut P::Queue, host, decision| {
            decision.packet = queue.dequeue(now, host).map_or(0, |packet| packet.id);
            decision.next_timer = link::timer(queue.next_timer());
        })
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn on_timer<P: QueuePlugin>(
    instance: *mut c_void,
    waiting: *const abi::Waiting,
    decision: *mut abi::Decision,
) -> c_int {
    // SAFETY: the host passes an event for the time of this call, and an instance of `create`.
    unsafe {
        let now = Timestamp::from_nanos((*waiting).now);
        call(instance, decision, |queue: &mut P::Queue, host, decision| {
            queue.on_timer(now, host);
            decision.next_timer = link::timer(queue.next_timer());
        })
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn observe<P: QueuePlugin>(instance: *mut c_void, decision: *mut abi::Decision) -> c_int {
    // SAFETY: the host passes an instance of `create`.
    unsafe {
        call(instance, decision, |queue: &mut P::Queue, host, _| {
            queue.observe(&mut |name, value| host.record_named(name, value));
        })
    }
}
