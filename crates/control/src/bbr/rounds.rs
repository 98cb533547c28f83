//! Packet-timed round trips.

use airpath_model::Bytes;

/// Counts round trips by the amount delivered when the acknowledged packet was sent (section 5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    /// `next_round_delivered`.
    end: Bytes,
    /// `round_count`.
    pub(crate) count: u64,
    /// `round_start`: whether the current acknowledgment began a round.
    pub(crate) started: bool,
}

impl Rounds {
    /// Implements `UpdateRound`. `prior_delivered` is the total when the acknowledged packet was sent,
    /// `delivered` the total now.
    pub(crate) fn update(&mut self, prior_delivered: Bytes, delivered: Bytes) {
        self.started = prior_delivered >= self.end;
        if self.started {
            self.restart(delivered);
            self.count += 1;
        }
    }

    /// Implements `StartRound`: the current round ends with packets sent from now on.
    pub(crate) fn restart(&mut self, delivered: Bytes) {
        self.end = delivered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_with_a_packet_sent_after_its_start() {
        let (mut rounds, bytes) = (Rounds::default(), Bytes::new);
        rounds.update(bytes(0), bytes(100));
        assert_eq!((rounds.count, rounds.started), (1, true));
        rounds.update(bytes(99), bytes(200));
        assert_eq!((rounds.count, rounds.started), (1, false));
        rounds.update(bytes(100), bytes(300));
        assert_eq!((rounds.count, rounds.started), (2, true));
        rounds.restart(bytes(350));
        rounds.update(bytes(349), bytes(400));
        assert!(!rounds.started);
    }
}
