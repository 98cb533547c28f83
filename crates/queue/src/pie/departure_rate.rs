//! Measurement of the rate at which a queue drains, in periods in which it is busy.

use airpath_model::{Bytes, Duration, Timestamp};

/// `DQ_THRESHOLD`, bytes: a measurement begins if at least this many bytes wait, and ends when as many have
/// departed (RFC 8033, section 4.3).
const THRESHOLD: u64 = 1 << 14;
/// Weight of the newest measurement: `DQ_THRESHOLD`/2^16 (the pseudo-code of RFC 8033).
const WEIGHT: f64 = 0.25;

/// The mean transmission time of a byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct DepartureRate {
    /// Start of the current measurement, and the bytes that have departed since.
    measuring: Option<(Timestamp, u64)>,
    /// Seconds per byte; `None` before the end of the first measurement.
    seconds_per_byte: Option<f64>,
}

impl DepartureRate {
    pub(super) const fn new() -> Self {
        Self { measuring: None, seconds_per_byte: None }
    }

    /// Records the departure of a packet of `size` from a queue of `queue` bytes, including the packet.
    pub(super) fn on_departure(&mut self, now: Timestamp, queue: Bytes, size: Bytes) {
        if let Some((began, left)) = self.measuring {
            let left = left + size.get();
            self.measuring = Some((began, left));
            if left < THRESHOLD {
                return;
            }
            let measured = now.since(began).as_secs_f64() / left as f64;
            let mean =
                self.seconds_per_byte.map_or(measured, |before| (1.0 - WEIGHT) * before + WEIGHT * measured);
            self.seconds_per_byte = Some(mean);
            self.measuring = None;
        }
        if queue.get() - size.get() >= THRESHOLD {
            self.measuring = Some((now, 0));
        }
    }

    /// Returns the time in which a queue of `queue` bytes drains, or zero if the rate is unknown.
    pub(super) fn delay(&self, queue: Bytes) -> Duration {
        Duration::from_secs_f64(self.seconds_per_byte.unwrap_or(0.0) * queue.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_busy_link() {
        let mut rate = DepartureRate::new();
        let size = Bytes::new(1500);
        assert_eq!(rate.delay(size), Duration::ZERO);
        // 60 packets depart, one per millisecond.
        for packet in 0..60 {
            let now = Timestamp::ZERO + Duration::from_millis(packet);
            rate.on_departure(now, size * (60 - packet), size);
        }
        let delay = rate.delay(size * 10);
        assert!(delay.abs_diff(Duration::from_millis(10)) < Duration::from_micros(1), "{delay:?}");
    }

    /// RFC 8033, section 4.3: a measurement begins only if 16 KiB wait.
    #[test]
    fn a_short_queue_yields_no_rate() {
        let mut rate = DepartureRate::new();
        let size = Bytes::new(1500);
        let mut leave = |from, packets, queue| {
            for packet in from..from + packets {
                rate.on_departure(Timestamp::ZERO + Duration::from_millis(packet), queue, size);
            }
            rate.delay(size)
        };
        assert_eq!(leave(0, 100, Bytes::new(17_000)), Duration::ZERO, "15 500 bytes wait behind");
        // One millisecond per packet. At the end of the measurement the queue is short, so no other
        // measurement begins.
        assert_eq!(leave(100, 1, Bytes::new(20_000)), Duration::ZERO);
        let measured = leave(101, 11, Bytes::new(17_000));
        assert!(measured.abs_diff(Duration::from_millis(1)) < Duration::from_micros(1), "{measured:?}");
        assert_eq!(leave(10_000, 100, Bytes::new(17_000)), measured);
    }
}
