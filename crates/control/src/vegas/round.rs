//! Round trips as Vegas samples them.

use airpath_model::{AckEvent, Bytes, Duration};

/// With so many RTT samples one at least is not that of a delayed acknowledgment (`tcp_vegas.c`).
const ENOUGH_SAMPLES: u32 = 3;

/// What came back in one round trip.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    acked: Bytes,
    samples: u32,
    /// The smallest of them.
    rtt: Option<Duration>,
}

impl Round {
    /// Payload acknowledged.
    pub(super) const fn acked(&self) -> Bytes {
        self.acked
    }

    /// The smallest RTT, above zero; `None` where too few samples came to rely on it.
    pub(super) fn rtt(&self) -> Option<Duration> {
        self.rtt.filter(|rtt| self.samples >= ENOUGH_SAMPLES && !rtt.is_zero())
    }

    fn sample(&mut self, rtt: Duration) {
        self.samples += 1;
        self.rtt = Some(self.rtt.map_or(rtt, |smallest| smallest.min(rtt)));
    }
}

/// Cuts the acknowledgments into rounds, and leaves out those that recovery touched.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// [`AckEvent::round`] of the newest acknowledgment.
    number: u64,
    /// The round under way; `None` before the first one that is whole.
    current: Option<Round>,
}

impl Rounds {
    /// Takes an acknowledgment, and gives the round that it ended. Its RTT sample still belongs to that one, what it
    /// acknowledges to the next, as in Linux: in slow start the first segment of a flight finds the queue of the flight
    /// before, and those after it find their own.
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

    /// Leaves out the round under way.
    pub(super) fn interrupt(&mut self) {
        self.current = None;
    }
}
