//! A Python object as an ACK-rate estimator of the engine.

use std::sync::Arc;

use airpath_estimate::OutsideEstimator;
use airpath_model::{
    AckEvent, AckRateEstimator, AckRateRequirements, CongestionEvent, Duration, Measurement, Probe, Timestamp,
};
use airpath_plugin_host::answer::{LARGEST_RATE, LONGEST_RTT};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::checks::within_or_none;
use super::events::{Ack, Argument, Signal};
use super::methods::{optional, required};
use super::{BITS_PER_BYTE, Class};

/// The base class of ACK-rate estimators in Python: what is estimated, as attributes that the estimator sets.
#[pyclass(subclass, module = "airpath._core")]
pub(crate) struct Estimator {
    #[pyo3(get, set)]
    sample: Option<f64>,
    #[pyo3(get, set)]
    estimate: Option<f64>,
    #[pyo3(get, set)]
    minimum_rtt: Option<f64>,
}

#[pymethods]
impl Estimator {
    #[new]
    #[pyo3(signature = (*_arguments, **_named))]
    fn new(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> Self {
        Self { sample: None, estimate: None, minimum_rtt: None }
    }

    /// What `copy.deepcopy` copies: the attributes of this class, and those that the subclass set.
    fn __getstate__(slf: &Bound<'_, Self>) -> PyResult<(State, Option<Py<PyAny>>)> {
        let base = slf.borrow();
        let own = slf.getattr_opt("__dict__")?.map(Bound::unbind);
        Ok(((base.sample, base.estimate, base.minimum_rtt), own))
    }

    fn __setstate__(slf: &Bound<'_, Self>, state: (State, Option<Py<PyAny>>)) -> PyResult<()> {
        let ((sample, estimate, minimum_rtt), own) = state;
        *slf.borrow_mut() = Self { sample, estimate, minimum_rtt };
        match own {
            Some(own) => slf.getattr("__dict__")?.call_method1("update", (own,)).map(drop),
            None => Ok(()),
        }
    }
}

/// The attributes of the base class.
type State = (Option<f64>, Option<f64>, Option<f64>);

/// A Python object as an ACK-rate estimator.
#[derive(Debug)]
pub(super) struct PythonEstimator {
    object: Py<Estimator>,
    on_ack: Py<PyAny>,
    on_congestion: Option<Py<PyAny>>,
    ack: Argument<Ack>,
    signal: Argument<Signal>,
    requirements: AckRateRequirements,
    /// Byte/s.
    estimate: Option<f64>,
    minimum_rtt: Option<Duration>,
    failed: bool,
    class: Arc<Class>,
}

/// What an acknowledgment led to, byte/s: the sample, and the estimate if it is to be recorded.
#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    sample: Option<f64>,
    recorded: Option<f64>,
}

impl PythonEstimator {
    pub(super) fn new(object: &Bound<'_, Estimator>, class: Arc<Class>) -> PyResult<Self> {
        let py = object.py();
        let mut made = Self {
            on_ack: required(object, "on_ack", "estimator")?,
            on_congestion: optional(object, "on_congestion")?,
            ack: Argument::new(py)?,
            signal: Argument::new(py)?,
            requirements: requirements(object)?,
            object: object.clone().unbind(),
            estimate: None,
            minimum_rtt: None,
            failed: false,
            class,
        };
        made.read(py)?;
        Ok(made)
    }

    /// Reads and checks what the object estimates.
    fn read(&mut self, py: Python<'_>) -> PyResult<Answer> {
        let base = self.object.borrow(py);
        let in_bytes = |rate: f64| rate / BITS_PER_BYTE;
        let sample = within_or_none("sample", base.sample, 0, LARGEST_RATE)?.map(in_bytes);
        let estimate = within_or_none("estimate", base.estimate, 0, LARGEST_RATE)?.map(in_bytes);
        let minimum_rtt = within_or_none("minimum_rtt", base.minimum_rtt, 0, LONGEST_RTT)?;
        self.minimum_rtt = minimum_rtt.map(Duration::from_secs_f64);
        let recorded = estimate.filter(|_| sample.is_some() || estimate != self.estimate);
        self.estimate = estimate;
        Ok(Answer { sample, recorded })
    }

    /// Calls a method and reads what the object then estimates. After an error it does nothing.
    fn call(
        &mut self,
        now: Timestamp,
        method: impl FnOnce(&Self, Python<'_>) -> PyResult<()>,
    ) -> Option<Answer> {
        if self.failed {
            return None;
        }
        let class = Arc::clone(&self.class);
        let answer = class.call(Some(now), |py| {
            method(self, py)?;
            self.read(py)
        });
        self.failed = answer.is_none();
        answer
    }

    /// Returns an estimator over the same object.
    fn shared(&self, py: Python<'_>) -> Self {
        Self {
            object: self.object.clone_ref(py),
            on_ack: self.on_ack.clone_ref(py),
            on_congestion: self.on_congestion.as_ref().map(|method| method.clone_ref(py)),
            ack: self.ack.clone_ref(py),
            signal: self.signal.clone_ref(py),
            class: Arc::clone(&self.class),
            ..*self
        }
    }
}

/// Returns what the attribute `requires` names.
fn requirements(object: &Bound<'_, Estimator>) -> PyResult<AckRateRequirements> {
    let names: Vec<String> = object.getattr("requires")?.extract()?;
    let mut requirements = AckRateRequirements::default();
    for name in names {
        match name.as_str() {
            "receiver_time" => requirements.receiver_time = true,
            "delivery_rate" => requirements.rate_samples = true,
            "latest_sent_at" => requirements.sending_times = true,
            "rtt" => requirements.rtt = true,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "requires has {name:?}; accepted: receiver_time, delivery_rate, latest_sent_at, rtt"
                )));
            }
        }
    }
    Ok(requirements)
}

impl AckRateEstimator for PythonEstimator {
    fn requirements(&self) -> AckRateRequirements {
        self.requirements
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        let answer = self.call(event.now, |this, py| {
            this.object.borrow_mut(py).sample = None;
            this.ack.pass(py, &this.on_ack, *event)
        });
        let Some(Answer { sample, recorded }) = answer else { return };
        if let Some(sample) = sample {
            probe.record(event.now, Measurement::BandwidthSample(sample));
        }
        if let Some(estimate) = recorded {
            probe.record(event.now, Measurement::Bandwidth(estimate));
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if self.on_congestion.is_some() {
            self.call(event.now, |this, py| {
                let method = this.on_congestion.as_ref();
                method.map_or(Ok(()), |on_congestion| this.signal.pass(py, on_congestion, *event))
            });
        }
    }

    fn bandwidth(&self) -> Option<f64> {
        self.estimate
    }

    fn minimum_rtt(&self) -> Option<Duration> {
        self.minimum_rtt
    }
}

impl OutsideEstimator for PythonEstimator {
    fn copied(&self) -> Box<dyn OutsideEstimator> {
        let copied = self.class.call(None, |py| {
            let copy = py.import("copy")?.call_method1("deepcopy", (&self.object,))?;
            let mut copied = Self::new(copy.cast()?, Arc::clone(&self.class))?;
            copied.failed = self.failed;
            Ok(copied)
        });
        // After an error the run ends. Until then the connection needs some estimator.
        Box::new(copied.unwrap_or_else(|| Self { failed: true, ..Python::attach(|py| self.shared(py)) }))
    }
}
