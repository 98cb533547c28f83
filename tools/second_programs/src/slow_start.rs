//! One flow in slow start by tquic's HyStart++; after slow start the window stays constant.

use crate::hystart::HystartPlusPlus;
use crate::link::{PACKET, Path, Sender, run};
use std::cell::Cell;
use std::rc::Rc;

/// Start of a phase, in seconds, and the window at that time, in packets.
type Mark = Rc<Cell<Option<(f64, f64)>>>;

struct SlowStart {
    control: HystartPlusPlus,
    /// In bytes.
    window: u64,
    flying: u64,
    slowed: Mark,
    ended: Mark,
}

impl SlowStart {
    fn mark(&self, now: f64) {
        let here = (now, self.window as f64 / PACKET as f64);
        let mark = if self.control.has_exited() { &self.ended } else { &self.slowed };
        mark.set(mark.get().or(Some(here)));
    }
}

/// Returns a packet number, starting at 1, because the end of the first round is packet 0.
fn number(sequence: u64) -> u64 {
    sequence + 1
}

impl Sender for SlowStart {
    fn next(&self, now: f64) -> Option<f64> {
        ((self.flying + 1) * PACKET as u64 <= self.window).then_some(now)
    }

    fn on_sent(&mut self, _now: f64, sequence: u64) {
        self.flying += 1;
        self.control.on_sent(number(sequence));
    }

    fn on_ack(&mut self, now: f64, sequence: u64, rtt: f64) {
        self.flying -= 1;
        if self.control.has_exited() {
            return;
        }
        self.window += self.control.cwnd_increment(PACKET as u64, PACKET as u64);
        self.control.on_ack(number(sequence), PACKET as u64, std::time::Duration::from_secs_f64(rtt));
        self.control.end_ack();
        if !self.control.in_standard_slow_start() {
            self.mark(now);
        }
    }

    fn on_lost(&mut self, now: f64, _sequence: u64) {
        self.flying -= 1;
        self.control.on_congestion_event();
        self.mark(now);
    }
}

/// Prints the times at which slow start slows down and ends on an empty link, and the window in packets.
pub fn print(mbps: f64, rtt_ms: f64) {
    let (slowed, ended) = (Mark::default(), Mark::default());
    let control = HystartPlusPlus::new(true);
    let window = 10 * PACKET as u64;
    let sender = SlowStart { control, window, flying: 0, slowed: slowed.clone(), ended: ended.clone() };
    let path = Path { mbps, rtt: rtt_ms / 1e3, buffer: 100_000, loss: 0.0 };
    run(&path, &mut [Box::new(sender)], 0.0, 0.0, 10.0, 1);
    let [slowed, ended] = [slowed, ended].map(|mark| match mark.get() {
        Some((time, window)) => format!("at {time:.3} s with {window:.2} packets"),
        None => "never".to_owned(),
    });
    println!("  {mbps} Mbit/s {rtt_ms} ms: slower {slowed}, over {ended}");
}
