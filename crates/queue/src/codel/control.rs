//! CoDel's state machine, which FQ-CoDel runs once for each of its queues.

use airpath_model::{DropReason, Duration, Packet, QueueSink, Timestamp};

use crate::CodelConfig;
use crate::fifo::Fifo;
use crate::mark::mark;

/// After a pause of fewer intervals than this, dropping resumes at the frequency reached before (RFC 8289,
/// section 5.6).
const REMEMBERED_INTERVALS: u64 = 16;

/// The state of one CoDel (RFC 8289, sections 5.1 to 5.6).
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodelControl {
    config: CodelConfig,
    /// Time at which the delay will have been above the target for an interval; `None` while it is not above.
    first_above: Option<Timestamp>,
    dropping: bool,
    drop_next: Timestamp,
    /// Drops since dropping began; the next field is its value when dropping last began.
    count: u32,
    last_count: u32,
    sojourn: Duration,
}

impl CodelControl {
    /// Creates the state with dropping off.
    pub(crate) const fn new(config: CodelConfig) -> Self {
        Self {
            config,
            first_above: None,
            dropping: false,
            drop_next: Timestamp::ZERO,
            count: 0,
            last_count: 0,
            sojourn: Duration::ZERO,
        }
    }

    /// Returns the sojourn time of the last departed packet.
    pub(crate) const fn sojourn(&self) -> Duration {
        self.sojourn
    }

    pub(crate) const fn is_dropping(&self) -> bool {
        self.dropping
    }

    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    /// Performs the drops that are due and returns the next packet to send.
    pub(crate) fn dequeue<P: Packet>(
        &mut self,
        now: Timestamp,
        waiting: &mut Fifo<P>,
        sink: &mut dyn QueueSink<P>,
    ) -> Option<P> {
        let (mut packet, above) = self.take(now, waiting)?;
        if self.dropping {
            self.dropping = above;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if self.config.ecn && mark(now, &mut packet, sink) {
                    self.drop_next = self.after(self.drop_next);
                    break;
                }
                sink.on_drop(now, packet, DropReason::Early);
                let Some(next) = self.take(now, waiting) else {
                    self.dropping = false;
                    return None;
                };
                (packet, self.dropping) = next;
                if self.dropping {
                    self.drop_next = self.after(self.drop_next);
                }
            }
        } else if above {
            let marked = self.config.ecn && mark(now, &mut packet, sink);
            self.begin(now);
            if !marked {
                sink.on_drop(now, packet, DropReason::Early);
                packet = self.take(now, waiting)?.0;
            }
        }
        Some(packet)
    }

    /// Begins dropping: with a count of one, or with the number of drops of the last dropping period if that
    /// ended recently.
    fn begin(&mut self, now: Timestamp) {
        let made = self.count - self.last_count;
        let recent = now.since(self.drop_next) < self.config.interval * REMEMBERED_INTERVALS;
        self.count = if made > 1 && recent { made } else { 1 };
        self.last_count = self.count;
        self.dropping = true;
        self.drop_next = self.after(now);
    }

    /// Returns the time of the next drop by the control law: interval / √count after the drop at `last`.
    fn after(&self, last: Timestamp) -> Timestamp {
        let pause = self.config.interval.as_secs_f64() / libm::sqrt(f64::from(self.count));
        last + Duration::from_secs_f64(pause).max(Duration::from_nanos(1))
    }

    /// Takes the packet at the head. Also returns whether the delay has been above the target for an
    /// interval.
    fn take<P: Packet>(&mut self, now: Timestamp, waiting: &mut Fifo<P>) -> Option<(P, bool)> {
        let Some((arrived, packet)) = waiting.pop() else {
            self.first_above = None;
            self.dropping = false;
            self.sojourn = Duration::ZERO;
            return None;
        };
        self.sojourn = now.since(arrived);
        if self.sojourn < self.config.target || waiting.backlog().bytes <= self.config.packet {
            self.first_above = None;
            return Some((packet, false));
        }
        let since = *self.first_above.get_or_insert(now + self.config.interval);
        Some((packet, now >= since))
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::Bytes;

    use super::*;

    fn control(count: u32) -> CodelControl {
        let config = CodelConfig {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            packet: Bytes::new(1500),
            ecn: false,
        };
        CodelControl { count, ..CodelControl::new(config) }
    }

    /// Values computed independently: the sums of 100 ms / √k.
    #[test]
    fn drop_intervals_decrease() {
        let mut at = Timestamp::ZERO;
        for (count, micros) in (1..).zip([100_000, 170_711, 228_446, 278_446, 323_167]) {
            at = control(count).after(at);
            let expected = Timestamp::ZERO + Duration::from_micros(micros);
            assert!(at.since(expected).max(expected.since(at)) < Duration::from_micros(1), "{at:?}");
        }
    }
}
