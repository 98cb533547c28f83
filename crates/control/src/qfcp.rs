//! QFCP's sender, which sends at the rate that routers assign.

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, Pacing, PathHeader,
    Phase, Probe, Rate, Requirements, SendEvent, Timestamp,
};

use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use crate::windowed::QUANTUM_SEGMENTS;
use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
#[cfg(feature = "declare")]
use alloc::boxed::Box;

/// The longest time between segments. Even at the lowest rate one segment must be sent in this time, because
/// only its acknowledgment can carry a better rate.
const LONGEST_SPACING: Duration = Duration::from_secs(10);

/// QFCP's sender has no parameters: it sends at the rate that routers assign.
#[cfg(feature = "declare")]
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct QfcpConfig {}

#[cfg(feature = "declare")]
impl Component<Controllers> for QfcpConfig {
    const ID: &'static str = "qfcp";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Qfcp::new(facts.initial_window, facts.mss)?))
    }
}

/// The sender of the quick flow control protocol (Pu and Hamdi, IEEE Transactions on Wireless Communications
/// 7(6), 2008; only the abstract of the text was available).
///
/// Every packet requests an unlimited rate, and the acknowledgment carries the smallest fair rate R of the
/// routers on the path. From then on packets are paced at R and the window is R · SRTT, at least one segment.
/// Only the rate distinguishes errors from congestion: a loss or a CE echo is repaired and changes nothing,
/// and a timeout leaves one segment until the next rate arrives.
///
/// Our decisions: R counts payload, and the routers' own count of flows compensates for the headers. Before
/// the first rate, the driver decides how the initial window is sent. In recovery and while the window is not
/// used, a rate only lowers the window. A rate below one segment in ten seconds counts as that rate. An
/// acknowledgment without a rate, or with a rate that no router lowered, changes nothing.
#[derive(Clone, Debug)]
pub struct Qfcp {
    mss: Bytes,
    window: Bytes,
    /// The rate assigned by the routers; `None` before the first.
    rate: Option<Rate>,
    /// The window before the last signal, kept in case the signal is spurious.
    before_signal: Option<Bytes>,
}

impl Qfcp {
    /// Creates a controller with `initial_window` (bytes of payload); `mss` is the largest payload of one
    /// packet. Fails if `mss` is zero or the window is smaller than one segment.
    pub fn new(initial_window: Bytes, mss: Bytes) -> Result<Self, ConfigError> {
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        Ok(Self { mss, window: initial_window, rate: None, before_signal: None })
    }
}

impl Controller for Qfcp {
    fn requirements(&self) -> Requirements {
        Requirements { pacing: true, path_feedback: true, ..Requirements::default() }
    }

    fn on_sent(&mut self, _event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        PathHeader::FairRate(Rate::UNLIMITED)
    }

    fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn Probe) {
        self.mss = event.mss;
        let PathHeader::FairRate(rate) = event.path else { return };
        if event.acked.is_zero() || event.rtt.smoothed.is_zero() || rate == Rate::UNLIMITED {
            return;
        }
        let rate = rate.max(Rate::over(event.mss, LONGEST_SPACING));
        self.rate = Some(rate);
        let window = rate.bytes_in(event.rtt.smoothed).max(event.mss);
        let may_grow = event.window_limited && !event.in_recovery;
        self.window = if may_grow { window } else { window.min(self.window) };
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        self.mss = event.mss;
        if event.signal != CongestionSignal::Timeout || event.consecutive <= 1 {
            self.before_signal = Some(self.window);
        }
        if event.signal == CongestionSignal::Timeout {
            self.window = event.mss;
        }
    }

    fn on_spurious(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {
        if let Some(before) = self.before_signal.take() {
            self.window = self.window.max(before);
        }
    }

    fn control(&self) -> Control {
        Control {
            window: self.window,
            pacing: self.rate.map_or(Pacing::FromWindow, Pacing::At),
            quantum: self.mss * QUANTUM_SEGMENTS,
        }
    }

    fn phase(&self) -> Phase {
        Phase::Steady
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::{NullProbe, RttEstimate};

    use super::*;

    const MSS: Bytes = Bytes::new(1000);
    const RTT: Duration = Duration::from_millis(100);

    fn qfcp() -> Qfcp {
        Qfcp::new(MSS * 10, MSS).unwrap()
    }

    fn ack(path: PathHeader) -> AckEvent {
        let mut event = AckEvent::at(Timestamp::ZERO);
        event.acked = MSS;
        event.mss = MSS;
        event.rtt = RttEstimate { latest: RTT, smoothed: RTT, variation: Duration::ZERO, minimum: RTT };
        event.path = path;
        event
    }

    fn ack_with_rate(controller: &mut Qfcp, rate: Rate) -> Control {
        controller.on_ack(&ack(PathHeader::FairRate(rate)), &mut NullProbe);
        controller.control()
    }

    fn signal(kind: CongestionSignal) -> CongestionEvent {
        let mut event = CongestionEvent::at(Timestamp::ZERO, kind);
        event.mss = MSS;
        event.consecutive = u32::from(kind == CongestionSignal::Timeout);
        event
    }

    #[test]
    fn the_window_is_rate_times_round_trip_time_and_paced_at_the_rate() {
        let mut controller = qfcp();
        assert_eq!(controller.control().pacing, Pacing::FromWindow);
        let rate = Rate::from_bps(4_000_000);
        let control = ack_with_rate(&mut controller, rate);
        assert_eq!((control.window.get(), control.pacing), (50_000, Pacing::At(rate)));
        // Less than a segment per round trip: one segment, but paced.
        let slow = Rate::from_bps(16_000);
        let control = ack_with_rate(&mut controller, slow);
        assert_eq!((control.window, control.pacing), (MSS, Pacing::At(slow)));
        // An outage counts as one segment in ten seconds.
        assert_eq!(ack_with_rate(&mut controller, Rate::ZERO).pacing, Pacing::At(Rate::from_bps(800)));
    }

    #[test]
    fn invalid_rates_change_nothing() {
        let mut controller = qfcp();
        let before = ack_with_rate(&mut controller, Rate::from_bps(4_000_000));
        let other = PathHeader::FairRate(Rate::from_bps(8_000_000));
        let mut duplicate = ack(other);
        duplicate.acked = Bytes::ZERO;
        let mut without_rtt = ack(other);
        without_rtt.rtt = RttEstimate::default();
        for event in
            [ack(PathHeader::None), ack(PathHeader::FairRate(Rate::UNLIMITED)), duplicate, without_rtt]
        {
            controller.on_ack(&event, &mut NullProbe);
            assert_eq!(controller.control(), before);
        }
    }

    #[test]
    fn in_recovery_or_unused_the_window_only_shrinks() {
        for in_recovery in [false, true] {
            let mut controller = qfcp();
            for (rate, window) in [(8_000_000, 10_000), (400_000, 5000), (800_000, 5000)] {
                let mut event = ack(PathHeader::FairRate(Rate::from_bps(rate)));
                (event.in_recovery, event.window_limited) = (in_recovery, in_recovery);
                controller.on_ack(&event, &mut NullProbe);
                assert_eq!(controller.control().window.get(), window);
            }
        }
    }

    #[test]
    fn losses_are_repaired_and_a_timeout_waits_for_the_next_rate() {
        let mut controller = qfcp();
        let rate = Rate::from_bps(4_000_000);
        let before = ack_with_rate(&mut controller, rate);
        for kind in [CongestionSignal::Loss, CongestionSignal::EcnCe] {
            controller.on_congestion(&signal(kind), &mut NullProbe);
            assert_eq!(controller.control(), before);
        }
        controller.on_congestion(&signal(CongestionSignal::Timeout), &mut NullProbe);
        assert_eq!(controller.control().window, MSS);
        assert_eq!(ack_with_rate(&mut controller, rate), before);
        controller.on_congestion(&signal(CongestionSignal::Timeout), &mut NullProbe);
        controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
        assert_eq!(controller.control(), before);
    }

    #[test]
    fn qfcp_requests_an_unlimited_rate_and_requires_feedback() {
        let mut controller = qfcp();
        let asked = controller.on_sent(&SendEvent::at(Timestamp::ZERO, MSS), &mut NullProbe);
        assert_eq!(asked, PathHeader::FairRate(Rate::UNLIMITED));
        let needs = controller.requirements();
        assert!(needs.pacing && needs.path_feedback);
        assert!(Qfcp::new(MSS, Bytes::ZERO).is_err());
        assert!(Qfcp::new(Bytes::new(999), MSS).is_err());
    }
}
