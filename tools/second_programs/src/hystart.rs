//! tquic's HyStart++ over random rounds, with its phase after each acknowledgment.

use std::time::Duration;

mod tquic {
    #![allow(unused, clippy::all, reason = "it is as it is released")]
    include!(concat!(env!("OUT_DIR"), "/tquic.rs"));
    pub use hystart_plus_plus::HystartPlusPlus;
}
pub use tquic::HystartPlusPlus;

const SEGMENT: u64 = 1000;
const CASES: u64 = 32;

/// One flow from its start to the end of slow start.
#[derive(Default)]
struct Case {
    /// Bytes that each acknowledgment covers.
    acked: u64,
    /// RTT of each packet in units of 100 us, by the round in which it is acknowledged.
    rounds: Vec<Vec<u64>>,
    /// Phase after each acknowledgment: `s`low start, `c`onservative slow start, slow start `o`ver.
    phases: Vec<String>,
    /// Total growth of the window by the end of each round, in bytes.
    grown: Vec<u64>,
    /// Whether a loss is detected after the last acknowledgment.
    lost: bool,
}

/// Prints the cases as JSON.
pub fn print() {
    println!("{{");
    println!(r#""quantity": "HyStart++: the phase after each acknowledgment, the growth of the window","#);
    println!(r#""source": "tquic 1.6.0 as released","#);
    println!(r#""units": {{"rtt": "100 us", "acked, grown, segment": "bytes"}},"#);
    println!(
        r#""how_computed": "tools/second_programs, argument hystart; the packets of a round are sent during the round before; s slow start, c conservative slow start, o slow start is over","#
    );
    println!(r#""tolerance": "exact","#);
    println!(r#""segment": {SEGMENT},"#);
    println!(r#""cases": ["#);
    for seed in 1..=CASES {
        let Case { acked, rounds, phases, grown, lost } = run(seed);
        let comma = if seed == CASES { "" } else { "," };
        println!(
            r#"{{"acked": {acked}, "rtt": {rounds:?}, "phases": {phases:?}, "grown": {grown:?}, "lost": {lost}}}{comma}"#
        );
    }
    println!("]}}");
}

fn run(seed: u64) -> Case {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut draw = |from: u64, to: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        from + (random >> 11) % (to - from)
    };
    // Includes sizes not divisible by four, and more than the eight segments of a sender that does not pace.
    let mut case = Case { acked: [777, 1000, 2000, 12_000][draw(0, 4) as usize], ..Case::default() };
    let mut slow_start = HystartPlusPlus::new(true);
    let mut level = draw(50, 1500);
    // Most rounds resemble the previous one, so that conservative slow start can last.
    let (mut sent, mut acked, mut grown) = (0, 0, 0);
    let lost_in = if draw(0, 4) == 0 { draw(2, 10) } else { u64::MAX };
    while !slow_start.has_exited() {
        let packets = draw(3, 16);
        level = match draw(0, 10) {
            0 | 1 => level + draw(10, 250),
            2 => level.saturating_sub(draw(10, 250)).max(50),
            _ => level,
        };
        let jitter = draw(1, 30);
        let round: Vec<u64> = (0..packets).map(|_| level + draw(0, jitter)).collect();
        sent += packets;
        slow_start.on_sent(sent);
        let mut phases = String::new();
        for &rtt in &round {
            acked += 1;
            if !slow_start.has_exited() {
                grown += slow_start.cwnd_increment(case.acked, SEGMENT);
                slow_start.on_ack(acked, case.acked, Duration::from_micros(100 * rtt));
                slow_start.end_ack();
            }
            phases.push(phase(&slow_start));
        }
        case.rounds.push(round);
        case.phases.push(phases);
        case.grown.push(grown);
        if case.rounds.len() as u64 == lost_in {
            slow_start.on_congestion_event();
            case.lost = true;
        }
    }
    case
}

fn phase(slow_start: &HystartPlusPlus) -> char {
    match (slow_start.has_exited(), slow_start.in_conservative_slow_start()) {
        (true, _) => 'o',
        (false, true) => 'c',
        (false, false) => 's',
    }
}
