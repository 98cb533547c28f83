//! What can go wrong between here and the kernel.

use std::path::PathBuf;

/// Why a program could not be loaded or attached.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel or its loader refused.
    #[error("{action}: {source}")]
    Bpf {
        /// What was tried.
        action: &'static str,
        /// What the loader says.
        source: libbpf_rs::Error,
    },
    /// A file or folder could not be opened.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The name of a congestion controller does not fit.
    #[error("controller {name:?}: the kernel allows names of 1 to 15 bytes")]
    ControllerName {
        /// The name as given.
        name: String,
    },
}

impl Error {
    /// For `map_err`: what was tried when the loader failed.
    pub(crate) fn bpf(action: &'static str) -> impl FnOnce(libbpf_rs::Error) -> Self {
        move |source| Self::Bpf { action, source }
    }
}
