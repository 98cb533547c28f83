//! Quantities that a component of a link records.
#![allow(unsafe_code, reason = "calls a function of a library")]

use airpath_model::Timestamp;
use airpath_plugin::abi;

use crate::answer::Answer;
use crate::host::{Host, unknown_quantity};
use crate::instance::{Instance, failure};
use crate::table::Table;

/// The last value of each quantity.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// In the order of declaration; `None` before the first value.
    values: Vec<Option<f64>>,
    /// The time of the last call.
    pub(crate) now: Timestamp,
}

impl Default for Recorded {
    fn default() -> Self {
        Self { values: Vec::new(), now: Timestamp::ZERO }
    }
}

impl Recorded {
    /// Takes the quantities that a call recorded.
    ///
    /// # Errors
    /// A quantity is not declared; the text names it.
    pub(crate) fn take(
        &mut self,
        function: &str,
        recorded: &mut Vec<(u32, f64)>,
        quantities: &[&'static str],
    ) -> Result<(), String> {
        self.values.resize(quantities.len(), None);
        for (quantity, value) in recorded.drain(..) {
            let place = self.values.get_mut(quantity as usize);
            *place.ok_or_else(|| unknown_quantity(function, quantity, quantities.len()))? = Some(value);
        }
        Ok(())
    }

    /// Reports the last values, after the function `observe` of the library if there is one.
    pub(crate) fn observe<T: Table, A: Answer>(
        &self,
        instance: &Instance<T>,
        host: &Host,
        observe: abi::OnObserve<A>,
        mut answer: A,
        report: &mut dyn FnMut(&'static str, f64),
    ) {
        let quantities = &instance.component().quantities;
        let mut all = self.clone();
        if let (Some(observe), false) = (observe, instance.failed()) {
            // SAFETY: instance and answer are as the header requires, and live longer than the call, which changes nothing.
            let code = unsafe { observe(instance.state().as_ptr(), &raw mut answer) };
            let taken = all.take("observe", &mut host.taken(), quantities);
            let failed = (code != 0)
                .then(|| failure("observe", answer.error(), &format!("it returned {code}")))
                .or(taken.err());
            if let Some(problem) = failed {
                instance.report(&problem, Some(self.now));
            }
        }
        for (name, value) in quantities.iter().zip(&all.values) {
            if let Some(value) = value {
                report(name, *value);
            }
        }
    }
}
