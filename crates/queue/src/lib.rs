//! Queue disciplines: which packet waits, goes next, or is dropped.
//!
//! One file for each discipline. All of them keep the contract of [`airpath_model::Qdisc`], which one conformance
//! suite (`tests/conformance`) checks for all.
#![no_std]

extern crate alloc;

mod drop_tail;
mod limit;
mod router;

pub use drop_tail::DropTail;
pub use limit::Limit;
pub use router::{Router, RouterProtocol};
