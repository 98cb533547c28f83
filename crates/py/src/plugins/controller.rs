//! A Python object as a congestion controller of the engine.

use std::sync::Arc;

use airpath_control::declare::ControllerFacts;
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, Control, Measurement, Pacing, PathHeader, Phase, Probe, Rate,
    SendEvent, Timestamp,
};
use airpath_plugin_host::answer::{LARGEST_RATE, LARGEST_WINDOW};
use airpath_plugin_host::{Timers, interned};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::Class;
use super::checks::{timer, within};
use super::events::{Ack, Argument, Facts, Sent, Signal};
use super::methods::{optional, required};

/// The burst limit of a controller that sets none, segments.
const QUANTUM_SEGMENTS: u64 = 2;

/// The base class of controllers in Python: what is allowed, as attributes that the controller sets.
#[pyclass(subclass, module = "airpath._core")]
pub(crate) struct Controller {
    #[pyo3(get, set)]
    window: f64,
    #[pyo3(get, set)]
    pacing_rate: Option<f64>,
    #[pyo3(get, set)]
    quantum: Option<f64>,
    #[pyo3(get, set)]
    ssthresh: Option<f64>,
    #[pyo3(get, set)]
    next_timer: Option<f64>,
    /// The seed of the controller's random numbers.
    #[pyo3(get)]
    seed: u64,
    /// Quantities that were recorded in the present call.
    recorded: Vec<(&'static str, f64)>,
}

#[pymethods]
impl Controller {
    #[new]
    #[pyo3(signature = (*_arguments, **_named))]
    fn new(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            window: 0.0,
            pacing_rate: None,
            quantum: None,
            ssthresh: None,
            next_timer: None,
            seed: 0,
            recorded: Vec::new(),
        }
    }

    /// Records a quantity for the table `flow_observations`.
    fn record(&mut self, name: &str, value: f64) -> PyResult<()> {
        let name = interned(name).map_err(PyValueError::new_err)?;
        self.recorded.push((name, value));
        Ok(())
    }
}

/// A Python object as a controller. The run must be in a thread that holds the interpreter lock: attaching is then cheap.
#[derive(Debug)]
pub(super) struct PythonController {
    object: Py<Controller>,
    on_ack: Py<PyAny>,
    on_congestion: Py<PyAny>,
    /// Methods that the class may leave out.
    on_sent: Option<Py<PyAny>>,
    on_spurious: Option<Py<PyAny>>,
    on_timer: Option<Py<PyAny>>,
    ack: Argument<Ack>,
    signal: Argument<Signal>,
    sent: Argument<Sent>,
    mss: Bytes,
    control: Control,
    ssthresh: Option<Bytes>,
    phase: Phase,
    next_timer: Timestamp,
    timers: Timers,
    failed: bool,
    class: Arc<Class>,
}

impl PythonController {
    pub(super) fn new(
        object: &Bound<'_, Controller>,
        mut facts: ControllerFacts,
        class: Arc<Class>,
    ) -> PyResult<Self> {
        let py = object.py();
        {
            let mut base = object.borrow_mut();
            base.window = facts.initial_window.as_f64();
            base.seed = facts.random.bits();
        }
        let mut made = Self {
            on_ack: required(object, "on_ack", "controller")?,
            on_congestion: required(object, "on_congestion", "controller")?,
            on_sent: optional(object, "on_sent")?,
            on_spurious: optional(object, "on_spurious")?,
            on_timer: optional(object, "on_timer")?,
            ack: Argument::new(py)?,
            signal: Argument::new(py)?,
            sent: Argument::new(py)?,
            object: object.clone().unbind(),
            mss: facts.mss,
            control: Control { window: facts.mss, pacing: Pacing::FromWindow, quantum: facts.mss },
            ssthresh: None,
            phase: Phase::Steady,
            next_timer: Timestamp::NEVER,
            timers: Timers::default(),
            failed: false,
            class,
        };
        if let Some(start) = optional(object, "start")? {
            start.call1(py, (Facts::of(&facts),))?;
        }
        made.read(py, Timestamp::ZERO)?;
        Ok(made)
    }

