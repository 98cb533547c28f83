//! The rate at which the link serves packets sent back to back.

use super::samples::{Quantiles, Samples};

/// Minimum number of pairs of acknowledgments.
const FEWEST: u32 = 50;
/// The quartiles of the rates lie within this share of their median.
const EVEN: f32 = 0.15;

/// Rates of pairs of acknowledgments whose packets left the sender closer together than they left the link.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// When the previous acknowledgment arrived, and when the newest packet that it acknowledges was sent.
    last: Option<(u64, u64)>,
    rates: Samples,
}

impl Pairs {
    /// Processes an acknowledgment of `bytes` new bytes, the newest of which was sent at `sent_ns`.
    pub(super) fn on_delivery(&mut self, now_ns: u64, sent_ns: Option<u64>, bytes: u64) {
        let before = self.last;
        self.last = sent_ns.map(|sent| (now_ns, sent));
        let (Some((last_ns, last_sent_ns)), Some(sent_ns)) = (before, sent_ns) else { return };
        let (gap, sent_gap) = (now_ns.saturating_sub(last_ns), sent_ns.saturating_sub(last_sent_ns));
        // Twice as close, so that the link spread them, not the sender.
        if gap > 0 && sent_ns >= last_sent_ns && sent_gap <= gap / 2 {
            self.rates.push(bytes as f32 * 8e9 / gap as f32);
        }
    }

    /// Returns the median rate in bit/s, if there are enough pairs and the link serves evenly.
    pub(super) fn even_rate(&mut self) -> Option<f64> {
        let rates: Quantiles<5> = self.rates.take();
        let [low, median, high] = [0.25, 0.5, 0.75].map(|share| rates.quantile(share).unwrap_or(0.0));
        let is_even = low >= (1.0 - EVEN) * median && high <= (1.0 + EVEN) * median;
        (rates.count() >= FEWEST && is_even).then_some(f64::from(median))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends bursts of five packets over a link that takes `service(number)` ns for each.
    fn rate_of_bursts(bursts: u64, service: fn(u64) -> u64) -> Option<f64> {
        let mut pairs = Pairs::default();
        for burst in 0..bursts {
            let start = burst * 100_000_000;
            let mut now = start + 20_000_000;
            for packet in 0..5 {
                now += service(packet);
                pairs.on_delivery(now, Some(start + packet * 10_000), 1000);
            }
        }
        pairs.even_rate()
    }

    #[test]
    fn the_rate_of_an_even_link_is_found_although_the_sender_pauses() {
        let rate = rate_of_bursts(20, |_| 1_000_000).unwrap();
        assert!((rate - 8e6).abs() < 1.0, "{rate}");
        assert_eq!(rate_of_bursts(5, |_| 1_000_000), None, "too few pairs");
        assert_eq!(rate_of_bursts(40, |packet| 200_000 + packet * 700_000), None, "an uneven link");
    }

    #[test]
    fn packets_that_the_sender_spaces_say_nothing_about_the_link() {
        let mut pairs = Pairs::default();
        for packet in 0..1000 {
            pairs.on_delivery(packet * 1_000_000 + 20_000_000, Some(packet * 1_000_000), 1000);
        }
        assert_eq!(pairs.even_rate(), None);
    }
}
