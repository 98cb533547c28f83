//! Corrupted captures: no corruption causes a panic.

#![allow(clippy::print_stdout, reason = "says what was not checked")]

use std::panic::catch_unwind;

use crate::common::damage::{damaged, is_readable, seeds};
use crate::common::recordings;

/// The number of cases from synthetic captures, and from recorded ones, which are larger.
const MADE: u64 = 20_000;
const RECORDED: u64 = 2_000;

/// Replays corrupted seeds. Both rejected and accepted inputs must occur; otherwise there is too much
/// corruption, or none.
fn replay(seeds: &[Vec<u8>], cases: u64) {
    let mut taken = 0;
    for case in 0..cases {
        let file = damaged(seeds, case);
        let Ok(one) = catch_unwind(|| is_readable(file)) else { panic!("case {case} panics") };
        taken += u64::from(one);
    }
    assert!(taken > cases / 2 && taken < cases, "{taken} of {cases} are accepted as captures");
}

#[test]
fn the_corpus_of_synthetic_captures_replays() {
    replay(&seeds(None), MADE);
}

#[test]
fn the_corpus_of_recorded_captures_replays() {
    let Some(folder) = recordings::folder() else { return };
    let made = seeds(None).len();
    let recorded = seeds(Some(&folder)).split_off(made);
    assert!(recorded.len() >= 10, "{} seeds in {}", recorded.len(), folder.display());
    replay(&recorded, RECORDED);
}
