//! The table of a [`SourcePlugin`].

use core::ffi::{c_int, c_void};
use core::marker::PhantomData;
use core::mem::size_of;

use airpath_model::{Backlog, Bytes, CapacitySource, ControlInterval, Duration, Timestamp};

use super::{call, destroy, values};
use crate::abi::{self, code};
use crate::{SourcePlugin, link};

pub(super) struct Exported<P>(PhantomData<P>);

impl<P: SourcePlugin> Exported<P> {
    pub(super) const TABLE: &'static abi::Source = &abi::Source {
        size: size_of::<abi::Source>() as u32,
        abi: abi::ABI,
        title: P::TITLE.as_ptr(),
        description: P::DESCRIPTION.as_ptr(),
        parameters: P::PARAMETERS.as_ptr().cast(),
        parameter_count: P::PARAMETERS.len() as u32,
        reserved: 0,
        quantities: P::QUANTITIES.as_ptr(),
        create: Some(create::<P>),
        destroy: Some(destroy::<P::Source>),
        on_arrival: Some(on_arrival::<P>),
        on_departure: Some(on_departure::<P>),
        on_timer: Some(on_timer::<P>),
        spare: Some(spare::<P>),
        observe: Some(observe::<P>),
    };
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn create<P: SourcePlugin>(
    link: *const abi::Link,
    capacity: *mut abi::Capacity,
) -> *mut c_void {
    // SAFETY: the host passes both, for the time of this call. They are of this minor version of the interface or later.
    let (link, capacity) = unsafe { (&*link, &mut *capacity) };
    super::create(capacity, link.host, P::QUANTITIES, |capacity| {
        // SAFETY: the host passes a value for each parameter.
        let mut source = P::build(Bytes::new(link.buffer), &unsafe { values(P::PARAMETERS, link.values) })?;
        answer(&mut source, Timestamp::ZERO, capacity);
        Ok(source)
    })
}

/// Calls the source of an instance with the backlog, and writes its answer.
///
/// # Safety
/// The arguments are as the header requires.
#[inline]
unsafe fn pass<P: SourcePlugin>(
    instance: *mut c_void,
    waiting: *const abi::Waiting,
    capacity: *mut abi::Capacity,
    function: impl FnOnce(&mut P::Source, Timestamp, Bytes, Backlog),
) -> c_int {
    // SAFETY: the host passes an event for the time of this call, and an instance of `create`.
    unsafe {
        let waiting = &*waiting;
        call(instance, capacity, |source: &mut P::Source, _, capacity| {
            let now = Timestamp::from_nanos(waiting.now);
            function(source, now, Bytes::new(waiting.packet), link::backlog(waiting));
            answer(source, now, capacity);
        })
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn on_arrival<P: SourcePlugin>(
    instance: *mut c_void,
    waiting: *const abi::Waiting,
    capacity: *mut abi::Capacity,
) -> c_int {
    // SAFETY: the arguments are as the header requires.
    unsafe {
        pass::<P>(instance, waiting, capacity, |source, now, size, backlog| {
            source.on_arrival(now, size, backlog);
        })
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn on_departure<P: SourcePlugin>(
    instance: *mut c_void,
    waiting: *const abi::Waiting,
    capacity: *mut abi::Capacity,
) -> c_int {
    // SAFETY: the arguments are as the header requires.
    unsafe {
        pass::<P>(instance, waiting, capacity, |source, now, size, backlog| {
            source.on_departure(now, size, backlog);
        })
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn on_timer<P: SourcePlugin>(
    instance: *mut c_void,
    waiting: *const abi::Waiting,
    capacity: *mut abi::Capacity,
) -> c_int {
    // SAFETY: the arguments are as the header requires.
    unsafe { pass::<P>(instance, waiting, capacity, |source, now, _, backlog| source.on_timer(now, backlog)) }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn spare<P: SourcePlugin>(
    instance: *mut c_void,
    interval: *const abi::Interval,
    capacity: *mut abi::Capacity,
) -> c_int {
    // SAFETY: the host passes an interval for the time of this call, and an instance of `create`.
    unsafe {
        let interval = interval_of(&*interval);
        call(instance, capacity, |source: &mut P::Source, _, capacity| {
            let spare = source.spare(&interval);
            answer(source, interval.now, capacity);
            (capacity.spare, capacity.queue) = (8.0 * spare.bandwidth, spare.queue);
        })
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn observe<P: SourcePlugin>(instance: *mut c_void, capacity: *mut abi::Capacity) -> c_int {
    // SAFETY: the host passes an instance of `create`.
    unsafe {
        call(instance, capacity, |source: &mut P::Source, host, _| {
            source.observe(&mut |name, value| {
                // The host reports the capacity itself.
                if !matches!(name, "capacity_estimate" | "capacity_estimate_bps") {
                    host.record_named(name, value);
                }
            });
        })
    }
}

/// Writes the estimates.
#[inline]
fn answer(source: &mut impl CapacitySource, now: Timestamp, to: &mut abi::Capacity) {
    let capacity = source.capacity(now);
    to.flags = if capacity.is_some() { code::CAPACITY_KNOWN } else { 0 };
    // Rates of the interface are in bit/s.
    to.capacity = 8.0 * capacity.unwrap_or(0.0);
    to.probing = source.probing();
    to.next_timer = link::timer(source.next_timer());
}

fn interval_of(interval: &abi::Interval) -> ControlInterval {
    ControlInterval {
        now: Timestamp::from_nanos(interval.now),
        length: Duration::from_nanos(interval.length),
        input_rate: interval.input_rate / 8.0,
        probing: interval.probing,
        mean_rtt: Duration::from_nanos(interval.mean_rtt),
        queue: interval.queue,
        shortest_queue: interval.shortest_queue,
        mean_queue: interval.mean_queue,
        last_queue: interval.last_queue,
        buffer: interval.buffer,
    }
}
