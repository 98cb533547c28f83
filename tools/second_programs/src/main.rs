//! Second implementations of current controllers, with which `crates/sim/tests/it/yardsticks.rs` compares ours.
//!
//!     cargo run --release --manifest-path tools/second_programs/Cargo.toml
//!
//! As released: BBR of s2n-quic (version 2, draft-cardwell-iccrg-bbr-congestion-control-02) and of noq (version 3,
//! draft-ietf-ccwg-bbr-05), HyStart++ of tquic. Written from the rules alone: LEDBAT++ and Copa, as in their texts and
//! with the differences of the senders that Darwin and the authors of Copa release.
//!
//!     cargo run --release --manifest-path tools/second_programs/Cargo.toml hystart > vectors/hystart++.json
//!
//! writes the phases of tquic's HyStart++; `crates/control/tests/it/hystart_plus_plus.rs` compares ours with them.
//!
//!     cargo run --release --manifest-path tools/second_programs/Cargo.toml vcp
//!
//! runs VCP, written from the rules alone, over a testbed of its own, and prints the rates of three groups of round
//! trips. Arguments select a single case: rule, power of the round trip in the additive step, bytes of a packet, extra
//! round trip of each group and spread within a group in ms, as in `vcp obey 2 1500 0 100 150 10`.

mod bbr;
mod bbr3;
mod copa;
mod hystart;
mod ledbat;
mod link;
mod slow_start;
mod vcp;

use bbr::Bbr;
use bbr3::Bbr3;
use copa::Copa;
use ledbat::Ledbat;
use link::{Path, Sender, run};

/// Mbit/s, round trip in ms, flows, buffer in packets, fraction of corrupted packets.
type Case = (f64, f64, u64, usize, f64);

const BBR: [Case; 9] = [
    (10.0, 40.0, 1, 100, 0.0),
    (10.0, 100.0, 1, 100, 0.0),
    (50.0, 40.0, 1, 400, 0.0),
    (2.0, 200.0, 1, 200, 0.0),
    (10.0, 40.0, 2, 100, 0.0),
    (10.0, 40.0, 4, 100, 0.0),
    (10.0, 40.0, 1, 100, 0.01),
    (10.0, 40.0, 1, 100, 0.03),
    (50.0, 40.0, 1, 400, 0.01),
];

const LEDBAT: [Case; 6] = [
    (10.0, 40.0, 1, 1000, 0.0),
    (10.0, 100.0, 1, 1000, 0.0),
    (50.0, 40.0, 1, 4000, 0.0),
    (10.0, 40.0, 2, 1000, 0.0),
    (10.0, 40.0, 4, 1000, 0.0),
    (2.0, 200.0, 1, 1000, 0.0),
];

const COPA: [Case; 5] = [
    (10.0, 40.0, 1, 1000, 0.0),
    (10.0, 100.0, 1, 1000, 0.0),
    (50.0, 40.0, 1, 1000, 0.0),
    (10.0, 40.0, 4, 1000, 0.0),
    (2.0, 200.0, 1, 1000, 0.0),
];

/// Mbit/s and round trip in ms.
const SLOW_START: [(f64, f64); 5] = [(10.0, 40.0), (10.0, 100.0), (50.0, 40.0), (2.0, 200.0), (2.0, 40.0)];

fn main() {
    match std::env::args().nth(1).as_deref() {
        None => figures(),
        Some("hystart") => hystart::print(),
        Some("vcp") => vcp::print(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some(other) => {
            eprintln!("found the argument {other:?}; accepted: none (all figures), hystart, or vcp");
            std::process::exit(2);
        }
    }
}

fn figures() {
    println!("Slow start by tquic's HyStart++");
    for (mbps, rtt_ms) in SLOW_START {
        slow_start::print(mbps, rtt_ms);
    }
    println!("s2n-quic's BBR, means of 15 runs from 20 to 60 s");
    for case in BBR {
        show(case, 15, 60.0, |seed| Box::new(Bbr::new(seed)));
    }
    println!("noq's BBR v3, means of 15 runs from 20 to 60 s");
    for case in BBR {
        show(case, 15, 60.0, |_| Box::new(Bbr3::new()));
    }
    for (rule, name) in [
        (copa::Rule::Paper, "as the paper has it"),
        (copa::Rule::Damped, "as the paper has it, damped"),
        (copa::Rule::Released, "as its authors release it"),
    ] {
        println!("Copa {name}, from 20 to 60 s");
        for case in COPA {
            show(case, 1, 60.0, |_| Box::new(Copa::new(rule)));
        }
    }
    for (rule, name) in
        [(ledbat::Rule::Draft, "as the draft has it"), (ledbat::Rule::Darwin, "as Darwin has it")]
    {
        println!("LEDBAT++ {name}, from 20 to 120 s");
        for case in LEDBAT {
            show(case, 1, 120.0, |_| Box::new(Ledbat::new(rule)));
        }
    }
}

fn show(case: Case, runs: u8, end: f64, sender: impl Fn(u8) -> Box<dyn Sender>) {
    let (mbps, rtt_ms, flows, buffer, loss) = case;
    let path = Path { mbps, rtt: rtt_ms / 1e3, buffer, loss };
    let (mut waiting, mut share, mut least) = (0.0, 0.0, 0.0);
    for number in 0..runs {
        let mut senders: Vec<_> = (0..flows).map(|flow| sender(16 * (number + 1) + flow as u8)).collect();
        let seen = run(&path, &mut senders, 3.0, 20.0, end, u64::from(number) + 1);
        waiting += seen.waiting / f64::from(runs);
        share += seen.rates.iter().sum::<f64>() / mbps / f64::from(runs);
        least += seen.rates.iter().copied().fold(f64::MAX, f64::min) / mbps / f64::from(runs);
    }
    println!(
        "  {mbps} Mbit/s {rtt_ms} ms {flows} flows, buffer {buffer}, loss {loss}: \
         {waiting:.2} packets wait, {share:.3} of the link, {least:.3} the slowest"
    );
}
