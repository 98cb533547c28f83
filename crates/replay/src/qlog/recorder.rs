//! A recorder of the inputs of a sender's controller.

use airpath_model::{AckEvent, Bytes, CongestionEvent, Control, Controller, Pacing, Phase, Probe};

/// An input of a controller.
#[derive(Clone, Copy, Debug)]
pub(super) enum Told {
    Congestion(CongestionEvent),
    Ack(AckEvent),
}

/// A controller that records its inputs in order.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) told: Vec<Told>,
}

impl Controller for Recorder {
    fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn Probe) {
        self.told.push(Told::Ack(*event));
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        self.told.push(Told::Congestion(*event));
    }

    fn control(&self) -> Control {
        Control { window: Bytes::MAX, pacing: Pacing::Off, quantum: Bytes::MAX }
    }

    fn phase(&self) -> Phase {
        Phase::CongestionAvoidance
    }
}
