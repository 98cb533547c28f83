//! Estimators that run alongside a controller without affecting it.

use std::sync::Arc;

use airpath_estimate::AckRate;
use airpath_estimate::declare::AckRates;
use airpath_model::declare::Factory;
use airpath_model::{
    AckEvent, AckRateEstimator, CongestionEvent, Control, Controller, Measurement, PathHeader, Phase, Probe,
    Requirements, SendEvent, Steered, Timestamp,
};

/// An estimator that runs alongside a controller, with its number in the plan.
pub(crate) type PlannedEstimator = (u16, Arc<dyn Factory<AckRates>>);

/// A controller with ACK-rate estimators, which receive all of its acknowledgments and congestion signals.
/// Only the controller affects the flow's sending.
#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) controller: Box<dyn Controller>,
    /// The estimators with their numbers in the plan.
    pub(crate) observers: Vec<(u16, AckRate)>,
}

impl Controller for Observed {
    fn requirements(&self) -> Requirements {
        let of_controller = self.controller.requirements();
        self.observers.iter().fold(of_controller, |needs, (_, observer)| {
            let own = observer.requirements();
            Requirements {
                receiver_time: needs.receiver_time || own.receiver_time,
                rate_samples: needs.rate_samples || own.rate_samples,
                ..needs
            }
        })
    }

    fn on_sent(&mut self, event: &SendEvent, probe: &mut dyn Probe) -> PathHeader {
        self.controller.on_sent(event, probe)
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        for (number, observer) in &mut self.observers {
            observer.on_ack(event, &mut Numbered { number: *number, sample: f64::NAN, probe });
        }
        self.controller.on_ack(event, probe);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        self.observers.iter_mut().for_each(|(_, observer)| observer.on_congestion(event));
        self.controller.on_congestion(event, probe);
    }

    fn dismissed_signal(&self) -> bool {
        self.controller.dismissed_signal()
    }

    fn on_spurious(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        self.controller.on_spurious(now, probe);
    }

    fn on_timer(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        self.controller.on_timer(now, probe);
    }

    fn next_timer(&self) -> Timestamp {
        self.controller.next_timer()
    }

    fn steered(&mut self) -> Option<&mut dyn Steered> {
        self.controller.steered()
    }

    fn control(&self) -> Control {
        self.controller.control()
    }

    fn ssthresh(&self) -> Option<airpath_model::Bytes> {
        self.controller.ssthresh()
    }

    fn phase(&self) -> Phase {
        self.controller.phase()
    }
}

/// Attributes an estimate to its estimator.
struct Numbered<'a> {
    number: u16,
    sample: f64,
    probe: &'a mut dyn Probe,
}

impl Probe for Numbered<'_> {
    fn record(&mut self, now: Timestamp, measurement: Measurement) {
        match measurement {
            Measurement::BandwidthSample(sample) => self.sample = sample,
            Measurement::Bandwidth(estimate) => {
                let (observer, sample) = (self.number, self.sample);
                self.probe.record(now, Measurement::Observer { observer, sample, estimate });
            }
            _ => {}
        }
    }
}
