//! TCP Hybla: a flow with a long RTT grows as fast as one with a short RTT.

use alloc::boxed::Box;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
use airpath_model::{AckEvent, Bytes, CongestionEvent, CongestionSignal, Controller, Duration, Probe};

#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use crate::whole_bytes::WholeBytes;
use crate::{ConfigError, SlowStart, StandardSlowStart, WindowRule, Windowed};

/// Largest window, and largest growth for one acknowledgment, in segments (as in Linux).
const MAX_SEGMENTS: u64 = 65_535;

/// The parameters of TCP Hybla.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default),
    schemars(
        title = "TCP Hybla",
        description = "the window grows with time as on a path with an RTT of 25 ms (2004; as in Linux)",
        extend("x-follows" = "faster")
    )
)]
pub struct HyblaConfig {
    /// RTT0: the RTT of the reference path. Flows with a longer RTT grow as fast as a flow on that path.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub rtt0: Duration,
}

impl Default for HyblaConfig {
    fn default() -> Self {
        Self { rtt0: Duration::from_millis(25) }
    }
}

#[cfg(feature = "declare")]
impl Component<Controllers> for HyblaConfig {
    const ID: &'static str = "hybla";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        self.controller(facts.initial_window, facts.mss)
    }
}

impl HyblaConfig {
    /// Returns Hybla (Caini and Firrincieli 2004): slow start adds `2^ρ − 1` segments for each one
    /// acknowledged, congestion avoidance `ρ² / cwnd`, with `ρ = max(RTT / RTT0, 1)` and RTT the smallest
    /// sample. Signals halve the flight. Fails if RTT0 or `mss` is zero, or the window is smaller than one
    /// segment.
    pub fn controller(self, initial_window: Bytes, mss: Bytes) -> Result<Box<dyn Controller>, ConfigError> {
        check(!self.rtt0.is_zero(), "rtt0", "greater than zero", 0.0)?;
        let slow_start = Start(self, StandardSlowStart::default());
        let rule = Avoidance(self, WholeBytes::default());
        Ok(Box::new(Windowed::new(rule, slow_start, initial_window, mss)?))
    }

    fn rho(self, event: &AckEvent) -> f64 {
        event.rtt.minimum.ratio(self.rtt0).max(1.0)
    }
}

#[derive(Clone, Debug)]
struct Start(HyblaConfig, StandardSlowStart);

impl SlowStart for Start {
    fn growth(&self, event: &AckEvent) -> Bytes {
        let growth = self.1.growth(event).mul_f64(libm::exp2(self.0.rho(event)) - 1.0);
        growth.min(event.mss * MAX_SEGMENTS)
    }

    fn on_congestion(&mut self, signal: CongestionSignal) {
        self.1.on_congestion(signal);
    }
}

#[derive(Clone, Debug)]
struct Avoidance(HyblaConfig, WholeBytes);

impl WindowRule for Avoidance {
    fn end_slow_start(&mut self, window: Bytes, event: &AckEvent) -> Option<Bytes> {
        (window >= event.mss * MAX_SEGMENTS).then(|| event.mss * MAX_SEGMENTS)
    }

    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        let rho = self.0.rho(event);
        let growth = rho * rho * event.mss.as_f64() * event.acked.as_f64() / window.as_f64();
        (window + self.1.pay(growth)).min(event.mss * MAX_SEGMENTS)
    }

    fn reduce(&mut self, _window: Bytes, event: &CongestionEvent, _probe: &mut dyn Probe) -> Bytes {
        self.1 = WholeBytes::default();
        Bytes::new(event.flight_size.get() / 2)
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::{NullProbe, Timestamp};

    use super::*;

    const MSS: Bytes = Bytes::new(1000);

    /// Returns the window in segments, from 10, after one acknowledgment of one segment.
    fn after_one(rtt_ms: u64, in_slow_start: bool) -> f64 {
        let mut controller = HyblaConfig::default().controller(MSS * 10, MSS).unwrap();
        if !in_slow_start {
            let mut event = CongestionEvent::at(Timestamp::ZERO, CongestionSignal::EcnCe);
            event.mss = MSS;
            event.flight_size = MSS * 20;
            controller.on_congestion(&event, &mut NullProbe);
        }
        let mut event = AckEvent::at(Timestamp::ZERO);
        event.mss = MSS;
        event.acked = MSS;
        event.window_limited = true;
        event.rtt.minimum = Duration::from_millis(rtt_ms);
        controller.on_ack(&event, &mut NullProbe);
        controller.control().window.as_f64() / MSS.as_f64()
    }

    /// 2^3 − 1 and 3²/10 segments at 75 ms; one and 1/10, as for NewReno, up to 25 ms.
    #[test]
    fn growth_follows_the_ratio_of_round_trip_times() {
        for (rtt_ms, slow_start, avoidance) in
            [(0, 11.0, 10.1), (10, 11.0, 10.1), (25, 11.0, 10.1), (75, 17.0, 10.9)]
        {
            assert_eq!(
                (after_one(rtt_ms, true), after_one(rtt_ms, false)),
                (slow_start, avoidance),
                "{rtt_ms} ms"
            );
        }
    }

    #[test]
    fn slow_start_ends_at_the_largest_window() {
        assert!((after_one(100_000, true) - 65_535.0).abs() < 1e-9);
    }

    #[test]
    fn parameters_outside_their_range_are_rejected() {
        assert!(HyblaConfig { rtt0: Duration::ZERO }.controller(MSS, MSS).is_err());
        assert!(HyblaConfig::default().controller(Bytes::ZERO, MSS).is_err());
    }
}
