//! A controller behind quinn's interface, and the factory from which quinn gets it.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airpath_model::{Bytes, Controller, NullProbe, Probe};
use airpath_transport::QuicDriver;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, ControllerMetrics};

use crate::clock::{Instant, Origin};
use crate::requirements::{Unsupported, check};

/// Creates a controller for each connection of a QUIC stack.
///
/// ```
/// use std::sync::Arc;
///
/// use airpath_control::{Cubic, CubicConfig, StandardSlowStart, Windowed};
/// use airpath_model::Bytes;
/// use airpath_quic::ControllerFactory;
/// use quinn_proto::TransportConfig;
///
/// let factory = ControllerFactory::new(|mss| {
///     let cubic = Cubic::new(CubicConfig::default()).expect("the constants of RFC 9438");
///     let controller = Windowed::new(cubic, StandardSlowStart::default(), Bytes::new(10 * mss.get()), mss);
///     Box::new(controller.expect("ten packets are a window"))
/// })?;
/// let mut transport = TransportConfig::default();
/// transport.congestion_controller_factory(Arc::new(factory));
/// # Ok::<(), airpath_quic::Unsupported>(())
/// ```
pub struct ControllerFactory {
    build: Box<dyn Fn(Bytes) -> Box<dyn Controller> + Send + Sync>,
}

impl ControllerFactory {
    /// Creates a factory. `build` returns a new controller for packets of up to the given size.
    ///
    /// # Errors
    /// If the controller needs a feature that the stack does not provide.
    pub fn new(
        build: impl Fn(Bytes) -> Box<dyn Controller> + Send + Sync + 'static,
    ) -> Result<Self, Unsupported> {
        check(&build(SMALLEST_MTU).requirements())?;
        Ok(Self { build: Box::new(build) })
    }
}

/// The smallest permitted maximum packet size (RFC 9000, section 14).
const SMALLEST_MTU: Bytes = Bytes::new(1200);

impl congestion::ControllerFactory for ControllerFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        let mss = Bytes::new(u64::from(current_mtu));
        let shared = Shared::new(QuicDriver::new((self.build)(mss), mss), Box::new(NullProbe));
        Box::new(QuinnController::new(shared, Origin::at(now)))
    }
}

impl fmt::Debug for ControllerFactory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ControllerFactory").finish_non_exhaustive()
    }
}

/// A driven controller with the probe that receives its telemetry, shared by a connection and its observers.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Probed>>);

/// A driver and a probe.
struct Probed {
    driver: QuicDriver,
    probe: Box<dyn Probe + Send>,
}

impl Shared {
    pub(crate) fn new(driver: QuicDriver, probe: Box<dyn Probe + Send>) -> Self {
        Self(Arc::new(Mutex::new(Probed { driver, probe })))
    }

    /// Calls `work` with the driver and the probe.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut QuicDriver, &mut dyn Probe) -> T) -> T {
        let mut probed: MutexGuard<'_, Probed> = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Probed { driver, probe } = &mut *probed;
        work(driver, probe.as_mut())
    }
}

/// A function that returns quinn's factory for a controller, with the origin of its timestamps.
pub(crate) type HandOver = fn(Shared, Origin) -> Arc<dyn congestion::ControllerFactory + Send + Sync>;

/// Passes quinn the controller that was made for a connection.
struct Made(Shared, Origin);

impl congestion::ControllerFactory for Made {
    fn build(self: Arc<Self>, _now: Instant, _current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(QuinnController::new(self.0.clone(), self.1))
    }
}

/// Passes a controller on unchanged.
pub(crate) fn hand_over(
    controller: Shared,
    origin: Origin,
) -> Arc<dyn congestion::ControllerFactory + Send + Sync> {
    Arc::new(Made(controller, origin))
}

/// One of our controllers as quinn drives it.
///
/// Limits of quinn's interface: controllers have no timer, and pacing is quinn's own (5/4 of the window per
/// round trip), so [`ControllerFactory::new`] refuses controllers that set a pacing rate. If only a peer's
/// port changes, quinn copies the controller (RFC 9000, section 9.4, allows to keep its state): the copy and
/// the original are one.
#[derive(Clone)]
pub(crate) struct QuinnController {
    shared: Shared,
    /// Origin of quinn's instants.
    origin: Origin,
    initial_window: u64,
}

impl QuinnController {
    pub(crate) fn new(shared: Shared, origin: Origin) -> Self {
        let initial_window = shared.with(|driver, _| driver.control().window.get());
        Self { shared, origin, initial_window }
    }
}

impl congestion::Controller for QuinnController {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        let now = self.origin.timestamp(now);
        self.shared.with(|driver, probe| driver.on_sent(now, bytes, probe));
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _app_limited: bool, _rtt: &RttEstimator) {
        let (now, sent) = (self.origin.timestamp(now), self.origin.timestamp(sent));
        self.shared.with(|driver, probe| driver.on_acked(now, sent, bytes, probe));
    }

    fn on_end_acks(&mut self, _now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.shared.with(|driver, probe| driver.on_end_acks(in_flight, app_limited, probe));
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        let (now, sent) = (self.origin.timestamp(now), self.origin.timestamp(sent));
        self.shared.with(|driver, probe| {
            if lost_bytes == 0 {
                driver.on_marked(now, sent, probe);
            } else {
                driver.on_lost(now, sent, lost_bytes, persistent, probe);
            }
        });
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.shared.with(|driver, _| driver.set_mss(Bytes::new(u64::from(new_mtu))));
    }

    /// Returns one byte more than the controller's window. Quinn sends a packet only if the data in flight
    /// then stays *below* the window, so a window of one packet would allow none.
    fn window(&self) -> u64 {
        self.shared.with(|driver, probe| {
            driver.settle(probe);
            driver.control().window.get().saturating_add(1)
        })
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        self.shared.with(|driver, probe| {
            driver.settle(probe);
            metrics.congestion_window = driver.control().window.get();
            metrics.ssthresh = driver.ssthresh().map(Bytes::get);
            metrics.pacing_rate = driver.pacing_rate().map(airpath_model::Rate::as_bps);
        });
        metrics
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