    /// Reads and checks what the object allows.
    fn read(&mut self, py: Python<'_>, now: Timestamp) -> PyResult<()> {
        let base = self.object.borrow(py);
        let window = within("window", base.window, 1, LARGEST_WINDOW)?;
        self.control.window = Bytes::from_f64(window).max(self.mss);
        self.control.pacing = match base.pacing_rate {
            Some(rate) => Pacing::At(Rate::from_bps_f64(within("pacing_rate", rate, 1, LARGEST_RATE)?)),
            None => Pacing::FromWindow,
        };
        self.control.quantum = match base.quantum {
            Some(quantum) => Bytes::from_f64(within("quantum", quantum, 1, LARGEST_WINDOW)?).max(self.mss),
            None => self.mss * QUANTUM_SEGMENTS,
        };
        // Tables have no value for an infinite threshold, that of a slow start without an end.
        self.ssthresh = base.ssthresh.filter(|threshold| threshold.is_finite()).map(Bytes::from_f64);
        self.phase = match base.ssthresh {
            None => Phase::Steady,
            Some(threshold) if window < threshold => Phase::SlowStart,
            Some(_) => Phase::CongestionAvoidance,
        };
        self.next_timer = timer(base.next_timer, now)?;
        Ok(())
    }

    /// Calls a method and reads what the object then allows. After an error it does nothing.
    fn call(
        &mut self,
        name: &str,
        now: Timestamp,
        probe: &mut dyn Probe,
        method: impl FnOnce(&Self, Python<'_>) -> PyResult<()>,
    ) {
        if self.failed {
            return;
        }
        let class = Arc::clone(&self.class);
        let called = class.call(Some(now), |py| {
            method(self, py)?;
            let recorded = {
                let mut base = self.object.borrow_mut(py);
                if base.recorded.is_empty() { Vec::new() } else { std::mem::take(&mut base.recorded) }
            };
            for (name, value) in recorded {
                probe.record(now, Measurement::Named(name, value));
            }
            self.read(py, now)
                .map_err(|error| PyValueError::new_err(format!("after {name}, {}", error.value(py))))
        });
        if called.is_none() {
            self.failed = true;
            self.control.window = self.mss;
            self.next_timer = Timestamp::NEVER;
        }
    }
}

impl airpath_model::Controller for PythonController {
    fn on_sent(&mut self, event: &SendEvent, probe: &mut dyn Probe) -> PathHeader {
        if self.on_sent.is_some() {
            self.call("on_sent", event.now, probe, |this, py| {
                this.on_sent.as_ref().map_or(Ok(()), |on_sent| this.sent.pass(py, on_sent, *event))
            });
        }
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        self.call("on_ack", event.now, probe, |this, py| this.ack.pass(py, &this.on_ack, *event));
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        self.call("on_congestion", event.now, probe, |this, py| {
            this.signal.pass(py, &this.on_congestion, *event)
        });
    }

    fn on_spurious(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        if self.on_spurious.is_some() {
            self.call("on_spurious", now, probe, |this, py| {
                let Some(on_spurious) = &this.on_spurious else { return Ok(()) };
                on_spurious.bind(py).call1((now.as_secs_f64(),)).map(drop)
            });
        }
    }

    fn on_timer(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        let counted = self.timers.count(now);
        self.call("on_timer", now, probe, |this, py| {
            counted.map_err(PyValueError::new_err)?;
            this.object.borrow_mut(py).next_timer = None;
            match &this.on_timer {
                Some(on_timer) => on_timer.bind(py).call1((now.as_secs_f64(),)).map(drop),
                None => Err(PyTypeError::new_err("next_timer is set, but there is no method on_timer")),
            }
        });
    }

    fn next_timer(&self) -> Timestamp {
        self.next_timer
    }

    fn control(&self) -> Control {
        self.control
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh
    }

    fn phase(&self) -> Phase {
        self.phase
    }
}
