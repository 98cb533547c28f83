//! Round trips as sampled by Vegas.

use airpath_model::{AckEvent, Bytes, Duration};

/// Number of RTT samples of which at least one is not that of a delayed acknowledgment (`tcp_vegas.c`).
const ENOUGH_SAMPLES: u32 = 3;

/// Acknowledgments of one round trip.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    acked: Bytes,
    samples: u32,
    /// The smallest RTT sample.
    rtt: Option<Duration>,
}

impl Round {
    /// Returns the acknowledged payload.
    pub(super) const fn acked(&self) -> Bytes {
        self.acked
    }

    /// Returns the smallest RTT, above zero, or `None` if there are too few samples to rely on it.
    pub(super) fn rtt(&self) -> Option<Duration> {
        self.rtt.filter(|rtt| self.samples >= ENOUGH_SAMPLES && !rtt.is_zero())
    }

    fn sample(&mut self, rtt: Duration) {
        self.samples += 1;
        self.rtt = Some(self.rtt.map_or(rtt, |smallest| smallest.min(rtt)));
    }
}

/// Divides the acknowledgments into rounds, and skips rounds that overlap with recovery.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// [`AckEvent::round`] of the newest acknowledgment.
    number: u64,
    /// The current round; `None` before the first complete one.
    current: Option<Round>,
}

impl Rounds {
    /// Processes an acknowledgment and returns the round that it ended. Its RTT sample belongs to that round,
    /// its acknowledged data to the next, as in Linux. In slow start the first segment of a flight
    /// experiences the queue of the previous flight, and the later ones that of their own.
    pub(super) fn acknowledged(&mut self, event: &AckEvent) -> Option<Round> {
        if event.in_recovery {
            self.interrupt();
        }
        if let (Some(current), Some(rtt)) = (&mut self.current, event.rtt_sample) {
            current.sample(rtt);
        }
        let mut ended = None;
        if event.round != self.number {
            self.number = event.round;
            let next = if event.in_recovery { None } else { Some(Round::default()) };
            ended = core::mem::replace(&mut self.current, next);
        }
        if let Some(current) = &mut self.current {
            current.acked += event.acked;
        }
        ended
    }

    /// Skips the current round.
    pub(super) fn interrupt(&mut self) {
        self.current = None;
    }
}
