//! The requirements of a controller, and the rules that it breaks during a list of operations.

use std::any::Any;
use std::cell::Cell;
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};

use airpath_model::{Controller, Duration};
use serde::Serialize;

use crate::ledger::Answers;
use crate::{Breach, Follows, Ledger, Operation, Rule};

/// The requirements of a controller.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    pub(crate) follows: Follows,
    pub(crate) is_strict: bool,
}

impl Contract {
    /// Returns the contract of any controller.
    pub const fn of(follows: Follows) -> Self {
        Self { follows, is_strict: false }
    }

    /// Returns the contract of the controllers of this source tree. They also tolerate events that no
    /// transport delivers: acknowledgments at the instant at which the packet was sent, timeouts and marks
    /// without a packet in flight, and the undoing of a signal that did not occur. The `Debug` output of two
    /// instances must be equal.
    pub const fn strict(follows: Follows) -> Self {
        Self { follows, is_strict: true }
    }

    /// Returns the rules for the window that the controller follows.
    pub const fn follows(self) -> Follows {
        self.follows
    }

    /// Returns the shortest time from a packet to its acknowledgment.
    pub(crate) const fn least_rtt(self) -> Duration {
        if self.is_strict { Duration::ZERO } else { Duration::from_millis(1) }
    }
}

/// The subject of a check, which constructs any number of equal controllers. A function that returns a
/// controller is a subject.
pub trait Subject {
    /// Constructs a controller.
    ///
    /// # Errors
    /// If it cannot be constructed.
    fn construct(&self) -> Result<Box<dyn Controller>, String>;

    /// Takes the first error since the last call. Controllers cannot return errors, but those in other
    /// languages may have some.
    fn take_error(&self) -> Option<String> {
        None
    }
}

impl<F: Fn() -> Box<dyn Controller>> Subject for F {
    fn construct(&self) -> Result<Box<dyn Controller>, String> {
        Ok(self())
    }
}

/// A list of operations, and the first rule that it breaks.
#[derive(Clone, Debug, Serialize)]
pub struct Failing {
    /// The rule.
    #[serde(flatten)]
    pub breach: Breach,
    /// The list.
    pub operations: Vec<Operation>,
}

impl Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, by {:?}", self.breach.rule.text(), self.breach.message, self.operations)
    }
}

/// Applies a list of operations to two controllers, and returns the rules that they break: each once, in the
/// order of their first breach. Stops if a rule of the interface is broken.
pub fn examine(contract: Contract, subject: &impl Subject, operations: &[Operation]) -> Vec<Breach> {
    let begun = Cell::new(0);
    let examined =
        catch_unwind(AssertUnwindSafe(|| examine_unguarded(contract, subject, operations, &begun)));
    examined.unwrap_or_else(|panic| {
        let message = format!("panic: {}", text_of(panic.as_ref()));
        vec![Breach { rule: Rule::NoError, message, operation: begun.get().checked_sub(1) }]
    })
}

/// Does the same as [`examine`], but does not catch panics. `begun` is the number of operations that have
/// started.
fn examine_unguarded(
    contract: Contract,
    subject: &impl Subject,
    operations: &[Operation],
    begun: &Cell<usize>,
) -> Vec<Breach> {
    let error = |message| Breach { rule: Rule::NoError, message, operation: begun.get().checked_sub(1) };
    let ledger = || subject.construct().map(|controller| Ledger::new(contract, controller));
    let (mut first, mut second) = match (ledger(), ledger()) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(message), _) | (_, Err(message)) => return vec![error(message)],
    };
    let differ = |first: &Ledger, second: &Ledger| {
        let message = difference(&first.answers(), &second.answers())?;
        Some(Breach { rule: Rule::SameAnswers, message, operation: begun.get().checked_sub(1) })
    };
    if let Some(message) = subject.take_error() {
        return vec![error(message)];
    }
    let mut different = differ(&first, &second);
    for &operation in operations {
        if different.is_some() || first.is_stopped() {
            break;
        }
        begun.set(begun.get() + 1);
        first.apply(operation);
        let failed = subject.take_error().or_else(|| {
            second.apply(operation);
            subject.take_error()
        });
        if let Some(message) = failed {
            // Breaches in the same operation may be a consequence of the error.
            let failed = error(message);
            let earlier = first.breaches().iter().filter(|breach| breach.operation != failed.operation);
            return earlier.cloned().chain([failed.clone()]).collect();
        }
        different = differ(&first, &second);
    }
    let mut breaches = first.breaches().to_vec();
    if different.is_none() && contract.is_strict && format!("{first:?}") != format!("{second:?}") {
        let message = "two instances have different states".to_owned();
        different = Some(Breach { rule: Rule::SameAnswers, message, operation: begun.get().checked_sub(1) });
    }
    breaches.extend(different);
    breaches
}

/// Returns the difference between the answers of two controllers, if any.
fn difference(first: &Answers, second: &Answers) -> Option<String> {
    if first == second {
        return None;
    }
    let (one, other) = (first.control, second.control);
    Some(if one.window == other.window {
        format!("two instances answer {first:?} and {second:?}")
    } else {
        format!("the windows of two instances are {} and {} bytes", one.window.get(), other.window.get())
    })
}

/// Returns the message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// The state of a controller after an operation.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Step {
    /// Time since the connection began, s.
    pub time_s: f64,
    /// Payload in flight, bytes.
    pub in_flight_bytes: u64,
    /// Window, bytes.
    pub window_bytes: u64,
    /// Slow-start threshold, bytes, if it has one.
    pub ssthresh_bytes: Option<u64>,
}

/// Applies a list of operations to a controller, and returns its answers after each. Stops at the first
/// error, or if a rule of the interface is broken.
pub fn trace(contract: Contract, subject: &impl Subject, operations: &[Operation]) -> Vec<Step> {
    let mut steps = Vec::with_capacity(operations.len());
    // A panic ends the trace; `examine` reports it.
    let _: Result<(), _> = catch_unwind(AssertUnwindSafe(|| {
        let Ok(controller) = subject.construct() else { return };
        let mut ledger = Ledger::new(contract, controller);
        for &operation in operations {
            ledger.apply(operation);
            if subject.take_error().is_some() || ledger.is_stopped() {
                return;
            }
            let answers = ledger.answers();
            steps.push(Step {
                time_s: ledger.now().as_secs_f64(),
                in_flight_bytes: ledger.bytes_in_flight().get(),
                window_bytes: answers.control.window.get(),
                ssthresh_bytes: answers.ssthresh.map(airpath_model::Bytes::get),
            });
        }
    }));
    steps
}
