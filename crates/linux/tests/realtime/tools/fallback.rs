//! Reference model of the Reno fallback for silent routers, written from docs/reference/linux/hosts.md and the RFCs
//! alone.

use airpath_linux::host::{Record, Told};
use airpath_linux::native::{AckEvent, CongestionEvent};

/// Changes from 2^30 byte/s are no feedback.
const ABSURD: i32 = 1 << 30;

/// Reno's state.
#[derive(Clone, Copy, Debug)]
struct Reno {
    window: u64,
    threshold: u64,
    acked: u64,
    /// Bytes acknowledged selectively by duplicates, which do not grow the window (RFC 3042), until the
    /// cumulative acknowledgment advances.
    waiting: u64,
    /// After a timeout, slow start counts one segment per acknowledgment (RFC 3465, section 2.3).
    cautious: bool,
}

/// The fallback of a controller that follows routers.
#[derive(Debug, Default)]
pub(crate) struct Fallback {
    /// Bytes acknowledged since the last feedback of a router.
    silent: u64,
    /// Whether there ever was feedback of a router.
    heard: bool,
    /// Reno's state while it is active.
    reno: Option<Reno>,
    /// State before the last signal, until the signal is known to be spurious (RFC 9438, section 4.9).
    before: Option<Reno>,
}

impl Fallback {
    /// Follows a connection and checks each window of Reno. Returns the number of checked events.
    pub(crate) fn follow(records: &[Record]) -> usize {
        let mut fallback = Self::default();
        let (mut window, mut followed, mut mss) = (records[0].window, 0, 0);
        for (place, record) in records.iter().enumerate() {
            match &record.told {
                Told::Start { mss: largest } => mss = *largest,
                Told::Ack(event) => fallback.acknowledge(event, window),
                Told::Congestion(event) => fallback.congestion(event, window),
                Told::Spurious => fallback.take_back(),
            }
            if let Some(Reno { window: expected, .. }) = fallback.reno {
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
        let threshold = if self.heard { window } else { u64::MAX };
        self.reno = Some(Reno { window, threshold, acked: 0, waiting: 0, cautious: false });
        self.before = None;
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
        let Some(reno) = &mut self.reno else { return };
        let grows = event.window_limited && !event.marked;
        let mut acked = u64::from(event.acked);
        if event.in_recovery {
            reno.waiting = 0;
            return;
        }
        if event.duplicate {
            reno.waiting += if grows { acked } else { 0 };
            return;
        }
        acked += std::mem::take(&mut reno.waiting);
        if !grows {
            return;
        }
        if reno.window < reno.threshold {
            let growth = if reno.cautious { acked.min(mss) } else { acked };
            reno.window = (reno.window + growth).min(reno.threshold);
            return;
        }
        reno.acked += acked;
        if reno.acked >= reno.window {
            reno.acked -= reno.window;
            reno.window += mss;
        }
    }

    fn congestion(&mut self, event: &CongestionEvent, window: u64) {
        if self.reno.is_none() && !self.heard {
            self.begin(window);
        }
        let Some(reno) = &mut self.reno else { return };
        let (mss, timeout) = (u64::from(event.mss), event.signal == 2);
        if !timeout || event.consecutive <= 1 {
            self.before = Some(*reno);
            reno.threshold = u64::from(event.flight_size / 2).max(2 * mss);
            reno.acked = 0;
        }
        reno.window = if timeout { mss } else { reno.window.min(reno.threshold) };
        reno.waiting = 0;
        reno.cautious |= timeout;
    }

    fn take_back(&mut self) {
        let (Some(reno), Some(before)) = (&mut self.reno, self.before.take()) else { return };
        if reno.window <= before.window {
            *reno = before;
        }
    }
}
