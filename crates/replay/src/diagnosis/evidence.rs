//! Evidence from the windows of a flow, by thresholds that depend on the whole flow.

use super::grid::join;
use super::loss_evidence::{episodes_at_queue, note_losses, summary};
use super::losses::LossSummary;
use super::observations::Observations;
use super::samples::{Quantiles, weighted_quantile};
use super::window::Window;

/// Minimum length of a window, in round trips.
const ROUND_TRIPS: f64 = 6.0;
/// The smallest round trip is taken over this many seconds before and after.
const BASE_REACH_S: f64 = 60.0;
/// The smallest delays by the receiver's clock are taken over this many seconds before and after.
const DELAY_REACH_S: f64 = 10.0;

/// Share of round trips with a long queue that indicates a bandwidth probe.
const PROBED: f64 = 0.1;

/// Properties of the whole flow. Times in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scale {
    pub(super) base: f64,
    pub(super) median: f64,
    /// Median difference of successive round trips.
    pub(super) jitter: f64,
    /// 95th percentile of the queueing delay.
    pub(super) queue95: f64,
    /// Tick of the receiver's clock, if its timestamps were used.
    pub(super) tick: Option<f64>,
}

/// Evidence from one window. Times in seconds unless their names state otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) acks: u32,
    pub(super) packets: u32,
    pub(super) delivered: u64,
    /// Delivery rate, bit/s.
    pub(super) rate: f64,
    /// Queueing delay: the median, and the threshold of a long queue.
    pub(super) queue: Option<f64>,
    pub(super) long: f64,
    /// Share of round trips with a long queue, 0 to 1.
    pub(super) queued: f64,
    /// Queueing delay of the forward and of the reverse path, if the receiver's clock reveals them.
    pub(super) there: Option<f64>,
    pub(super) back: Option<f64>,
    /// Share of time in which the receive window was full.
    pub(super) full: f64,
    /// Share of time in which everything sent was acknowledged.
    pub(super) idle: f64,
    /// Share of data packets sent in response to acknowledgments, beyond chance.
    pub(super) clocked: f64,
    /// Share of packets that follow an acknowledgment by chance, because acknowledgments are frequent.
    pub(super) by_chance: f64,
    /// 95th percentile of the bytes in flight, and its growth since the previous window.
    pub(super) flight: f64,
    pub(super) growth: Option<f64>,
    /// The longest time without a data packet.
    pub(super) silence: f64,
    /// Share of segments that are not full.
    pub(super) short: f64,
    pub(super) losses: u32,
    pub(super) marks: u32,
    pub(super) outstanding: bool,
    pub(super) shut: bool,
    /// Whether a loss occurred in this window or shortly before.
    pub(super) recent_loss: bool,
    /// Whether it has no acknowledgment because a lost segment waits for its retransmission.
    pub(super) timeout: bool,
    /// If the bytes in flight have grown since a loss: whether a queue caused it.
    pub(super) regrows_after_queue: Option<bool>,
    /// Nearby loss episodes: their number, the share with a long queue, and the variation of the bytes in
    /// flight.
    pub(super) episodes: u32,
    pub(super) at_queue: Option<f64>,
    pub(super) variation: Option<f64>,
}

impl Evidence {
    /// Returns the width in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.to_ns.saturating_sub(self.from_ns) as f64 * 1e-9
    }
}

