//! Measurements of one direction of a flow during the replay of its acknowledgments.

use std::net::SocketAddr;

use airpath_estimate::AckRate;
use airpath_model::{
    AckEvent, AckRateEstimator, AckRateRequirements, CongestionEvent, Duration, NullProbe, Timestamp,
};
use hdrhistogram::Histogram;

use crate::estimators::NamedEstimator;
use crate::result::EstimateResult;
use crate::series::Series;

/// An observer of every replayed acknowledgment, for callers that need more than tables.
pub trait AckObserver {
    /// Observes a replayed acknowledgment; `estimates` are in byte/s, in the order of the configured
    /// estimators.
    fn on_ack(
        &mut self,
        source: SocketAddr,
        destination: SocketAddr,
        event: &AckEvent,
        estimates: &[Option<f64>],
    );
}

/// An observer that does nothing.
pub(crate) struct Unobserved;

impl AckObserver for Unobserved {
    fn on_ack(&mut self, _: SocketAddr, _: SocketAddr, _: &AckEvent, _: &[Option<f64>]) {}
}

/// Estimators and time series of one direction.
#[derive(Debug)]
pub(crate) struct Measured {
    tracks: Vec<Track>,
    estimates: Vec<Option<f64>>,
    pub(crate) series: Series,
    rtt: Histogram<u32>,
    rtt_extremes: Option<(Duration, Duration)>,
    rated: bool,
    pub(crate) acked: u64,
    pub(crate) acks: u64,
    pub(crate) last_delivery: Option<Timestamp>,
}

/// An estimator and the mean of its estimate.
#[derive(Debug)]
struct Track {
    name: String,
    estimator: AckRate,
    /// Times of the first and the latest estimate, and the integral between them.
    span: Option<(Timestamp, Timestamp)>,
    value: f64,
    integral: f64,
}

impl Measured {
    pub(crate) fn new(now: Timestamp, estimators: &[NamedEstimator], tick: Option<Duration>) -> Self {
        Self::with_columns(now, estimators, tick, 0)
    }

    /// Creates the measurements with additional columns in the series, after those of the estimators.
    pub(crate) fn with_columns(
        now: Timestamp,
        estimators: &[NamedEstimator],
        tick: Option<Duration>,
        more: usize,
    ) -> Self {
        let tracks: Vec<Track> = estimators
            .iter()
            .map(|one| Track {
                name: one.name().to_owned(),
                estimator: one.estimator(tick),
                span: None,
                value: 0.0,
                integral: 0.0,
            })
            .collect();
        Self {
            estimates: vec![None; tracks.len()],
            series: Series::new(now, tracks.len() + more),
            tracks,
            rtt: Histogram::new(2).expect("two digits are allowed"),
            rtt_extremes: None,
            rated: false,
            acked: 0,
            acks: 0,
            last_delivery: None,
        }
    }

    pub(crate) fn on_congestion(&mut self, event: &CongestionEvent) {
        for track in &mut self.tracks {
            track.estimator.on_congestion(event);
        }
    }

    /// Processes an acknowledgment; `round_trip` is the RTT for the tables, if there is a sample.
    pub(crate) fn on_ack(&mut self, event: &AckEvent, round_trip: Option<Duration>) -> &[Option<f64>] {
        let bin = self.series.bin(event.now);
        self.series.on_delivered(bin, event.acked, event.newly_lost, event.congestion_experienced);
        if let Some(sample) = round_trip {
            self.series.on_rtt(bin, sample);
            // In microseconds. The histogram grows by a few kilobytes for any RTT.
            let _ = self.rtt.record(sample.as_nanos() / 1_000);
            let (least, most) = self.rtt_extremes.get_or_insert((sample, sample));
            (*least, *most) = (sample.min(*least), sample.max(*most));
        }
        self.acks += 1;
        self.acked += event.acked.get();
        self.rated |= event.rate.is_some();
        if !event.acked.is_zero() {
            self.last_delivery = Some(event.now);
        }
        for ((track, estimate), column) in
            self.tracks.iter_mut().zip(&mut self.estimates).zip(&mut self.series.estimates)
        {
            track.estimator.on_ack(event, &mut NullProbe);
            *estimate = track.estimator.bandwidth().filter(|bandwidth| bandwidth.is_finite());
            if let Some(bandwidth) = *estimate {
                track.note(event.now, bandwidth);
                column[bin] = bandwidth * 8.0;
            }
        }
        &self.estimates
    }

    /// Returns the smallest, median and largest RTT.
    pub(crate) fn round_trips(&self) -> Option<(u64, u64, u64)> {
        let (least, most) = self.rtt_extremes?;
        let median = self.rtt.value_at_quantile(0.5).saturating_mul(1_000);
        Some((least.as_nanos(), median.clamp(least.as_nanos(), most.as_nanos()), most.as_nanos()))
    }

    pub(crate) fn samples(&self) -> u64 {
        self.rtt.len()
    }

    /// Returns the result of each estimator, or the reason why it has none.
    pub(crate) fn finish(self, timestamps: bool, tick: Option<Duration>) -> (Vec<EstimateResult>, Series) {
        let seen = Seen {
            acknowledgments: self.acks > 0,
            timestamps,
            ticked: tick.is_some(),
            round_trips: self.rtt_extremes.is_some(),
            rates: self.rated,
        };
        let results = self
            .tracks
            .into_iter()
            .map(|track| {
                let needs = track.estimator.requirements();
                let missing = track.span.is_none().then(|| reason(needs, &seen));
                EstimateResult {
                    mean_bps: track.mean().map(|mean| mean * 8.0),
                    last_bps: track.span.map(|_| track.value * 8.0),
                    name: track.name,
                    missing,
                }
            })
            .collect();
        (results, self.series)
    }
}

impl Track {
    fn note(&mut self, now: Timestamp, bandwidth: f64) {
        match &mut self.span {
            Some((_, latest)) => {
                self.integral += self.value * now.since(*latest).as_secs_f64();
                *latest = now;
            }
            None => self.span = Some((now, now)),
        }
        self.value = bandwidth;
    }

    fn mean(&self) -> Option<f64> {
        let (first, latest) = self.span?;
        let seconds = latest.since(first).as_secs_f64();
        Some(if seconds > 0.0 { self.integral / seconds } else { self.value })
    }
}

/// The inputs that a flow provided to estimators.
struct Seen {
    acknowledgments: bool,
    timestamps: bool,
    ticked: bool,
    round_trips: bool,
    rates: bool,
}

/// Returns the reason why an estimator has no result.
fn reason(needs: AckRateRequirements, seen: &Seen) -> &'static str {
    if !seen.acknowledgments {
        "no acknowledgments were captured"
    } else if needs.receiver_time && !seen.timestamps {
        "the receiver sends no timestamps"
    } else if needs.receiver_time && !seen.ticked {
        "the receiver's timestamps do not advance at the beginning of the flow"
    } else if needs.rtt && !seen.round_trips {
        "no round trip could be measured"
    } else if needs.rate_samples && !seen.rates {
        "no delivery-rate sample could be taken"
    } else {
        "too few acknowledgments that it can use"
    }
}
