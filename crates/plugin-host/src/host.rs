//! The functions of airpath for an instance, and what the instance did with them in the present call.
#![allow(unsafe_code, reason = "a library calls these functions")]

use core::ffi::c_void;
use core::fmt::{self, Debug};
use core::mem::size_of;
use core::ptr::{self, NonNull};

use airpath_plugin::abi;

/// The functions for one instance. It ends after the instance, which has a pointer to it.
pub(crate) struct Host(NonNull<HostSide>);

impl Debug for Host {
    /// Without the address: equal states of controllers have equal texts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}

// SAFETY: the host's side is reached only through this value, and by the instance during its calls.
unsafe impl Send for Host {}

/// What a queue decides about a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Verdict {
    /// Drop it for this reason.
    Drop(u32),
    /// Mark it.
    Mark,
}

/// The functions, and what was passed to them in the present call. Only behind pointers, because the library has pointers to
/// it, too.
struct HostSide {
    functions: abi::Host,
    recorded: Vec<(u32, f64)>,
    verdicts: Vec<(u64, Verdict)>,
}

/// Records a value.
///
/// # Safety
/// `context` is the host's side of an instance that is being called.
unsafe extern "C" fn record(context: *mut c_void, quantity: u32, value: f64) {
    // SAFETY: as this function requires; nothing else uses the list during a call.
    unsafe { (*context.cast::<HostSide>()).recorded.push((quantity, value)) };
}

/// Drops a packet.
///
/// # Safety
/// As [`record`].
unsafe extern "C" fn drop_packet(context: *mut c_void, packet: u64, reason: u32) {
    // SAFETY: as this function requires; nothing else uses the list during a call.
    unsafe { (*context.cast::<HostSide>()).verdicts.push((packet, Verdict::Drop(reason))) };
}

/// Marks a packet.
///
/// # Safety
/// As [`record`].
unsafe extern "C" fn mark_packet(context: *mut c_void, packet: u64) {
    // SAFETY: as this function requires; nothing else uses the list during a call.
    unsafe { (*context.cast::<HostSide>()).verdicts.push((packet, Verdict::Mark)) };
}

impl Host {
    /// Returns the functions of components that record quantities.
    pub(crate) fn new() -> Self {
        let functions = abi::Host {
            size: size_of::<abi::Host>() as u32,
            reserved: 0,
            context: ptr::null_mut(),
            record: Some(record),
            drop: None,
            mark: None,
        };
        let side = HostSide { functions, recorded: Vec::new(), verdicts: Vec::new() };
        let side = NonNull::from(Box::leak(Box::new(side)));
        // SAFETY: it was made in the line above.
        unsafe { (*side.as_ptr()).functions.context = side.as_ptr().cast() };
        Self(side)
    }

    /// Returns the functions of queues, which also decide about packets.
    pub(crate) fn of_queue() -> Self {
        let made = Self::new();
        // SAFETY: no instance has a pointer to it yet.
        let functions = unsafe { &mut (*made.0.as_ptr()).functions };
        functions.drop = Some(drop_packet);
        functions.mark = Some(mark_packet);
        made
    }

    /// Returns the functions for the library. They live as long as this value.
    pub(crate) const fn functions(&self) -> *const abi::Host {
        // SAFETY: this value has made the host's side, and frees it at its end.
        unsafe { &raw const (*self.0.as_ptr()).functions }
    }

    /// Returns the values that were recorded. Not during a call.
    #[inline]
    pub(crate) fn recorded(&mut self) -> &mut Vec<(u32, f64)> {
        // SAFETY: the library uses the host's side during its calls only.
        unsafe { &mut (*self.0.as_ptr()).recorded }
    }

    /// Returns the values that were recorded in a call that changes nothing. Not during a call.
    pub(crate) fn taken(&self) -> Vec<(u32, f64)> {
        // SAFETY: as above. Nothing else has a reference to the list, because this value is used by one thread.
        core::mem::take(unsafe { &mut (*self.0.as_ptr()).recorded })
    }

    /// Returns the decisions about packets. Not during a call.
    #[inline]
    pub(crate) fn verdicts(&mut self) -> &mut Vec<(u64, Verdict)> {
        // SAFETY: as above.
        unsafe { &mut (*self.0.as_ptr()).verdicts }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: `new` made it, and the instance that had a pointer to it is gone.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// Returns the text of the error that a table does not declare a quantity.
#[cold]
pub(crate) fn unknown_quantity(function: &str, quantity: u32, declared: usize) -> String {
    format!("in {function}, quantity {quantity} is recorded; the table declares {declared}")
}
