//! Corrupted captures: the input of the fuzz target, replayed by tests.
#![allow(clippy::unwrap_used, reason = "a file that cannot be read ends the test")]

use std::io::{Cursor, Write};
use std::path::Path;

use airpath_replay::analyse;

use super::estimators::options;
use super::{CONTAINERS, LINKS, capture, conversation};

/// Larger files are truncated: the headers matter.
const LARGEST_SEED: usize = 64 << 10;

/// Returns whether the bytes were accepted as a capture.
pub(crate) fn is_readable(file: Vec<u8>) -> bool {
    match analyse(Cursor::new(file), &options()) {
        Ok(analysis) => {
            for flow in &analysis.flows {
                assert!(flow.series.len() <= 1024);
                assert!(flow.estimates.iter().all(|estimate| estimate.mean_bps.is_none_or(f64::is_finite)));
            }
            true
        }
        Err(_) => false,
    }
}

/// Returns small captures of every container and link layer, and the files of the directory.
pub(crate) fn seeds(directory: Option<&Path>) -> Vec<Vec<u8>> {
    let packets = conversation(60, 7);
    let mut seeds = Vec::new();
    for container in CONTAINERS {
        for link in LINKS {
            seeds.push(capture(container, link, false, 140, &packets));
            seeds.push(capture(container, link, true, 140, &packets));
        }
    }
    let mut names: Vec<_> = directory
        .map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default();
    names.sort();
    for name in names {
        let mut bytes = std::fs::read(name).unwrap();
        if bytes.starts_with(&[0x1F, 0x8B]) {
            let mut plain = Vec::new();
            let _ = flate2::write::GzDecoder::new(&mut plain).write_all(&bytes);
            seeds.push(bytes[..bytes.len().min(LARGEST_SEED)].to_vec());
            bytes = plain;
        }
        bytes.truncate(LARGEST_SEED);
        seeds.push(bytes);
    }
    seeds
}
