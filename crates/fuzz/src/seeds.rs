//! Seeds from folders.

use std::io;
use std::path::Path;

/// Larger files are truncated: their beginnings matter most.
const LARGEST: usize = 64 << 10;

/// Returns the files of a folder in the order of their names, each truncated to 64 KiB.
///
/// # Errors
/// If the folder or a file cannot be read.
pub fn files(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut names = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    names.retain(|name| name.is_file());
    names.sort();
    names
        .iter()
        .map(|name| {
            let mut bytes = std::fs::read(name)?;
            bytes.truncate(LARGEST);
            Ok(bytes)
        })
        .collect()
}
