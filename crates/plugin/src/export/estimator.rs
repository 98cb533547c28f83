//! The table of an [`EstimatorPlugin`].

use core::ffi::{c_int, c_void};
use core::marker::PhantomData;
use core::mem::size_of;
use core::ptr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use airpath_model::{
    AckEvent, AckRateEstimator, AckRateRequirements, CongestionEvent, Duration, Measurement, Probe, Timestamp,
};

use super::{Host, Instance, call, destroy, instance, values};
use crate::EstimatorPlugin;
use crate::abi::{self, code};
use crate::events::flag;

pub(super) struct Exported<P>(PhantomData<P>);

impl<P: EstimatorPlugin> Exported<P> {
    pub(super) const TABLE: &'static abi::Estimator = &abi::Estimator {
        size: size_of::<abi::Estimator>() as u32,
        abi: abi::ABI,
        title: P::TITLE.as_ptr(),
        description: P::DESCRIPTION.as_ptr(),
        parameters: P::PARAMETERS.as_ptr().cast(),
        parameter_count: P::PARAMETERS.len() as u32,
        reserved: 0,
        create: Some(create::<P>),
        copy: Some(copy::<P>),
        destroy: Some(destroy::<P::Estimator>),
        on_ack: Some(on_ack::<P>),
        on_congestion: Some(on_congestion::<P>),
    };
}

/// Writes samples to the answer.
struct Samples<'a>(&'a mut abi::Estimate);

impl Probe for Samples<'_> {
    fn record(&mut self, _now: Timestamp, measurement: Measurement) {
        if let Measurement::BandwidthSample(sample) = measurement {
            self.0.flags |= code::ESTIMATE_SAMPLE;
            self.0.sample = 8.0 * sample;
        }
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn create<P: EstimatorPlugin>(
    settings: *const abi::Settings,
    estimate: *mut abi::Estimate,
) -> *mut c_void {
    // SAFETY: the host passes both, for the time of this call. They are of this minor version of the interface or later.
    let (settings, estimate) = unsafe { (&*settings, &mut *estimate) };
    super::create(estimate, ptr::null(), c"", |estimate| {
        // SAFETY: the host passes a value for each parameter.
        let estimator = P::build(&unsafe { values(P::PARAMETERS, settings.values) })?;
        estimate.needs = needs(estimator.requirements());
        answer(&estimator, estimate);
        Ok(estimator)
    })
}

/// # Safety
/// The instance is one that [`create`] or this function returned, and no one changes it.
unsafe extern "C" fn copy<P: EstimatorPlugin>(instance: *const c_void) -> *mut c_void {
    // SAFETY: as this function requires.
    let original = unsafe { &*instance.cast::<Instance<P::Estimator>>() };
    let copied = catch_unwind(AssertUnwindSafe(|| original.component.clone()));
    copied.map_or(ptr::null_mut(), |estimator| self::instance(estimator, Host::new(ptr::null(), c"")))
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn on_ack<P: EstimatorPlugin>(
    instance: *mut c_void,
    event: *const abi::Ack,
    estimate: *mut abi::Estimate,
) -> c_int {
    // SAFETY: the host passes an event for the time of this call, and an instance of `create`.
    unsafe {
        let event = AckEvent::from(&*event);
        call(instance, estimate, |estimator: &mut P::Estimator, _, estimate| {
            estimator.on_ack(&event, &mut Samples(estimate));
            answer(estimator, estimate);
        })
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn on_congestion<P: EstimatorPlugin>(
    instance: *mut c_void,
    event: *const abi::Congestion,
    estimate: *mut abi::Estimate,
) -> c_int {
    // SAFETY: the host passes an event for the time of this call, and an instance of `create`.
    unsafe {
        let event = CongestionEvent::from(&*event);
        call(instance, estimate, |estimator: &mut P::Estimator, _, estimate| {
            estimator.on_congestion(&event);
            answer(estimator, estimate);
        })
    }
}

/// Writes the estimates. The sample of the call remains.
fn answer(estimator: &impl AckRateEstimator, to: &mut abi::Estimate) {
    let (bandwidth, minimum_rtt) = (estimator.bandwidth(), estimator.minimum_rtt());
    to.flags = to.flags & code::ESTIMATE_SAMPLE
        | flag(bandwidth.is_some(), code::ESTIMATE_BANDWIDTH)
        | flag(minimum_rtt.is_some(), code::ESTIMATE_MINIMUM_RTT);
    // Rates of the interface are in bit/s.
    to.bandwidth = 8.0 * bandwidth.unwrap_or(0.0);
    to.minimum_rtt = minimum_rtt.map_or(0, Duration::as_nanos);
}

fn needs(requirements: AckRateRequirements) -> u32 {
    flag(requirements.receiver_time, code::NEEDS_RECEIVER_TIME)
        | flag(requirements.rate_samples, code::NEEDS_RATE_SAMPLES)
        | flag(requirements.sending_times, code::NEEDS_SENDING_TIMES)
        | flag(requirements.rtt, code::NEEDS_RTT)
}
