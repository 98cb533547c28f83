//! Captures of real traffic, which are not part of the project.
#![allow(clippy::print_stdout, reason = "says what was not checked")]

use std::path::PathBuf;

/// The folder named by `AIRPATH_CAPTURES`, else one beside the workspace; `None`, with a note, where there is none. A folder that
/// is named must be there.
pub(crate) fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("AIRPATH_CAPTURES").map(PathBuf::from);
    if let Some(named) = &named {
        assert!(named.is_dir(), "AIRPATH_CAPTURES names {}, which is not there", named.display());
    }
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/captures"));
    let folder = named.unwrap_or(beside);
    if !folder.is_dir() {
        println!("not checked: no folder {}; set AIRPATH_CAPTURES", folder.display());
        return None;
    }
    Some(folder)
}
