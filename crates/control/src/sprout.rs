//! Sprout: keeps no more data in flight than will probably arrive within 100 ms (Winstein, Sivaraman,
//! Balakrishnan, NSDI 2013).

mod belief;
mod model;

#[cfg(feature = "declare")]
use alloc::boxed::Box;
use alloc::collections::VecDeque;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, Measurement, Pacing,
    PathHeader, Phase, Probe, Requirements, SendEvent, Timestamp,
};

use crate::ConfigError;
#[cfg(feature = "declare")]
use crate::declare::{ControllerFacts, Controllers};
use belief::Belief;

/// Time between two forecasts.
const TICK: Duration = Duration::from_millis(20);

/// Time after the arrival of a flight in which silence is no observation of the link.
const SILENCE: Duration = Duration::from_millis(50);

/// Largest number of ticks simulated after a pause. Further ticks would hardly change the probabilities.
const LONGEST_PAUSE: u64 = 512;

/// The parameters of Sprout.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default),
    schemars(
        title = "Sprout",
        description = "what will probably arrive within 100 ms, by inference of the rate (NSDI 2013)",
        extend("x-follows" = "model")
    )
)]
pub struct SproutConfig {
    /// The quantile of the number of arriving packets that is the forecast. A larger one gives more throughput
    /// and longer queues.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub quantile: f64,
}

impl Default for SproutConfig {
    fn default() -> Self {
        Self { quantile: 0.05 }
    }
}

#[cfg(feature = "declare")]
impl Component<Controllers> for SproutConfig {
    const ID: &'static str = "sprout";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Sprout::new(*self, facts.mss)?))
    }
}

/// Sprout.
///
/// Every 20 ms the sender updates the probabilities of 257 rates of the link, from 0 to 1000 packets per
/// second, with the number of packets that arrived. From them it forecasts how many packets will at least
/// arrive within the next 100 ms with high probability, and keeps that many in flight.
///
/// Telemetry, once a tick: `rate`, the mean of the rates in packets per second, and `forecast`, in packets.
#[derive(Clone, Debug)]
pub struct Sprout {
    config: SproutConfig,
    mss: Bytes,
    belief: Belief,
    /// The beginning of the current tick, or of the first one after a pause.
    tick: Timestamp,
    paused: bool,
    /// Packets that arrived in this tick.
    arrived: f64,
    /// Payload that counts as arrived although its acknowledgment is missing.
    unacknowledged: Bytes,
    /// Payload sent so far.
    sent: Bytes,
    /// Flights that have not fully arrived, and the last one that has.
    flights: VecDeque<Flight>,
    last_ended: Flight,
    /// The newest arrival.
    newest: Option<Arrival>,
    in_flight: Bytes,
    /// Payload that may still be sent in this tick.
    budget: Bytes,
}

/// The packets sent in one tick.
#[derive(Clone, Copy, Debug)]
struct Flight {
    tick: Timestamp,
    /// Payload sent until the end of the flight.
    end: Bytes,
}

/// The arrival of a packet.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    tick: Timestamp,
    /// If it ended a flight, the tick in which the flight was sent.
    ended: Option<Timestamp>,
}

impl Sprout {
    /// Creates a sender; `mss` is the largest payload of one packet.
    ///
    /// Fails if a parameter is outside the range stated in [`SproutConfig`], or `mss` is zero.
    pub fn new(config: SproutConfig, mss: Bytes) -> Result<Self, ConfigError> {
        let SproutConfig { quantile } = config;
        check(quantile > 0.0 && quantile < 1.0, "quantile", "between 0 and 1", quantile)?;
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        let mut sprout = Self {
            config,
            mss,
            belief: Belief::default(),
            tick: Timestamp::ZERO,
            paused: true,
            arrived: 0.0,
            unacknowledged: Bytes::ZERO,
            sent: Bytes::ZERO,
            flights: VecDeque::new(),
            last_ended: Flight { tick: Timestamp::ZERO, end: Bytes::ZERO },
            newest: None,
            in_flight: Bytes::ZERO,
            budget: Bytes::ZERO,
        };
        sprout.plan();
        Ok(sprout)
    }

