//! TCP Prague: a scalable controller for low-latency queues (L4S).

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Duration, Measurement, Probe, Requirements, Timestamp,
};

#[cfg(feature = "declare")]
use crate::declare::RuleConfig;
use crate::whole_bytes::WholeBytes;
use crate::{ConfigError, WindowRule};
use airpath_model::config::check;

/// The parameters of Prague.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct PragueConfig {
    /// g: the weight of one round in the average share of marks (DCTCP and Linux: 1/16).
    #[cfg_attr(feature = "declare", schemars(range(max = 1.0), extend("exclusiveMinimum" = 0)))]
    pub gain: f64,
    /// Virtual RTT: flows with a shorter RTT grow and decrease like a flow with this RTT.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub virtual_rtt: Duration,
}

impl Default for PragueConfig {
    /// Returns the values of the Linux kernel of the L4S team (`tcp_prague.c`).
    fn default() -> Self {
        Self { gain: 1.0 / 16.0, virtual_rtt: Duration::from_millis(25) }
    }
}

#[cfg(feature = "declare")]
impl RuleConfig for PragueConfig {
    const ID: &'static str = "prague";
    type Rule = Prague;

    fn rule(&self) -> Result<Prague, ConfigError> {
        Prague::new(*self)
    }
}

/// Prague (draft-briscoe-iccrg-prague-congestion-control; the window of DCTCP, RFC 8257). The receiver
/// reports how much data arrived marked, and once a round
///
/// `α ← (1 - g) α + g F`, with F the share of the payload that arrived marked in it.
///
/// At the first mark of a round the window decreases to `cwnd (1 - α/2)`; it grows by one segment per round.
/// A round lasts as long as the round trip, but never less than the virtual RTT. The growth in a shorter
/// round trip is `(RTT / virtual RTT)²` segments, so that the rates of all flows grow equally fast. α begins
/// at 1 and decays in rounds without marks, also before the first mark. The first mark ends slow start; it
/// halves the window only if it arrives in the first round. A loss and a timeout halve the window as in Reno.
///
/// Telemetry: `alpha` each round.
#[derive(Clone, Debug)]
pub struct Prague {
    config: PragueConfig,
    alpha: f64,
    /// Payload acknowledged, and payload that arrived marked, since the round began.
    acked: Bytes,
    marked: Bytes,
    round_ends: Option<Timestamp>,
    /// Marks before this time belong to the last reduction.
    reduced_until: Timestamp,
    growth: WholeBytes,
}

impl Prague {
    /// Creates the rule. Fails if a parameter is outside the range stated in [`PragueConfig`].
    pub fn new(config: PragueConfig) -> Result<Self, ConfigError> {
        let PragueConfig { gain, virtual_rtt } = config;
        check(gain > 0.0 && gain <= 1.0, "gain", "greater than 0, at most 1", gain)?;
        check(!virtual_rtt.is_zero(), "virtual_rtt", "longer than nothing", virtual_rtt.as_secs_f64())?;
        Ok(Self {
            config,
            alpha: 1.0,
            acked: Bytes::ZERO,
            marked: Bytes::ZERO,
            round_ends: None,
            reduced_until: Timestamp::ZERO,
            growth: WholeBytes::default(),
        })
    }

    /// Returns the length of a round.
    fn round(&self, smoothed_rtt: Duration) -> Duration {
        smoothed_rtt.max(self.config.virtual_rtt)
    }
}

impl WindowRule for Prague {
    fn on_ack(&mut self, _window: Bytes, event: &AckEvent, probe: &mut dyn Probe) {
        self.acked += event.acked;
        self.marked += event.marked;
        let ends = *self.round_ends.get_or_insert(event.now + self.round(event.rtt.smoothed));
        if event.now < ends || self.acked.is_zero() {
            return;
        }
        let share = (self.marked.as_f64() / self.acked.as_f64()).min(1.0);
        self.alpha += self.config.gain * (share - self.alpha);
        probe.record(event.now, Measurement::Named("alpha", self.alpha));
        self.acked = Bytes::ZERO;
        self.marked = Bytes::ZERO;
        self.round_ends = Some(event.now + self.round(event.rtt.smoothed));
    }

    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        let shorter = event.rtt.smoothed.ratio(self.round(event.rtt.smoothed));
        window
            + self.growth.pay(event.mss.as_f64() * shorter * shorter * event.acked.as_f64() / window.as_f64())
    }

    fn reduce(&mut self, window: Bytes, event: &CongestionEvent, probe: &mut dyn Probe) -> Bytes {
        self.growth = WholeBytes::default();
        if event.signal != CongestionSignal::EcnCe {
            return window.mul_f64(0.5);
        }
        if event.now < self.reduced_until {
            return window;
        }
        // The driver signals once per round trip. If the round trip is shorter than the virtual RTT, the next
        // reduction has to wait for the virtual RTT.
        self.reduced_until = event.now + self.config.virtual_rtt;
        probe.record(event.now, Measurement::Named("alpha", self.alpha));
        window.mul_f64(1.0 - self.alpha / 2.0)
    }

    fn requirements(&self) -> Requirements {
        Requirements { ecn: true, accurate_ecn: true, ..Requirements::default() }
    }
}

#[cfg(test)]
mod tests;
