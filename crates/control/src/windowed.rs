//! The controller shared by all window-based algorithms.

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Pacing, PathHeader, Phase,
    Probe, Requirements, SendEvent, Timestamp,
};

use crate::watching_phase::watching_phase;
use crate::{ConfigError, SlowStart, WindowRule};
use airpath_model::config::check;

/// The largest number of segments that are sent back to back when pacing is on: those of one delayed
/// acknowledgment. The upper bound of RFC 9002, section 7.7, is an initial window.
pub(crate) const QUANTUM_SEGMENTS: u64 = 2;

/// A controller with slow start below a threshold and a [`WindowRule`] above it (RFC 5681, section 3.1).
///
/// The window is in bytes of payload, never less than one segment. It changes only at events: it does not
/// grow in recovery or while it is not used, decreases at once to the new threshold at a loss or a CE echo,
/// and to one segment at a timeout. Duplicate acknowledgments cause no growth (RFC 3042). The data that they
/// acknowledge selectively counts when the cumulative acknowledgment advances again, unless a recovery
/// advances it. A spurious signal is undone according to RFC 9438, section 4.9: the whole state is restored,
/// unless the window has already exceeded its old size.
///
/// Telemetry: [`Measurement::Phase`](airpath_model::Measurement::Phase) at each change of phase, and the
/// quantities that the rule records.
#[derive(Clone, Debug)]
pub struct Windowed<S, W> {
    state: State<S, W>,
    mss: Bytes,
    /// State before the last signal, kept in case the signal is spurious.
    before_signal: Option<State<S, W>>,
}

impl<S: SlowStart, W: WindowRule> Windowed<S, W> {
    /// Creates a controller that starts in slow start with `initial_window` (bytes) and no threshold; `mss`
    /// is the largest payload of one packet. Fails if `mss` is zero or the window is smaller than one
    /// segment.
    pub fn new(rule: W, slow_start: S, initial_window: Bytes, mss: Bytes) -> Result<Self, ConfigError> {
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        let state = State {
            slow_start,
            rule,
            window: initial_window,
            ssthresh: None,
            repairing: None,
            waiting: Bytes::ZERO,
        };
        Ok(Self { state, mss, before_signal: None })
    }
}

impl<S: SlowStart, W: WindowRule> Controller for Windowed<S, W> {
    fn requirements(&self) -> Requirements {
        self.state.rule.requirements()
    }

    fn on_sent(&mut self, event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        self.state.rule.on_sent(event);
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        watching_phase(self, event.now, probe, |controller, probe| {
            controller.mss = event.mss;
            controller.state.on_ack(event, probe);
        });
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        watching_phase(self, event.now, probe, |controller, probe| {
            controller.mss = event.mss;
            let repeated = event.signal == CongestionSignal::Timeout && event.consecutive > 1;
            if !repeated {
                controller.before_signal = Some(controller.state.clone());
            }
            controller.state.on_congestion(event, repeated, probe);
        });
    }

    fn on_spurious(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        let Some(before) = self.before_signal.take() else { return };
        // A recovery interrupted by the signal is restored with the state; a recovery that the signal began
        // is over.
        self.state.repairing = None;
        // A window of one segment was not reduced, but its threshold was. Equal windows therefore also count.
        if self.state.window <= before.window {
            watching_phase(self, now, probe, |controller, _| controller.state = before);
        }
    }

    fn control(&self) -> Control {
        Control {
            window: self.state.window,
            pacing: Pacing::FromWindow,
            quantum: self.mss * QUANTUM_SEGMENTS,
        }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.state.ssthresh
    }

    fn phase(&self) -> Phase {
        self.state.phase()
    }
}

/// The state that is restored after a spurious signal.
#[derive(Clone, Debug)]
struct State<S, W> {
    slow_start: S,
    rule: W,
    window: Bytes,
    /// `None` means arbitrarily high (RFC 5681, section 3.1).
    ssthresh: Option<Bytes>,
    /// The window when the loss was detected, during loss recovery.
    repairing: Option<Bytes>,
    /// Data acknowledged selectively by duplicates and not counted yet.
    waiting: Bytes,
}

impl<S: SlowStart, W: WindowRule> State<S, W> {
    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        self.rule.on_ack(self.window, event, probe);
        if event.in_recovery {
            self.waiting = Bytes::ZERO;
        } else if event.duplicate {
            if event.window_limited && !event.congestion_experienced {
                self.waiting += event.acked;
            }
            return self.respond(&counting(event, Bytes::ZERO));
        } else if !self.waiting.is_zero() {
            let acked = event.acked + core::mem::take(&mut self.waiting);
            return self.respond(&counting(event, acked));
        }
        self.respond(event);
    }

    /// Processes the counted amount of an acknowledgment: grows the window, or leaves slow start or a
    /// recovery.
    #[expect(clippy::inline_always, reason = "with slow starts of any type a call costs 0.5 % of a run")]
    #[inline(always)]
    fn respond(&mut self, event: &AckEvent) {
        if !event.in_recovery
            && let Some(before) = self.repairing.take()
            && let Some(window) = self.rule.window_after_recovery(before, event)
        {
            self.window = window.max(event.mss * 2);
            self.ssthresh = Some(self.window);
        }
        // An acknowledgment that echoes a mark causes no growth (RFC 3168, section 6.1.2).
        let grows = event.window_limited
            && !event.in_recovery
            && !event.congestion_experienced
            && !event.acked.is_zero();
        if !self.in_slow_start() {
            if grows {
                self.window = self.rule.congestion_avoidance(self.window, event).max(event.mss);
                self.ssthresh = self.ssthresh.map(|ssthresh| ssthresh.min(self.window));
            }
            return;
        }
        if grows {
            // Above the threshold the rule determines the growth. Growth by this acknowledgment beyond the
            // threshold is discarded.
            let ceiling = self.ssthresh.unwrap_or(Bytes::MAX);
            self.window = (self.window + self.slow_start.growth(event)).min(ceiling);
            if let Some(window) = self.rule.end_slow_start(self.window, event) {
                self.window = window.max(event.mss);
                self.ssthresh = Some(self.window);
                return;
            }
        }
        if self.slow_start.on_ack(event) {
            self.ssthresh = Some(self.window);
        }
        if self.ssthresh.is_none() {
            self.ssthresh = self.slow_start.initial_ssthresh().map(|ssthresh| ssthresh.max(event.mss * 2));
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, repeated: bool, probe: &mut dyn Probe) {
        self.slow_start.on_congestion(event.signal);
        self.waiting = Bytes::ZERO;
        self.repairing = (event.signal == CongestionSignal::Loss).then_some(self.window);
        let floor = event.mss * 2;
        let ssthresh = match self.ssthresh {
            // The threshold does not change if the same data times out again (RFC 5681, section 3.1).
            Some(ssthresh) if repeated => ssthresh,
            _ => self.rule.reduce(self.window, event, probe).max(floor),
        };
        self.ssthresh = Some(ssthresh);
        self.window = match event.signal {
            CongestionSignal::Timeout => event.mss,
            CongestionSignal::Loss | CongestionSignal::EcnCe => {
                self.rule.window_after_loss(self.window, ssthresh)
            }
        };
    }

    fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.window < ssthresh)
    }

    fn phase(&self) -> Phase {
        if self.in_slow_start() { self.slow_start.phase() } else { Phase::CongestionAvoidance }
    }
}

/// Returns the acknowledgment with a different counted amount.
fn counting(event: &AckEvent, acked: Bytes) -> AckEvent {
    let mut event = *event;
    event.acked = acked;
    event
}

#[cfg(test)]
mod tests;
