//! The functions of the table of a [`Plugin`]. A panic does not leave them.
#![allow(unsafe_code, reason = "C calls these functions with pointers")]

use core::ffi::{c_int, c_void};
use core::marker::PhantomData;
use core::mem::size_of;
use core::{ptr, slice};
use std::cell::RefCell;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::sync::Once;

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, Controller, Duration, Measurement, Pacing, Probe, RandomStream,
    Requirements, SendEvent, Timestamp,
};

use crate::abi::{self, code};
use crate::{Facts, Plugin, Values};

/// Returns the table of a plug-in. For [`export!`](crate::export); it silences the messages of panics in this library,
/// because the host reports them.
pub fn table<P: Plugin>() -> &'static abi::Controller {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| set_hook(Box::new(|info| PANIC.set(describe(info)))));
    Exported::<P>::TABLE
}

struct Exported<P>(PhantomData<P>);

impl<P: Plugin> Exported<P> {
    const TABLE: &'static abi::Controller = &abi::Controller {
        size: size_of::<abi::Controller>() as u32,
        abi: abi::ABI,
        title: P::TITLE.as_ptr(),
        description: P::DESCRIPTION.as_ptr(),
        parameters: P::PARAMETERS.as_ptr().cast(),
        parameter_count: P::PARAMETERS.len() as u32,
        reserved: 0,
        quantities: P::QUANTITIES.as_ptr(),
        create: Some(create::<P>),
        destroy: Some(destroy::<P>),
        on_ack: Some(on_ack::<P>),
        on_congestion: Some(on_congestion::<P>),
        on_sent: Some(on_sent::<P>),
        on_spurious: Some(on_spurious::<P>),
        on_timer: Some(on_timer::<P>),
    };
}

thread_local! {
    /// The last panic of this thread.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    match info.location() {
        Some(place) => format!("panicked at {}:{}: {text}", place.file(), place.line()),
        None => format!("panicked: {text}"),
    }
}

/// Returns a text for C.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// An instance, as the host knows it.
struct Instance<C> {
    controller: C,
    probe: HostProbe,
    /// The text of the last failure.
    error: CString,
}

/// Passes measurements to the host.
struct HostProbe {
    host: *const abi::Host,
    /// The names of the quantities.
    quantities: Vec<&'static str>,
}

impl HostProbe {
    fn number(&self, name: &str) -> u32 {
        let number = self.quantities.iter().position(|known| *known == name);
        number.unwrap_or_else(|| panic!("QUANTITIES contains no {name:?}")) as u32
    }
}

impl Probe for HostProbe {
    fn record(&mut self, _now: Timestamp, measurement: Measurement) {
        // Rates of the interface are in bit/s.
        let (quantity, value) = match measurement {
            Measurement::Named(name, value) => (self.number(name), value),
            Measurement::BandwidthSample(sample) => (code::BANDWIDTH_SAMPLE, 8.0 * sample),
            Measurement::Bandwidth(estimate) => (code::BANDWIDTH, 8.0 * estimate),
            _ => return,
        };
        // SAFETY: the host of an instance is valid as long as the instance, and this is during one of its functions.
        unsafe {
            if let Some(record) = (*self.host).record {
                record((*self.host).context, quantity, value);
            }
        }
    }
}

/// # Safety
/// The arguments are as the header says.
unsafe extern "C" fn create<P: Plugin>(
    connection: *const abi::Connection,
    control: *mut abi::Control,
) -> *mut c_void {
    // SAFETY: the host passes both, for the time of this call. They are of this minor version of the interface or later.
    let (connection, control) = unsafe { (&*connection, &mut *control) };
    let built = catch_unwind(AssertUnwindSafe(|| {
        let values = match P::PARAMETERS.len() {
            0 => &[][..],
            // SAFETY: the host passes a value for each parameter.
            count => unsafe { slice::from_raw_parts(connection.values, count) },
        };
        let rtt = connection.handshake_rtt;
        let facts = Facts {
            initial_window: Bytes::new(connection.initial_window),
            mss: Bytes::new(connection.mss.into()),
            handshake_rtt: (rtt > 0).then(|| Duration::from_nanos(rtt)),
            random: RandomStream::new(connection.seed, "plugin"),
        };
        let controller = P::build(facts, &Values::new(P::PARAMETERS, values))?;
        let requirements = controller.requirements();
        if requirements.path_feedback {
            return Err("a controller that needs feedback of routers cannot be in a library".to_owned());
        }
        control.needs = needs(&requirements);
        control.longest_report_interval =
            requirements.longest_report_interval.map_or(abi::NEVER, Duration::as_nanos);
        answer(&controller, control);
        Ok(controller)
    }));
    match built.unwrap_or_else(|_| Err(PANIC.take())) {
        Ok(controller) => {
            let quantities = P::QUANTITIES.to_str().unwrap_or_default().split_whitespace().collect();
            let probe = HostProbe { host: connection.host, quantities };
            Box::into_raw(Box::new(Instance { controller, probe, error: CString::default() })).cast()
        }
        Err(text) => {
            // Never freed: the host reads it after this call, and the run ends.
            control.error = c_text(&text).into_raw();
            ptr::null_mut()
        }
    }
}

/// # Safety
/// The instance is one that [`create`] returned, and is not used again.
unsafe extern "C" fn destroy<P: Plugin>(instance: *mut c_void) {
    // SAFETY: `create` made the box.
    let instance = unsafe { Box::from_raw(instance.cast::<Instance<P::Controller>>()) };
    // There is no way to report a panic of a destructor.
    drop(catch_unwind(AssertUnwindSafe(|| drop(instance))));
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
    // SAFETY: as this function requires; the host passes the answer for the time of this call.
    let (instance, control) = unsafe { (&mut *instance.cast::<Instance<P::Controller>>(), &mut *control) };
    let called = catch_unwind(AssertUnwindSafe(|| {
        function(&mut instance.controller, &mut instance.probe);
        answer(&instance.controller, control);
    }));
    if called.is_err() {
        instance.error = c_text(&PANIC.take());
        control.error = instance.error.as_ptr();
        return 1;
    }
    0
}

/// # Safety
/// The arguments are as the header says.
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
/// The arguments are as the header says.
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
/// The arguments are as the header says.
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
/// The arguments are as the header says.
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
/// The arguments are as the header says.
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
    let timer = controller.next_timer();
    to.next_timer = if timer.is_scheduled() { timer.as_nanos() } else { abi::NEVER };
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
