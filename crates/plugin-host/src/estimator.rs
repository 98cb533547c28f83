//! A library as an ACK-rate estimator of the engine.
#![allow(unsafe_code, reason = "calls the functions of a library")]

use core::ffi::c_int;
use core::mem::size_of;
use core::ptr::{self, NonNull};

use airpath_estimate::OutsideEstimator;
use airpath_model::{
    AckEvent, AckRateEstimator, AckRateRequirements, CongestionEvent, Duration, Measurement, Probe, Timestamp,
};
use airpath_plugin::abi::{self, Ack, Congestion, code};

use crate::instance::{Instance, Origin};

/// An estimator of a library.
#[derive(Debug)]
pub(crate) struct LibraryEstimator {
    instance: Instance<abi::Estimator>,
    estimate: abi::Estimate,
}

// SAFETY: the only pointer besides those of the instance is `estimate.error`, which is read after a call only.
unsafe impl Send for LibraryEstimator {}
// SAFETY: as above. A shared reference reaches only the function `copy` of the library, which changes nothing.
unsafe impl Sync for LibraryEstimator {}

impl LibraryEstimator {
    /// Creates an instance, or returns the reason of the failure.
    pub(crate) fn new(origin: &Origin<abi::Estimator>) -> Result<Self, String> {
        let size = size_of::<abi::Settings>() as u32;
        let settings = abi::Settings { size, reserved: 0, values: origin.values.as_ptr() };
        let mut estimate = abi::Estimate {
            size: size_of::<abi::Estimate>() as u32,
            flags: 0,
            sample: 0.0,
            bandwidth: 0.0,
            minimum_rtt: 0,
            error: ptr::null(),
            needs: 0,
            reserved: 0,
        };
        let create = origin.component.table.create;
        // SAFETY: both structs are as the header requires, and live longer than the call.
        let state = create
            .map_or(ptr::null_mut(), |create| unsafe { create(&raw const settings, &raw mut estimate) });
        Ok(Self { instance: Instance::new(origin, state, &estimate)?, estimate })
    }

    /// Returns whether a part of the answer is known.
    #[inline]
    const fn has(&self, flag: u32) -> bool {
        self.estimate.flags & flag != 0
    }

    /// Checks the answer after a call. After a fault nothing is known.
    #[inline]
    fn check(&mut self, name: &str, code: c_int, now: Timestamp) {
        if !self.instance.check(name, code, &self.estimate, now) {
            self.estimate.flags = 0;
        }
    }
}

impl AckRateEstimator for LibraryEstimator {
    fn requirements(&self) -> AckRateRequirements {
        let needs = |flag: u32| self.estimate.needs & flag != 0;
        AckRateRequirements {
            receiver_time: needs(code::NEEDS_RECEIVER_TIME),
            rate_samples: needs(code::NEEDS_RATE_SAMPLES),
            sending_times: needs(code::NEEDS_SENDING_TIMES),
            rtt: needs(code::NEEDS_RTT),
        }
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        if self.instance.failed() {
            return;
        }
        let before = self.bandwidth();
        self.estimate.flags &= !code::ESTIMATE_SAMPLE;
        let code = self.instance.call(self.instance.table().on_ack, &Ack::from(event), &mut self.estimate);
        self.check("on_ack", code, event.now);
        let sampled = self.has(code::ESTIMATE_SAMPLE);
        if sampled {
            // Rates of the engine are in byte/s.
            probe.record(event.now, Measurement::BandwidthSample(self.estimate.sample / 8.0));
        }
        let estimate = self.bandwidth();
        if let Some(estimate) = estimate.filter(|_| sampled || estimate != before) {
            probe.record(event.now, Measurement::Bandwidth(estimate));
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let function = self.instance.table().on_congestion;
        if function.is_some() && !self.instance.failed() {
            let code = self.instance.call(function, &Congestion::from(event), &mut self.estimate);
            self.check("on_congestion", code, event.now);
        }
    }

    fn bandwidth(&self) -> Option<f64> {
        self.has(code::ESTIMATE_BANDWIDTH).then_some(self.estimate.bandwidth / 8.0)
    }

    fn minimum_rtt(&self) -> Option<Duration> {
        self.has(code::ESTIMATE_MINIMUM_RTT).then(|| Duration::from_nanos(self.estimate.minimum_rtt))
    }
}

impl OutsideEstimator for LibraryEstimator {
    fn copied(&self) -> Box<dyn OutsideEstimator> {
        let copy = self.instance.table().copy;
        // SAFETY: the instance is valid, and `copy` changes nothing.
        let state = copy.and_then(|copy| NonNull::new(unsafe { copy(self.instance.state().as_ptr()) }));
        if let Some(state) = state {
            return Box::new(Self { instance: self.instance.with_state(state), estimate: self.estimate });
        }
        self.instance.report("copy: it returned no instance", None);
        // The run ends. Until then the connection needs some estimator.
        Box::new(NoEstimate)
    }
}

/// An estimator without an estimate.
#[derive(Debug)]
struct NoEstimate;

impl AckRateEstimator for NoEstimate {
    fn on_ack(&mut self, _event: &AckEvent, _probe: &mut dyn Probe) {}

    fn bandwidth(&self) -> Option<f64> {
        None
    }
}

impl OutsideEstimator for NoEstimate {
    fn copied(&self) -> Box<dyn OutsideEstimator> {
        Box::new(Self)
    }
}
