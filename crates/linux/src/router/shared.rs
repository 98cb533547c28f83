//! The global variables of the BPF programs, which are mapped into this process and may change at any time.
#![expect(unsafe_code, reason = "the kernel writes this memory too: every access must be atomic")]

use std::hint::spin_loop;
use std::ptr::{NonNull, addr_of_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use super::bpf::{Counters, Globals, RawOutcome, RawShares};
use super::engine::Guidance;
use super::loss::Outcome;

/// A view of the globals. It must not be used after their object is dropped; [`super::Programs`] owns both.
#[derive(Debug)]
pub(super) struct Shared {
    globals: NonNull<Globals>,
}

/// Maximum number of readings of the counters until one falls between two packets.
const LOOKS: usize = 1000;

/// A global variable as an atomic; it must be aligned.
macro_rules! atomic {
    ($shared:expr, $type:ty, $($field:tt)+) => {{
        let globals = $shared.globals.as_ptr();
        // SAFETY: the mapping outlives `$shared`, and both sides access the field atomically.
        unsafe { <$type>::from_ptr(addr_of_mut!((*globals).$($field)+)) }
    }};
}

impl Shared {
    /// Takes over the mapping: nothing else accesses it from now on.
    pub(super) fn new(globals: &mut Globals) -> Self {
        Self { globals: NonNull::from(globals) }
    }

    /// Returns the counters between two packets: all sums cover the same packets.
    pub(super) fn counters(&self) -> Counters {
        // A packet takes a fraction of a microsecond. If one is always in progress, a sum may cover a packet
        // that another lacks.
        for _ in 0..LOOKS {
            let settled = atomic!(self, AtomicU64, counters.settled).load(Ordering::Acquire);
            let counters = self.any_counters();
            fence(Ordering::Acquire);
            if atomic!(self, AtomicU64, counters.packets).load(Ordering::Relaxed) == settled {
                return counters;
            }
            spin_loop();
        }
        self.any_counters()
    }

    /// Returns the counters, some of them possibly read in the middle of a packet.
    fn any_counters(&self) -> Counters {
        macro_rules! read {
            ($($name:ident),+) => {
                Counters { $($name: atomic!(self, AtomicU64, counters.$name).load(Ordering::Relaxed)),+ }
            };
        }
        read!(
            packets,
            bytes,
            data_packets,
            data_bytes,
            sum_x,
            sum_x_rtt,
            written,
            malformed,
            unguided,
            lost,
            unlost
        )
    }

    pub(super) fn generation(&self) -> u32 {
        atomic!(self, AtomicU32, guidance.generation).load(Ordering::Relaxed)
    }

    pub(super) fn records_lost(&self) -> u64 {
        atomic!(self, AtomicU64, records_lost).load(Ordering::Relaxed)
    }

    pub(super) fn take_shortest(&self) -> Option<u64> {
        let shortest = atomic!(self, AtomicU64, counters.shortest).swap(u64::MAX, Ordering::Relaxed);
        (shortest != u64::MAX).then_some(shortest)
    }

    pub(super) fn guide(&self, guidance: &Guidance) {
        let generation = atomic!(self, AtomicU32, guidance.generation);
        let next = generation.load(Ordering::Relaxed).wrapping_add(1);
        match guidance {
            Guidance::Code(code) => {
                atomic!(self, AtomicU32, guidance.code).store(u32::from(*code), Ordering::Release);
            }
            Guidance::Shares(shares) => {
                let raw = RawShares {
                    residue_positive: shares.residue_positive,
                    residue_negative: shares.residue_negative,
                    per_x: shares.per_x.mantissa,
                    per_x_shift: shares.per_x.shift,
                    per_byte: shares.per_byte.mantissa,
                    per_byte_shift: shares.per_byte.shift,
                };
                let globals = self.globals.as_ptr();
                // SAFETY: inside the mapping. The program does not read this half before the generation below
                // selects it: a packet that still saw the generation before the last would have been in the
                // program for a whole control interval.
                unsafe {
                    addr_of_mut!((*globals).guidance.shares[(next & 1) as usize]).write_volatile(raw);
                }
            }
        }
        generation.store(next, Ordering::Release);
    }

    /// Sets the loss table. Packets that pass meanwhile may see an old row.
    pub(super) fn set_outcomes(&self, outcomes: &[Outcome]) {
        let globals = self.globals.as_ptr();
        for (place, from) in outcomes.iter().enumerate().take(super::SIZE_CLASSES) {
            let raw = RawOutcome {
                lost: from.lost,
                bad_if_lost: from.bad_if_lost,
                bad_if_arrived: from.bad_if_arrived,
            };
            // SAFETY: inside the mapping; every value is valid for the program.
            unsafe { addr_of_mut!((*globals).outcomes[place]).write_volatile(raw) };
        }
    }
}