    /// Computes how much may be sent in this tick, and returns the forecast, in packets.
    fn plan(&mut self) -> usize {
        let [next, later] = self.belief.forecast(self.config.quantile);
        let forecast = later - next;
        self.budget = self.mss * forecast as u64 - self.in_flight;
        forecast
    }

    /// Returns whether a tick without arrivals is no observation: nothing can have arrived yet, or the next
    /// flight has not had the time to.
    fn expects_silence(&self) -> bool {
        let Some(newest) = self.newest else { return true };
        let Some(flight) = newest.ended else { return false };
        let Some(next) = self.flights.front() else { return true };
        self.tick < newest.tick + next.tick.since(flight).max(SILENCE)
    }

    /// Processes an acknowledgment of `acknowledged` new bytes.
    ///
    /// The receiver may delay the acknowledgment of one packet. If that is the last packet of a flight of
    /// several, it counts as arrived.
    fn receive(&mut self, acknowledged: Bytes) {
        let arrived = self.sent - self.in_flight;
        while let Some(&flight) = self.flights.front() {
            let delayed = if arrived > self.last_ended.end { self.mss } else { Bytes::ZERO };
            if flight.end > arrived + delayed {
                break;
            }
            self.last_ended = flight;
            self.flights.pop_front();
        }
        let is_end = arrived <= self.last_ended.end;
        self.newest = Some(Arrival { tick: self.tick, ended: is_end.then_some(self.last_ended.tick) });
        let counted = self.unacknowledged;
        self.unacknowledged = self.last_ended.end - arrived;
        self.arrived += (acknowledged + self.unacknowledged - counted).as_f64() / self.mss.as_f64();
    }
}

impl Controller for Sprout {
    fn requirements(&self) -> Requirements {
        Requirements { window_in_recovery: true, ..Requirements::default() }
    }

    fn on_sent(&mut self, event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        (self.mss, self.in_flight) = (event.mss, event.in_flight);
        self.sent += event.payload;
        self.budget -= event.payload;
        if self.paused {
            let ticks = event.now.since(self.tick).as_nanos() / TICK.as_nanos();
            (0..ticks.min(LONGEST_PAUSE)).for_each(|_| self.belief.evolve());
            (self.tick, self.paused) = (event.now, false);
            self.plan();
        }
        match self.flights.back_mut().filter(|flight| flight.tick == self.tick) {
            Some(flight) => flight.end = self.sent,
            None => self.flights.push_back(Flight { tick: self.tick, end: self.sent }),
        }
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn Probe) {
        (self.mss, self.in_flight) = (event.mss, event.in_flight);
        if !event.acked.is_zero() {
            self.receive(event.acked);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        self.mss = event.mss;
        if event.signal == CongestionSignal::Timeout {
            (self.in_flight, self.budget, self.unacknowledged) = Default::default();
        }
    }

    fn on_timer(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        self.belief.evolve();
        if self.arrived > 0.0 || !self.expects_silence() {
            self.belief.observe(libm::round(self.arrived).max(f64::from(self.arrived > 0.0)) as u32);
        }
        self.paused = self.in_flight.is_zero() && self.arrived == 0.0;
        (self.tick, self.arrived) = (now, 0.0);
        let forecast = self.plan();
        probe.record(now, Measurement::Named("rate", self.belief.mean()));
        probe.record(now, Measurement::Named("forecast", forecast as f64));
    }

    fn next_timer(&self) -> Timestamp {
        if self.paused { Timestamp::NEVER } else { self.tick + TICK }
    }

    fn control(&self) -> Control {
        // With no packet in flight, nothing would ever arrive again.
        let window = (self.in_flight + self.budget).max(self.mss);
        Control { window, pacing: Pacing::Off, quantum: self.mss }
    }

    fn phase(&self) -> Phase {
        Phase::CongestionAvoidance
    }
}

#[cfg(test)]
mod tests;
