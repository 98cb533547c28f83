//! The functions of the tables of components in Rust. A panic does not leave them.
#![allow(unsafe_code, reason = "C calls these functions with pointers")]

mod controller;
mod estimator;
mod queue;
mod source;

use core::ffi::{c_char, c_int, c_void};
use core::{ptr, slice};
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::sync::Once;

use crate::abi;
use crate::{EstimatorPlugin, Parameter, Plugin, QueuePlugin, SourcePlugin, Values};

/// Returns the table of a controller, for [`export!`](crate::export).
pub fn controller<P: Plugin>() -> &'static abi::Controller {
    silence_panics();
    controller::Exported::<P>::TABLE
}

/// Returns the table of an ACK-rate estimator, for [`export!`](crate::export).
pub fn estimator<P: EstimatorPlugin>() -> &'static abi::Estimator {
    silence_panics();
    estimator::Exported::<P>::TABLE
}

/// Returns the table of a capacity source, for [`export!`](crate::export).
pub fn source<P: SourcePlugin>() -> &'static abi::Source {
    silence_panics();
    source::Exported::<P>::TABLE
}

/// Returns the table of a queue discipline, for [`export!`](crate::export).
pub fn queue<P: QueuePlugin>() -> &'static abi::Queue {
    silence_panics();
    queue::Exported::<P>::TABLE
}

thread_local! {
    /// The last panic of this thread.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Silences the messages of panics in this library, because the host reports them.
fn silence_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| set_hook(Box::new(|info| PANIC.set(describe(info)))));
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

/// An answer of the interface.
trait Answer {
    /// Sets the reason of a failure.
    fn set_error(&mut self, reason: *const c_char);
}

macro_rules! answers {
    ($($answer:ident),*) => {$(
        impl Answer for abi::$answer {
            fn set_error(&mut self, reason: *const c_char) {
                self.error = reason;
            }
        }
    )*};
}

answers!(Control, Estimate, Capacity, Decision);

/// An instance, as the host knows it.
struct Instance<C> {
    component: C,
    host: Host,
    /// The text of the last failure.
    error: CString,
}

/// The functions of the host for an instance.
struct Host {
    /// Null if the kind of component has none.
    functions: *const abi::Host,
    /// The names of the quantities.
    quantities: Vec<&'static str>,
}

impl Host {
    fn new(functions: *const abi::Host, quantities: &'static CStr) -> Self {
        let quantities = quantities.to_str().unwrap_or_default().split_whitespace().collect();
        Self { functions, quantities }
    }

    /// Returns the functions.
    fn functions(&self) -> Option<&abi::Host> {
        // SAFETY: the host of an instance is null or valid as long as the instance.
        unsafe { self.functions.as_ref() }
    }

    /// Records a quantity by its name.
    fn record_named(&self, name: &str, value: f64) {
        let number = self.quantities.iter().position(|known| *known == name);
        let number = number.unwrap_or_else(|| panic!("QUANTITIES contains no {name:?}"));
        self.record(number as u32, value);
    }

    /// Records a quantity by its number.
    fn record(&self, quantity: u32, value: f64) {
        if let Some(abi::Host { context, record: Some(record), .. }) = self.functions() {
            // SAFETY: this is during a function of the instance.
            unsafe { record(*context, quantity, value) };
        }
    }
}

/// Returns the values of the parameters.
///
/// # Safety
/// `values` are those of these parameters.
unsafe fn values<'a>(parameters: &'static [Parameter], values: *const abi::Value) -> Values<'a> {
    let values = match parameters.len() {
        0 => &[][..],
        // SAFETY: as this function requires.
        count => unsafe { slice::from_raw_parts(values, count) },
    };
    Values::new(parameters, values)
}

/// Creates an instance; null after an error or a panic, whose text is in the answer.
fn create<C, A: Answer>(
    answer: &mut A,
    host: *const abi::Host,
    quantities: &'static CStr,
    build: impl FnOnce(&mut A) -> Result<C, String>,
) -> *mut c_void {
    let result = catch_unwind(AssertUnwindSafe(|| build(answer)));
    match result.unwrap_or_else(|_| Err(PANIC.take())) {
        Ok(component) => instance(component, Host::new(host, quantities)),
        Err(text) => {
            // Never freed: the host reads it after this call, and the run ends.
            answer.set_error(c_text(&text).into_raw());
            ptr::null_mut()
        }
    }
}

/// Returns an instance that [`destroy`] frees.
fn instance<C>(component: C, host: Host) -> *mut c_void {
    Box::into_raw(Box::new(Instance { component, host, error: CString::default() })).cast()
}

/// # Safety
/// The instance is one that [`create`] returned, and is not used again.
unsafe extern "C" fn destroy<C>(instance: *mut c_void) {
    // SAFETY: `instance` made the box.
    let instance = unsafe { Box::from_raw(instance.cast::<Instance<C>>()) };
    // There is no way to report a panic of a destructor.
    drop(catch_unwind(AssertUnwindSafe(|| drop(instance))));
}

/// Calls a component, with the functions of the host and the answer that the call writes.
///
/// # Safety
/// The instance is one that [`create`] returned, and no one else uses it. The host passed the answer.
#[inline]
unsafe fn call<C, A: Answer>(
    instance: *mut c_void,
    answer: *mut A,
    function: impl FnOnce(&mut C, &mut Host, &mut A),
) -> c_int {
    // SAFETY: as this function requires; the host passes the answer for the time of this call.
    let (instance, answer) = unsafe { (&mut *instance.cast::<Instance<C>>(), &mut *answer) };
    let Instance { component, host, error } = instance;
    if catch_unwind(AssertUnwindSafe(|| function(component, host, answer))).is_ok() {
        return 0;
    }
    *error = c_text(&PANIC.take());
    answer.set_error(error.as_ptr());
    1
}
