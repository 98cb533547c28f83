//! A Python object as a queue discipline of the engine.

use std::fmt::Debug;
use std::sync::Arc;

use airpath_model::{Backlog, DropReason, Ecn, Packet, Qdisc, QueueSink, Timestamp};
use airpath_plugin_host::{Packets, Timers};
use airpath_queue::Limit;
use airpath_queue::declare::QueueFacts;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};

use super::Class;
use super::checks::timer;
use super::link::LinkFacts;
use super::methods::{optional, required};
use super::recorded::Recorded;

/// The base class of queue disciplines in Python.
#[pyclass(subclass, module = "airpath._core")]
pub(crate) struct Queue {
    /// The most bytes that may wait; `None` if there is no such limit.
    #[pyo3(get)]
    limit_bytes: Option<u64>,
    /// The most packets that may wait; `None` if there is no such limit.
    #[pyo3(get)]
    limit_packets: Option<u64>,
    /// Bytes that wait.
    #[pyo3(get)]
    bytes: u64,
    /// Packets that wait.
    #[pyo3(get)]
    packets: u64,
    /// The seed of the queue's random numbers.
    #[pyo3(get)]
    seed: u64,
    #[pyo3(get, set)]
    next_timer: Option<f64>,
    /// The packets that were dropped in the present call.
    dropped: Vec<Py<QueuedPacket>>,
    recorded: Recorded,
}

#[pymethods]
impl Queue {
    #[new]
    #[pyo3(signature = (*_arguments, **_named))]
    fn new(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            limit_bytes: None,
            limit_packets: None,
            bytes: 0,
            packets: 0,
            seed: 0,
            next_timer: None,
            dropped: Vec::new(),
            recorded: Recorded::default(),
        }
    }

    /// Returns whether a packet fits into the buffer in addition to the backlog.
    fn fits(&self, packet: &Bound<'_, QueuedPacket>) -> bool {
        self.admits(packet.borrow().size)
    }

    /// Drops a packet that waits.
    fn drop(&mut self, packet: &Bound<'_, QueuedPacket>) {
        self.bytes = self.bytes.saturating_sub(packet.borrow().size);
        self.packets = self.packets.saturating_sub(1);
        self.dropped.push(packet.clone().unbind());
    }

    /// Records a quantity for the table `link_observations`.
    fn record(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.recorded.set(name, value)
    }
}

impl Queue {
    fn admits(&self, size: u64) -> bool {
        self.limit_bytes.is_none_or(|limit| self.bytes + size <= limit)
            && self.limit_packets.is_none_or(|limit| self.packets < limit)
    }

    fn is_over_limit(&self) -> bool {
        self.limit_bytes.is_some_and(|limit| self.bytes > limit)
            || self.limit_packets.is_some_and(|limit| self.packets > limit)
    }
}

/// A packet that a queue in Python has.
#[pyclass(module = "airpath._core")]
#[derive(Debug)]
pub(crate) struct QueuedPacket {
    /// Its size on the wire, bytes.
    #[pyo3(get)]
    size: u64,
    /// The number of its flow and direction.
    #[pyo3(get)]
    flow: u64,
    /// Whether it carries data; otherwise it is an acknowledgment.
    #[pyo3(get)]
    is_data: bool,
    /// Whether it may be marked.
    #[pyo3(get)]
    ecn_capable: bool,
    /// Whether its sender expects marks of an L4S queue: ECT(1).
    #[pyo3(get)]
    ect1: bool,
    /// Whether it is marked.
    #[pyo3(get)]
    marked: bool,
    /// The queue that it is in: its address.
    queue: usize,
    /// Its number in the queue.
    number: u64,
}

#[pymethods]
impl QueuedPacket {
    /// Marks it (congestion experienced) when it leaves. Returns whether it may be marked.
    fn mark(&mut self) -> bool {
        self.marked |= self.ecn_capable;
        self.ecn_capable
    }
}

/// A Python object as a queue discipline. It keeps the packets; the object decides about their numbers.
#[derive(Debug)]
pub(super) struct PythonQueue<P> {
    object: Py<Queue>,
    enqueue: Py<PyAny>,
    dequeue: Py<PyAny>,
    on_timer: Option<Py<PyAny>>,
    packets: Packets<P>,
    next_timer: Timestamp,
    timers: Timers,
    failed: bool,
    class: Arc<Class>,
}

impl<P: Packet> PythonQueue<P> {
    pub(super) fn new(
        object: &Bound<'_, Queue>,
        mut facts: QueueFacts<'_>,
        class: Arc<Class>,
    ) -> PyResult<Self> {
        let py = object.py();
        {
            let mut base = object.borrow_mut();
            base.seed = facts.random.bits();
            match facts.limit {
                Limit::Unlimited => {}
                Limit::Packets(packets) => base.limit_packets = Some(packets),
                Limit::Bytes(bytes) => base.limit_bytes = Some(bytes.get()),
            }
        }
        let made = Self {
            enqueue: required(object, "enqueue", "queue")?,
            dequeue: required(object, "dequeue", "queue")?,
            on_timer: optional(object, "on_timer")?,
            object: object.clone().unbind(),
            packets: Packets::default(),
            next_timer: Timestamp::NEVER,
            timers: Timers::default(),
            failed: false,
            class,
        };
        if let Some(start) = optional(object, "start")? {
            start.call1(py, (LinkFacts::of(facts.buffer),))?;
        }
        Ok(Self { next_timer: timer(object.borrow().next_timer, Timestamp::ZERO)?, ..made })
    }

