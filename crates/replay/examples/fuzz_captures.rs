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

use std::panic::catch_unwind;
use std::path::Path;
use std::time::{Duration, Instant};

use common::damage::{damaged, seeds, understood};

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
    let seeds = seeds(directory.map(Path::new));
    println!("{} seeds", seeds.len());
    if let Some(case) = one {
        println!("{} bytes: {:?}", damaged(&seeds, case).len(), understood(damaged(&seeds, case)));
        return;
    }
    let minutes: f64 = arguments[0].parse().expect(usage);
    let start = Instant::now();
    let (mut case, mut bytes, mut refused) = (0_u64, 0, 0_u64);
    while start.elapsed().as_secs_f64() < minutes * 60.0 {
        let file = damaged(&seeds, case);
        bytes += file.len();
        let begun = Instant::now();
        let Ok(taken) = catch_unwind(move || understood(file)) else { panic!("case {case} panics") };
        refused += u64::from(!taken);
        assert!(begun.elapsed() < SLOW, "case {case} takes {:?}", begun.elapsed());
        case += 1;
    }
    println!("{case} cases, {} MB, {refused} refused, none panics", bytes >> 20);
}
