//! The highest throughput between signals, as H-TCP compares it.

use airpath_model::{AckEvent, Timestamp};

/// Throughput of whole round trips; byte/s.
#[derive(Clone, Debug, Default)]
pub(super) struct Throughput {
    /// The round trip under way: its [`AckEvent::round`], when it began, and what was acknowledged in it, bytes.
    round: Option<(u64, Timestamp, f64)>,
    smoothed: f64,
    /// The highest since the last signal.
    highest: f64,
    /// The highest between the last two signals.
    previous: f64,
    /// A round trip was measured since the last signal.
    measured: bool,
}

impl Throughput {
    /// Counts an acknowledgment. While the flow is not `settled` after a signal, and in the first round trip in any case,
    /// nothing is smoothed, and the highest is the newest.
    pub(super) fn acknowledged(&mut self, event: &AckEvent, settled: bool) {
        match &mut self.round {
            Some((round, _, acked)) if *round == event.round => *acked += event.acked.as_f64(),
            other => {
                let ended = other.replace((event.round, event.now, event.acked.as_f64()));
                if let Some((_, began, acked)) = ended {
                    self.measure(acked, event.now.since(began).as_secs_f64(), settled);
                }
            }
        }
    }

    /// The round trip under way is no measure.
    pub(super) fn interrupt(&mut self) {
        self.round = None;
    }

    /// A congestion signal.
    pub(super) fn signal(&mut self) {
        self.previous = self.highest;
        self.measured = false;
        self.interrupt();
    }

    /// Whether the highest since the last signal is within `part` of the one before that signal.
    pub(super) fn steady(&self, part: f64) -> bool {
        (self.highest - self.previous).abs() <= part * self.previous
    }

    fn measure(&mut self, acked: f64, seconds: f64, settled: bool) {
        if seconds <= 0.0 {
            return;
        }
        let throughput = acked / seconds;
        if settled && self.measured {
            self.smoothed = (3.0 * self.smoothed + throughput) / 4.0;
            self.highest = self.highest.max(self.smoothed);
        } else {
            self.smoothed = throughput;
            self.highest = throughput;
        }
        self.measured = true;
    }
}
