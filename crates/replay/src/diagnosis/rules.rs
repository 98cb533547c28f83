//! The rules that label windows.

use super::evidence::{Evidence, Scale};
use super::label::Label;
use super::loss_evidence::is_by_queue;

/// The label of a window, and its margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) label: Label,
    /// The margin by which the score of the label exceeds the next one, 0 to 1.
    pub(super) margin: f64,
    pub(super) reason: Reason,
}

/// The basis of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The window itself.
    Window,
    /// The window is as fast as others whose link was full.
    AsFast,
    /// Short segments reveal that the send buffer was empty.
    EmptyBuffer,
    /// Its neighbours have this label.
    Neighbours,
    /// Acknowledgments are so frequent that responses to them cannot be distinguished from constant pacing.
    FrequentAcks,
}

/// Scores of labels without a measured fraction.
const LOSS_SCORE: f64 = 0.9;
const SENDER_WINDOW_SCORE: f64 = 0.8;
const START_UP_SCORE: f64 = 0.7;
const APPLICATION_SCORE: f64 = 0.6;
const EMPTY_BUFFER_SCORE: f64 = 0.9;
/// The deciding share of time or of samples.
const MOST: f64 = 0.5;
/// A share and a number of short segments, in a window and its neighbours, that indicate that the send buffer was
/// empty repeatedly: while data wait, segments are full. One is not enough: it can be the last of a transfer.
const SHORT: f64 = 0.01;
const SHORT_SEGMENTS: f64 = 1.5;
/// A constant sender window changes by less from window to window.
const CONSTANT: f64 = 0.05;
/// A window that grows by more indicates a start or a recovery.
const GROWING: f64 = 0.2;
/// Criteria for other windows that reveal the capacity of the link: their distance in time, their number,
/// their share of all near windows, and the distance of this window and of them from their median rate.
const NEAR_S: f64 = 20.0;
const FEWEST_NEAR: usize = 2;
const NEAR_SHARE: f64 = 0.05;
const AS_FAST: f64 = 0.9;
const EVEN: f64 = 0.1;

/// Labels all windows of a flow.
pub(super) fn label(windows: &[Evidence], scale: &Scale) -> Vec<Verdict> {
    let empties: Vec<bool> = (0..windows.len()).map(|place| empties_buffer(windows, place)).collect();
    let mut verdicts: Vec<Verdict> =
        windows.iter().zip(&empties).map(|(window, &empties)| label_of(window, empties, scale)).collect();
    note_as_fast(&mut verdicts, windows, &empties);
    join_lone_windows(&mut verdicts);
    verdicts
}

fn label_of(window: &Evidence, empties_buffer: bool, scale: &Scale) -> Verdict {
    let found = |label, score: f64, next: f64| Verdict {
        label,
        margin: (score - next).clamp(0.0, 1.0),
        reason: Reason::Window,
    };
    if window.acks == 0 {
        let label = match (window.shut, window.outstanding) {
            (true, _) => Label::Receiver,
            (false, true) if window.timeout => {
                return found(loss_label(is_by_queue(window.at_queue, window.variation)), 0.0, 0.0);
            }
            (false, true) => Label::Stall,
            (false, false) => Label::Application,
        };
        return found(label, 1.0, 0.0);
    }
    let (queued, full) = (window.queued, window.full);
    if window.idle >= MOST && full < MOST {
        return found(Label::Application, window.idle, 1.0 - window.idle);
    }
    let lost = if window.recent_loss { LOSS_SCORE } else { 0.0 };
    if full >= MOST && full > queued {
        return found(Label::Receiver, full, queued);
    }
    let grows = window.growth.is_none_or(|growth| growth >= GROWING);
    if empties_buffer && (queued >= MOST || !grows) {
        let reason = Reason::EmptyBuffer;
        return Verdict { reason, ..found(Label::Application, EMPTY_BUFFER_SCORE, 0.0) };
    }
    if queued >= MOST && waits_on_reverse_path(window, scale) {
        return found(Label::ReversePath, queued, full);
    }
    if window.marks > 0 {
        return found(Label::Bottleneck, LOSS_SCORE.max(queued), full);
    }
    if queued >= MOST {
        return found(Label::Bottleneck, queued, full);
    }
    let next = queued.max(full);
    if window.recent_loss {
        return found(loss_label(is_by_queue(window.at_queue, window.variation)), lost, next);
    }
    let pauses = window.clocked < MOST || window.silence > 2.0 * scale.median || window.short > 0.3;
    if !grows && pauses {
        return found(Label::Application, (1.0 - window.clocked).max(APPLICATION_SCORE), next);
    }
    if let Some(by_queue) = window.regrows_after_queue {
        return found(loss_label(by_queue), 0.0, 0.0);
    }
    if window.packets > 3 && window.growth.is_some_and(|growth| growth.abs() < CONSTANT) {
        let reason = if window.by_chance < MOST { Reason::Window } else { Reason::FrequentAcks };
        return Verdict { reason, ..found(Label::SenderWindow, SENDER_WINDOW_SCORE, next) };
    }
    found(Label::StartUp, START_UP_SCORE, next)
}

