//! Parameters and their values.

use core::ffi::{CStr, c_char};
use core::mem::size_of;
use core::ptr;

use airpath_model::{Bytes, Duration, Rate};

use crate::abi::{self, code, kind};

/// A parameter of a controller: name, help text, default, and the values that are accepted.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter(abi::Parameter);

impl Parameter {
    const fn new(kind: u32, name: &'static CStr, help: &'static CStr, initial: abi::Value) -> Self {
        Self(abi::Parameter {
            size: size_of::<abi::Parameter>() as u32,
            kind,
            name: name.as_ptr(),
            help: help.as_ptr(),
            initial,
            least: f64::NEG_INFINITY,
            most: f64::INFINITY,
            choices: ptr::null(),
            flags: 0,
            reserved: 0,
        })
    }

    const fn whole(kind: u32, name: &'static CStr, help: &'static CStr, initial: i64) -> Self {
        Self::new(kind, name, help, abi::Value { number: 0.0, integer: initial })
    }

    /// `true` or `false`.
    pub const fn boolean(name: &'static CStr, help: &'static CStr, initial: bool) -> Self {
        Self::whole(kind::BOOL, name, help, initial as i64)
    }

    /// A whole number.
    pub const fn integer(name: &'static CStr, help: &'static CStr, initial: i64) -> Self {
        Self::whole(kind::INTEGER, name, help, initial)
    }

    /// A number.
    pub const fn number(name: &'static CStr, help: &'static CStr, initial: f64) -> Self {
        Self::new(kind::NUMBER, name, help, abi::Value { number: initial, integer: 0 })
    }

    /// One of several words, which are separated by spaces. The default is the first one.
    pub const fn choice(name: &'static CStr, help: &'static CStr, choices: &'static CStr) -> Self {
        let mut made = Self::whole(kind::CHOICE, name, help, 0);
        made.0.choices = choices.as_ptr();
        made
    }

    /// A time, which users write with its unit ("25ms").
    pub const fn time(name: &'static CStr, help: &'static CStr, initial: Duration) -> Self {
        Self::whole(kind::TIME, name, help, initial.as_nanos() as i64)
    }

    /// A rate, which users write with its unit ("12mbps").
    pub const fn rate(name: &'static CStr, help: &'static CStr, initial: Rate) -> Self {
        Self::whole(kind::RATE, name, help, initial.as_bps() as i64)
    }

    /// A size, which users write with its unit ("64kB").
    pub const fn size(name: &'static CStr, help: &'static CStr, initial: Bytes) -> Self {
        Self::whole(kind::SIZE, name, help, initial.get() as i64)
    }

    /// Accepts a number from `least`.
    #[must_use]
    pub const fn at_least(mut self, least: f64) -> Self {
        self.0.least = least;
        self
    }

    /// Accepts a number above `least`. For times, rates and sizes only 0 is possible.
    #[must_use]
    pub const fn more_than(mut self, least: f64) -> Self {
        self.0.least = least;
        self.0.flags |= code::ABOVE_LEAST;
        self
    }

    /// Accepts a number up to `most`.
    #[must_use]
    pub const fn at_most(mut self, most: f64) -> Self {
        self.0.most = most;
        self
    }

    /// Accepts a number below `most`.
    #[must_use]
    pub const fn less_than(mut self, most: f64) -> Self {
        self.0.most = most;
        self.0.flags |= code::BELOW_MOST;
        self
    }
}

/// The values of the parameters for one connection.
///
/// The methods panic if the controller declares no parameter of that name and kind. This ends the run with a message.
#[derive(Debug)]
pub struct Values<'a> {
    parameters: &'static [Parameter],
    values: &'a [abi::Value],
}

impl<'a> Values<'a> {
    pub(crate) const fn new(parameters: &'static [Parameter], values: &'a [abi::Value]) -> Self {
        Self { parameters, values }
    }

    /// Returns a parameter and its value.
    fn find(&self, name: &str, kind: u32) -> (&abi::Parameter, abi::Value) {
        let found = self.parameters.iter().zip(self.values).find(|(parameter, _)| {
            parameter.0.kind == kind && text(parameter.0.name).to_bytes() == name.as_bytes()
        });
        let (parameter, value) =
            found.unwrap_or_else(|| panic!("PARAMETERS contains no {name:?} of the type that was asked for"));
        (&parameter.0, *value)
    }

    /// Returns a truth value.
    pub fn boolean(&self, name: &str) -> bool {
        self.find(name, kind::BOOL).1.integer != 0
    }

    /// Returns a whole number.
    pub fn integer(&self, name: &str) -> i64 {
        self.find(name, kind::INTEGER).1.integer
    }

    /// Returns a number.
    pub fn number(&self, name: &str) -> f64 {
        self.find(name, kind::NUMBER).1.number
    }

    /// Returns a word.
    pub fn choice(&self, name: &str) -> &'static str {
        let (parameter, value) = self.find(name, kind::CHOICE);
        let words = text(parameter.choices).to_str().unwrap_or_default();
        words.split(' ').nth(value.integer as usize).unwrap_or_default()
    }

    /// Returns a time.
    pub fn time(&self, name: &str) -> Duration {
        Duration::from_nanos(self.find(name, kind::TIME).1.integer as u64)
    }

    /// Returns a rate.
    pub fn rate(&self, name: &str) -> Rate {
        Rate::from_bps(self.find(name, kind::RATE).1.integer as u64)
    }

    /// Returns a size.
    pub fn size(&self, name: &str) -> Bytes {
        Bytes::new(self.find(name, kind::SIZE).1.integer as u64)
    }
}

/// Returns a text of a [`Parameter`].
#[allow(unsafe_code, reason = "the pointers of a parameter are texts")]
fn text(pointer: *const c_char) -> &'static CStr {
    // SAFETY: only the constructors of `Parameter` make one, from `&'static CStr`. A choice has its words.
    unsafe { CStr::from_ptr(pointer) }
}
