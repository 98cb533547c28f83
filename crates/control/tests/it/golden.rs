//! One fixed scenario for every controller, as a readable table of windows. Every change of a table must be
//! justified.
//!
//! `AIRPATH_GOLDEN=accept` rewrites the tables.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::support::{Constructor, Fate, MODEL_BASED, Rounds, controllers};
use airpath_model::Duration;

const ROUNDS: u64 = 160;

#[test]
fn every_controller_reproduces_its_golden_trace() {
    for constructor in controllers() {
        let table = trace(constructor);
        let file = folder().join(format!("{}.txt", constructor.0));
        if std::env::var("AIRPATH_GOLDEN").is_ok_and(|value| value == "accept") {
            fs::create_dir_all(folder()).expect("the folder of golden tables can be made");
            fs::write(&file, &table).expect("the golden table can be written");
        }
        let golden = fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("{}: {error}; AIRPATH_GOLDEN=accept writes it", file.display()));
        for (line, (found, expected)) in table.lines().zip(golden.lines()).enumerate() {
            assert_eq!(found, expected, "{}, line {}", file.display(), line + 1);
        }
        assert_eq!(table.lines().count(), golden.lines().count(), "{}", file.display());
    }
}

/// Returns the fate of a round: slow start into a queue, two losses of which the second comes early, a pause
/// of the application, a timeout.
fn fate(round: u64) -> Fate {
    match round {
        8 | 30 | 45 | 50 => Fate::Lost,
        70..80 => Fate::Limited(5),
        110 => Fate::TimedOut,
        _ => Fate::Delivered,
    }
}

fn trace((name, construct): &Constructor) -> String {
    let mut rounds = Rounds::new(construct(), Duration::from_millis(100), 100);
    if MODEL_BASED.contains(name) {
        rounds = rounds.with_endless_queue();
    }
    let mut table = format!("# {name}: window at the start of each round, in packets\n");
    for round in 1..=ROUNDS {
        let note = match fate(round) {
            Fate::Delivered => String::new(),
            Fate::Limited(packets) => format!("  {packets} packets to send"),
            Fate::Lost => "  loss".to_owned(),
            Fate::TimedOut => "  timeout".to_owned(),
        };
        writeln!(table, "{round:3}: {:9.3}{note}", rounds.window())
            .expect("writing to a String does not fail");
        rounds.round(fate(round));
    }
    table
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/control")
}
