//! Feeds corrupted input to targets, in turn, for a time.

use std::fmt;
use std::io::{BufWriter, Write as _, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::arguments::{Arguments, Wanted};
use crate::damage::{Kind, damaged};
use crate::seeds::files;
use crate::watch::Watch;

/// Time limit of an input smaller than [`SMALL`] bytes.
const SLOW: Duration = Duration::from_secs(2);
const SMALL: usize = 10_000;
/// Time for which a target is fed before the next one.
const TURN: Duration = Duration::from_millis(500);

/// Parses bytes, and returns whether they were accepted.
pub type Feed = Box<dyn FnMut(&[u8]) -> bool>;

/// A parser of external data.
pub struct Target {
    /// Its name, for output and files.
    pub name: &'static str,
    /// The kind of its input.
    pub kind: Kind,
    /// The inputs that are corrupted.
    pub seeds: Vec<Vec<u8>>,
    /// Parses the input, and returns whether it was accepted. Panics if an assertion fails.
    pub feed: Feed,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Results of a target so far.
#[derive(Clone, Debug, Default)]
struct Tally {
    inputs: u64,
    accepted: u64,
    bytes: u64,
    largest: usize,
    worst: Duration,
    worst_case: u64,
    failed: bool,
}

/// Carries out the arguments with these targets. Returns a failure if an input failed, which is then in a
/// file, or cannot be read.
pub fn fuzz(arguments: &Arguments, mut targets: Vec<Target>) -> ExitCode {
    targets.retain(|target| arguments.wants(target.name));
    let watch = Watch::start(&arguments.folder);
    match &arguments.wanted {
        Wanted::Minutes(minutes) => for_minutes(*minutes, arguments.from, &mut targets, &watch),
        Wanted::File(path) => {
            let bytes = match std::fs::read(path) {
                Ok(bytes) => bytes,
                Err(error) => {
                    eprintln!("{}: {error}", path.display());
                    return ExitCode::FAILURE;
                }
            };
            for target in &mut targets {
                let begun = Instant::now();
                let accepted = (target.feed)(&bytes);
                let answer = if accepted { "accepted" } else { "refused" };
                println!("{}: {} bytes {answer} in {:?}", target.name, bytes.len(), begun.elapsed());
            }
            ExitCode::SUCCESS
        }
        Wanted::Write(kind, folder) => match files(folder) {
            Ok(seeds) => {
                write(*kind, &seeds, arguments.from);
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("{}: {error}", folder.display());
                ExitCode::FAILURE
            }
        },
    }
}

fn for_minutes(minutes: f64, from: u64, targets: &mut [Target], watch: &Watch) -> ExitCode {
    let mut tallies = vec![Tally::default(); targets.len()];
    let start = Instant::now();
    let time = Duration::from_secs_f64(minutes * 60.0);
    while start.elapsed() < time && tallies.iter().any(|tally| !tally.failed) {
        for (target, tally) in targets.iter_mut().zip(&mut tallies).filter(|(_, tally)| !tally.failed) {
            let begun = Instant::now();
            while begun.elapsed() < TURN.min(time) && !tally.failed {
                one(target, from + tally.inputs, tally, watch);
            }
        }
    }
    println!(
        "{:14} {:>9} {:>9} {:>7} {:>9} {:>10} {:>9}  ",
        "target", "inputs", "accepted", "MB", "largest", "worst", "case"
    );
    for (Target { name, .. }, tally) in targets.iter().zip(&tallies) {
        let Tally { inputs, accepted, bytes, largest, worst, worst_case, failed } = tally;
        let failed = if *failed { "failed" } else { "" };
        let worst = format!("{:.1} ms", worst.as_secs_f64() * 1e3);
        let megabytes = bytes / 1_000_000;
        println!(
            "{name:14} {inputs:>9} {accepted:>9} {megabytes:>7} {largest:>9} {worst:>10} {worst_case:>9}  {failed}"
        );
    }
    if tallies.iter().any(|tally| tally.failed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Feeds one input.
fn one(target: &mut Target, case: u64, tally: &mut Tally, watch: &Watch) {
    let Target { name, kind, seeds, feed } = target;
    let bytes = damaged(*kind, seeds, case);
    let file = format!("{name}-{case}");
    watch.begin(file.clone(), &bytes);
    let answer = catch_unwind(AssertUnwindSafe(|| feed(&bytes)));
    let took = watch.end();
    tally.inputs += 1;
    tally.bytes += bytes.len() as u64;
    tally.largest = tally.largest.max(bytes.len());
    if took > tally.worst {
        (tally.worst, tally.worst_case) = (took, case);
    }
    if let Ok(accepted) = answer {
        tally.accepted += u64::from(accepted);
    } else {
        tally.failed = true;
        watch.keep(&file, &bytes, &format!("{name} panics at input {case}"));
    }
    if took > SLOW && bytes.len() < SMALL {
        tally.failed = true;
        watch.keep(
            &file,
            &bytes,
            &format!("{name} takes {took:?} for the {} bytes of input {case}", bytes.len()),
        );
    }
}

/// Writes corrupted seeds for targets in other programs: for each its length in four bytes, little-endian,
/// and the bytes. Ends when the reader closes the pipe.
fn write(kind: Kind, seeds: &[Vec<u8>], from: u64) {
    let mut out = BufWriter::new(stdout().lock());
    for case in from.. {
        let bytes = damaged(kind, seeds, case);
        let length = (bytes.len() as u32).to_le_bytes(); // far below 4 GB
        if out.write_all(&length).and_then(|()| out.write_all(&bytes)).is_err() {
            break;
        }
    }
}
