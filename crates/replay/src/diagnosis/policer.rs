//! The test of policing of Flach et al. ("An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016): losses come exactly when a
//! token bucket that is filled at the rate of the flow is empty.

/// A data packet of a stretch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing {
    pub(super) at_ns: u64,
    pub(super) sequence: u64,
    pub(super) bytes: u32,
    pub(super) lost: bool,
    /// The latest round trip when it left, seconds; NaN before the first.
    pub(super) round_trip: f32,
}

/// A token bucket that drops what exceeds its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policer {
    /// First and last loss, nanoseconds since the first packet of the capture.
    pub from_ns: u64,
    /// The last loss.
    pub to_ns: u64,
    /// Rate of the tokens, bit/s of payload.
    pub rate_bps: f64,
    /// Bytes that passed before the first loss, less the tokens that came meanwhile.
    pub burst_bytes: f64,
}

/// Shorter stretches are not tested.
const LEAST_BYTES: u64 = 300_000;
/// The first loss of a policer comes within so many bytes.
const LATEST_FIRST_LOSS: u64 = 2_000_000;
/// Losses, and packets that passed, that the test needs, and the round trips over which the losses must be spread.
const LEAST_PACKETS: usize = 15;
const LEAST_ROUND_TRIPS: usize = 3;
/// In tokens of so many round trips: how full the bucket may seem at a loss, and how empty when a packet passes.
const FULL_ROUND_TRIPS: f64 = 2.0;
const EMPTY_ROUND_TRIPS: f64 = 0.75;
/// Shares of packets that may contradict.
const CONTRADICTING_LOSSES: f64 = 0.10;
const CONTRADICTING_PASSES: f64 = 0.03;
/// A round trip above so many times the 10th percentile, and at least so long, shows a queue before a loss.
const GROWN: f64 = 1.3;
const GROWN_AT_LEAST_S: f64 = 0.020;
const GROWN_LOSSES: f64 = 0.20;

/// Tests a stretch.
pub(super) fn policed(packets: &[Passing]) -> Option<Policer> {
    let first = packets.iter().position(|packet| packet.lost)?;
    let last = packets.iter().rposition(|packet| packet.lost)?;
    let bytes = |packets: &[Passing]| packets.iter().map(|packet| u64::from(packet.bytes)).sum::<u64>();
    let before = bytes(&packets[..first]);
    if bytes(packets) < LEAST_BYTES || before > LATEST_FIRST_LOSS {
        return None;
    }
    let mut round_trips: Vec<f64> =
        packets.iter().map(|packet| f64::from(packet.round_trip)).filter(|value| value.is_finite()).collect();
    round_trips.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| round_trips.get((share * (round_trips.len() as f64 - 1.0)) as usize).copied();
    let (median, tenth) = (at(0.5)?, at(0.1)?);
    let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 * 1e-9;
    let origin = packets[first].at_ns;
    let span = seconds(origin, packets[last].at_ns);
    let passed: u64 =
        packets[first..last].iter().filter(|packet| !packet.lost).map(|packet| u64::from(packet.bytes)).sum();
    let rate = passed as f64 / span; // byte/s; not finite without a span
    if !rate.is_finite() || rate <= 0.0 || round_trips_with_losses(packets, median) < LEAST_ROUND_TRIPS {
        return None;
    }
    let (full, empty) = (FULL_ROUND_TRIPS * median * rate, EMPTY_ROUND_TRIPS * median * rate);
    let burst = before as f64 - rate * seconds(packets[0].at_ns, origin);
    if burst < -empty {
        return None;
    }
    let (mut at_losses, mut at_passes) = tokens(&packets[first..], rate);
    if at_losses.len() < LEAST_PACKETS || at_passes.len() < LEAST_PACKETS {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means = (mean(&at_losses), mean(&at_passes));
    let level = median_of(&mut at_losses);
    if means.0 >= means.1 || level >= median_of(&mut at_passes) {
        return None;
    }
    let share = |values: &[f64], is: &dyn Fn(f64) -> bool| {
        values.iter().filter(|value| is(**value)).count() as f64 / values.len() as f64
    };
    let bound = (GROWN * tenth).max(median).max(GROWN_AT_LEAST_S);
    let met_queue = |packet: &&Passing| packet.lost && f64::from(packet.round_trip) > bound;
    let grown = packets[first..].iter().filter(met_queue).count() as f64 / at_losses.len() as f64;
    let contradicted = share(&at_losses, &|tokens| (tokens - level).abs() > full) > CONTRADICTING_LOSSES
        || share(&at_passes, &|tokens| tokens - level < -empty) > CONTRADICTING_PASSES
        || grown > GROWN_LOSSES;
    (!contradicted).then_some(Policer {
        from_ns: origin,
        to_ns: packets[last].at_ns,
        rate_bps: rate * 8.0,
        burst_bytes: burst.max(0.0),
    })
}

/// The tokens of a bucket that was empty at the first packet, at each loss and at each packet that passed.
fn tokens(packets: &[Passing], rate: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut at_losses, mut at_passes, mut used) = (Vec::new(), Vec::new(), 0.0);
    for packet in packets {
        let tokens = rate * (packet.at_ns - packets[0].at_ns) as f64 * 1e-9 - used;
        if packet.lost {
            at_losses.push(tokens);
        } else {
            at_passes.push(tokens);
            used += f64::from(packet.bytes);
        }
    }
    (at_losses, at_passes)
}

/// In how many round trips something was lost.
fn round_trips_with_losses(packets: &[Passing], round_trip: f64) -> usize {
    let length = (round_trip * 1e9) as u64;
    let (mut count, mut end) = (0, None);
    for packet in packets.iter().filter(|packet| packet.lost) {
        if end.is_none_or(|end| packet.at_ns > end) {
            count += 1;
            end = Some(packet.at_ns + length);
        }
    }
    count
}

fn median_of(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_model::RandomStream;

    /// Packets of 1000 bytes at 60 and 220 kB/s in turns, through a bucket of 50 kB filled at 100 kB/s; or with random losses.
    fn stretch(random: bool) -> Vec<Passing> {
        let (mut tokens, mut at) = (50_000.0_f64, 0.0);
        let mut losses = RandomStream::new(1, "losses");
        let mut packets = Vec::new();
        for number in 0..1_500_u64 {
            let wait = 1000.0 / if (at as u64).is_multiple_of(2) { 220_000.0 } else { 60_000.0 };
            at += wait;
            tokens = (tokens + wait * 100_000.0).min(50_000.0);
            let lost = if random { losses.chance(0.03) } else { tokens < 1000.0 };
            if !lost {
                tokens -= 1000.0;
            }
            let at_ns = (at * 1e9) as u64;
            packets.push(Passing { at_ns, sequence: number * 1000, bytes: 1000, lost, round_trip: 0.1 });
        }
        packets
    }

    #[test]
    fn an_empty_bucket_at_each_loss_is_a_policer() {
        let found = policed(&stretch(false)).unwrap();
        assert!((found.rate_bps / 800_000.0 - 1.0).abs() < 0.03, "{found:?}");
        assert!((found.burst_bytes / 50_000.0 - 1.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn random_losses_and_losses_at_a_queue_are_not() {
        assert_eq!(policed(&stretch(true)), None);
        let mut queued = stretch(false);
        for packet in queued.iter_mut().filter(|packet| packet.lost) {
            packet.round_trip = 0.2;
        }
        assert_eq!(policed(&queued), None);
        assert_eq!(policed(&[]), None);
    }
}
