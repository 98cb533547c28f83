//! The diagnosis of a flow.

use super::answer::Answer;
use super::confidence::probability;
use super::delivery::Delivery;
use super::evidence::{Evidence, evaluate};
use super::label::Label;
use super::losses::LossSummary;
use super::observations::Observations;
use super::policer::Policer;
use super::rules::{Verdict, label};
use super::transmissions::Transmission;

/// The limit of a flow in a window of time, with its evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitWindow {
    /// The start, in nanoseconds since the first packet of the capture.
    pub from_ns: u64,
    /// The end, in nanoseconds since the first packet of the capture.
    pub to_ns: u64,
    /// The limit of the flow.
    pub label: Label,
    /// Probability that the label is right, 0 to 1.
    pub confidence: f64,
    /// The margin by which the score of the label exceeds the next one, 0 to 1.
    pub margin: f64,
    /// Payload delivered, bytes.
    pub bytes: u64,
    /// Share of round trips with a long queue, 0 to 1.
    pub queued: f64,
    /// Share of time in which the receive window was full, 0 to 1.
    pub full: f64,
    /// Share of data packets sent in response to acknowledgments, beyond chance, 0 to 1.
    pub clocked: f64,
    /// Median queueing delay, seconds.
    pub queue_s: Option<f64>,
    /// The part of the queueing delay on the forward path, in seconds, if the receiver's clock reveals it.
    pub there_s: Option<f64>,
    /// The part of the queueing delay on the reverse path, in seconds, if the receiver's clock reveals it.
    pub back_s: Option<f64>,
    /// Number of loss episodes near the window.
    pub episodes: u64,
    /// Share of these episodes with a long queue, 0 to 1.
    pub at_queue: Option<f64>,
    /// Coefficient of variation of the bytes in flight at the start of these episodes.
    pub spread: Option<f64>,
    /// Segments lost.
    pub losses: u64,
    /// Acknowledgments that report congestion marks.
    pub marks: u64,
}

/// The limits of a flow over time, and its bandwidth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// Windows of time, in order, without gaps; none if the capture contains no packet of the receiver.
    pub windows: Vec<LimitWindow>,
    /// The bandwidth.
    pub answer: Answer,
    /// The rate of the link by packets sent back to back, bit/s, if it serves evenly.
    pub even_rate_bps: Option<f64>,
    /// The losses.
    pub losses: LossSummary,
    /// The detected policers (token buckets that drop).
    pub policers: Vec<Policer>,
    /// The delivery over time, for totals.
    pub delivery: Delivery,
    /// Whether losses occurred without a queue, and the transmissions around them, for the policer test.
    pub(super) may_be_policed: bool,
    pub(super) transmissions: Vec<Transmission>,
    /// Median round trip, nanoseconds.
    pub(super) round_trip_ns: u64,
}

impl Observations {
    /// Evaluates the observations. `tick` is the tick of the receiver's clock, in seconds.
    pub(crate) fn finish(mut self, tick: Option<f64>) -> Diagnosis {
        self.end();
        let (scale, evidence, losses) = evaluate(&self, tick);
        let verdicts = label(&evidence, &scale);
        let started = verdicts.iter().take_while(|verdict| verdict.label == Label::StartUp).count();
        let places = evidence.iter().zip(&verdicts).enumerate();
        let windows: Vec<LimitWindow> =
            places.map(|(place, (evidence, verdict))| limit(evidence, verdict, place < started)).collect();
        let to_ns = self.last_delivery_ns.unwrap_or(self.start_ns);
        let grid = &self.grid;
        let delivery =
            Delivery::new(&grid.windows, grid.width_ns, grid.first, (self.start_ns, to_ns), &windows);
        let may_be_policed = losses.at_queue < Some(0.5)
            && losses.queue_s.is_some_and(|queue| queue <= LONGEST_QUEUE_S + 2.0 * scale.jitter);
        Diagnosis {
            answer: delivery.answer(),
            even_rate_bps: self.pairs.even_rate(),
            windows,
            losses,
            policers: Vec::new(),
            delivery,
            may_be_policed,
            transmissions: if may_be_policed { self.transmissions.sent } else { Vec::new() },
            round_trip_ns: (scale.median * 1e9) as u64,
        }
    }
}

impl Diagnosis {
    /// Removes what a capture without packets of the receiver cannot show: limits, and the causes of losses.
    pub(crate) fn without_receiver(self) -> Self {
        let losses = LossSummary { at_queue: None, by_queue: None, ..self.losses };
        Self { windows: Vec::new(), losses, may_be_policed: false, transmissions: Vec::new(), ..self }
    }
}

/// At a policer, packets around a loss wait no longer than this.
const LONGEST_QUEUE_S: f64 = 0.002;

pub(super) fn limit(evidence: &Evidence, verdict: &Verdict, begins: bool) -> LimitWindow {
    LimitWindow {
        from_ns: evidence.from_ns,
        to_ns: evidence.to_ns,
        label: verdict.label,
        confidence: probability(verdict, begins),
        margin: verdict.margin,
        bytes: evidence.delivered,
        queued: evidence.queued,
        full: evidence.full,
        clocked: evidence.clocked,
        queue_s: evidence.queue,
        there_s: evidence.there,
        back_s: evidence.back,
        episodes: evidence.episodes.into(),
        at_queue: evidence.at_queue,
        spread: evidence.variation,
        losses: evidence.losses.into(),
        marks: evidence.marks.into(),
    }
}