/// Returns the label of a window that losses limit.
fn loss_label(by_queue: bool) -> Label {
    if by_queue { Label::Overflow } else { Label::RandomLoss }
}

/// Returns whether the application had nothing more to send in a window, and repeatedly in it and its neighbours. The
/// queue may be long nevertheless: other flows can fill it.
fn empties_buffer(windows: &[Evidence], place: usize) -> bool {
    let near = &windows[place.saturating_sub(1)..windows.len().min(place + 2)];
    let packets: f64 = near.iter().map(|window| f64::from(window.packets)).sum();
    let short: f64 = near.iter().map(|window| window.short * f64::from(window.packets)).sum();
    windows[place].short > 0.0 && short >= SHORT_SEGMENTS.max(SHORT * packets)
}

/// Returns whether packets wait longer on the reverse path than on the forward path, according to the receiver's clock.
fn waits_on_reverse_path(window: &Evidence, scale: &Scale) -> bool {
    let (Some(there), Some(back), Some(tick)) = (window.there, window.back, scale.tick) else { return false };
    back > there.max(2.0 * tick)
}

/// Labels a window that is as fast as nearby windows whose link was full: it is limited by the link as well.
fn note_as_fast(verdicts: &mut [Verdict], windows: &[Evidence], empties: &[bool]) {
    let full: Vec<(u64, f64)> = verdicts
        .iter()
        .zip(windows)
        .filter(|(verdict, _)| verdict.label == Label::Bottleneck)
        .map(|(_, window)| (window.from_ns, window.rate))
        .collect();
    for ((verdict, window), &empties_buffer) in verdicts.iter_mut().zip(windows).zip(empties) {
        let may_be = matches!(
            verdict.label,
            Label::Application | Label::SenderWindow | Label::StartUp | Label::Overflow
        );
        if !may_be || window.full >= MOST || empties_buffer {
            continue;
        }
        let reach = (NEAR_S.max(8.0 * window.seconds()) * 1e9) as u64;
        let first = full.partition_point(|(from, _)| from.saturating_add(reach) < window.from_ns);
        let end = full.partition_point(|(from, _)| *from < window.from_ns.saturating_add(reach));
        let mut rates: Vec<f64> = full[first..end.max(first)].iter().map(|(_, rate)| *rate).collect();
        rates.sort_unstable_by(f64::total_cmp);
        let near = 2.0 * reach as f64 * 1e-9 / window.seconds();
        let near = near.min(windows.len() as f64);
        let enough = FEWEST_NEAR.max((NEAR_SHARE * near) as usize); // at most the number of windows
        if rates.len() < enough {
            continue;
        }
        // Of two or three rates, the smallest and the largest.
        let last = rates.len() - 1;
        let [low, median, high] = [last / 4, last / 2, (3 * last).div_ceil(4)].map(|place| rates[place]);
        let as_fast = AS_FAST * median..=median / AS_FAST;
        if high - low <= EVEN * median && as_fast.contains(&window.rate) {
            *verdict = Verdict { label: Label::Bottleneck, margin: 0.0, reason: Reason::AsFast };
        }
    }
}