    /// Keeps a packet and returns it as Python has it.
    fn keep(&mut self, py: Python<'_>, packet: P) -> PyResult<Py<QueuedPacket>> {
        let ecn = packet.ecn();
        let kept = QueuedPacket {
            size: packet.size().get(),
            flow: packet.flow(),
            is_data: packet.is_data(),
            ecn_capable: ecn.is_capable(),
            ect1: ecn == Ecn::Ect1,
            marked: ecn == Ecn::Ce,
            queue: self.address(),
            number: self.packets.add(packet),
        };
        Py::new(py, kept)
    }

    fn address(&self) -> usize {
        self.object.as_ptr() as usize
    }

    /// Takes a packet out of the queue.
    fn take(&mut self, packet: &QueuedPacket) -> PyResult<P> {
        if packet.queue != self.address() {
            return Err(PyValueError::new_err("the packet is in another queue"));
        }
        let taken = self.packets.take(packet.number);
        taken.ok_or_else(|| PyValueError::new_err("the packet has left the queue before"))
    }

    fn show_backlog(&self, py: Python<'_>) {
        let Backlog { bytes, packets } = self.packets.backlog();
        let mut base = self.object.borrow_mut(py);
        (base.bytes, base.packets) = (bytes.get(), packets);
    }

    /// Drops what the object dropped in the call, checks the limit, and reads the timer.
    fn after(&mut self, py: Python<'_>, now: Timestamp, sink: &mut dyn QueueSink<P>) -> PyResult<()> {
        let dropped = std::mem::take(&mut self.object.borrow_mut(py).dropped);
        for packet in dropped {
            let packet = self.take(&packet.borrow(py))?;
            self.show_backlog(py);
            sink.on_drop(now, packet, DropReason::Early);
        }
        let base = self.object.borrow(py);
        if base.is_over_limit() {
            return Err(PyValueError::new_err(self.packets.too_many()));
        }
        self.next_timer = timer(base.next_timer, now)?;
        Ok(())
    }

    /// Calls a method. After an error the queue passes nothing on.
    fn call<T>(
        &mut self,
        now: Timestamp,
        method: impl FnOnce(&mut Self, Python<'_>) -> PyResult<T>,
    ) -> Option<T> {
        if self.failed {
            return None;
        }
        let class = Arc::clone(&self.class);
        let returned = class.call(Some(now), |py| method(self, py));
        if returned.is_none() {
            self.failed = true;
            self.next_timer = Timestamp::NEVER;
        }
        returned
    }

    fn enqueued(
        &mut self,
        py: Python<'_>,
        now: Timestamp,
        packet: P,
        sink: &mut dyn QueueSink<P>,
    ) -> PyResult<()> {
        let size = packet.size();
        let fits = self.object.borrow(py).admits(size.get());
        let kept = self.keep(py, packet)?;
        let accepted = self.enqueue.bind(py).call1((now.as_secs_f64(), &kept))?;
        let Ok(accepted) = accepted.cast::<PyBool>() else {
            return Err(PyTypeError::new_err(format!(
                "enqueue returned {accepted}; accepted: True or False"
            )));
        };
        if accepted.is_true() {
            self.show_backlog(py);
        } else {
            let packet = self.take(&kept.borrow(py))?;
            sink.on_drop(now, packet, if fits { DropReason::Early } else { DropReason::Overflow });
        }
        self.after(py, now, sink)
    }

    fn dequeued(
        &mut self,
        py: Python<'_>,
        now: Timestamp,
        sink: &mut dyn QueueSink<P>,
    ) -> PyResult<Option<P>> {
        let returned = self.dequeue.bind(py).call1((now.as_secs_f64(),))?;
        let taken = if returned.is_none() {
            None
        } else {
            let Ok(chosen) = returned.cast::<QueuedPacket>() else {
                return Err(PyTypeError::new_err(format!(
                    "dequeue returned {returned}; accepted: a packet, or None"
                )));
            };
            let chosen = chosen.borrow();
            let mut packet = self.take(&chosen)?;
            self.show_backlog(py);
            if chosen.marked && packet.ecn() != Ecn::Ce {
                packet.set_ecn(Ecn::Ce);
                sink.on_mark(now, &packet);
            }
            Some(packet)
        };
        self.after(py, now, sink)?;
        Ok(taken)
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for PythonQueue<P> {
    fn enqueue(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) {
        if self.failed {
            return sink.on_drop(now, packet, DropReason::Overflow);
        }
        self.call(now, |this, py| this.enqueued(py, now, packet, sink));
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P> {
        if self.packets.backlog().packets == 0 {
            return None;
        }
        self.call(now, |this, py| this.dequeued(py, now, sink)).flatten()
    }

    fn backlog(&self) -> Backlog {
        self.packets.backlog()
    }

    fn on_timer(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) {
        let counted = self.timers.count(now);
        self.call(now, |this, py| {
            counted.map_err(PyValueError::new_err)?;
            this.object.borrow_mut(py).next_timer = None;
            match &this.on_timer {
                Some(on_timer) => on_timer.bind(py).call1((now.as_secs_f64(),)).map(drop)?,
                None => {
                    return Err(PyTypeError::new_err("next_timer is set, but there is no method on_timer"));
                }
            }
            this.after(py, now, sink)
        });
    }

    fn next_timer(&self) -> Timestamp {
        self.next_timer
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        Python::attach(|py| self.object.borrow(py).recorded.report(report));
    }
}
