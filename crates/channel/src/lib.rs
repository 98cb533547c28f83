#![no_std]
//! placeholder
extern crate alloc;
