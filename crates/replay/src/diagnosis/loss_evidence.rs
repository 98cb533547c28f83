//! Evidence from the losses of a flow: whether a queue caused them.

use super::evidence::{Evidence, Scale};
use super::losses::LossSummary;
use super::observations::Observations;

/// The bytes in flight grow if they have this ratio to those of this number of windows before.
const GROWN: f64 = 1.05;
const REGROWTH: usize = 5;

/// Returns for each loss episode whether there was a long queue.
pub(super) fn episodes_at_queue(seen: &Observations, bases: &[f64], scale: &Scale) -> Vec<bool> {
    let bound = f64::max(0.5 * scale.queue95, 0.0015 + 2.0 * scale.jitter);
    let met = |at_ns: u64, round_trip: Option<f32>| {
        round_trip.is_some_and(|rtt| f64::from(rtt) - bases[seen.grid.place(at_ns)] > bound)
    };
    seen.losses.episodes.iter().map(|episode| met(episode.at_ns, episode.round_trip)).collect()
}

/// Records the nearby losses of each window. `width` is that of the windows, in seconds.
pub(super) fn note_losses(found: &mut [Evidence], seen: &Observations, over: &[bool], width: f64, base: f64) {
    let reach = (f64::max(10.0, 20.0 * base) * 1e9) as u64;
    let recent = (f64::max(6.0 * width, 40.0 * base) * 1e9) as u64;
    let episodes = &seen.losses.episodes;
    let mut last_loss: Option<u64> = None;
    for evidence in found.iter_mut() {
        if evidence.losses > 0 {
            last_loss = Some(evidence.to_ns);
        }
        evidence.recent_loss = last_loss.is_some_and(|last| evidence.to_ns < last.saturating_add(recent));
        let from = evidence.from_ns.saturating_sub(reach);
        let first = episodes.partition_point(|episode| episode.at_ns <= from);
        let end = episodes.partition_point(|episode| episode.at_ns < evidence.from_ns.saturating_add(reach));
        evidence.episodes = end.saturating_sub(first) as u32; // bounded by MOST_EPISODES
        if first < end {
            let met = over[first..end].iter().filter(|over| **over).count();
            evidence.at_queue = Some(met as f64 / (end - first) as f64);
            evidence.variation = variation(episodes[first..end].iter().map(|one| f64::from(one.flight)));
        }
    }
    note_regrowth(found);
    note_timeouts(found);
}

/// Records which windows have more bytes in flight than some windows before, without losses in between, and whether a
/// queue caused the last loss.
fn note_regrowth(found: &mut [Evidence]) {
    let mut loss: Option<bool> = None;
    let mut first = 0;
    for place in 0..found.len() {
        let Evidence { losses, packets, flight, at_queue, variation, .. } = found[place];
        if losses > 0 {
            (loss, first) = (Some(is_by_queue(at_queue, variation)), place + 1);
        } else if packets > 0 {
            let earlier = &found[first.max(place.saturating_sub(REGROWTH))..place];
            let least = earlier.iter().find(|one| one.packets > 0).map_or(f64::INFINITY, |one| one.flight);
            found[place].regrows_after_queue = loss.filter(|_| flight > GROWN * least);
        }
    }
}

/// Records which windows without an acknowledgment contain, or are followed by, the retransmission of a lost segment.
fn note_timeouts(found: &mut [Evidence]) {
    let mut repaired = false;
    for evidence in found.iter_mut().rev() {
        repaired = evidence.losses > 0 || evidence.acks == 0 && repaired;
        evidence.timeout = evidence.acks == 0 && repaired;
    }
}

/// Returns the coefficient of variation of at least four values.
fn variation(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let count = values.clone().count();
    if count < 4 {
        return None;
    }
    let mean = values.clone().sum::<f64>() / count as f64;
    let square = values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / count as f64;
    Some(square.sqrt() / mean.max(1.0))
}

/// Returns whether a queue caused losses with this evidence: most occurred at a long queue, or some did and
/// all occurred at about the same amount in flight.
pub(super) fn is_by_queue(at_queue: Option<f64>, variation: Option<f64>) -> bool {
    let bound = if variation.is_some_and(|variation| variation < 0.2) { 0.25 } else { 0.5 };
    at_queue.is_some_and(|share| share >= bound)
}

/// Returns the summary of the flow's losses.
pub(super) fn summary(seen: &Observations, bases: &[f64], over: &[bool]) -> LossSummary {
    let known = seen.losses.episodes.iter().filter_map(|one| Some((one.at_ns, one.round_trip?)));
    let mut queues: Vec<f64> =
        known.map(|(at_ns, rtt)| f64::from(rtt) - bases[seen.grid.place(at_ns)]).collect();
    queues.sort_unstable_by(f64::total_cmp);
    let losses = &seen.losses;
    let met = over.iter().filter(|over| **over).count() as f64;
    let at_queue = (!over.is_empty()).then(|| met / over.len() as f64);
    let flight_variation = variation(losses.episodes.iter().map(|episode| f64::from(episode.flight)));
    LossSummary {
        segments: losses.segments,
        episodes: losses.count,
        needless: losses.needless,
        queue_s: queues.get(queues.len() / 2).copied(),
        at_queue,
        flight_variation,
        by_queue: at_queue.map(|_| is_by_queue(at_queue, flight_variation)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(flight: f64) -> Evidence {
        Evidence { acks: 10, packets: 10, flight, at_queue: Some(1.0), ..Evidence::default() }
    }

    #[test]
    fn slow_growth_after_a_loss_is_noted_until_it_ends() {
        let grows = (0..4).map(|number| sent(100.0 + 3.0 * f64::from(number)));
        let constant = (0..6).map(|_| sent(109.0));
        let mut found = vec![sent(50.0), sent(60.0), Evidence { losses: 1, ..sent(200.0) }];
        found.extend(grows.chain(constant));
        note_regrowth(&mut found);
        let noted: Vec<usize> =
            (0..found.len()).filter(|&place| found[place].regrows_after_queue == Some(true)).collect();
        // Of the windows after the loss, the first is 3; 5 % more than it is reached in window 5.
        assert_eq!(noted, [5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_silence_before_a_retransmission_is_a_timeout() {
        let silent = Evidence { outstanding: true, ..Evidence::default() };
        let repairs = Evidence { losses: 1, ..sent(10.0) };
        let timeouts = |windows: &[Evidence]| {
            let mut found = windows.to_vec();
            note_timeouts(&mut found);
            found.iter().map(|one| one.timeout).collect::<Vec<_>>()
        };
        assert_eq!(timeouts(&[sent(10.0), silent, silent, repairs]), [false, true, true, false]);
        assert_eq!(timeouts(&[silent, Evidence { losses: 1, ..silent }, sent(10.0)]), [true, true, false]);
        assert_eq!(timeouts(&[sent(10.0), silent, sent(10.0), repairs]), [false; 4]);
    }
}
