//! Long-term sampling, which detects a token-bucket policer and measures its rate.

use airpath_model::{Bytes, Duration, Rate, Timestamp};

/// Rounds that an interval lasts at least, and after which it is too long.
const INTERVAL_ROUNDS: u32 = 4;
const LONGEST_INTERVAL_ROUNDS: u32 = 4 * INTERVAL_ROUNDS;

/// The share of lost to delivered data of an interval behind a policer: 50/256 = 19.5 %.
const LOSS_SHARE: [u64; 2] = [50, 256];

/// Two intervals have the same rate if they differ by at most 1/8 of the earlier rate, or by this rate.
const SAME_RATE_SHARE: u64 = 8;
const SAME_RATE: u64 = 4000;

/// Rounds for which a detected rate is used.
const RATE_ROUNDS: u32 = 48;

/// The shortest interval whose rate can be computed.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

/// Time of the last delivery, and the amounts delivered and lost until then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) at: Timestamp,
    pub(super) delivered: Bytes,
    pub(super) lost: Bytes,
}

/// One acknowledgment, or a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation {
    pub(super) totals: Totals,
    /// Whether a round begins.
    pub(super) round_started: bool,
    /// Whether losses were detected.
    pub(super) losses: bool,
    pub(super) app_limited: bool,
}

/// The detector of a policer (`bbr_lt_bw_sampling` in Linux).
///
/// Intervals begin and end with losses, so that the bucket is empty at both ends. Two consecutive intervals
/// with a high share of losses and the same delivery rate indicate a policer with that rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    /// Start of the interval; `None` before the first loss.
    start: Option<Totals>,
    /// Rounds of the interval, or those in which the rate was used.
    rounds: u32,
    /// The delivery rate of the previous interval, or that of the policer.
    rate: Option<Rate>,
    detected: bool,
}

impl Policer {
    /// Returns the rate of the policer, if one was detected.
    pub(super) fn rate(&self) -> Option<Rate> {
        self.rate.filter(|_| self.detected)
    }

