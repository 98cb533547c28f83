//! A shared library with a controller.
#![allow(unsafe_code, reason = "reads the table of a library")]

use core::ffi::{CStr, c_char};
use core::mem::size_of;
use std::error::Error as _;
use std::path::Path;

use airpath_model::declare::Value;
use airpath_plugin::abi;
use thiserror::Error;

use crate::declaration::{Parameter, schema};
use crate::names::interned;

/// The name of the function that a library exports.
const ENTRY: &[u8] = b"airpath_controller\0";
/// The most parameters of a library; more are a sign of another struct.
const MOST_PARAMETERS: u32 = 1000;

/// Why a library cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The system does not load it.
    #[error("{0}")]
    NotLoaded(String),
    /// It has no table.
    #[error("there is no function airpath_controller")]
    NoEntry,
    /// Its function returns no table.
    #[error("it has no controller for version {} of the interface", abi::MAJOR)]
    NoController,
    /// It was built for another version of the interface.
    #[error("it was built for version {found} of the interface; this airpath has version {}", abi::MAJOR)]
    OtherVersion {
        /// The major version.
        found: u32,
    },
    /// A struct is smaller than that of the first version of the interface.
    #[error("{name} has {found} bytes; accepted: at least {least}")]
    TooSmall {
        /// The struct.
        name: &'static str,
        /// Its size as the library states it.
        found: u32,
        /// The size that is needed.
        least: usize,
    },
    /// A function that must be there is missing.
    #[error("the function {0} is missing in the table")]
    NoFunction(&'static str),
    /// A declaration is wrong.
    #[error("{0}")]
    Declaration(String),
}

/// A shared library with a controller. It stays loaded until the process ends.
#[derive(Debug)]
pub struct Library {
    pub(crate) table: abi::Controller,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) quantities: Vec<&'static str>,
    title: String,
    schema: Value,
}

// SAFETY: the header requires that the table does not change, and that instances share nothing that changes, so any thread
// may read the one and create the others.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Loads a library, which runs code of it.
    ///
    /// # Errors
    /// It cannot be loaded, has no table of this version of the interface, or a wrong one.
    pub fn open(file: &Path) -> Result<Self, LoadError> {
        // Without a folder the system would search its own.
        let path = file.canonicalize().map_err(|error| LoadError::NotLoaded(error.to_string()))?;
        // SAFETY: the caller asked for this code to run; nothing is known of what its initialisers do.
        let library = unsafe { open_now(&path) };
        let library = library.map_err(|error| LoadError::NotLoaded(reason(&error, &path)))?;
        // SAFETY: a function of this name has the type that the header states.
        let entry = unsafe { library.get::<abi::Entry>(ENTRY) }.map_err(|_| LoadError::NoEntry)?;
        // SAFETY: as above.
        let table = unsafe { entry(abi::ABI) };
        // It is never unloaded: its texts and functions are used until the process ends.
        core::mem::forget(library);
        // SAFETY: the header requires that the table is valid as long as the library is loaded.
        unsafe { Self::of_table(table) }
    }

    /// Reads the table of a library.
    ///
    /// # Safety
    /// The table is as the header says, or null.
    unsafe fn of_table(table: *const abi::Controller) -> Result<Self, LoadError> {
        if table.is_null() {
            return Err(LoadError::NoController);
        }
        // SAFETY: a table of every version begins with two numbers of 32 bits: its size and its version.
        let [size, version] = unsafe { table.cast::<[u32; 2]>().read() };
        if version >> 16 != abi::MAJOR {
            return Err(LoadError::OtherVersion { found: version >> 16 });
        }
        require_size::<abi::Controller>("the table", size)?;
        // SAFETY: it is a table of this major version, and at least as large as the struct.
        let table = unsafe { table.read() };
        let functions = [
            ("create", table.create.is_some()),
            ("destroy", table.destroy.is_some()),
            ("on_ack", table.on_ack.is_some()),
            ("on_congestion", table.on_congestion.is_some()),
        ];
        if let Some((name, _)) = functions.iter().find(|(_, is_there)| !is_there) {
            return Err(LoadError::NoFunction(name));
        }
        let (title, description) = (text(table.title), text(table.description));
        if title.is_empty() {
            return Err(LoadError::Declaration("it has no title".to_owned()));
        }
        let parameters = parameters(&table)?;
        let schema = schema(&title, &description, &parameters).map_err(LoadError::Declaration)?;
        let quantities = words(table.quantities);
        let quantities = quantities.iter().map(|name| interned(name)).collect::<Result<_, _>>();
        let quantities = quantities.map_err(LoadError::Declaration)?;
        Ok(Self { table, parameters, quantities, title, schema })
    }

    /// Returns the name of the controller in figures.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the JSON schema of its parameters (`airpath_model::declare`).
    pub fn schema(&self) -> &Value {
        &self.schema
    }
}

/// Loads a library with all the symbols that it needs: with lazy binding a missing one would end the process during a run.
///
/// # Safety
/// As [`libloading::Library::new`].
#[cfg(unix)]
unsafe fn open_now(path: &Path) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    // SAFETY: as the caller promises.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map(Into::into)
}

/// # Safety
/// As [`libloading::Library::new`].
#[cfg(not(unix))]
unsafe fn open_now(path: &Path) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: as the caller promises.
    unsafe { libloading::Library::new(path) }
}

fn parameters(table: &abi::Controller) -> Result<Vec<Parameter>, LoadError> {
    let count = table.parameter_count;
    if count == 0 {
        return Ok(Vec::new());
    }
    if table.parameters.is_null() || count > MOST_PARAMETERS {
        let problem = format!("it declares {count} parameters; accepted: a list of up to {MOST_PARAMETERS}");
        return Err(LoadError::Declaration(problem));
    }
    // SAFETY: the list is not empty, and each entry begins with its size.
    let size = unsafe { table.parameters.cast::<u32>().read() };
    require_size::<abi::Parameter>("a parameter", size)?;
    let one = |number: u32| {
        let offset = number as usize * size as usize;
        // SAFETY: the list has `count` entries of `size` bytes, which is at least that of the struct.
        let raw = unsafe { table.parameters.byte_add(offset).read() };
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

/// Returns why the system does not load a file, without the path, which the caller knows.
fn reason(error: &libloading::Error, path: &Path) -> String {
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    one_line(text.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&text))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
