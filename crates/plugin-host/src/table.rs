//! The tables of a library, one for each kind of component.
#![allow(unsafe_code, reason = "reads the tables of a library")]

use core::ffi::{CStr, c_char};
use core::fmt::Debug;
use core::mem::size_of;
use core::ptr;

use airpath_model::declare::Value;
use airpath_plugin::abi;

use crate::LoadError;
use crate::declaration::{Parameter, schema};
use crate::names::interned;

/// The most parameters of a component; more are a sign of another struct.
const MOST_PARAMETERS: u32 = 1000;

/// The fields that the tables of all kinds have, except their size and version.
pub(crate) struct Declared {
    title: *const c_char,
    description: *const c_char,
    parameters: *const abi::Parameter,
    parameter_count: u32,
    /// Null if this kind records nothing.
    quantities: *const c_char,
}

/// A table of functions.
pub(crate) trait Table: Copy + Debug + 'static {
    /// The function that a library exports, which returns the table.
    const ENTRY: &'static CStr;

    /// Returns what the table declares.
    fn declared(&self) -> Declared;

    /// Returns the names of the required functions that are missing, as text; `None` if none is missing.
    fn missing(&self) -> Option<String>;

    /// Returns the function that frees an instance.
    fn destroy(&self) -> abi::OnEnd;
}

/// Implements [`Table`]: the table, the function that returns it, the functions that must be there, those of which one must be
/// there, its quantities.
macro_rules! tables {
    ($($table:ident, $entry:literal, [$($function:ident),*], [$($any:ident),*], $quantities:expr;)*) => {$(
        impl Table for abi::$table {
            const ENTRY: &'static CStr = $entry;

            fn declared(&self) -> Declared {
                let Self { title, description, parameters, parameter_count, .. } = *self;
                let quantities: fn(&Self) -> *const c_char = $quantities;
                Declared { title, description, parameters, parameter_count, quantities: quantities(self) }
            }

            fn missing(&self) -> Option<String> {
                let functions = [$((stringify!($function), self.$function.is_some())),*];
                if let Some((name, _)) = functions.iter().find(|(_, is_there)| !is_there) {
                    return Some(format!("the function {name} is missing in the table"));
                }
                let any: &[(&str, bool)] = &[$((stringify!($any), self.$any.is_some())),*];
                if any.is_empty() || any.iter().any(|(_, is_there)| *is_there) {
                    return None;
                }
                let names: Vec<_> = any.iter().map(|(name, _)| *name).collect();
                Some(format!("the table has none of the functions {}", names.join(", ")))
            }

            fn destroy(&self) -> abi::OnEnd {
                self.destroy
            }
        }
    )*};
}

tables! {
    Controller, c"airpath_controller", [create, destroy, on_ack, on_congestion], [], |table| table.quantities;
    Estimator, c"airpath_estimator", [create, copy, destroy, on_ack], [], |_| ptr::null();
    Source, c"airpath_source", [create, destroy], [on_arrival, on_departure, on_timer, spare], |table| table.quantities;
    Queue, c"airpath_queue", [create, destroy, enqueue, dequeue], [], |table| table.quantities;
}

/// A component of a library. Its table stays valid until the process ends.
#[derive(Debug)]
pub(crate) struct Component<T> {
    pub(crate) table: T,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) quantities: Vec<&'static str>,
    /// The JSON schema of its parameters (`airpath_model::declare`), with its title and description.
    pub(crate) schema: Value,
}

// SAFETY: the header requires that the table does not change, and that instances share nothing that changes, so any thread
// may read the one and create the others.
unsafe impl<T: Table> Send for Component<T> {}
// SAFETY: as above.
unsafe impl<T: Table> Sync for Component<T> {}

impl<T: Table> Component<T> {
    /// Reads the table of a library.
    ///
    /// # Safety
    /// The table is as the header requires, or null.
    pub(crate) unsafe fn of_table(table: *const T) -> Result<Self, LoadError> {
        if table.is_null() {
            return Err(LoadError::NoTable(T::ENTRY));
        }
        // SAFETY: a table of every version begins with two numbers of 32 bits: its size and its version.
        let [size, version] = unsafe { table.cast::<[u32; 2]>().read() };
        if version >> 16 != abi::MAJOR {
            return Err(LoadError::OtherVersion { found: version >> 16 });
        }
        require_size::<T>("the table", size)?;
        // SAFETY: it is a table of this major version, and at least as large as the struct.
        let table = unsafe { table.read() };
        if let Some(problem) = table.missing() {
            return Err(LoadError::Declaration(problem));
        }
        let declared = table.declared();
        let (title, description) = (text(declared.title), text(declared.description));
        if title.is_empty() {
            return Err(LoadError::Declaration("it has no title".to_owned()));
        }
        let parameters = parameters(&declared)?;
        let schema = schema(&title, &description, &parameters).map_err(LoadError::Declaration)?;
        let quantities = words(declared.quantities);
        let quantities = quantities.iter().map(|name| interned(name)).collect::<Result<_, _>>();
        Ok(Self { table, parameters, quantities: quantities.map_err(LoadError::Declaration)?, schema })
    }
}

fn parameters(declared: &Declared) -> Result<Vec<Parameter>, LoadError> {
    let count = declared.parameter_count;
    if count == 0 {
        return Ok(Vec::new());
    }
    if declared.parameters.is_null() || count > MOST_PARAMETERS {
        let problem = format!("it declares {count} parameters; accepted: a list of up to {MOST_PARAMETERS}");
        return Err(LoadError::Declaration(problem));
    }
    // SAFETY: the list is not empty, and each entry begins with its size.
    let size = unsafe { declared.parameters.cast::<u32>().read() };
    require_size::<abi::Parameter>("a parameter", size)?;
    let one = |number: u32| {
        let offset = number as usize * size as usize;
        // SAFETY: the list has `count` entries of `size` bytes, which is at least that of the struct.
        let raw = unsafe { declared.parameters.byte_add(offset).read() };
        Parameter { name: text(raw.name), help: text(raw.help), choices: words(raw.choices), raw }
    };
    Ok((0..count).map(one).collect())
}

fn require_size<T>(name: &'static str, found: u32) -> Result<(), LoadError> {
    let least = size_of::<T>();
    if found as usize >= least { Ok(()) } else { Err(LoadError::TooSmall { name, found, least }) }
}

/// Returns words with spaces between them.
fn words(pointer: *const c_char) -> Vec<String> {
    text(pointer).split_whitespace().map(str::to_owned).collect()
}

/// Returns a text of a library in one line; nothing for a null pointer.
pub(crate) fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the header requires that texts end with 0 and are valid when they are read.
    one_line(&unsafe { CStr::from_ptr(pointer) }.to_string_lossy())
}

/// Returns a text without line breaks.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
