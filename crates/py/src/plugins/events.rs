//! What a Python controller is told. Each object contains its event during the call only.

use airpath_control::declare::ControllerFacts;
use airpath_model::{AckEvent, CongestionEvent, CongestionSignal, Duration, SendEvent};
use pyo3::PyClass;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::False;
use pyo3::types::PyTuple;

/// A class whose objects contain an event, or none.
pub(super) trait EventObject:
    PyClass<Frozen = False> + Into<PyClassInitializer<Self>> + Default
{
    /// The event of the engine.
    type Event;

    /// Replaces the event.
    fn set(&mut self, event: Option<Self::Event>);
}

/// One event object for all calls of a method, in the tuple of arguments of the call: an object for each call would cost
/// more than the call.
#[derive(Debug)]
pub(super) struct Argument<T> {
    object: Py<T>,
    arguments: Py<PyTuple>,
}

impl<T: EventObject> Argument<T> {
    pub(super) fn new(py: Python<'_>) -> PyResult<Self> {
        let object = Py::new(py, T::default())?;
        let arguments = PyTuple::new(py, [&object])?.unbind();
        Ok(Self { object, arguments })
    }

    /// Calls a method with an event.
    pub(super) fn pass(&self, py: Python<'_>, method: &Py<PyAny>, event: T::Event) -> PyResult<()> {
        self.object.borrow_mut(py).set(Some(event));
        let called = method.bind(py).call1(self.arguments.bind(py)).map(drop);
        self.object.borrow_mut(py).set(None);
        called
    }
}

/// Returns a time in seconds; zero stands for "not known yet" in estimates of round-trip times.
fn known(duration: Duration) -> Option<f64> {
    (!duration.is_zero()).then(|| duration.as_secs_f64())
}

fn during_the_call<T: Copy>(event: Option<T>) -> PyResult<T> {
    event.ok_or_else(|| {
        PyRuntimeError::new_err(
            "events are valid only during the call; copy the values that are needed later",
        )
    })
}

/// The properties of a connection that are known before its first packet.
#[pyclass(frozen, get_all, module = "airpath._core")]
pub(crate) struct Facts {
    /// The largest payload of a packet, bytes.
    mss: u64,
    /// The initial window, bytes.
    initial_window: u64,
    /// The round-trip time of the handshake in seconds; `None` if there was none.
    handshake_rtt: Option<f64>,
}

impl Facts {
    pub(super) fn of(facts: &ControllerFacts) -> Self {
        Self {
            mss: facts.mss.get(),
            initial_window: facts.initial_window.get(),
            handshake_rtt: facts.handshake_rtt.map(Duration::as_secs_f64),
        }
    }
}

/// An acknowledgment.
#[pyclass(module = "airpath._core")]
#[derive(Debug, Default)]
pub(crate) struct Ack(Option<AckEvent>);

impl EventObject for Ack {
    type Event = AckEvent;

    fn set(&mut self, event: Option<AckEvent>) {
        self.0 = event;
    }
}

