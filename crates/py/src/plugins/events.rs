//! The events of a connection that Python controllers and estimators receive. Each object contains its event during the call only.

use airpath_control::declare::ControllerFacts;
use airpath_model::{AckEvent, CongestionEvent, CongestionSignal, Duration, SendEvent, Timestamp};
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

/// One event object for all calls of a method, in the tuple of arguments of the call. A new object for each call would be
/// slower.
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

    /// Returns another reference to the same object.
    pub(super) fn clone_ref(&self, py: Python<'_>) -> Self {
        Self { object: self.object.clone_ref(py), arguments: self.arguments.clone_ref(py) }
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

fn during_the_call<T>(event: Option<&T>) -> PyResult<&T> {
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

/// Declares the class of an event: its name in Python, its event of the engine, and its attributes.
macro_rules! event_class {
    (
        $(#[$outer:meta])*
        $class:ident($event:ty) { $($name:ident: $kind:ty = |$one:ident| $value:expr;)+ }
    ) => {
        $(#[$outer])*
        #[pyclass(module = "airpath._core")]
        #[derive(Debug, Default)]
        pub(crate) struct $class(Option<$event>);

        impl EventObject for $class {
            type Event = $event;

            fn set(&mut self, event: Option<$event>) {
                self.0 = event;
            }
        }

        #[pymethods]
        impl $class {
            $(
                #[getter]
                fn $name(&self) -> PyResult<$kind> {
                    let $one = during_the_call(self.0.as_ref())?;
                    Ok($value)
                }
            )+
        }
    };
}

event_class! {
    /// An acknowledgment.
    Ack(AckEvent) {
        now: f64 = |ack| ack.now.as_secs_f64();
        now_ns: u64 = |ack| ack.now.as_nanos();
        acked: u64 = |ack| ack.acked.get();
        advance: u64 = |ack| ack.advance.get();
        duplicate: bool = |ack| ack.duplicate;
        newly_lost: u64 = |ack| ack.newly_lost.get();
        in_flight_before: u64 = |ack| ack.in_flight_before.get();
        in_flight: u64 = |ack| ack.in_flight.get();
        in_flight_at_send: u64 = |ack| ack.in_flight_at_send.get();
        mss: u64 = |ack| ack.mss.get();
        rtt: Option<f64> = |ack| ack.rtt_sample.map(Duration::as_secs_f64);
        smoothed_rtt: Option<f64> = |ack| known(ack.rtt.smoothed);
        rtt_variation: Option<f64> = |ack| known(ack.rtt.smoothed).map(|_| ack.rtt.variation.as_secs_f64());
        minimum_rtt: Option<f64> = |ack| known(ack.rtt.minimum);
        delivery_rate: Option<f64> = |ack| ack.rate.map(|sample| sample.rate().as_bps_f64());
        app_limited: bool = |ack| ack.rate.is_some_and(|sample| sample.app_limited);
        round: u64 = |ack| ack.round;
        window_limited: bool = |ack| ack.window_limited;
        in_recovery: bool = |ack| ack.in_recovery;
        congestion_experienced: bool = |ack| ack.congestion_experienced;
        marked: u64 = |ack| ack.marked.get();
        latest_sent_at: Option<f64> = |ack| ack.latest_sent_at.map(Timestamp::as_secs_f64);
        receiver_time: Option<f64> = |ack| ack.receiver_time.map(Timestamp::as_secs_f64);
    }
}

event_class! {
    /// A congestion signal.
    Signal(CongestionEvent) {
        now: f64 = |signal| signal.now.as_secs_f64();
        kind: &'static str = |signal| match signal.signal {
            CongestionSignal::Loss => "loss",
            CongestionSignal::EcnCe => "mark",
            CongestionSignal::Timeout => "timeout",
        };
        flight_size: u64 = |signal| signal.flight_size.get();
        lost: u64 = |signal| signal.lost.get();
        mss: u64 = |signal| signal.mss.get();
        smoothed_rtt: Option<f64> = |signal| known(signal.rtt.smoothed);
        minimum_rtt: Option<f64> = |signal| known(signal.rtt.minimum);
        consecutive: u32 = |signal| signal.consecutive;
    }
}

event_class! {
    /// A data packet that leaves the sender.
    Sent(SendEvent) {
        now: f64 = |sent| sent.now.as_secs_f64();
        payload: u64 = |sent| sent.payload.get();
        in_flight: u64 = |sent| sent.in_flight.get();
        retransmission: bool = |sent| sent.retransmission;
        app_limited: bool = |sent| sent.app_limited;
        mss: u64 = |sent| sent.mss.get();
    }
}