    /// Counts a round at the rate of the policer. Returns whether it was the last: the path may have changed,
    /// and sampling starts again.
    pub(super) fn count_round(&mut self) -> bool {
        self.rounds += 1;
        let over = self.rounds >= RATE_ROUNDS;
        if over {
            self.reset();
        }
        over
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Samples while no policer is detected.
    pub(super) fn sample(&mut self, seen: Observation) {
        if self.start.is_none() && !seen.losses {
            return;
        }
        let start = *self.start.get_or_insert(seen.totals);
        if seen.app_limited {
            self.reset();
            return;
        }
        self.rounds += u32::from(seen.round_started);
        if self.rounds > LONGEST_INTERVAL_ROUNDS {
            self.reset();
        } else if self.rounds >= INTERVAL_ROUNDS && seen.losses {
            self.check_interval(start, seen.totals);
        }
    }

    /// Ends the interval if enough of it was lost.
    fn check_interval(&mut self, start: Totals, end: Totals) {
        let (delivered, lost) = (end.delivered - start.delivered, end.lost - start.lost);
        let [numerator, denominator] = LOSS_SHARE;
        let time = end.at.since(start.at);
        if delivered.is_zero() || lost * denominator < delivered * numerator || time < SHORTEST_INTERVAL {
            return;
        }
        let rate = Rate::over(delivered, time);
        let (found, before) = (rate.as_bps(), self.rate.map(Rate::as_bps));
        let policed = before.filter(|&before| {
            let difference = found.abs_diff(before);
            difference <= before / SAME_RATE_SHARE || difference <= SAME_RATE
        });
        self.rounds = 0;
        self.detected = policed.is_some();
        self.rate = Some(policed.map_or(rate, |before| Rate::from_bps(found.midpoint(before))));
        self.start = Some(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1000);

    /// A path with rounds of 100 ms, each of which is one observation.
    #[derive(Default)]
    struct Path {
        policer: Policer,
        totals: Totals,
    }

    impl Path {
        /// A round that delivers and loses this number of packets.
        fn round(&mut self, delivered: u64, lost: u64) {
            self.round_with(delivered, lost, false);
        }

        fn round_with(&mut self, delivered: u64, lost: u64, app_limited: bool) {
            self.totals.at += Duration::from_millis(100);
            self.totals.delivered += PACKET * delivered;
            self.totals.lost += PACKET * lost;
            let losses = lost > 0;
            self.policer.sample(Observation {
                totals: self.totals,
                round_started: true,
                losses,
                app_limited,
            });
        }

        fn rounds(&mut self, count: u32, delivered: u64, lost: u64) -> Option<u64> {
            (0..count).for_each(|_| self.round(delivered, lost));
            self.policer.rate().map(Rate::as_bps)
        }
    }

    /// 100 packets in a round are 8 Mbit/s. The first loss starts an interval, and its round is one of the four.
    #[test]
    fn two_intervals_with_the_same_rate_and_a_fifth_lost_are_a_policer() {
        let mut path = Path::default();
        assert_eq!(path.rounds(10, 100, 0), None);
        assert_eq!(path.rounds(4, 100, 25), None);
        assert_eq!(path.rounds(3, 100, 25), None);
        // The four rounds of the second interval deliver 420 packets: 8.4 Mbit/s.
        path.round(120, 25);
        assert_eq!(path.policer.rate().map(Rate::as_bps), Some(8_200_000), "the mean of both");
    }

    #[test]
    fn rates_that_differ_by_more_than_an_eighth_are_no_policer() {
        for (packets, same) in [(112, true), (113, false), (88, true), (87, false)] {
            let mut path = Path::default();
            path.rounds(4, 100, 25);
            let found = path.rounds(4, packets, 30);
            assert_eq!(found.is_some(), same, "{packets}");
        }
        // 4 and 1 packets in 400 ms: 80 and 20 kbit/s, which differ by more than 4 kbit/s.
        let mut path = Path::default();
        path.rounds(4, 1, 1);
        assert_eq!(path.rounds(3, 0, 0), None);
        path.round(1, 1);
        assert_eq!(path.policer.rate(), None);
    }

    #[test]
    fn slow_rates_may_differ_by_four_kilobits() {
        // Intervals of 4 s: the first delivers 2000 bytes, the second 4000, that is, 4 and 8 kbit/s.
        for (second, same) in [(4000, true), (4001, false)] {
            let mut policer = Policer::default();
            let totals = |seconds, delivered, lost| Totals {
                at: Timestamp::ZERO + Duration::from_secs(seconds),
                delivered: Bytes::new(delivered),
                lost: Bytes::new(lost),
            };
            policer.start = Some(totals(0, 0, 0));
            policer.check_interval(totals(0, 0, 0), totals(4, 2000, 1000));
            assert_eq!(policer.rate, Some(Rate::from_bps(4000)));
            policer.check_interval(totals(4, 2000, 1000), totals(8, 2000 + second, 3000));
            assert_eq!(policer.detected, same, "{second}");
        }
    }

    /// 50 of 256 are lost, not of all 306.
    #[test]
    fn the_share_of_losses_is_that_of_the_delivered_data() {
        for (lost, enough) in [(50, true), (49, false)] {
            let mut path = Path::default();
            path.round(0, 1);
            path.rounds(2, 128, 0);
            path.round(0, lost);
            assert_eq!(path.policer.rate.is_some(), enough, "{lost}");
        }
    }

    #[test]
    fn an_interval_ends_with_a_loss_within_sixteen_rounds() {
        let mut path = Path::default();
        path.round(100, 100);
        path.rounds(14, 100, 0);
        path.round(100, 400);
        assert!(path.policer.rate.is_some(), "the sixteenth round");
        let mut path = Path::default();
        path.round(100, 100);
        path.rounds(15, 100, 0);
        path.round(100, 400);
        assert!(path.policer.start.is_none() && path.policer.rate.is_none());
    }

    #[test]
    fn a_limited_sample_discards_the_interval_and_the_rate_before_it() {
        let mut path = Path::default();
        path.rounds(4, 100, 25);
        assert!(path.policer.rate.is_some());
        path.round_with(100, 25, true);
        assert!(path.policer.rate.is_none());
    }

    #[test]
    fn a_rate_is_used_for_forty_eight_rounds() {
        let mut path = Path::default();
        path.rounds(8, 100, 25);
        assert!((1..48).all(|_| !path.policer.count_round()));
        assert!(path.policer.rate().is_some());
        assert!(path.policer.count_round());
        assert!(path.policer.rate().is_none());
    }
}
