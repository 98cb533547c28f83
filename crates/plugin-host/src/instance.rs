//! An instance of a component of a library: the common part of all kinds.
#![allow(unsafe_code, reason = "calls the functions of a library")]

use core::ffi::{c_char, c_int, c_void};
use core::fmt::{self, Debug};
use core::ptr::NonNull;
use std::sync::Arc;

use airpath_model::Timestamp;
use airpath_plugin::abi;

use crate::FaultSink;
use crate::answer::Answer;
use crate::table::{Component, Table, text};

/// A component of a library with values of its parameters, from which instances are created.
#[derive(Debug)]
pub(crate) struct Origin<T> {
    pub(crate) component: Arc<Component<T>>,
    pub(crate) values: Vec<abi::Value>,
    /// The id of the library in plans.
    pub(crate) name: Arc<str>,
    pub(crate) faults: Arc<dyn FaultSink>,
}

/// An instance. The library frees it when this value is dropped.
pub(crate) struct Instance<T: Table> {
    component: Arc<Component<T>>,
    /// The instance, as the library knows it.
    state: NonNull<c_void>,
    failed: bool,
    name: Arc<str>,
    faults: Arc<dyn FaultSink>,
}

// SAFETY: the header requires that an instance may be used by one thread after the other.
unsafe impl<T: Table> Send for Instance<T> {}

impl<T: Table> Instance<T> {
    /// Takes what the function `create` returned, and checks the first answer; otherwise returns the problem.
    pub(crate) fn new(origin: &Origin<T>, state: *mut c_void, answer: &impl Answer) -> Result<Self, String> {
        let Origin { component, name, faults, .. } = origin;
        let Some(state) = NonNull::new(state) else {
            return Err(failure("create", answer.error(), "it returned no instance"));
        };
        let (component, name, faults) = (Arc::clone(component), Arc::clone(name), Arc::clone(faults));
        let made = Self { component, state, failed: false, name, faults };
        if answer.is_possible(Timestamp::ZERO) {
            Ok(made)
        } else {
            Err(format!("after create, {}", answer.problem(Timestamp::ZERO)))
        }
    }

    /// Returns another instance of the same component.
    pub(crate) fn with_state(&self, state: NonNull<c_void>) -> Self {
        let Self { component, failed, name, faults, .. } = self;
        let (component, name, faults) = (Arc::clone(component), Arc::clone(name), Arc::clone(faults));
        Self { component, state, failed: *failed, name, faults }
    }

    #[inline]
    pub(crate) fn component(&self) -> &Component<T> {
        &self.component
    }

    #[inline]
    pub(crate) fn table(&self) -> &T {
        &self.component.table
    }

    pub(crate) const fn state(&self) -> NonNull<c_void> {
        self.state
    }

    #[inline]
    pub(crate) const fn failed(&self) -> bool {
        self.failed
    }

    /// Calls a function with an event and the answer that it changes. Returns the number that it returned, 0 if there is
    /// no such function.
    #[inline]
    pub(crate) fn call<E, A>(&self, function: abi::OnEvent<E, A>, event: &E, answer: &mut A) -> c_int {
        // SAFETY: instance, event and answer are as the header requires, and live longer than the call.
        function.map_or(0, |function| unsafe { function(self.state.as_ptr(), event, answer) })
    }

    /// Reports a fault if a function returned another number than 0, or its answer is impossible. Returns whether all is
    /// well.
    #[inline]
    pub(crate) fn check(&mut self, name: &str, code: c_int, answer: &impl Answer, now: Timestamp) -> bool {
        if code == 0 && answer.is_possible(now) {
            return true;
        }
        let problem = problem_after(name, code, answer, now);
        self.fail(&problem, now);
        false
    }

    /// Reports a fault. The instance is not called again.
    #[cold]
    pub(crate) fn fail(&mut self, problem: &str, now: Timestamp) {
        self.failed = true;
        self.report(problem, Some(now));
    }

    /// Reports a fault.
    #[cold]
    pub(crate) fn report(&self, problem: &str, now: Option<Timestamp>) {
        self.faults.on_fault(format!("{}: {problem}", self.name), now);
    }
}

#[cold]
fn problem_after(name: &str, code: c_int, answer: &impl Answer, now: Timestamp) -> String {
    if code == 0 {
        return format!("after {name}, {}", answer.problem(now));
    }
    failure(name, answer.error(), &format!("it returned {code}"))
}

/// Returns the reason that the library states for a failure, or another one.
pub(crate) fn failure(function: &str, reason: *const c_char, otherwise: &str) -> String {
    let reason = text(reason);
    format!("{function}: {}", if reason.is_empty() { otherwise } else { &reason })
}

impl<T: Table> Debug for Instance<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<T: Table> Drop for Instance<T> {
    fn drop(&mut self) {
        if let Some(destroy) = self.table().destroy() {
            // SAFETY: the library returned the instance, which is not used again.
            unsafe { destroy(self.state.as_ptr()) };
        }
    }
}
