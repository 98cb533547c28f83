//! The highest throughput between signals, as H-TCP compares it.

use airpath_model::{AckEvent, Timestamp};

/// Throughput of whole round trips, in byte/s.
#[derive(Clone, Debug, Default)]
pub(super) struct Throughput {
    /// The current round trip: its [`AckEvent::round`], its start, and the data acknowledged in it, bytes.
    round: Option<(u64, Timestamp, f64)>,
    smoothed: f64,
    /// The highest since the last signal.
    highest: f64,
    /// The highest between the last two signals.
    previous: f64,
    /// Whether a round trip was measured since the last signal.
    measured: bool,
}

impl Throughput {
    /// Counts an acknowledgment. While the flow is not `settled` after a signal, and always in the first
    /// round trip, the throughput is not smoothed, and the highest throughput is the newest.
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

    /// Discards the current round trip.
    pub(super) fn interrupt(&mut self) {
        self.round = None;
    }

    /// Processes a congestion signal.
    pub(super) fn signal(&mut self) {
        self.previous = self.highest;
        self.measured = false;
        self.interrupt();
    }

    /// Returns whether the highest throughput since the last signal differs by at most the share `part` from
    /// the one before that signal.
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

#[cfg(test)]
mod tests {
    use airpath_model::Bytes;

    use super::*;

    /// Simulates a round trip of one second that begins with an acknowledgment of `acked` bytes.
    fn round(throughput: &mut Throughput, number: u64, acked: u64) {
        round_of(throughput, number, acked, true);
    }

    fn round_of(throughput: &mut Throughput, number: u64, acked: u64, settled: bool) {
        let mut event = AckEvent::at(Timestamp::from_secs_f64(number as f64));
        (event.round, event.acked) = (number, Bytes::new(acked));
        throughput.acknowledged(&event, settled);
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    /// B = 3/4 B + 1/4 of each round trip except the first.
    #[test]
    fn the_first_round_trip_after_a_signal_counts_unsmoothed() {
        let mut throughput = Throughput::default();
        round(&mut throughput, 0, 1000);
        round(&mut throughput, 1, 2000);
        close(throughput.highest, 1000.0);
        round(&mut throughput, 2, 100);
        close(throughput.highest, 1250.0);
        throughput.signal();
        close(throughput.previous, 1250.0);
        // The round trip of the signal, which began with 100 bytes, is discarded.
        round(&mut throughput, 3, 400);
        close(throughput.highest, 1250.0);
        round(&mut throughput, 4, 800);
        close(throughput.highest, 400.0);
        round(&mut throughput, 5, 100);
        close(throughput.highest, 500.0);
        round_of(&mut throughput, 6, 100, false);
        close(throughput.highest, 100.0);
    }
}
