//! Datagrams at a constant rate, and the count of their arrivals.

use std::thread;
use std::time::{Duration, Instant};

use airpath_emu::{Clock, DEVICE, Emulated, Emulation, Side};

use crate::support::socket;

/// Bytes of IP and UDP headers.
pub(crate) const HEADERS: usize = 28;

/// Bytes that a host's device has received, with the time of the count in seconds of the emulation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    pub(crate) at: f64,
    pub(crate) bytes: f64,
}

/// Counts of a host's kernel at its device, fifty times a second, starting 5 ms after each whole second.
#[derive(Debug)]
pub(crate) struct Received(pub(crate) Vec<Counted>);

impl Received {
    /// Returns the rate in bit/s of IP packets between two times in seconds of the emulation.
    pub(crate) fn rate(&self, from: f64, to: f64) -> f64 {
        8.0 * (self.bytes(to) - self.bytes(from)) / (to - from)
    }

    /// Returns the first count at a time or later.
    pub(crate) fn since(&self, at: f64) -> Counted {
        self.0[self.0.partition_point(|counted| counted.at < at)]
    }

    /// Returns the bytes up to a time, interpolated between the two counts around it, or extrapolated from
    /// the nearest two if a busy machine began to count later.
    fn bytes(&self, at: f64) -> f64 {
        let next = self.0.partition_point(|counted| counted.at < at).clamp(1, self.0.len() - 1);
        let (before, after) = (self.0[next - 1], self.0[next]);
        before.bytes + (after.bytes - before.bytes) * (at - before.at) / (after.at - before.at)
    }
}

/// Reads the device's counter, with a time that is as exact as possible.
fn count(clock: Clock) -> Counted {
    let seconds = || clock.now().as_secs_f64();
    let mut best = None;
    for _ in 0..20 {
        let before = seconds();
        let text = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
        let took = seconds() - before;
        let line = text.lines().find(|line| line.contains(DEVICE)).unwrap();
        let bytes = line.split(':').nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
        if best.is_none_or(|(least, _)| took < least) {
            best = Some((took, Counted { at: before + took / 2.0, bytes }));
        }
        if took < 100e-6 {
            break;
        }
    }
    best.unwrap().1
}

/// A longer pause of the sender may have left the link idle: queues of these tests take at least this long to
/// empty.
const LONGEST_PAUSE: Duration = Duration::from_millis(30);

/// Sends datagrams of `size` bytes (of IP) of flow 0 at `bps`, which exceeds the capacity of the link, for a
/// time, while the receivers' kernel counts arrivals. Ends the emulation, which is invalid if the sender
/// paused.
pub(crate) fn flood(emulation: Emulation, bps: u64, size: usize, lasting: Duration) -> (Received, Emulated) {
    flood_while(emulation, bps, size, lasting, |_, _| ())
}

/// Like [`flood`], but calls `meanwhile` repeatedly with the elapsed time.
pub(crate) fn flood_while(
    emulation: Emulation,
    bps: u64,
    size: usize,
    lasting: Duration,
    mut meanwhile: impl FnMut(Duration, &Emulation),
) -> (Received, Emulated) {
    let sender = socket(&emulation, Side::Senders, 0, 5000);
    let receiver = socket(&emulation, Side::Receivers, 0, 5001);
    sender.connect((Side::Receivers.address(0).unwrap(), 5001)).unwrap();
    let (counted, longest_pause) = thread::scope(|scope| {
        let counting = scope.spawn(|| {
            emulation.host(Side::Receivers).enter(|| {
                let clock = emulation.clock();
                let mut counted = Vec::new();
                for fiftieth in 0.. {
                    let due = f64::from(fiftieth) / 50.0 + 0.005;
                    let Ok(wait) = Duration::try_from_secs_f64(due - clock.now().as_secs_f64()) else {
                        continue;
                    };
                    thread::sleep(wait);
                    counted.push(count(clock));
                    if due > lasting.as_secs_f64() {
                        break;
                    }
                }
                counted
            })
        });
        let began = Instant::now();
        let (mut sent, mut last, mut longest_pause) = (0_u64, began, Duration::ZERO);
        let payload = vec![0; size - HEADERS];
        while began.elapsed() < lasting {
            let due = (began.elapsed().as_secs_f64() * bps as f64 / 8.0 / size as f64) as u64;
            while sent < due {
                sender.send(&payload).unwrap();
                sent += 1;
                longest_pause = longest_pause.max(last.elapsed());
                last = Instant::now();
            }
            meanwhile(began.elapsed(), &emulation);
            thread::sleep(Duration::from_micros(300));
        }
        (counting.join().unwrap().unwrap(), longest_pause)
    });
    drop(receiver);
    let mut emulated = emulation.stop(None).unwrap();
    if longest_pause > LONGEST_PAUSE {
        emulated.validity.problems.push(format!("the sender of datagrams paused for {longest_pause:?}"));
    }
    (Received(counted), emulated)
}
