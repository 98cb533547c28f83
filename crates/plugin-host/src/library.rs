//! A shared library with components.
#![allow(unsafe_code, reason = "loads a library and calls its functions that return tables")]

use core::ffi::CStr;
use std::error::Error as _;
use std::path::Path;
use std::sync::Arc;

use airpath_control::declare::Controllers;
use airpath_estimate::declare::{AckRates, CapacitySources};
use airpath_model::declare::{Kind, Value};
use airpath_plugin::{QueuedPacket, abi};
use airpath_queue::declare::Queues;
use thiserror::Error;

use crate::table::{Component, Table, one_line};

/// Why a library cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The system does not load it.
    #[error("{0}")]
    NotLoaded(String),
    /// It has no table of any kind.
    #[error("there is no function airpath_controller, airpath_estimator, airpath_source or airpath_queue")]
    NoEntry,
    /// A function returns no table.
    #[error("{} returned no table for version {} of the interface", .0.to_string_lossy(), abi::MAJOR)]
    NoTable(&'static CStr),
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
    /// A table is incomplete, or a declaration is wrong.
    #[error("{0}")]
    Declaration(String),
}

/// A shared library with at least one component. It stays loaded until the process ends.
#[derive(Debug)]
pub struct Library {
    pub(crate) controller: Option<Arc<Component<abi::Controller>>>,
    pub(crate) estimator: Option<Arc<Component<abi::Estimator>>>,
    pub(crate) source: Option<Arc<Component<abi::Source>>>,
    pub(crate) queue: Option<Arc<Component<abi::Queue>>>,
}

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
        // It is never unloaded: its texts and functions are used until the process ends.
        let library = Box::leak(Box::new(library));
        let made = Self {
            controller: component(library)?,
            estimator: component(library)?,
            source: component(library)?,
            queue: component(library)?,
        };
        if made.schemas().next().is_none() { Err(LoadError::NoEntry) } else { Ok(made) }
    }

    /// Returns the kind of each component (`airpath_model::declare::Kind::NAME`) and the JSON schema of its parameters.
    pub fn schemas(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        fn of<'a, T>(
            name: &'static str,
            component: Option<&'a Arc<Component<T>>>,
        ) -> Option<(&'static str, &'a Value)> {
            component.map(|component| (name, &component.schema))
        }
        let Self { controller, estimator, source, queue } = self;
        let all = [
            of(Controllers::NAME, controller.as_ref()),
            of(AckRates::NAME, estimator.as_ref()),
            of(CapacitySources::NAME, source.as_ref()),
            of(Queues::<QueuedPacket>::NAME, queue.as_ref()),
        ];
        all.into_iter().flatten()
    }
}

/// Returns the component of a library whose table is a `T`, if it has one.
fn component<T: Table>(library: &libloading::Library) -> Result<Option<Arc<Component<T>>>, LoadError> {
    // SAFETY: a function of this name has the type that the header states.
    let entry = unsafe { library.get::<abi::Entry<T>>(T::ENTRY.to_bytes_with_nul()) };
    let Ok(entry) = entry else { return Ok(None) };
    // SAFETY: as above. The table is valid as long as the library is loaded.
    unsafe { Component::of_table(entry(abi::ABI)) }.map(|component| Some(Arc::new(component)))
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

/// Returns why the system does not load a file, without the path, which the caller knows.
fn reason(error: &libloading::Error, path: &Path) -> String {
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    one_line(text.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&text))
}