#[pymethods]
impl Ack {
    #[getter]
    fn now(&self) -> PyResult<f64> {
        Ok(during_the_call(self.0)?.now.as_secs_f64())
    }

    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.now.as_nanos())
    }

    #[getter]
    fn acked(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.acked.get())
    }

    #[getter]
    fn advance(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.advance.get())
    }

    #[getter]
    fn duplicate(&self) -> PyResult<bool> {
        Ok(during_the_call(self.0)?.duplicate)
    }

    #[getter]
    fn newly_lost(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.newly_lost.get())
    }

    #[getter]
    fn in_flight_before(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.in_flight_before.get())
    }

    #[getter]
    fn in_flight(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.in_flight.get())
    }

    #[getter]
    fn in_flight_at_send(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.in_flight_at_send.get())
    }

    #[getter]
    fn mss(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.mss.get())
    }

    #[getter]
    fn rtt(&self) -> PyResult<Option<f64>> {
        Ok(during_the_call(self.0)?.rtt_sample.map(Duration::as_secs_f64))
    }

    #[getter]
    fn smoothed_rtt(&self) -> PyResult<Option<f64>> {
        Ok(known(during_the_call(self.0)?.rtt.smoothed))
    }

    #[getter]
    fn rtt_variation(&self) -> PyResult<Option<f64>> {
        let rtt = during_the_call(self.0)?.rtt;
        Ok(known(rtt.smoothed).map(|_| rtt.variation.as_secs_f64()))
    }

    #[getter]
    fn minimum_rtt(&self) -> PyResult<Option<f64>> {
        Ok(known(during_the_call(self.0)?.rtt.minimum))
    }

    #[getter]
    fn delivery_rate(&self) -> PyResult<Option<f64>> {
        Ok(during_the_call(self.0)?.rate.map(|sample| sample.rate().as_bps_f64()))
    }

    #[getter]
    fn app_limited(&self) -> PyResult<bool> {
        Ok(during_the_call(self.0)?.rate.is_some_and(|sample| sample.app_limited))
    }

    #[getter]
    fn round(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.round)
    }

    #[getter]
    fn window_limited(&self) -> PyResult<bool> {
        Ok(during_the_call(self.0)?.window_limited)
    }

    #[getter]
    fn in_recovery(&self) -> PyResult<bool> {
        Ok(during_the_call(self.0)?.in_recovery)
    }

    #[getter]
    fn congestion_experienced(&self) -> PyResult<bool> {
        Ok(during_the_call(self.0)?.congestion_experienced)
    }

    #[getter]
    fn marked(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.marked.get())
    }
}

/// A congestion signal.
#[pyclass(module = "airpath._core")]
#[derive(Debug, Default)]
pub(crate) struct Signal(Option<CongestionEvent>);

impl EventObject for Signal {
    type Event = CongestionEvent;

    fn set(&mut self, event: Option<CongestionEvent>) {
        self.0 = event;
    }
}

#[pymethods]
impl Signal {
    #[getter]
    fn now(&self) -> PyResult<f64> {
        Ok(during_the_call(self.0)?.now.as_secs_f64())
    }

    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        Ok(match during_the_call(self.0)?.signal {
            CongestionSignal::Loss => "loss",
            CongestionSignal::EcnCe => "mark",
            CongestionSignal::Timeout => "timeout",
        })
    }

    #[getter]
    fn flight_size(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.flight_size.get())
    }

    #[getter]
    fn lost(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.lost.get())
    }

    #[getter]
    fn mss(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.mss.get())
    }

    #[getter]
    fn smoothed_rtt(&self) -> PyResult<Option<f64>> {
        Ok(known(during_the_call(self.0)?.rtt.smoothed))
    }

    #[getter]
    fn minimum_rtt(&self) -> PyResult<Option<f64>> {
        Ok(known(during_the_call(self.0)?.rtt.minimum))
    }

    #[getter]
    fn consecutive(&self) -> PyResult<u32> {
        Ok(during_the_call(self.0)?.consecutive)
    }
}

/// A data packet that leaves the sender.
#[pyclass(module = "airpath._core")]
#[derive(Debug, Default)]
pub(crate) struct Sent(Option<SendEvent>);

impl EventObject for Sent {
    type Event = SendEvent;

    fn set(&mut self, event: Option<SendEvent>) {
        self.0 = event;
    }
}

#[pymethods]
impl Sent {
    #[getter]
    fn now(&self) -> PyResult<f64> {
        Ok(during_the_call(self.0)?.now.as_secs_f64())
    }

    #[getter]
    fn payload(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.payload.get())
    }

    #[getter]
    fn in_flight(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.in_flight.get())
    }

    #[getter]
    fn retransmission(&self) -> PyResult<bool> {
        Ok(during_the_call(self.0)?.retransmission)
    }

    #[getter]
    fn app_limited(&self) -> PyResult<bool> {
        Ok(during_the_call(self.0)?.app_limited)
    }

    #[getter]
    fn mss(&self) -> PyResult<u64> {
        Ok(during_the_call(self.0)?.mss.get())
    }
}
