//! A Python object as a capacity source of the engine.

use std::sync::Arc;

use airpath_estimate::declare::SourceFacts;
use airpath_model::{Backlog, Bytes, ControlInterval, Spare, Timestamp};
use airpath_plugin_host::Timers;
use airpath_plugin_host::answer::{LARGEST_PROBING, LARGEST_RATE};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::checks::{timer, within, within_or_none};
use super::link::{Interval, LinkFacts, Waiting};
use super::methods::optional;
use super::recorded::Recorded;
use super::{BITS_PER_BYTE, Class};

/// The base class of capacity sources in Python: what is estimated, as attributes that the source sets.
#[pyclass(subclass, module = "airpath._core")]
pub(crate) struct CapacitySource {
    #[pyo3(get, set)]
    capacity: Option<f64>,
    #[pyo3(get, set)]
    probing: f64,
    #[pyo3(get, set)]
    next_timer: Option<f64>,
    recorded: Recorded,
}

#[pymethods]
impl CapacitySource {
    #[new]
    #[pyo3(signature = (*_arguments, **_named))]
    fn new(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> Self {
        Self { capacity: None, probing: 1.0, next_timer: None, recorded: Recorded::default() }
    }

    /// Records a quantity for the table `link_observations`.
    fn record(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.recorded.set(name, value)
    }
}

/// A Python object as a capacity source.
#[derive(Debug)]
pub(super) struct PythonSource {
    object: Py<CapacitySource>,
    /// Methods that the class may leave out.
    on_arrival: Option<Py<PyAny>>,
    on_departure: Option<Py<PyAny>>,
    on_timer: Option<Py<PyAny>>,
    spare: Option<Py<PyAny>>,
    /// Byte/s.
    capacity: Option<f64>,
    probing: f64,
    next_timer: Timestamp,
    timers: Timers,
    failed: bool,
    class: Arc<Class>,
}

impl PythonSource {
    pub(super) fn new(
        object: &Bound<'_, CapacitySource>,
        facts: &SourceFacts<'_>,
        class: Arc<Class>,
    ) -> PyResult<Self> {
        let py = object.py();
        let mut made = Self {
            on_arrival: optional(object, "on_arrival")?,
            on_departure: optional(object, "on_departure")?,
            on_timer: optional(object, "on_timer")?,
            spare: optional(object, "spare")?,
            object: object.clone().unbind(),
            capacity: None,
            probing: 1.0,
            next_timer: Timestamp::NEVER,
            timers: Timers::default(),
            failed: false,
            class,
        };
        if made.on_arrival.is_none() && made.on_departure.is_none() && made.on_timer.is_none() {
            let problem = "the capacity source has no method on_arrival, on_departure or on_timer";
            return Err(PyTypeError::new_err(problem));
        }
        if let Some(start) = optional(object, "start")? {
            start.call1(py, (LinkFacts::of(facts.buffer),))?;
        }
        made.read(py, Timestamp::ZERO)?;
        Ok(made)
    }

    /// Reads and checks what the object estimates.
    fn read(&mut self, py: Python<'_>, now: Timestamp) -> PyResult<()> {
        let base = self.object.borrow(py);
        let capacity = within_or_none("capacity", base.capacity, 0, LARGEST_RATE)?;
        self.capacity = capacity.map(|capacity| capacity / BITS_PER_BYTE);
        self.probing = within("probing", base.probing, 0, LARGEST_PROBING)?;
        self.next_timer = timer(base.next_timer, now)?;
        Ok(())
    }

    /// Calls a method and reads what the object then estimates. After an error it does nothing.
    fn call<T>(
        &mut self,
        now: Timestamp,
        method: impl FnOnce(&Self, Python<'_>) -> PyResult<T>,
    ) -> Option<T> {
        if self.failed {
            return None;
        }
        let class = Arc::clone(&self.class);
        let returned = class.call(Some(now), |py| {
            let returned = method(self, py)?;
            self.read(py, now)?;
            Ok(returned)
        });
        if returned.is_none() {
            self.failed = true;
            self.next_timer = Timestamp::NEVER;
        }
        returned
    }
}

/// Calls a method, if there is one, with a packet and the backlog.
fn pass(
    py: Python<'_>,
    method: Option<&Py<PyAny>>,
    now: Timestamp,
    size: Bytes,
    backlog: Backlog,
) -> PyResult<()> {
    let Some(method) = method else { return Ok(()) };
    method.bind(py).call1((now.as_secs_f64(), size.get(), Waiting::of(backlog))).map(drop)
}

impl airpath_model::CapacitySource for PythonSource {
    fn on_arrival(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        if self.on_arrival.is_some() {
            self.call(now, |this, py| pass(py, this.on_arrival.as_ref(), now, size, backlog));
        }
    }

    fn on_departure(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        if self.on_departure.is_some() {
            self.call(now, |this, py| pass(py, this.on_departure.as_ref(), now, size, backlog));
        }
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        let counted = self.timers.count(now);
        self.call(now, |this, py| {
            counted.map_err(PyValueError::new_err)?;
            this.object.borrow_mut(py).next_timer = None;
            match &this.on_timer {
                Some(on_timer) => {
                    on_timer.bind(py).call1((now.as_secs_f64(), Waiting::of(backlog))).map(drop)
                }
                None => Err(PyTypeError::new_err("next_timer is set, but there is no method on_timer")),
            }
        });
    }

    fn next_timer(&self) -> Timestamp {
        self.next_timer
    }

    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        self.capacity
    }

    fn probing(&self) -> f64 {
        self.probing
    }

    fn spare(&mut self, interval: &ControlInterval) -> Spare {
        let answered = self.spare.is_some().then(|| {
            self.call(interval.now, |this, py| {
                let Some(spare) = &this.spare else { return Ok(None) };
                let returned = spare.bind(py).call1((Interval::of(interval),))?;
                let (bandwidth, queue): (f64, f64) = returned.extract().map_err(|_| {
                    PyTypeError::new_err(format!(
                        "spare returned {returned}; accepted: two numbers, bit/s and bytes"
                    ))
                })?;
                if !bandwidth.is_finite() || !queue.is_finite() {
                    return Err(PyValueError::new_err("spare returned a number that is not finite"));
                }
                Ok(Some(Spare { bandwidth: bandwidth / BITS_PER_BYTE, queue }))
            })
        });
        answered.flatten().flatten().unwrap_or_else(|| {
            let capacity = self.capacity.unwrap_or(interval.input_rate);
            Spare { bandwidth: interval.probing * capacity - interval.input_rate, queue: interval.queue }
        })
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        if let Some(capacity) = self.capacity {
            report("capacity_estimate", capacity);
            report("capacity_estimate_bps", capacity * BITS_PER_BYTE);
        }
        Python::attach(|py| self.object.borrow(py).recorded.report(report));
    }
}
