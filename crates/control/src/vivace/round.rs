//! Monitor intervals, and rounds of one or several of them.

use airpath_model::{Duration, Timestamp};

use super::line::Line;
use super::utility::{Outcome, utility};
use super::{PAIRS, VivaceConfig};

/// The fewest packets of a monitor interval (authors' sender).
const FEWEST_PACKETS: u64 = 5;

/// The packets that left at one rate. A position is the payload that was sent before a packet.
#[derive(Clone, Copy, Debug)]
struct Interval {
    /// In Mbit/s.
    rate: f64,
    begin: Timestamp,
    shortest: Duration,
    /// When the first packet after the interval left; [`Timestamp::NEVER`] until then.
    end: Timestamp,
    /// The positions of the first packet, and of the first one after the interval.
    first: u64,
    last: u64,
    packets: u64,
    lost: u64,
    rtts: Line,
}

impl Interval {
    fn planned(rate: f64) -> Self {
        Self {
            rate,
            begin: Timestamp::NEVER,
            shortest: Duration::ZERO,
            end: Timestamp::NEVER,
            first: u64::MAX,
            last: u64::MAX,
            packets: 0,
            lost: 0,
            rtts: Line::default(),
        }
    }

    fn outcome(&self, config: &VivaceConfig) -> Outcome {
        let seconds = self.end.since(self.begin).as_secs_f64();
        let sent = (self.last - self.first) as f64;
        let sending_rate = if seconds > 0.0 { sent * 8e-6 / seconds } else { self.rate };
        let gradient = self.rtts.gradient(config.gradient_threshold);
        let utility = utility(config, sending_rate, gradient, self.lost as f64 / sent);
        Outcome { rate: self.rate, utility, gradient }
    }
}

/// Monitor intervals that are evaluated together. They follow each other without a gap; packets that leave
/// between the last one and its evaluation belong to none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    intervals: [Interval; 2 * PAIRS],
    planned: usize,
    /// Number of intervals that have begun.
    begun: usize,
    app_limited: bool,
}

impl Default for Round {
    fn default() -> Self {
        Self { intervals: [Interval::planned(0.0); 2 * PAIRS], planned: 0, begun: 0, app_limited: false }
    }
}

impl Round {
    /// Adds an interval with `rate` (Mbit/s) at the end of the round.
    pub(super) fn plan(&mut self, rate: f64) {
        self.intervals[self.planned] = Interval::planned(rate);
        self.planned += 1;
    }

    /// Returns the rate of the current interval; `None` after the last one.
    pub(super) fn rate(&self) -> Option<f64> {
        let current = &self.intervals[self.begun.saturating_sub(1)];
        (self.planned > 0 && current.end == Timestamp::NEVER).then_some(current.rate)
    }

    /// Assigns a packet at `position` to an interval. An interval lasts for at least a round trip and
    /// [`FEWEST_PACKETS`].
    pub(super) fn on_sent(&mut self, now: Timestamp, position: u64, round_trip: Duration, app_limited: bool) {
        if let Some(current) = self.intervals[..self.begun].last_mut() {
            let is_over = current.packets >= FEWEST_PACKETS && now >= current.begin + current.shortest;
            if current.end == Timestamp::NEVER && is_over {
                (current.end, current.last) = (now, position);
            }
        }
        let is_between = self.intervals[..self.begun].last().is_none_or(|last| last.end != Timestamp::NEVER);
        if is_between {
            if self.begun == self.planned {
                return;
            }
            let next = &mut self.intervals[self.begun];
            (next.begin, next.first, next.shortest) = (now, position, round_trip);
            self.begun += 1;
        }
        self.intervals[self.begun - 1].packets += 1;
        self.app_limited |= app_limited;
    }

    /// Assigns lost payload to the interval of the packet at `position`.
    pub(super) fn on_lost(&mut self, position: u64, lost: u64) {
        let contains = |interval: &&mut Interval| (interval.first..interval.last).contains(&position);
        if let Some(interval) = self.intervals[..self.begun].iter_mut().find(contains) {
            interval.lost += lost;
        }
    }

