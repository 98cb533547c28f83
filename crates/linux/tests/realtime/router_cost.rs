//! The processing time of the router's programs per packet.

use std::time::Duration;

use airpath_linux::router::{Factor, FixedShares, Guidance, Kind, Programs, Protocol};
use airpath_realtime::check;

use crate::support::packets::{ETHERNET, Segment, xcp_option};
use crate::support::{LONGEST_HOLD, can_load};

/// An upper bound for any machine, not a measurement, nanoseconds.
const LONGEST: u64 = 20_000;
/// Runs of each program.
const RUNS: u32 = 100_000;

#[test]
fn cost_of_each_program() {
    if !can_load("router cost") {
        return;
    }
    let programs = Programs::load(ETHERNET as u32).unwrap();
    programs.guide(&Guidance::Code(1));
    programs.guide(&Guidance::Shares(FixedShares {
        residue_positive: 1 << 60,
        residue_negative: 1 << 60,
        per_x: Factor::new(65_536.0),
        per_byte: Factor::new(0.0),
    }));
    let timestamps = [1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8];
    let options = [&timestamps[..], &xcp_option(100_000, 100_000, i32::MAX)].concat();
    let frame = Segment { options, ..Segment::default() }.frame();
    let programs_by_name = [
        ("vcp", Kind::Protocol(Protocol::Vcp)),
        ("xcp", Kind::Protocol(Protocol::Xcp)),
        ("loss", Kind::Loss),
    ];
    // A pause of the whole run adds its share to each packet.
    check(Duration::from_nanos(LONGEST * u64::from(RUNS)), || {
        for (name, kind) in programs_by_name {
            programs.beat(LONGEST_HOLD).unwrap();
            let (.., nanos) = programs.run(kind, &frame, RUNS).unwrap();
            println!("{name}: {nanos} ns for each packet");
            if nanos >= LONGEST {
                return Err(format!("{name}: {nanos} ns"));
            }
        }
        Ok(())
    });
}
