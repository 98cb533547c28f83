//! Step-by-step runs: a run stops at the end of each interval, returns the observations of an externally
//! controlled sender, and takes new limits for it.

use airpath_model::{Bytes, Rate, RttEstimate, SenderReport, Steering, Timestamp};
use airpath_network::{LinkStep, RunControl};

use crate::simulation::{Cancelled, Simulation};

/// The result of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The end time of the step.
    pub now: Timestamp,
    /// The observations of the sender in the step.
    pub report: SenderReport,
    /// The round-trip time estimates of the transport; zero before the first sample.
    pub rtt: RttEstimate,
    /// The payload in flight at the end of the step.
    pub in_flight: Bytes,
    /// The current window.
    pub window: Bytes,
    /// The current pacing rate, if packets are paced.
    pub pacing_rate: Option<Rate>,
    /// Whether the flow had data to send at the end of the step.
    pub active: bool,
    /// Whether the flow has sent all its data, and all of it has arrived.
    pub over: bool,
    /// The state of the flow's measuring link, if recorded; no sender can observe it.
    pub link: Option<LinkStep>,
}

impl Step {
    /// The names of [`Step::values`], with their units; no sender can observe those that start with `link_`.
    pub const QUANTITIES: [&'static str; 19] = [
        "time_s",
        "sent_bytes",
        "acked_bytes",
        "lost_bytes",
        "timeouts",
        "rtt_s",
        "rtt_latest_s",
        "rtt_smoothed_s",
        "rtt_min_s",
        "in_flight_bytes",
        "window_bytes",
        "pacing_rate_bps",
        "active",
        "over",
        "rtt_samples",
        "link_offered_bytes",
        "link_departed_bytes",
        "link_dropped_packets",
        "link_queue_bytes",
    ];

    /// Returns the step as numbers; NaN for missing values.
    pub fn values(&self) -> [f64; Self::QUANTITIES.len()] {
        let Self { report, rtt, link, .. } = self;
        let known = |span: airpath_model::Duration| {
            if rtt.minimum.is_zero() { f64::NAN } else { span.as_secs_f64() }
        };
        let of_link = |value: fn(&LinkStep) -> f64| link.as_ref().map_or(f64::NAN, value);
        [
            self.now.as_secs_f64(),
            report.sent.as_f64(),
            report.acked.as_f64(),
            report.lost.as_f64(),
            report.timeouts as f64,
            if report.rtt_samples == 0 {
                f64::NAN
            } else {
                report.rtt_sum.as_secs_f64() / report.rtt_samples as f64
            },
            known(rtt.latest),
            known(rtt.smoothed),
            known(rtt.minimum),
            self.in_flight.as_f64(),
            self.window.as_f64(),
            self.pacing_rate.map_or(f64::NAN, Rate::as_bps_f64),
            f64::from(u8::from(self.active)),
            f64::from(u8::from(self.over)),
            report.rtt_samples as f64,
            of_link(|link| link.offered_bytes),
            of_link(|link| link.departed_bytes as f64),
            of_link(|link| link.dropped_packets as f64),
            of_link(|link| link.queue_bytes as f64),
        ]
    }
}

impl Simulation {
    /// Returns the indices of the externally controlled flows in the table of flows.
    pub fn steered_flows(&mut self) -> Vec<usize> {
        (0..self.flows.len()).filter(|&flow| self.flows.steered(flow).is_some()).collect()
    }

    /// Runs to the end of the first interval of the series that ends at `until` or later, and stops there,
    /// before any other event at that instant; or to the end of the run if there is no such interval.
    /// [`Simulation::run`] continues from there.
    ///
    /// # Errors
    /// [`Cancelled`] if it was stopped.
    pub fn advance_to(&mut self, until: Timestamp, control: &RunControl) -> Result<(), Cancelled> {
        self.advance(until, control)
    }

    /// Sets the limits of a flow's sender, and sends the packets that they allow. A connection that the flow
    /// opens later starts with its initial window. Does nothing if the flow is not externally controlled.
    pub fn steer(&mut self, flow: usize, steering: Steering) {
        let Some(source) = self.flows.steered(flow) else { return };
        if let Some(steered) = source.steered() {
            steered.steer(steering);
        }
        if source.state().active {
            self.flows.send_on(&mut self.network, flow);
        }
    }

    /// Returns the results of an externally controlled flow since the last call; `None` for other flows. Link
    /// quantities are those of the last interval.
    pub fn step(&mut self, flow: usize) -> Option<Step> {
        let source = self.flows.steered(flow)?;
        let report = source.steered()?.take_report();
        let (state, rtt) = (source.state(), source.rtt());
        Some(Step {
            now: self.network.now,
            report,
            rtt,
            in_flight: state.in_flight.unwrap_or_default(),
            window: state.cwnd.unwrap_or_default(),
            pacing_rate: state.pacing_rate,
            active: state.active,
            over: source.is_over(),
            link: self.network.context.recorder.newest_at(flow as u32),
        })
    }
}
