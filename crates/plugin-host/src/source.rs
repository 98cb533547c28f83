//! A library as a capacity source of the engine.
#![allow(unsafe_code, reason = "calls the functions of a library")]

use core::ffi::c_int;
use core::mem::size_of;
use core::ptr;

use airpath_estimate::declare::SourceFacts;
use airpath_model::{Backlog, Bytes, CapacitySource, ControlInterval, Duration, Spare, Timestamp};
use airpath_plugin::abi::{self, code};

use crate::answer::Timers;
use crate::host::Host;
use crate::instance::{Instance, Origin};
use crate::recorded::Recorded;
use crate::waiting::waiting;

/// A capacity source of a library.
#[derive(Debug)]
pub(crate) struct LibrarySource {
    instance: Instance<abi::Source>,
    // After the instance, which has a pointer to it.
    host: Host,
    capacity: abi::Capacity,
    timers: Timers,
    recorded: Recorded,
}

// SAFETY: the only pointer besides those of the instance and the host is `capacity.error`, which is read after a call only.
unsafe impl Send for LibrarySource {}

impl LibrarySource {
    /// Creates an instance, or returns the reason of the failure.
    pub(crate) fn new(origin: &Origin<abi::Source>, facts: &SourceFacts<'_>) -> Result<Self, String> {
        let host = Host::new();
        let link = abi::Link {
            size: size_of::<abi::Link>() as u32,
            reserved: 0,
            buffer: facts.buffer.get(),
            limit_bytes: abi::NEVER,
            limit_packets: abi::NEVER,
            seed: 0,
            values: origin.values.as_ptr(),
            host: host.functions(),
        };
        let mut capacity = abi::Capacity {
            size: size_of::<abi::Capacity>() as u32,
            flags: 0,
            capacity: 0.0,
            probing: 1.0,
            next_timer: abi::NEVER,
            error: ptr::null(),
            spare: 0.0,
            queue: 0.0,
        };
        let create = origin.component.table.create;
        // SAFETY: both structs are as the header requires, and live longer than the call.
        let state =
            create.map_or(ptr::null_mut(), |create| unsafe { create(&raw const link, &raw mut capacity) });
        let instance = Instance::new(origin, state, &capacity)?;
        Ok(Self { instance, host, capacity, timers: Timers::default(), recorded: Recorded::default() })
    }

    /// Passes an event to a function of the library, if there is one.
    #[inline]
    fn pass<E>(
        &mut self,
        name: &str,
        function: abi::OnEvent<E, abi::Capacity>,
        now: Timestamp,
        event: impl FnOnce() -> E,
    ) {
        if function.is_some() && !self.instance.failed() {
            let code = self.instance.call(function, &event(), &mut self.capacity);
            self.settle(name, code, now);
        }
    }

    /// Takes the recorded quantities, and checks the answer.
    #[inline]
    fn settle(&mut self, name: &str, code: c_int, now: Timestamp) {
        self.recorded.now = now;
        if !self.host.recorded().is_empty() {
            let Self { instance, host, recorded, .. } = self;
            let taken = recorded.take(name, host.recorded(), &instance.component().quantities);
            if let Err(problem) = taken {
                return self.fail(&problem, now);
            }
        }
        if !self.instance.check(name, code, &self.capacity, now) {
            self.stop();
        }
    }

    /// Reports a fault. The source is not called again.
    #[cold]
    fn fail(&mut self, problem: &str, now: Timestamp) {
        self.instance.fail(problem, now);
        self.stop();
    }

    /// Estimates nothing until the run ends.
    #[cold]
    fn stop(&mut self) {
        let abi::Capacity { flags, probing, next_timer, .. } = &mut self.capacity;
        (*flags, *probing, *next_timer) = (0, 1.0, abi::NEVER);
    }
}

impl CapacitySource for LibrarySource {
    fn on_arrival(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        let function = self.instance.table().on_arrival;
        self.pass("on_arrival", function, now, || waiting(now, Some(size), backlog));
    }

    fn on_departure(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        let function = self.instance.table().on_departure;
        self.pass("on_departure", function, now, || waiting(now, Some(size), backlog));
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        if self.instance.failed() {
            return;
        }
        self.capacity.next_timer = abi::NEVER;
        let function = self.instance.table().on_timer;
        match self.timers.count_for(function.is_some(), now) {
            Ok(()) => self.pass("on_timer", function, now, || waiting(now, None, backlog)),
            Err(problem) => self.fail(&problem, now),
        }
    }

    fn next_timer(&self) -> Timestamp {
        Timestamp::from_nanos(self.capacity.next_timer)
    }

    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        // Rates of the engine are in byte/s.
        (self.capacity.flags & code::CAPACITY_KNOWN != 0).then_some(self.capacity.capacity / 8.0)
    }

    fn probing(&self) -> f64 {
        self.capacity.probing
    }

    fn spare(&mut self, interval: &ControlInterval) -> Spare {
        let capacity = self.capacity(interval.now).unwrap_or(interval.input_rate);
        let default =
            Spare { bandwidth: interval.probing * capacity - interval.input_rate, queue: interval.queue };
        let function = self.instance.table().spare;
        if function.is_none() || self.instance.failed() {
            return default;
        }
        (self.capacity.spare, self.capacity.queue) = (8.0 * default.bandwidth, default.queue);
        self.pass("spare", function, interval.now, || interval_of(interval));
        let abi::Capacity { spare, queue, .. } = self.capacity;
        if self.instance.failed() {
            return default;
        }
        if !spare.is_finite() || !queue.is_finite() {
            let problem =
                format!("after spare, spare is {spare} and queue is {queue}; accepted: finite numbers");
            self.fail(&problem, interval.now);
            return default;
        }
        Spare { bandwidth: spare / 8.0, queue }
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        let abi::Capacity { flags, capacity, .. } = self.capacity;
        if flags & code::CAPACITY_KNOWN != 0 {
            report("capacity_estimate", capacity / 8.0);
            report("capacity_estimate_bps", capacity);
        }
        let observe = self.instance.table().observe;
        self.recorded.observe(&self.instance, &self.host, observe, self.capacity, report);
    }
}

fn interval_of(interval: &ControlInterval) -> abi::Interval {
    abi::Interval {
        size: size_of::<abi::Interval>() as u32,
        reserved: 0,
        now: interval.now.as_nanos(),
        length: interval.length.as_nanos(),
        input_rate: 8.0 * interval.input_rate,
        probing: interval.probing,
        mean_rtt: Duration::as_nanos(interval.mean_rtt),
        queue: interval.queue,
        shortest_queue: interval.shortest_queue,
        mean_queue: interval.mean_queue,
        last_queue: interval.last_queue,
        buffer: interval.buffer,
    }
}
