//! Ring buffers through which BPF programs deliver their records.

use std::cell::RefCell;

use libbpf_rs::{MapCore, RingBufferBuilder};

use crate::Error;

/// Returns all waiting records of the ring buffer that `decode` can read.
pub(crate) fn take<T>(map: &dyn MapCore, decode: impl Fn(&[u8]) -> Option<T>) -> Result<Vec<T>, Error> {
    let records = RefCell::new(Vec::new());
    let mut builder = RingBufferBuilder::new();
    let read = |bytes: &[u8]| {
        records.borrow_mut().extend(decode(bytes));
        0
    };
    builder.add(map, read).map_err(Error::bpf("cannot read the records"))?;
    let ring = builder.build().map_err(Error::bpf("cannot read the records"))?;
    ring.consume().map_err(Error::bpf("cannot read the records"))?;
    drop(ring);
    Ok(records.into_inner())
}
