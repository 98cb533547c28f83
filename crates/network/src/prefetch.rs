//! Prefetching of memory.
//!
//! With many packets in flight, the next packet and its entry in the queue are no longer in the processor's
//! cache, and a read takes as long as a whole event. Results do not depend on prefetching.

use std::collections::VecDeque;
use std::slice;

use prefetch_index::prefetch_index;

use crate::packet::Packet;

/// Prefetches a value.
#[inline]
pub fn value<T>(value: &T) {
    prefetch_index(slice::from_ref(value), 0);
}

/// Prefetches the end of a value and the memory after it.
#[inline]
pub fn end<T>(value: &T) {
    prefetch_index(slice::from_ref(value), 1);
}

/// Prefetches two cache lines, which start with `first`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "where it lies is what counts")]
#[inline]
pub(crate) fn two_lines(first: &u32) {
    let first = slice::from_ref(first);
    prefetch_index(first, 0);
    prefetch_index(first, LINE / size_of::<u32>());
}

/// Prefetches an entry a few positions behind the head of a queue, and its packet. Short queues are in the
/// cache anyway.
#[inline]
pub(crate) fn line<T>(line: &VecDeque<T>, packet: impl Fn(&T) -> Option<&Packet>) {
    if line.len() > FEW {
        prefetch_index(line.as_slices().0, PLACES);
        if let Some(packet) = line.get(PACKETS).and_then(packet) {
            packet.prefetch();
        }
    }
}

/// Prefetches a packet below the top of a stack whose packets are taken and overwritten. Short stacks are in
/// the cache anyway.
#[inline]
pub(crate) fn pile(pile: &[Packet]) {
    if pile.len() > FEW
        && let Some(packet) = pile.get(pile.len() - PACKETS)
    {
        packet.prefetch();
    }
}

/// Prefetches `bytes` from the field at the offset `field` of a value, given a reference to a number at the
/// offset `anchor_at` of the same value.
#[inline]
pub fn field(anchor: &u32, anchor_at: usize, field: usize, bytes: usize) {
    for place in (field..field + bytes + LINE).step_by(LINE) {
        let words = (place.cast_signed() - anchor_at.cast_signed()) / size_of::<u32>().cast_signed();
        prefetch_index(slice::from_ref(anchor), words.cast_unsigned());
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Distance in entries: five to eight cache lines.
const PLACES: usize = 8;

/// Distance in packets: processing this many takes about as long as a read from memory.
const PACKETS: usize = 6;

/// The number of packets up to which nothing is prefetched; they take about 60 kB.
const FEW: usize = 256;
