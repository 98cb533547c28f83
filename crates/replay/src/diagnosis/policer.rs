//! Is a token bucket what drops? A policer drops a packet exactly when the bucket has no tokens for it (Flach et al., "An
//! Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016).
//!
//! All flows to one host are tested together, because they share the bucket, with their retransmissions, which use tokens as
//! well. The level of the bucket is followed from each loss, where it is empty, to the next; for the right rate it is empty there too, and
//! no packet passes meanwhile without tokens.

use super::transmissions::Transmission;

/// A token bucket that drops what exceeds its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policer {
    /// First loss, nanoseconds since the first packet of the capture.
    pub from_ns: u64,
    /// The last loss that was tested.
    pub to_ns: u64,
    /// Rate of the tokens, bit/s, IP and TCP headers included.
    pub rate_bps: f64,
    /// The size of the bucket: the most that passed until the first loss, from any time on, less the tokens that came meanwhile.
    pub burst_bytes: f64,
    /// Share of losses at an empty bucket less the share of packets that passed one, 0 to 1.
    pub score: f64,
}

/// Losses that the test needs, and the round trips over which they are spread.
const LEAST_LOSSES: usize = 15;
const LEAST_ROUND_TRIPS: usize = 3;
/// Rates that are tried, as multiples of what passed between the first and the last loss.
const RATES: usize = 28;
const LOWEST: f64 = 0.9;
const HIGHEST: f64 = 2.2;
/// A bucket with tokens for fewer bytes than these is empty: three full packets. A bucket of this size cannot be told from a queue that
/// has room for a few packets.
const EMPTY_BYTES: f64 = 4500.0;
/// Random losses of simulated flows score up to 0.55, policers of testbeds 0.93 and more unless their bucket is tiny.
const LEAST_SCORE: f64 = 0.9;
/// Rates whose scores differ by less are as good as each other.
const AS_GOOD: f64 = 0.01;

/// Tests transmissions in the order of time; `round_trip_ns` is the median.
pub(super) fn policed(sent: &[Transmission], round_trip_ns: u64) -> Option<Policer> {
    let first = sent.iter().position(|one| one.lost)?;
    let last = sent.iter().rposition(|one| one.lost)?;
    let tested = &sent[first..=last];
    if tested.iter().filter(|one| one.lost).count() < LEAST_LOSSES
        || round_trips_with_losses(tested, round_trip_ns) < LEAST_ROUND_TRIPS
    {
        return None;
    }
    let passed = |sent: &[Transmission]| -> f64 {
        sent.iter().filter(|one| !one.lost).map(|one| f64::from(one.bytes)).sum()
    };
    let span = (tested[tested.len() - 1].at_ns - tested[0].at_ns) as f64 * 1e-9;
    let mean = passed(tested) / span; // byte/s; not finite without a span
    if !mean.is_finite() || mean <= 0.0 {
        return None;
    }
    let step = libm::log(HIGHEST / LOWEST) / (RATES - 1) as f64;
    let rates = (0..RATES).map(|number| mean * LOWEST * libm::exp(step * number as f64));
    let scored: Vec<(f64, f64)> = rates.map(|rate| (score(tested, rate), rate)).collect();
    let score = scored.iter().map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max);
    let best: Vec<f64> =
        scored.iter().filter(|(one, _)| *one >= score - AS_GOOD).map(|(_, rate)| *rate).collect();
    let rate = best.iter().sum::<f64>() / best.len() as f64;
    let burst = burst(&sent[..=first], rate);
    (score >= LEAST_SCORE && burst > EMPTY_BYTES).then(|| Policer {
        from_ns: sent[first].at_ns,
        to_ns: sent[last].at_ns,
        rate_bps: rate * 8.0,
        burst_bytes: burst,
        score,
    })
}

