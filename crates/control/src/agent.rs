//! A controller whose decisions are made by an external agent.

use airpath_model::config::check;
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Pacing, PathHeader, Phase,
    Probe, Requirements, SendEvent, SenderReport, Steered, Steering,
};

use crate::ConfigError;
use crate::windowed::QUANTUM_SEGMENTS;

/// A controller that applies the window and the rate set by an external agent and collects the observations
/// of the sender. It is the sender of an environment for reinforcement learning. The initial window applies
/// until the agent sets a window.
///
/// The window also applies during loss recovery, so that an action has its exact effect.
#[derive(Clone, Debug)]
pub struct Agent {
    steering: Steering,
    mss: Bytes,
    report: SenderReport,
}

impl Agent {
    /// Creates a sender with `initial_window` bytes of payload, without a rate. `mss` is the largest payload
    /// of one packet.
    ///
    /// Fails if `mss` is zero or the window is smaller than one packet.
    pub fn new(initial_window: Bytes, mss: Bytes) -> Result<Self, ConfigError> {
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        let steering = Steering { window: initial_window, pacing: None };
        Ok(Self { steering, mss, report: SenderReport::default() })
    }
}

impl Steered for Agent {
    fn steer(&mut self, steering: Steering) {
        self.steering = Steering { window: steering.window.max(self.mss), ..steering };
    }

    fn take_report(&mut self) -> SenderReport {
        core::mem::take(&mut self.report)
    }
}

impl Controller for Agent {
    fn requirements(&self) -> Requirements {
        Requirements { pacing: true, window_in_recovery: true, ..Requirements::default() }
    }

    fn on_sent(&mut self, event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        self.report.sent += event.payload;
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn Probe) {
        self.report.acked += event.acked;
        self.report.lost += event.newly_lost;
        if let Some(sample) = event.rtt_sample {
            self.report.rtt_sum += sample;
            self.report.rtt_samples += 1;
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        // The acknowledgments that reveal other losses count them.
        if event.signal == CongestionSignal::Timeout {
            self.report.lost += event.lost;
            self.report.timeouts += 1;
        }
    }

    fn steered(&mut self) -> Option<&mut dyn Steered> {
        Some(self)
    }

    fn control(&self) -> Control {
        Control {
            window: self.steering.window,
            pacing: self.steering.pacing.map_or(Pacing::FromWindow, Pacing::At),
            quantum: self.mss * QUANTUM_SEGMENTS,
        }
    }

    fn phase(&self) -> Phase {
        Phase::Steady
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_model::{Duration, NullProbe, Rate, Timestamp};

    const MSS: Bytes = Bytes::new(1000);

    #[test]
    fn the_window_is_the_requested_one_and_at_least_a_segment() {
        let mut agent = Agent::new(MSS * 10, MSS).unwrap();
        assert_eq!(agent.control().window, MSS * 10);
        assert_eq!(agent.control().pacing, Pacing::FromWindow);
        let rate = Rate::from_bps(1_000_000);
        agent.steer(Steering { window: MSS * 3, pacing: Some(rate) });
        assert_eq!((agent.control().window, agent.control().pacing), (MSS * 3, Pacing::At(rate)));
        agent.steer(Steering { window: Bytes::ZERO, pacing: None });
        assert_eq!((agent.control().window, agent.control().pacing), (MSS, Pacing::FromWindow));
    }

    #[test]
    fn events_are_counted_until_the_report_is_read() {
        let mut agent = Agent::new(MSS * 10, MSS).unwrap();
        let now = Timestamp::from_nanos(1);
        agent.on_sent(&SendEvent::at(now, MSS), &mut NullProbe);
        let mut lost = CongestionEvent::at(now, CongestionSignal::Loss);
        lost.lost = MSS; // repeated by the acknowledgment
        agent.on_congestion(&lost, &mut NullProbe);
        let mut ack = AckEvent::at(now);
        (ack.acked, ack.newly_lost, ack.rtt_sample) = (MSS * 2, MSS, Some(Duration::from_millis(7)));
        agent.on_ack(&ack, &mut NullProbe);
        (ack.acked, ack.newly_lost, ack.rtt_sample) = (MSS, Bytes::ZERO, None);
        agent.on_ack(&ack, &mut NullProbe);
        let mut timeout = CongestionEvent::at(now, CongestionSignal::Timeout);
        timeout.lost = MSS * 4;
        agent.on_congestion(&timeout, &mut NullProbe);
        let expected = SenderReport {
            sent: MSS,
            acked: MSS * 3,
            lost: MSS * 5,
            rtt_sum: Duration::from_millis(7),
            rtt_samples: 1,
            timeouts: 1,
        };
        assert_eq!(agent.take_report(), expected);
        assert_eq!(agent.take_report(), SenderReport::default());
    }

    /// The rate stays in effect until it changes, and the window also applies during loss recovery.
    #[test]
    fn agents_require_pacing_and_the_window_in_recovery() {
        let needs = Agent::new(MSS, MSS).unwrap().requirements();
        assert!(needs.pacing && needs.window_in_recovery);
    }

    #[test]
    fn configurations_that_cannot_send_are_rejected() {
        assert!(Agent::new(MSS, Bytes::ZERO).is_err());
        assert!(Agent::new(Bytes::new(999), MSS).is_err());
    }
}
