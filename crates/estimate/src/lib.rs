//! Bandwidth estimators.
#![no_std]

extern crate alloc;
