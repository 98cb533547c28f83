//! Seeds from folders.

use std::io;
use std::path::Path;

/// Larger files are cut: the beginnings matter.
const LARGEST: usize = 64 << 10;

/// The files of a folder in the order of their names, each cut to 64 KiB.
///
/// # Errors
/// Where the folder or a file cannot be read.
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
