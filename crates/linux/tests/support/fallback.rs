//! Reno in place of silent routers, written from docs/linux/hosts.md and RFC 5681 alone.

use airpath_linux::host::{Record, Told};
use airpath_linux::native::{AckEvent, CongestionEvent};

/// Of 2^30 byte/s and more: no feedback.
const ABSURD: i32 = 1 << 30;

/// What a controller that follows routers does while they are silent.
#[derive(Debug, Default)]
pub(crate) struct Fallback {
    /// Acknowledged since routers said something, bytes.
    silent: u64,
    /// A router was heard once.
    heard: bool,
    /// Reno's window and threshold, while it is at work.
    reno: Option<(u64, u64)>,
    acked: u64,
    /// Acknowledged selectively by duplicates, which let nothing grow (RFC 3042), until the cumulative acknowledgment moves.
    waiting: u64,
}

impl Fallback {
    /// Follows a connection and holds each window of Reno to what it must be: how many events those were.
    pub(crate) fn follow(records: &[Record]) -> usize {
        let mut fallback = Self::default();
        let (mut window, mut followed, mut mss) = (records[0].window, 0, 0);
        for (place, record) in records.iter().enumerate() {
            match &record.told {
                Told::Start { mss: largest } => mss = *largest,
                Told::Ack(event) => fallback.acknowledge(event, window),
                Told::Congestion(event) => fallback.congestion(event, window),
                Told::Spurious => {}
            }
            if let Some((expected, _)) = fallback.reno {
                assert_eq!(
                    record.window, expected,
                    "event {place}, segments of {mss}: {record:?}, {fallback:?}"
                );
                followed += 1;
            }
            window = record.window;
        }
        followed
    }

    fn begin(&mut self, window: u64) {
        self.reno = Some((window, if self.heard { window } else { u64::MAX }));
        (self.acked, self.waiting) = (0, 0);
    }

    fn acknowledge(&mut self, event: &AckEvent, window: u64) {
        let told = match event.feedback {
            1 => event.load <= 2,
            2 => event.change.abs() < ABSURD,
            _ => false,
        };
        if told {
            *self = Self { heard: true, ..Self::default() };
            return;
        }
        let mss = u64::from(event.mss);
        self.silent += u64::from(event.acked);
        if self.reno.is_none() && self.silent > 2 * window + 10 * mss {
            self.begin(window);
        }
        let Some((window, threshold)) = &mut self.reno else { return };
        let mut acked = u64::from(event.acked);
        if event.in_recovery {
            self.waiting = 0;
            return;
        }
        if event.duplicate {
            self.waiting += if event.window_limited { acked } else { 0 };
            return;
        }
        acked += std::mem::take(&mut self.waiting);
        if !event.window_limited {
            return;
        }
        if *window < *threshold {
            *window = (*window + acked).min(*threshold);
            return;
        }
        self.acked += acked;
        if self.acked >= *window {
            self.acked -= *window;
            *window += mss;
        }
    }

    fn congestion(&mut self, event: &CongestionEvent, window: u64) {
        if self.reno.is_none() && !self.heard {
            self.begin(window);
        }
        let Some((window, threshold)) = &mut self.reno else { return };
        let (mss, timeout) = (u64::from(event.mss), event.signal == 2);
        if !timeout || event.consecutive <= 1 {
            *threshold = u64::from(event.flight_size / 2).max(2 * mss);
        }
        *window = if timeout { mss } else { (*window).min(*threshold) };
        (self.acked, self.waiting) = (0, 0);
    }
}