/// Evaluates the windows and the losses of a flow.
pub(super) fn evaluate(seen: &Observations, tick: Option<f64>) -> (Scale, Vec<Evidence>, LossSummary) {
    let width = seen.grid.width_ns as f64 * 1e-9;
    let bases = bases(&seen.grid.windows, width);
    let mut scale = scale(&seen.grid.windows, &bases);
    let spans = spans(seen, (ROUND_TRIPS * scale.base / width).ceil().clamp(1.0, 1e6) as usize);
    let joined: Vec<Window> =
        spans.iter().map(|(first, end)| join(&seen.grid.windows[*first..*end])).collect();
    scale.tick = tick.filter(|_| joined.iter().any(|window| window.there.count() > 0));
    let mut found: Vec<Evidence> = Vec::with_capacity(spans.len());
    for ((first, end), window) in spans.iter().copied().zip(&joined) {
        let from_ns = seen.grid.start_of(first).max(seen.start_ns);
        let to_ns = seen.grid.start_of(end).min(seen.last_ns).max(from_ns + 1);
        let mut evidence = Evidence { from_ns, to_ns, ..plain(window) };
        measure(&mut evidence, window, seen, bases[first], &scale);
        let before = found.iter().rev().find(|earlier| earlier.packets > 0).map(|earlier| earlier.flight);
        evidence.growth = before.filter(|before| *before > 0.0).map(|before| evidence.flight / before - 1.0);
        found.push(evidence);
    }
    split_delays(&mut found, &joined, scale.tick.unwrap_or(0.0));
    let over = episodes_at_queue(seen, &bases, &scale);
    let width = seen.grid.width_ns as f64 * 1e-9 * spans.first().map_or(1, |(first, end)| end - first) as f64;
    note_losses(&mut found, seen, &over, width, scale.base);
    let losses = summary(seen, &bases, &over);
    (scale, found, losses)
}

/// Returns the smallest round trip around each window, in seconds.
fn bases(windows: &[Window], width: f64) -> Vec<f64> {
    let reach = (BASE_REACH_S / width) as usize;
    let least: Vec<f64> =
        windows.iter().map(|window| window.rtt.quantile(0.0).map_or(f64::INFINITY, f64::from)).collect();
    let whole = least.iter().copied().fold(f64::INFINITY, f64::min);
    let around = |place: usize| {
        let to = (place + reach + 1).min(least.len());
        least[place.saturating_sub(reach)..to].iter().copied().fold(f64::INFINITY, f64::min)
    };
    let known = |base: f64| if base.is_finite() { base } else { whole };
    (0..least.len())
        .map(|place| if least.len() <= 2 * reach { whole } else { known(around(place)) })
        .collect()
}

fn scale(windows: &[Window], bases: &[f64]) -> Scale {
    let mut round_trips: Vec<(f32, f32)> = windows.iter().flat_map(|window| window.rtt.weighted()).collect();
    let mut queues: Vec<(f32, f32)> = windows
        .iter()
        .zip(bases)
        .flat_map(|(window, base)| window.rtt.weighted().map(|(rtt, weight)| (rtt - *base as f32, weight)))
        .collect();
    let mut steps: Vec<(f32, f32)> = windows
        .iter()
        .filter_map(|window| Some((window.step.quantile(0.5)?, window.step.count() as f32)))
        .collect();
    let of = |values: &mut [(f32, f32)], share| weighted_quantile(values, share).map_or(0.0, f64::from);
    Scale {
        base: bases.iter().copied().fold(f64::INFINITY, f64::min).min(1e9),
        median: of(&mut round_trips, 0.5),
        jitter: of(&mut steps, 0.5),
        queue95: of(&mut queues, 0.95),
        tick: None,
    }
}

/// Returns the spans of grid windows that are evaluated together: `count` each; the first and the last are
/// merged with their neighbours if they are cut short.
fn spans(seen: &Observations, count: usize) -> Vec<(usize, usize)> {
    let length = seen.grid.place(seen.last_ns) + 1;
    let mut spans: Vec<(usize, usize)> =
        (0..length).step_by(count).map(|first| (first, (first + count).min(length))).collect();
    let half = seen.grid.width_ns.saturating_mul(count as u64) / 2;
    if let [.., before, last] = spans.as_mut_slice()
        && seen.last_ns.saturating_sub(seen.grid.start_of(last.0)) < half
    {
        before.1 = last.1;
        spans.pop();
    }
    if let [first, second, ..] = spans.as_mut_slice()
        && seen.grid.start_of(first.1).saturating_sub(seen.start_ns) < half
    {
        second.0 = first.0;
        spans.remove(0);
    }
    spans
}

fn plain(window: &Window) -> Evidence {
    Evidence {
        acks: window.acks,
        packets: window.packets,
        delivered: window.delivered,
        flight: window.flight.quantile(0.95).map_or(0.0, f64::from),
        short: f64::from(window.short) / f64::from(window.packets.max(1)),
        losses: window.losses,
        marks: window.marks,
        outstanding: window.outstanding,
        shut: window.shut,
        ..Evidence::default()
    }
}