    /// Assigns an RTT sample to the interval in which its packet left.
    pub(super) fn on_rtt(&mut self, now: Timestamp, rtt: Duration) {
        let sent_at = Timestamp::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos()));
        let contains = |interval: &&mut Interval| (interval.begin..interval.end).contains(&sent_at);
        if let Some(interval) = self.intervals[..self.begun].iter_mut().find(contains) {
            interval.rtts.add(sent_at.as_secs_f64(), rtt.as_secs_f64());
        }
    }

    /// Returns whether every packet of the round arrived or was lost, if the payload at positions below
    /// `left` is no longer in flight.
    pub(super) fn is_complete(&self, left: u64) -> bool {
        let last = self.intervals[..self.begun].last();
        self.begun == self.planned
            && last.is_some_and(|last| last.end != Timestamp::NEVER && left >= last.last)
    }

    /// Returns whether the application had too little data for the rates.
    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited
    }

    /// Returns the outcome of an interval of a complete round.
    pub(super) fn outcome(&self, index: usize, config: &VivaceConfig) -> Outcome {
        self.intervals[index].outcome(config)
    }

    /// Returns the outcome of the last interval of a complete round.
    pub(super) fn last(&self, config: &VivaceConfig) -> Outcome {
        self.outcome(self.planned - 1, config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(40);

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    /// Sends a packet of 1000 bytes each `gap` ms.
    fn send(round: &mut Round, packets: core::ops::Range<u64>, gap: u64) {
        for packet in packets {
            round.on_sent(at(gap * packet), 1000 * packet, RTT, false);
        }
    }

    #[test]
    fn an_interval_lasts_a_round_trip_and_five_packets() {
        let mut round = Round::default();
        round.plan(1.0);
        round.plan(2.0);
        send(&mut round, 0..10, 4);
        assert_eq!(round.rate().map(f64::to_bits), Some(1.0_f64.to_bits()), "36 ms");
        send(&mut round, 10..20, 4);
        assert_eq!(round.rate().map(f64::to_bits), Some(2.0_f64.to_bits()), "from 40 ms on");
        send(&mut round, 20..21, 4);
        assert_eq!(round.rate(), None, "after 80 ms");
        let mut slow = Round::default();
        slow.plan(1.0);
        send(&mut slow, 0..5, 30);
        assert_eq!(slow.rate().map(f64::to_bits), Some(1.0_f64.to_bits()), "four packets and 120 ms");
        send(&mut slow, 5..6, 30);
        assert_eq!(slow.rate(), None);
    }

    /// Ten packets of 8000 bit in 40 ms are 2 Mbit/s.
    #[test]
    fn rate_losses_and_rtts_belong_to_the_interval_of_their_packets() {
        let config = VivaceConfig::default();
        let mut round = Round::default();
        round.plan(2.5);
        round.plan(1.5);
        send(&mut round, 0..21, 4);
        for packet in 0..10 {
            round.on_rtt(
                at(4 * packet) + RTT + Duration::from_micros(100 * packet),
                RTT + Duration::from_micros(100 * packet),
            );
        }
        round.on_lost(12_000, 1000);
        round.on_lost(30_000, 5000);
        assert!(!round.is_complete(19_999));
        assert!(round.is_complete(20_000));
        let [growing, lossy] = [0, 1].map(|index| round.outcome(index, &config));
        assert!((growing.gradient - 0.025).abs() < 1e-9, "{growing:?}");
        // 2^0.9 = 1.866066; 900 × 0.025 × 2 = 45; 11.35 × 0.1 × 2 = 2.27.
        assert!((growing.utility - (1.866_066 - 45.0)).abs() < 1e-4, "{growing:?}");
        assert!((lossy.utility - (1.866_066 - 2.27)).abs() < 1e-4, "{lossy:?}");
        assert!((lossy.rate - 1.5).abs() < 1e-12);
    }
}
