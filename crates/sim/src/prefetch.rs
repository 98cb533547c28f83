//! Asking for memory before it is read.
//!
//! Where many packets are on their way, the next one and its place in line are no longer in the processor's cache, and a read
//! waits for them as long as a whole event takes. Results do not depend on it.

use std::collections::VecDeque;
use std::slice;

use prefetch_index::prefetch_index;

use crate::packet::Packet;

/// A value will be read soon.
#[inline]
pub(crate) fn value<T>(value: &T) {
    prefetch_index(slice::from_ref(value), 0);
}

/// The end of a value, and what begins there, will be read soon.
#[inline]
pub(crate) fn end<T>(value: &T) {
    prefetch_index(slice::from_ref(value), 1);
}

/// A line from which the first was taken goes on: what stands a few places further back will be read soon, and `packet` of
/// what stands `places` back. Not where few stand in line: those are in the cache.
#[inline]
pub(crate) fn line<T>(line: &VecDeque<T>, places: usize, packet: impl Fn(&T) -> Option<&Packet>) {
    if line.len() > FEW {
        prefetch_index(line.as_slices().0, PLACES);
        if let Some(packet) = line.get(places).and_then(packet) {
            packet.prefetch();
        }
    }
}

/// All lines of a value will be read soon. `field` is one of its fields, `offset` bytes behind its beginning.
#[inline]
pub(crate) fn whole<T>(field: &u32, offset: usize) {
    part(field, offset, 0, size_of::<T>());
}

/// So many bytes of a value will be read soon, from that many behind its beginning on.
#[inline]
pub(crate) fn part(field: &u32, offset: usize, from: usize, bytes: usize) {
    for line in (0..bytes + LINE).step_by(LINE) {
        // Steps of the field's size; before the field they wrap.
        prefetch_index(slice::from_ref(field), (from + line).wrapping_sub(offset).cast_signed().div_euclid(4).cast_unsigned());
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// How many places: five to eight cache lines.
const PLACES: usize = 8;

/// So many packets take about 60 kB.
const FEW: usize = 256;
