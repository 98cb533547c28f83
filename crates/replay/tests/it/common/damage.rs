//! Captures for the fuzz target and their corruption, replayed by tests.
#![allow(clippy::unwrap_used, reason = "a file that cannot be read ends the test")]

use std::io::{Cursor, Write};
use std::path::Path;

use airpath_model::RandomStream;
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

/// Returns corrupted input number `case`, a function of the seeds and the number alone: one seed with a few pieces
/// changed, moved, repeated or removed.
pub(crate) fn damaged(seeds: &[Vec<u8>], case: u64) -> Vec<u8> {
    let mut random = RandomStream::new(case, "fuzz");
    let mut below = move |end: usize| (random.bits() % end.max(1) as u64) as usize;
    let mut bytes = seeds[below(seeds.len())].clone();
    for _ in 0..=below(12) {
        if bytes.is_empty() {
            break;
        }
        damage(&mut bytes, seeds, &mut below);
    }
    bytes
}

/// Corrupts one piece of the bytes, which must not be empty.
fn damage(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], below: &mut impl FnMut(usize) -> usize) {
    // Half of the changes are in the first headers.
    let reach = if below(2) == 0 { bytes.len().min(256) } else { bytes.len() };
    let at = below(reach);
    let length = 1 + below(64).min(bytes.len() - at - 1);
    match below(8) {
        0 => bytes[at] = below(256) as u8,
        1 => bytes[at] ^= 1 << below(8),
        2 => bytes[at..at + length].fill([0, 0xFF, 0x80, 0x7F][below(4)]),
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at..at + length)),
        5 => {
            let piece = bytes[at..at + length].to_vec();
            let to = below(bytes.len());
            bytes.splice(to..to, piece);
        }
        6 => {
            let from = &seeds[below(seeds.len())];
            let start = below(from.len());
            let piece = from[start..(start + length).min(from.len())].to_vec();
            bytes.splice(at..at, piece);
        }
        _ => {
            let word = [0_u32, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF, 16][below(7)];
            let end = (at + 4).min(bytes.len());
            bytes[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
        }
    }
}