/// The size of a bucket that is full at first and empty when the last packet of `sent` is lost: a bucket that stays full for some
/// time gains no tokens meanwhile, so that the start of the largest excess counts.
fn burst(sent: &[Transmission], rate: f64) -> f64 {
    let (mut excess, mut next) = (0.0_f64, sent[sent.len() - 1].at_ns);
    let mut largest = 0.0_f64;
    for one in sent.iter().rev() {
        excess -= rate * (next - one.at_ns) as f64 * 1e-9;
        next = one.at_ns;
        if !one.lost {
            excess += f64::from(one.bytes);
        }
        largest = largest.max(excess);
    }
    largest
}

/// The share of losses at an empty bucket less the share of packets that passed one.
fn score(sent: &[Transmission], rate: f64) -> f64 {
    let (mut level, mut before) = (0.0, sent[0].at_ns);
    let (mut losses, mut empty, mut passes, mut contradicting) = (0.0, 0.0, 0.0, 0.0);
    for one in &sent[1..] {
        level += rate * (one.at_ns - before) as f64 * 1e-9;
        before = one.at_ns;
        if one.lost {
            losses += 1.0;
            empty += if level <= EMPTY_BYTES { 1.0 } else { 0.0 };
            level = 0.0;
        } else {
            passes += 1.0;
            level -= f64::from(one.bytes);
            if level < -EMPTY_BYTES {
                contradicting += 1.0;
                level = -EMPTY_BYTES;
            }
        }
    }
    empty / f64::max(losses, 1.0) - contradicting / f64::max(passes, 1.0)
}

/// In how many round trips something was lost.
fn round_trips_with_losses(sent: &[Transmission], round_trip_ns: u64) -> usize {
    let (mut count, mut end) = (0, None);
    for one in sent.iter().filter(|one| one.lost) {
        if end.is_none_or(|end| one.at_ns > end) {
            count += 1;
            end = Some(one.at_ns.saturating_add(round_trip_ns));
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_model::RandomStream;

    /// Packets of 1000 bytes at 60 and 220 kB/s in turns, through a bucket of 50 kB filled at 100 kB/s; or with random losses.
    fn sent(random: bool) -> Vec<Transmission> {
        let (mut tokens, mut at) = (50_000.0_f64, 0.0);
        let mut losses = RandomStream::new(1, "losses");
        let mut packets = Vec::new();
        for _ in 0..1_500 {
            let wait = 1000.0 / if (at as u64).is_multiple_of(2) { 220_000.0 } else { 60_000.0 };
            at += wait;
            tokens = (tokens + wait * 100_000.0).min(50_000.0);
            let lost = if random { losses.chance(0.03) } else { tokens < 1000.0 };
            if !lost {
                tokens -= 1000.0;
            }
            packets.push(Transmission { at_ns: (at * 1e9) as u64, bytes: 1000, lost });
        }
        packets
    }

    #[test]
    fn losses_with_an_empty_bucket_are_a_policer_and_random_losses_are_not() {
        let found = policed(&sent(false), 100_000_000).unwrap();
        assert!((found.rate_bps / 800_000.0 - 1.0).abs() < 0.03, "{found:?}");
        assert!((found.burst_bytes / 50_000.0 - 1.0).abs() < 0.1, "{found:?}");
        assert_eq!(policed(&sent(true), 100_000_000), None);
        assert_eq!(policed(&[], 100_000_000), None);
    }

    #[test]
    fn flows_that_share_a_bucket_share_its_rate() {
        let mut random = RandomStream::new(2, "flows");
        let (one, other): (Vec<Transmission>, Vec<Transmission>) =
            sent(false).into_iter().partition(|_| random.chance(0.3));
        let alone = [&one, &other].map(|sent| policed(sent, 100_000_000).map_or(0.0, |found| found.score));
        let mut both = [one, other].concat();
        both.sort_by_key(|packet| packet.at_ns);
        let found = policed(&both, 100_000_000).unwrap();
        assert!((found.rate_bps / 800_000.0 - 1.0).abs() < 0.03, "{found:?}");
        assert!(alone.iter().all(|score| found.score > *score), "{alone:?} {found:?}");
    }
}
