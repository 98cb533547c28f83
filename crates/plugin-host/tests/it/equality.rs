//! airpath's own CUBIC as a library gives the tables of the built-in one, bit by bit.

use std::sync::Arc;

use airpath_plugin_host::Library;
use airpath_sim::{Column, Outcome, Table};
use serde_json::json;

use crate::common;
use crate::examples::example;
use crate::support::{controller, library, run_with, shared_link};

/// Tables as bits, because a missing value is NaN, which equals nothing.
fn bits(outcome: Outcome) -> Vec<(&'static str, &'static str, Vec<u64>)> {
    let tables = outcome.tables.into_iter().chain([outcome.flow_series.table()]);
    let columns = tables.flat_map(|Table { name, columns }| {
        columns.into_iter().map(move |(column, values)| {
            let values = match values {
                Column::I64(values) => values.into_iter().map(|value| value as u64).collect(),
                Column::F64(values) => values.into_iter().map(f64::to_bits).collect(),
            };
            (name, column, values)
        })
    });
    columns.collect()
}

#[test]
fn cubic_as_a_library_gives_the_same_tables() {
    let loaded = Arc::new(Library::open(&example("cubic")).unwrap());
    for (beta, seed) in [(0.7, 1), (0.7, 2), (0.5, 1)] {
        let own = shared_link(&controller("cubic", json!({ "beta": beta })), 30);
        let expected = common::run(&own, seed);
        let quantities = expected.quantities.clone();
        let of_library = shared_link(&library(json!({ "beta": beta })), 30);
        let (outcome, fault) = run_with(&loaded, &of_library, seed);
        assert_eq!(fault, None);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.quantities, quantities);
        let (expected, found) = (bits(expected), bits(outcome));
        // Enough losses that every part of the controller was used.
        let losses = expected.iter().find(|(table, _, _)| *table == "flow_events").unwrap();
        assert!(losses.2.len() > 20, "{} events", losses.2.len());
        for (expected, found) in expected.iter().zip(&found) {
            assert!(expected == found, "{}.{} differs with beta {beta}, seed {seed}", expected.0, expected.1);
        }
        assert_eq!(expected.len(), found.len());
    }
}
