//! The table of a [`Plugin`].

use core::ffi::{c_int, c_void};
use core::marker::PhantomData;
use core::mem::size_of;

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, Controller, Duration, Measurement, Pacing, Probe, RandomStream,
    Requirements, SendEvent, Timestamp,
};

use super::{Host, destroy, values};
use crate::abi::{self, code};
use crate::{Facts, Plugin, link};

pub(super) struct Exported<P>(PhantomData<P>);

impl<P: Plugin> Exported<P> {
    pub(super) const TABLE: &'static abi::Controller = &abi::Controller {
        size: size_of::<abi::Controller>() as u32,
        abi: abi::ABI,
        title: P::TITLE.as_ptr(),
        description: P::DESCRIPTION.as_ptr(),
        parameters: P::PARAMETERS.as_ptr().cast(),
        parameter_count: P::PARAMETERS.len() as u32,
        reserved: 0,
        quantities: P::QUANTITIES.as_ptr(),
        create: Some(create::<P>),
        destroy: Some(destroy::<P::Controller>),
        on_ack: Some(on_ack::<P>),
        on_congestion: Some(on_congestion::<P>),
        on_sent: Some(on_sent::<P>),
        on_spurious: Some(on_spurious::<P>),
        on_timer: Some(on_timer::<P>),
    };
}

impl Probe for Host {
    fn record(&mut self, _now: Timestamp, measurement: Measurement) {
        // Rates of the interface are in bit/s.
        match measurement {
            Measurement::Named(name, value) => self.record_named(name, value),
            Measurement::BandwidthSample(sample) => Self::record(self, code::BANDWIDTH_SAMPLE, 8.0 * sample),
            Measurement::Bandwidth(estimate) => Self::record(self, code::BANDWIDTH, 8.0 * estimate),
            _ => {}
        }
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn create<P: Plugin>(
    connection: *const abi::Connection,
    control: *mut abi::Control,
) -> *mut c_void {
    // SAFETY: the host passes both, for the time of this call. They are of this minor version of the interface or later.
    let (connection, control) = unsafe { (&*connection, &mut *control) };
    super::create(control, connection.host, P::QUANTITIES, |control| {
        let rtt = connection.handshake_rtt;
        let facts = Facts {
            initial_window: Bytes::new(connection.initial_window),
            mss: Bytes::new(connection.mss.into()),
            handshake_rtt: (rtt > 0).then(|| Duration::from_nanos(rtt)),
            random: RandomStream::new(connection.seed, "plugin"),
        };
        // SAFETY: the host passes a value for each parameter.
        let controller = P::build(facts, &unsafe { values(P::PARAMETERS, connection.values) })?;
        let requirements = controller.requirements();
        if requirements.path_feedback {
            return Err("a controller that needs feedback of routers cannot be in a library".to_owned());
        }
        control.needs = needs(&requirements);
        control.longest_report_interval =
            requirements.longest_report_interval.map_or(abi::NEVER, Duration::as_nanos);
        answer(&controller, control);
        Ok(controller)
    })
}

/// Calls the controller of an instance and writes its answer.
///
/// # Safety
/// The instance is one that [`create`] returned, and no one else uses it.
#[inline]
unsafe fn call<P: Plugin>(
    instance: *mut c_void,
    control: *mut abi::Control,
    function: impl FnOnce(&mut P::Controller, &mut dyn Probe),
) -> c_int {
    // SAFETY: as this function requires.
    unsafe {
        super::call(instance, control, |controller: &mut P::Controller, host, control| {
            function(controller, host);
            answer(controller, control);
        })
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn on_ack<P: Plugin>(
    instance: *mut c_void,
    event: *const abi::Ack,
    control: *mut abi::Control,
) -> c_int {
    // SAFETY: the host passes an event for the time of this call, and an instance of `create`.
    unsafe {
        let event = AckEvent::from(&*event);
        call::<P>(instance, control, |controller, probe| controller.on_ack(&event, probe))
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn on_congestion<P: Plugin>(
    instance: *mut c_void,
    event: *const abi::Congestion,
    control: *mut abi::Control,
) -> c_int {
    // SAFETY: the host passes an event for the time of this call, and an instance of `create`.
    unsafe {
        let event = CongestionEvent::from(&*event);
        call::<P>(instance, control, |controller, probe| controller.on_congestion(&event, probe))
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn on_sent<P: Plugin>(
    instance: *mut c_void,
    event: *const abi::Sent,
    control: *mut abi::Control,
) -> c_int {
    // SAFETY: the host passes an event for the time of this call, and an instance of `create`.
    unsafe {
        let event = SendEvent::from(&*event);
        call::<P>(instance, control, |controller, probe| {
            controller.on_sent(&event, probe);
        })
    }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn on_spurious<P: Plugin>(
    instance: *mut c_void,
    now: u64,
    control: *mut abi::Control,
) -> c_int {
    let now = Timestamp::from_nanos(now);
    // SAFETY: the host passes an instance of `create`.
    unsafe { call::<P>(instance, control, |controller, probe| controller.on_spurious(now, probe)) }
}

/// # Safety
/// The arguments are as the header requires.
unsafe extern "C" fn on_timer<P: Plugin>(
    instance: *mut c_void,
    now: u64,
    control: *mut abi::Control,
) -> c_int {
    let now = Timestamp::from_nanos(now);
    // SAFETY: the host passes an instance of `create`.
    unsafe { call::<P>(instance, control, |controller, probe| controller.on_timer(now, probe)) }
}

/// The number of each phase in the interface, by its index in the engine.
const PHASE_NUMBERS: [u32; abi::PHASES.len()] = {
    let mut numbers = [0; abi::PHASES.len()];
    let mut number = 0;
    while number < numbers.len() {
        numbers[abi::PHASES[number].index()] = number as u32;
        number += 1;
    }
    numbers
};

#[inline]
fn answer(controller: &impl Controller, to: &mut abi::Control) {
    let control = controller.control();
    to.flags = if controller.dismissed_signal() { code::CONTROL_DISMISSED } else { 0 };
    to.window = control.window.get();
    to.quantum = control.quantum.get();
    (to.pacing, to.pacing_rate) = match control.pacing {
        Pacing::FromWindow => (code::PACING_FROM_WINDOW, 0),
        Pacing::Off => (code::PACING_OFF, 0),
        Pacing::At(rate) => (code::PACING_AT_RATE, rate.as_bps()),
    };
    to.ssthresh = controller.ssthresh().map_or(abi::NEVER, Bytes::get);
    to.next_timer = link::timer(controller.next_timer());
    to.phase = PHASE_NUMBERS[controller.phase().index()];
}

fn needs(requirements: &Requirements) -> u32 {
    [
        (requirements.pacing, code::NEEDS_PACING),
        (requirements.rate_samples, code::NEEDS_RATE_SAMPLES),
        (requirements.ecn, code::NEEDS_ECN),
        (requirements.accurate_ecn, code::NEEDS_ACCURATE_ECN),
        (requirements.receiver_time, code::NEEDS_RECEIVER_TIME),
        (requirements.window_in_recovery, code::NEEDS_WINDOW_IN_RECOVERY),
    ]
    .iter()
    .map(|(needed, flag)| if *needed { *flag } else { 0 })
    .sum()
}
