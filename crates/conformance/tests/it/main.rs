//! The contract detects controllers that break it.

mod mutants;
