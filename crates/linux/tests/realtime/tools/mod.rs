//! Shared parts of the real-time tests.

pub(crate) mod check;
pub(crate) mod datagrams;
pub(crate) mod fallback;
pub(crate) mod leaping_clock;
pub(crate) mod namespaces;
pub(crate) mod path;
pub(crate) mod recorded;
pub(crate) mod traces;
pub(crate) mod wire;
