//! Quinn's own controllers, recorded in the same way as airpath's.

use std::any::Any;
use std::sync::Arc;

use airpath_model::{Bytes, Steering};
use airpath_plan::QuinnAlgorithm;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig};

use crate::clock::{Instant, Origin};
use crate::controller::{QuinnController, Shared};

/// Returns a factory of one of quinn's controllers. The controller in `records` is an agent whose window
/// follows quinn's.
pub(crate) fn quinns_own(
    algorithm: QuinnAlgorithm,
    initial_window: u64,
    records: Shared,
    origin: Origin,
) -> Arc<dyn ControllerFactory + Send + Sync> {
    let quinns: Arc<dyn ControllerFactory + Send + Sync> = match algorithm {
        QuinnAlgorithm::Cubic => {
            let mut config = CubicConfig::default();
            config.initial_window(initial_window);
            Arc::new(config)
        }
        QuinnAlgorithm::NewReno => {
            let mut config = NewRenoConfig::default();
            config.initial_window(initial_window);
            Arc::new(config)
        }
    };
    Arc::new(RecordedFactory { quinns, records, origin })
}

struct RecordedFactory {
    quinns: Arc<dyn ControllerFactory + Send + Sync>,
    records: Shared,
    origin: Origin,
}

impl ControllerFactory for RecordedFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Recorded {
            quinns: Arc::clone(&self.quinns).build(now, current_mtu),
            events: QuinnController::new(self.records.clone(), self.origin),
            records: self.records.clone(),
        })
    }
}

/// A controller of quinn, and the records of its connection.
struct Recorded {
    quinns: Box<dyn Controller>,
    /// Counts losses, marks and round-trip times.
    events: QuinnController,
    records: Shared,
}

impl Recorded {
    /// Sets the window in the records to that of quinn's controller.
    fn follow(&self) {
        let window = Bytes::new(self.quinns.window());
        self.records.with(|driver, _| {
            if let Some(agent) = driver.controller_mut().steered() {
                agent.steer(Steering { window, pacing: None });
            }
        });
    }
}

impl Controller for Recorded {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.events.on_sent(now, bytes, last_packet_number);
        self.quinns.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.events.on_ack(now, sent, bytes, app_limited, rtt);
        self.quinns.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.events.on_end_acks(now, in_flight, app_limited, largest);
        self.quinns.on_end_acks(now, in_flight, app_limited, largest);
        self.follow();
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        self.events.on_congestion_event(now, sent, persistent, lost_bytes);
        self.quinns.on_congestion_event(now, sent, persistent, lost_bytes);
        self.follow();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.events.on_mtu_update(new_mtu);
        self.quinns.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.quinns.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.quinns.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            quinns: self.quinns.clone_box(),
            events: self.events.clone(),
            records: self.records.clone(),
        })
    }

    fn initial_window(&self) -> u64 {
        self.quinns.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.quinns.into_any()
    }
}
