//! The event queue: one event removed, one inserted, for different numbers of targets.

use airpath_model::{Duration, RandomStream, Timestamp};
use airpath_network::EventQueue;
use divan::Bencher;
use divan::counter::ItemsCount;

use crate::BATCH;

const START: Timestamp = Timestamp::ZERO;

/// Measures events of targets that all have one; a due event is rescheduled up to 20 ms later, as by links.
#[divan::bench(args = [6, 60, 600, 6000, 60_000])]
fn event_queue(bencher: Bencher<'_, '_>, targets: u32) {
    let mut stream = RandomStream::new(1, "events");
    let mut queue = EventQueue::new(targets as usize, 0);
    let pauses: Vec<Duration> = (0..4096).map(|_| Duration::from_nanos(stream.bits() % 20_000_000)).collect();
    for target in 0..targets {
        queue.schedule_since(target, START + pauses[target as usize % 4096], START);
    }
    let mut next = 0;
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for _ in 0..BATCH {
            let (now, target) = queue.pop().unwrap();
            next = (next + 1) % pauses.len();
            queue.schedule_since(target, now + pauses[next], now);
        }
    });
}
