//! The contract finds what breaks it.

mod mutants;
