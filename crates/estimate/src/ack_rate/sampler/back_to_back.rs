//! Samples of packets sent back to back.

use airpath_model::{AckEvent, Bytes, Duration, Timestamp};

use crate::ack_rate::sample::Sample;

/// The least-squares slope of data over arrival time through a few successive acknowledgments whose packets
/// were sent back to back. Runs do not overlap. A run that arrives at one instant has no slope and is
/// skipped.
#[derive(Clone, Debug)]
pub(crate) struct BackToBack {
    acks: u8,
    spacing: Duration,
    run: Run,
}

/// Sums over one run, with times and amounts relative to its first acknowledgment.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    count: u8,
    first: Timestamp,
    last_sent: Timestamp,
    amount: Bytes,
    sum_t: f64,
    sum_x: f64,
    sum_tt: f64,
    sum_tx: f64,
}

impl BackToBack {
    pub(crate) fn new(acks: u8, spacing: Duration) -> Self {
        Self { acks, spacing, run: Run::default() }
    }

    pub(crate) fn on_ack(&mut self, amount: Bytes, event: &AckEvent) -> Option<Sample> {
        // It is unknown which packet a duplicate acknowledges.
        let sent = event.latest_sent_at.filter(|_| !event.duplicate && !event.advance.is_zero());
        let Some(sent) = sent else {
            self.run = Run::default();
            return None;
        };
        let follows = self.run.count > 0
            && sent >= self.run.last_sent
            && sent.since(self.run.last_sent) <= self.spacing;
        if !follows {
            self.run = Run { count: 1, first: event.now, last_sent: sent, ..Run::default() };
            return None;
        }
        self.run.push(event.now, sent, amount);
        if self.run.count < self.acks {
            return None;
        }
        let sample = self.run.slope(event.now);
        self.run = Run::default();
        sample
    }
}

impl Run {
    fn push(&mut self, now: Timestamp, sent: Timestamp, amount: Bytes) {
        self.count += 1;
        self.last_sent = sent;
        self.amount += amount;
        let (t, x) = (now.since(self.first).as_secs_f64(), self.amount.as_f64());
        self.sum_t += t;
        self.sum_x += x;
        self.sum_tt += t * t;
        self.sum_tx += t * x;
    }

    fn slope(&self, now: Timestamp) -> Option<Sample> {
        let count = f64::from(self.count);
        let spread = count * self.sum_tt - self.sum_t * self.sum_t;
        let bandwidth = (count * self.sum_tx - self.sum_t * self.sum_x) / spread;
        // Times and amounts both increase, so the slope is never negative.
        (spread > 0.0).then_some(Sample { bandwidth: bandwidth.max(0.0), interval: now.since(self.first) })
    }
}
