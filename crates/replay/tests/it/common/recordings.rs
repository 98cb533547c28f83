//! Captures of real traffic, which are not part of the project.
#![allow(clippy::print_stdout, reason = "says what was not checked")]

use std::path::PathBuf;

/// Returns the folder named by `AIRPATH_CAPTURES`; `None`, with a note, if the variable is not set. Panics if
/// the folder does not exist.
pub(crate) fn folder() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("AIRPATH_CAPTURES").map(PathBuf::from) else {
        println!("skipped: no recorded captures; name their folder in AIRPATH_CAPTURES");
        return None;
    };
    assert!(folder.is_dir(), "AIRPATH_CAPTURES: found {}, which is not a folder", folder.display());
    Some(folder)
}
