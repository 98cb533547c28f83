//! One FIFO link, senders that always have data to send, and an acknowledgment for each packet.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Bytes of a packet on the wire.
pub const PACKET: usize = 1500;

/// A congestion-controlled sender, in seconds and packets.
pub trait Sender {
    /// Returns the time at which the next packet may leave; `None` while the window is full.
    fn next(&self, now: f64) -> Option<f64>;
    fn on_sent(&mut self, now: f64, sequence: u64);
    /// Handles an acknowledgment; `rtt` is the sample of this packet.
    fn on_ack(&mut self, now: f64, sequence: u64, rtt: f64);
    fn on_lost(&mut self, now: f64, sequence: u64);
}

/// Measurements of the link from `from` to the end.
#[derive(Debug, Default)]
pub struct Seen {
    /// Mean number of waiting packets, without the one being sent.
    pub waiting: f64,
    /// Mbit/s of each flow.
    pub rates: Vec<f64>,
}

pub struct Path {
    pub mbps: f64,
    pub rtt: f64,
    pub buffer: usize,
    /// Fraction of the packets that channel errors corrupt, after the link.
    pub loss: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct At(f64, u64);
impl Eq for At {}
impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for At {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Wake(usize),
    Ack(usize, u64),
}

/// Runs flows over the link. Flow i begins at `i * stagger`. `seed`, not zero, determines the corrupted packets.
pub fn run(
    path: &Path,
    senders: &mut [Box<dyn Sender>],
    stagger: f64,
    from: f64,
    end: f64,
    seed: u64,
) -> Seen {
    let transmission = PACKET as f64 * 8.0 / (path.mbps * 1e6);
    let mut events = BinaryHeap::new();
    let mut count = 0;
    let mut push = |events: &mut BinaryHeap<Reverse<(At, What)>>, at, what| {
        count += 1;
        events.push(Reverse((At(at, count), what)));
    };
    let mut outstanding: Vec<BTreeMap<u64, f64>> = senders.iter().map(|_| BTreeMap::new()).collect();
    let mut sequence = vec![0u64; senders.len()];
    let mut wake = vec![f64::INFINITY; senders.len()];
    let mut free_at = 0.0f64;
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut seen = Seen { rates: vec![0.0; senders.len()], ..Seen::default() };
    for flow in 0..senders.len() {
        push(&mut events, flow as f64 * stagger, What::Wake(flow));
    }
    while let Some(Reverse((At(now, _), what))) = events.pop() {
        if now > end {
            break;
        }
        let flow = match what {
            What::Wake(flow) => {
                if now >= wake[flow] {
                    wake[flow] = f64::INFINITY;
                }
                flow
            }
            What::Ack(flow, number) => {
                let sent = outstanding[flow].remove(&number);
                if let Some(sent) = sent {
                    senders[flow].on_ack(now, number, now - sent);
                    if now >= from {
                        seen.rates[flow] += PACKET as f64 * 8.0 / 1e6 / (end - from);
                    }
                }
                // Three later packets have arrived.
                let lost: Vec<u64> =
                    outstanding[flow].range(..number.saturating_sub(2)).map(|(&lost, _)| lost).collect();
                for lost in lost {
                    outstanding[flow].remove(&lost);
                    senders[flow].on_lost(now, lost);
                }
                flow
            }
        };
        while let Some(at) = senders[flow].next(now) {
            if at > now + 1e-9 {
                if at < wake[flow] {
                    wake[flow] = at;
                    push(&mut events, at, What::Wake(flow));
                }
                break;
            }
            let number = sequence[flow];
            sequence[flow] += 1;
            outstanding[flow].insert(number, now);
            senders[flow].on_sent(now, number);
            let wait = (free_at - now).max(0.0);
            let waiting = (wait / transmission).ceil() as usize;
            if waiting > path.buffer {
                continue;
            }
            if now >= from {
                seen.waiting += wait / (end - from);
            }
            free_at = free_at.max(now) + transmission;
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if (random >> 11) as f64 / (1u64 << 53) as f64 >= path.loss {
                push(&mut events, free_at + path.rtt, What::Ack(flow, number));
            }
        }
    }
    seen
}
