//! Loss differentiation by cause, as a wrapper around any controller.

mod evidence;
mod history;

use alloc::boxed::Box;

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Measurement, PathHeader, Phase,
    Probe, RateSample, Requirements, SendEvent, Timestamp,
};

use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{Components, ControllerFacts, Controllers};
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Nested};
pub use evidence::CongestionEvidence;
use evidence::Witness;
pub use history::{CongestionHistory, HistoryRule};

/// Parameters of the loss-differentiation heuristic (VCP-W, section IV-C).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct LossDifferentiationConfig {
    /// N: number of acknowledgments in the history, 1 to 64 (VCP-W: 32).
    #[cfg_attr(feature = "declare", schemars(range(min = 1, max = 64)))]
    pub history: u8,
    /// T: number of acknowledgments that must indicate congestion for a loss to be congestion, at most N
    /// (VCP-W: 16).
    #[cfg_attr(feature = "declare", schemars(range(min = 1, max = 64), extend("x-at-most" = "history")))]
    pub history_threshold: u8,
    /// Choice of the T acknowledgments: the newest ones, `consecutive`, or any of the N (`total`).
    pub history_rule: HistoryRule,
    /// Sign of congestion in an acknowledgment, in addition to an ECN echo: the routers' `feedback`
    /// (overload, negative feedback), or a `queueing-delay` above its share of the largest one observed.
    pub evidence: CongestionEvidence,
    /// Share of the largest queueing delay above which the delay indicates congestion (ours).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub delay_share: f64,
}

impl Default for LossDifferentiationConfig {
    fn default() -> Self {
        Self {
            history: 32,
            history_threshold: 16,
            history_rule: HistoryRule::Consecutive,
            evidence: CongestionEvidence::Feedback,
            delay_share: 0.5,
        }
    }
}

/// A controller with loss differentiation.
#[cfg(feature = "declare")]
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct DifferentiatedConfig {
    /// The wrapped controller.
    #[schemars(extend("examples" = ["newreno"]))]
    controller: Nested<Controllers>,
    #[serde(flatten)]
    heuristic: LossDifferentiationConfig,
}

#[cfg(feature = "declare")]
impl Component<Controllers> for DifferentiatedConfig {
    const ID: &'static str = "loss-differentiation";

    fn check(&self) -> Result<(), ComponentError> {
        let LossDifferentiationConfig { history, history_threshold, .. } = self.heuristic;
        if history_threshold <= history {
            return Ok(());
        }
        let problem = r#""history_threshold" ({history_threshold}) must be at most "history" ({history})"#;
        Err(ComponentError::new("", problem))
    }

    fn bind(&mut self, parts: &Components) -> Result<(), ComponentError> {
        self.controller.bind(&parts.controllers, parts).map_err(|error| error.inside("controller"))
    }

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(LossDifferentiation::new(self.heuristic, self.controller.build(facts)?)?))
    }
}

/// A controller that responds to a loss or a timeout only while acknowledgments indicate congestion (VCP-W,
/// section IV-C, "loss differentiation heuristic algorithm").
///
/// Each acknowledgment adds a bit to a revolving history: 1 if it indicates congestion. If the history
/// indicates congestion ([`CongestionHistory::flag`]), a loss is reported to the wrapped controller as usual.
/// Any other loss is a channel error: it is not reported, and the transport retransmits the lost data within
/// the unchanged window. While the transport repairs such a loss, the controller does not see recovery,
/// duplicates and lost amounts, so that it processes acknowledgments as if nothing had been lost.
///
/// Our decisions where the paper is silent: timeouts are treated as losses. A repeated timeout is treated as
/// the first, because no information arrived between them. CE echoes are signs of congestion and always reach
/// the controller. The history begins empty, so that a loss before the first T acknowledgments counts as an
/// error. A spurious signal is undone only if it was reported to the controller.
///
/// Telemetry: `losses_dismissed` and `losses_answered`, counts since the beginning, at each loss and first
/// timeout.
#[derive(Debug)]
pub struct LossDifferentiation {
    controller: Box<dyn Controller>,
    history: CongestionHistory,
    witness: Witness,
    /// Whether the last signal was not reported to the controller.
    dismissed: bool,
    /// Whether the transport is repairing a dismissed loss.
    repairing: bool,
    dismissed_losses: u64,
    answered_losses: u64,
}

impl LossDifferentiation {
    /// Wraps `controller`. Fails if a parameter is out of range.
    pub fn new(
        config: LossDifferentiationConfig,
        controller: Box<dyn Controller>,
    ) -> Result<Self, ConfigError> {
        let LossDifferentiationConfig { history, history_threshold, history_rule, evidence, delay_share } =
            config;
        Ok(Self {
            controller,
            history: CongestionHistory::new(history, history_threshold, history_rule)?,
            witness: Witness::new(evidence, delay_share)?,
            dismissed: false,
            repairing: false,
            dismissed_losses: 0,
            answered_losses: 0,
        })
    }

    /// Decides whether a loss or a timeout is dismissed, and counts it.
    fn judge(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        let repeated = event.signal == CongestionSignal::Timeout && event.consecutive > 1;
        if repeated {
            return;
        }
        self.dismissed = !self.history.flag();
        let (name, count) = if self.dismissed {
            ("losses_dismissed", &mut self.dismissed_losses)
        } else {
            ("losses_answered", &mut self.answered_losses)
        };
        *count += 1;
        probe.record(event.now, Measurement::Named(name, *count as f64));
    }
}

impl Controller for LossDifferentiation {
    fn requirements(&self) -> Requirements {
        self.controller.requirements()
    }

    fn on_sent(&mut self, event: &SendEvent, probe: &mut dyn Probe) -> PathHeader {
        self.controller.on_sent(event, probe)
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        self.history.push(self.witness.tells_of_congestion(event));
        if !self.repairing {
            return self.controller.on_ack(event, probe);
        }
        let mut unharmed = *event;
        unharmed.in_recovery = false;
        unharmed.duplicate = false;
        unharmed.hidden_duplicate = event.duplicate;
        unharmed.newly_lost = Bytes::ZERO;
        unharmed.rate = event.rate.map(|rate| RateSample { lost: Bytes::ZERO, ..rate });
        self.controller.on_ack(&unharmed, probe);
        self.repairing = event.in_recovery;
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        match event.signal {
            CongestionSignal::EcnCe => self.dismissed = false,
            CongestionSignal::Loss | CongestionSignal::Timeout => self.judge(event, probe),
        }
        self.repairing = self.dismissed;
        if !self.dismissed {
            self.controller.on_congestion(event, probe);
        }
    }

    fn dismissed_signal(&self) -> bool {
        self.dismissed
    }

    fn on_spurious(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        if !self.dismissed {
            self.controller.on_spurious(now, probe);
        }
    }

    fn on_timer(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        self.controller.on_timer(now, probe);
    }

    fn next_timer(&self) -> Timestamp {
        self.controller.next_timer()
    }

    fn control(&self) -> Control {
        self.controller.control()
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.controller.ssthresh()
    }

    fn phase(&self) -> Phase {
        self.controller.phase()
    }
}

#[cfg(test)]
mod tests;
