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
pub fn value<T>(value: &T) {
    prefetch_index(slice::from_ref(value), 0);
}

/// The end of a value, and what begins there, will be read soon.
#[inline]
pub fn end<T>(value: &T) {
    prefetch_index(slice::from_ref(value), 1);
}

/// What fills two lines will be read soon; `first` is what it begins with.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "where it lies is what counts")]
#[inline]
pub(crate) fn two_lines(first: &u32) {
    let first = slice::from_ref(first);
    prefetch_index(first, 0);
    prefetch_index(first, LINE / size_of::<u32>());
}

/// A line from which the first was taken goes on: what stands a few places further back will be read soon, and the packet there.
/// Not where few stand in line: those are in the cache.
#[inline]
pub(crate) fn line<T>(line: &VecDeque<T>, packet: impl Fn(&T) -> Option<&Packet>) {
    if line.len() > FEW {
        prefetch_index(line.as_slices().0, PLACES);
        if let Some(packet) = line.get(PACKETS).and_then(packet) {
            packet.prefetch();
        }
    }
}

/// The last packet of a pile was taken, and will be written; so will those below it. Not where few are left.
#[inline]
pub(crate) fn pile(pile: &[Packet]) {
    if pile.len() > FEW
        && let Some(packet) = pile.get(pile.len() - PACKETS)
    {
        packet.prefetch();
    }
}

/// The lines of a field of something will be read soon: `bytes` from `field` on. Both are offsets from the beginning of that
/// thing, as is `anchor_at`, where a number lies in it that can be pointed at.
#[inline]
pub fn field(anchor: &u32, anchor_at: usize, field: usize, bytes: usize) {
    for place in (field..field + bytes + LINE).step_by(LINE) {
        let words = (place.cast_signed() - anchor_at.cast_signed()) / size_of::<u32>().cast_signed();
        prefetch_index(slice::from_ref(anchor), words.cast_unsigned());
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// How many places before: five to eight cache lines.
const PLACES: usize = 8;

/// How many packets before: what is done with so many takes about as long as a read from memory.
const PACKETS: usize = 6;

/// So many packets take about 60 kB.
const FEW: usize = 256;
