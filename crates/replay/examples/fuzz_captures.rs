//! Feeds damaged captures to the reader and the replay for some minutes: nothing may panic, hang or grow without bound.
//!
//! `cargo run --release -p airpath-replay --example fuzz_captures -- MINUTES [DIRECTORY]`
//!
//! The seeds are small captures of every container and link layer, and the files of the directory. Case k is a function of k
//! alone: what fails is named by its number and can be had again with `-- case K [DIRECTORY]`.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for developers")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it runs for a time")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::io::{Cursor, Write};
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use airpath_model::RandomStream;
use airpath_replay::{Options, analyse};
use common::{CONTAINERS, LINKS, capture, conversation};

/// Larger files are cut: the headers matter.
const LARGEST_SEED: usize = 64 << 10;
/// No case of this size may take longer.
const SLOW: Duration = Duration::from_secs(5);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "MINUTES [DIRECTORY], or case K [DIRECTORY]";
    let (one, directory) = match arguments.first().map(String::as_str) {
        Some("case") => (Some(arguments.get(1).expect(usage).parse().expect(usage)), arguments.get(2)),
        Some(_) => (None, arguments.get(1)),
        None => panic!("{usage}"),
    };
    let seeds = seeds(directory.map(String::as_str));
    println!("{} seeds", seeds.len());
    if let Some(case) = one {
        println!("{} bytes: {:?}", damaged(&seeds, case).len(), run(damaged(&seeds, case)));
        return;
    }
    let minutes: f64 = arguments[0].parse().expect(usage);
    let start = Instant::now();
    let (mut case, mut bytes, mut refused) = (0_u64, 0, 0_u64);
    while start.elapsed().as_secs_f64() < minutes * 60.0 {
        let file = damaged(&seeds, case);
        bytes += file.len();
        let begun = Instant::now();
        let Ok(understood) = catch_unwind(move || run(file)) else { panic!("case {case} panics") };
        refused += u64::from(!understood);
        assert!(begun.elapsed() < SLOW, "case {case} takes {:?}", begun.elapsed());
        case += 1;
    }
    println!("{case} cases, {} MB, {refused} refused, none panics", bytes >> 20);
}

/// Whether the bytes were taken for a capture.
fn run(file: Vec<u8>) -> bool {
    match analyse(Cursor::new(file), &Options::default()) {
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

fn seeds(directory: Option<&str>) -> Vec<Vec<u8>> {
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

/// One seed with a few pieces of it changed, moved, repeated or cut away.
fn damaged(seeds: &[Vec<u8>], case: u64) -> Vec<u8> {
    let mut random = RandomStream::new(case, "fuzz");
    let mut below = move |end: usize| (random.bits() % end.max(1) as u64) as usize;
    let mut bytes = seeds[below(seeds.len())].clone();
    for _ in 0..=below(12) {
        if bytes.is_empty() {
            break;
        }
        // Half of the damage lies in the first headers.
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
    bytes
}
