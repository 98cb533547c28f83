//! Corrupted input for all parsers of external data, and the loop that feeds it.
//!
//! Input number k of a target is a function of its seeds and k alone ([`damaged`]), so failures are
//! reproducible. [`fuzz`] feeds targets in turn: none may panic, take long, or use much memory.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for developers")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it runs for a time")]

mod arguments;
mod damage;
mod feed;
mod seeds;
mod text;
mod watch;

pub use arguments::{Arguments, USAGE};
pub use damage::{Kind, damaged};
pub use feed::{Feed, Target, fuzz};
pub use seeds::files;