fn measure(found: &mut Evidence, window: &Window, seen: &Observations, base: f64, scale: &Scale) {
    let seconds = found.seconds();
    found.rate = found.delivered as f64 * 8.0 / seconds;
    found.full = if seen.window_refuted { 0.0 } else { (window.full_ns as f64 * 1e-9 / seconds).min(1.0) };
    found.idle = (window.idle_ns as f64 * 1e-9 / seconds).min(1.0);
    let nanos = |from: u64, to: u64| to.saturating_sub(from) as f64 * 1e-9;
    found.silence = window.sent.map_or(seconds, |(first, last)| {
        nanos(found.from_ns, first).max(nanos(last, found.to_ns)).max(window.silence_ns as f64 * 1e-9)
    });
    let answer = f64::max(0.0004, 0.01 * base.min(1e3));
    let chance = 1.0 - libm::exp(-answer * f64::from(window.acks) / seconds);
    let near = f64::from(window.near) / f64::from(window.packets.max(1));
    found.clocked = if chance < 1.0 { ((near - chance) / (1.0 - chance)).max(0.0) } else { 0.0 };
    found.by_chance = chance;
    // The transmission time of one packet at this rate: by Little's law, a queue of n packets waits n times
    // as long.
    let packet = 8.0 * seen.mss as f64 / found.rate.max(1e3);
    let queue = |share: f32| window.rtt.quantile(share).map(|rtt| f64::from(rtt) - base);
    let (Some(median), Some(low)) = (queue(0.5), queue(0.2)) else { return };
    found.queue = Some(median);
    found.long = f64::max(0.003, 0.12 * base).max(2.0 * scale.jitter).max(3.0 * packet);
    let long = f64::from(window.rtt.share_above((base + found.long) as f32));
    found.queued = long;
    if low < f64::max(0.002, 0.04 * base).max(packet).max(window.lone_wait()) {
        found.queued = found.queued.min(0.3); // it is intermittent: the scheduler of the link, not the flow
    }
    if is_steady(&window.rates, found.rate) && window.rtt.count() >= 8 {
        // A sender that keeps the queue short, or one that fills it occasionally without being faster.
        if median >= 1.2 * packet && low >= 0.5 * packet && found.clocked >= 0.4 {
            found.queued = found.queued.max(0.7);
        } else if long >= PROBED {
            found.queued = found.queued.max(0.6);
        }
    }
}

/// Returns whether acknowledgments arrive as evenly as from a link that is always busy.
fn is_steady(rates: &Quantiles<5>, rate: f64) -> bool {
    let quartiles = (rates.quantile(0.25), rates.quantile(0.5), rates.quantile(0.75));
    let (Some(low), Some(median), Some(high)) = quartiles else { return false };
    rates.count() >= 8 && high - low < 0.3 * median && rate >= 0.9 * f64::from(median)
}

/// Splits the queueing delay by direction: medians minus the smallest nearby values.
fn split_delays(found: &mut [Evidence], windows: &[Window], tick: f64) {
    let reach = (DELAY_REACH_S * 1e9) as u64;
    let starts: Vec<u64> = found.iter().map(|one| one.from_ns).collect();
    for (place, evidence) in found.iter_mut().enumerate() {
        let first = starts.partition_point(|start| start.saturating_add(reach) < starts[place]);
        let end = starts.partition_point(|start| *start <= starts[place].saturating_add(reach));
        let queue = |of: fn(&Window) -> &Quantiles<3>| {
            let least = windows[first..end].iter().filter_map(|one| of(one).quantile(0.0));
            let least = least.fold(f32::INFINITY, f32::min);
            of(&windows[place]).quantile(0.5).map(|median| f64::from(median - least))
        };
        let (Some(there), Some(back)) = (queue(|one| &one.there), queue(|one| &one.back)) else { continue };
        // The two add up to the queueing delay, unless the tick of the receiver's clock was estimated
        // wrongly.
        if there + back <= 2.0 * evidence.queue.unwrap_or(0.0) + 8.0 * tick.max(0.001) {
            (evidence.there, evidence.back) = (Some(there), Some(back));
        }
    }
}
