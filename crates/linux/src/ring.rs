//! Rings by which BPF programs hand over what they write down.

use std::cell::RefCell;

use libbpf_rs::{MapCore, RingBufferBuilder};

use crate::Error;

/// All that waits in the ring, as far as `decode` can read it.
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
