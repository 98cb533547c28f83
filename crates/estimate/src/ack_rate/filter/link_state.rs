//! A sender's guess whether a wireless link is in a good or a bad state.

use airpath_model::{AckEvent, CongestionEvent, CongestionSignal, Duration, Timestamp};

/// The number of round trips without a loss after which the bad state ends.
const LOSS_FREE_ROUND_TRIPS: u64 = 4;

/// A guess from losses and round-trip times. Our own design: the text of `DynaPara` was not available.
///
/// A loss found by duplicates while the RTT is in the lower half of the observed range is not caused by
/// congestion. The state is bad from then until four smoothed RTTs have passed without another loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkState {
    /// Smallest and largest RTT sample.
    extremes: Option<(Duration, Duration)>,
    /// The time of the last loss while the state is bad.
    bad_since: Option<Timestamp>,
}

impl LinkState {
    /// Returns whether the state is bad.
    pub fn is_bad(&self) -> bool {
        self.bad_since.is_some()
    }

    /// Processes an acknowledgment.
    pub fn on_ack(&mut self, event: &AckEvent) {
        if let Some(rtt) = event.rtt_sample {
            let (smallest, largest) = self.extremes.unwrap_or((rtt, rtt));
            self.extremes = Some((smallest.min(rtt), largest.max(rtt)));
        }
        if let Some(loss) = self.bad_since
            && event.now.since(loss) >= event.rtt.smoothed * LOSS_FREE_ROUND_TRIPS
        {
            self.bad_since = None;
        }
    }

    /// Processes a congestion signal.
    pub fn on_congestion(&mut self, event: &CongestionEvent) {
        let Some((smallest, largest)) = self.extremes else { return };
        let short = event.rtt.latest < smallest + (largest - smallest) / 2;
        if event.signal == CongestionSignal::Loss && (short || self.is_bad()) {
            self.bad_since = Some(event.now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    fn ack(ms: u64, rtt: u64) -> AckEvent {
        let mut event = AckEvent::at(at(ms));
        event.rtt.smoothed = Duration::from_millis(100);
        event.rtt_sample = Some(Duration::from_millis(rtt));
        event
    }

    fn loss(ms: u64, rtt: u64) -> CongestionEvent {
        let mut event = CongestionEvent::at(at(ms), CongestionSignal::Loss);
        event.rtt.latest = Duration::from_millis(rtt);
        event
    }

    #[test]
    fn only_losses_at_short_round_trips_make_the_state_bad() {
        let mut state = LinkState::default();
        state.on_ack(&ack(0, 60));
        state.on_ack(&ack(1, 140));
        state.on_congestion(&loss(2, 100));
        assert!(!state.is_bad());
        let mut timeout = loss(3, 70);
        timeout.signal = CongestionSignal::Timeout;
        state.on_congestion(&timeout);
        assert!(!state.is_bad());
        state.on_congestion(&loss(4, 99));
        assert!(state.is_bad());
    }

    #[test]
    fn four_round_trips_without_a_loss_end_the_bad_state() {
        let mut state = LinkState::default();
        state.on_ack(&ack(0, 60));
        state.on_ack(&ack(1, 140));
        state.on_congestion(&loss(10, 70));
        state.on_ack(&ack(300, 70));
        state.on_congestion(&loss(300, 130));
        state.on_ack(&ack(699, 70));
        assert!(state.is_bad());
        state.on_ack(&ack(700, 70));
        assert!(!state.is_bad());
    }
}