/// Relabels a window between two windows of one other label if its own label is not clear.
fn join_lone_windows(verdicts: &mut [Verdict]) {
    for place in 1..verdicts.len().saturating_sub(1) {
        let (before, after) = (verdicts[place - 1].label, verdicts[place + 1].label);
        let verdict = &mut verdicts[place];
        if before == after && before != verdict.label && verdict.margin < MOST {
            *verdict = Verdict { label: before, margin: 0.0, reason: Reason::Neighbours };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Label::{Application, Bottleneck};
    use super::*;

    /// Returns a window of half a second that is limited only by its application.
    fn window(number: u64) -> Evidence {
        Evidence {
            from_ns: number * 500_000_000,
            to_ns: (number + 1) * 500_000_000,
            acks: 100,
            packets: 200,
            rate: 1e6,
            clocked: 0.1,
            growth: Some(0.0),
            ..Evidence::default()
        }
    }

    fn labels(windows: &[Evidence]) -> Vec<Label> {
        let scale = Scale { base: 0.04, median: 0.04, tick: Some(0.001), ..Scale::default() };
        label(windows, &scale).iter().map(|verdict| verdict.label).collect()
    }

    #[test]
    fn each_rule_returns_its_label() {
        let silent = Evidence { acks: 0, packets: 0, ..window(0) };
        let lossy = Evidence { recent_loss: true, ..window(0) };
        let clocked = Evidence { clocked: 0.9, ..window(0) };
        for (expected, one) in [
            (Label::Application, window(0)),
            (Label::Application, silent),
            (Label::Stall, Evidence { outstanding: true, ..silent }),
            (Label::RandomLoss, Evidence { outstanding: true, timeout: true, ..silent }),
            (Label::Overflow, Evidence { regrows_after_queue: Some(true), ..clocked }),
            (Label::Receiver, Evidence { shut: true, ..silent }),
            // A burst filled the link, then the application paused.
            (Label::Application, Evidence { idle: 0.7, queued: 0.9, ..window(0) }),
            (Label::Receiver, Evidence { idle: 0.7, full: 0.8, queued: 0.3, ..window(0) }),
            (Label::Receiver, Evidence { full: 0.8, queued: 0.3, short: 0.1, ..window(0) }),
            // Another flow fills the link. The last segment of a transfer is short.
            (Label::Application, Evidence { queued: 1.0, short: 0.1, ..window(0) }),
            (Label::Bottleneck, Evidence { queued: 1.0, short: 0.1, packets: 10, ..window(0) }),
            (Label::Bottleneck, Evidence { full: 0.8, queued: 0.9, ..window(0) }),
            (Label::Bottleneck, Evidence { marks: 1, ..window(0) }),
            (Label::ReversePath, Evidence { queued: 0.9, there: Some(0.0), back: Some(0.1), ..window(0) }),
            // The two queues together are long, each alone is not.
            (
                Label::ReversePath,
                Evidence { queued: 0.9, long: 0.03, there: Some(0.01), back: Some(0.02), ..window(0) },
            ),
            (Label::Bottleneck, Evidence { queued: 0.9, there: Some(0.2), back: Some(0.1), ..window(0) }),
            (Label::Overflow, Evidence { at_queue: Some(0.7), variation: Some(0.5), ..lossy }),
            (Label::Overflow, Evidence { at_queue: Some(0.3), variation: Some(0.1), ..lossy }),
            (Label::RandomLoss, Evidence { at_queue: Some(0.0), variation: Some(0.1), ..lossy }),
            (Label::RandomLoss, Evidence { at_queue: Some(0.2), variation: Some(0.7), ..lossy }),
            (Label::SenderWindow, clocked),
            (Label::StartUp, Evidence { growth: Some(0.5), short: 0.1, ..clocked }),
            (Label::StartUp, Evidence { growth: Some(0.5), ..window(0) }),
            (Label::Application, Evidence { silence: 0.2, ..clocked }),
        ] {
            assert_eq!(labels(&[one]), [expected], "{one:?}");
        }
    }

    #[test]
    fn a_short_segment_in_each_of_three_windows_reveals_an_application_that_writes() {
        let writes = |number| Evidence { queued: 1.0, short: 1.0 / 70.0, packets: 70, ..window(number) };
        let full = |number| Evidence { queued: 1.0, ..window(number) };
        assert_eq!(labels(&[writes(0), writes(1), writes(2)]), [Application; 3]);
        assert_eq!(labels(&[full(0), writes(1), full(2)]), [Bottleneck; 3]);
        assert_eq!(labels(&[writes(0), full(1), full(2), writes(3)]), [Bottleneck; 4]);
    }

    #[test]
    fn a_constant_window_between_frequent_acknowledgments_is_not_sure() {
        let reason = |by_chance| {
            let one = Evidence { clocked: 0.9, by_chance, ..window(0) };
            let verdict = label(&[one], &Scale::default())[0];
            (verdict.label, verdict.reason)
        };
        assert_eq!(reason(0.3), (Label::SenderWindow, Reason::Window));
        assert_eq!(reason(0.9), (Label::SenderWindow, Reason::FrequentAcks));
    }

    #[test]
    fn two_full_windows_of_different_rates_reveal_no_capacity() {
        let full = |number, rate| Evidence { queued: 0.9, rate, ..window(number) };
        let found = |second| labels(&[window(0), full(1, 1e6), window(2), window(3), full(4, second)]);
        assert_eq!(found(1.05e6), [Bottleneck; 5]);
        assert_eq!(found(1.5e6), [Application, Bottleneck, Application, Application, Bottleneck]);
    }

    #[test]
    fn a_window_as_fast_as_full_windows_is_full_and_a_single_window_takes_its_neighbours_label() {
        let full = |number| Evidence { queued: 0.9, ..window(number) };
        let paced = |number, rate| Evidence { rate, ..window(number) };
        let found = labels(&[full(0), paced(1, 0.95e6), full(2), paced(3, 0.5e6), paced(4, 0.5e6), full(5)]);
        assert_eq!(found, [Bottleneck, Bottleneck, Bottleneck, Application, Application, Bottleneck]);
        let unclear = Evidence { clocked: 0.45, queued: 0.3, ..paced(1, 0.5e6) };
        assert_eq!(labels(&[full(0), unclear, full(2)]), [Bottleneck; 3]);
    }
}
