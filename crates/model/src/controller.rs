//! The door to congestion controllers.

use core::fmt::Debug;

use crate::{
    AckEvent, Bytes, CongestionEvent, Duration, PathHeader, Probe, Rate, SendEvent, Steered, Timestamp,
};

/// A congestion controller: told what happened, it says what may be sent. It owns no clock and sends nothing.
///
/// Driver's contract: `now` never decreases; on one acknowledgment [`Controller::on_congestion`] comes before
/// [`Controller::on_ack`]; [`Controller::control`] and [`Controller::next_timer`] are asked again after every
/// call; a packet is sent only while `in_flight + payload <= window`, not before the pacer's release time, and
/// never more than `quantum` at once. While the transport repairs a loss, proportional rate reduction may stand in
/// for the window: what is in flight then shrinks to the window over a round trip instead of at once.
pub trait Controller: Debug + Send {
    /// What the driver must deliver; checked once, before the first packet.
    fn requirements(&self) -> Requirements {
        Requirements::default()
    }

    /// A data packet leaves. Returns what it shall carry to the routers.
    fn on_sent(&mut self, _event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        PathHeader::None
    }

    /// An acknowledgment arrived, new data or duplicate.
    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe);

    /// A congestion signal; see [`crate::CongestionSignal`] for how often each fires.
    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe);

    /// Whether the last congestion signal was taken for an error of the path instead of congestion, so that nothing
    /// was reduced. The driver then does not count it as a reduction, and the first expiry of its timer does not back
    /// off.
    fn dismissed_signal(&self) -> bool {
        false
    }

    /// The last congestion signal was false: every packet believed lost was delivered. State from before it
    /// should come back.
    fn on_spurious(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {}

    /// The time asked for by [`Controller::next_timer`] has come.
    fn on_timer(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {}

    /// When [`Controller::on_timer`] is wanted; [`Timestamp::NEVER`] when not.
    fn next_timer(&self) -> Timestamp {
        Timestamp::NEVER
    }

    /// Itself, if it is one that is told from outside what it may allow. Whoever steers it asks for
    /// [`Controller::control`] again afterwards.
    fn steered(&mut self) -> Option<&mut dyn Steered> {
        None
    }

    /// Window, pacing and burst limit: the same answer until the next call of an `on_*` method.
    fn control(&self) -> Control;

    /// The slow-start threshold, for those that have one.
    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    /// What the controller is doing, for telemetry.
    fn phase(&self) -> Phase;
}

/// What a controller allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// The most payload in flight.
    pub window: Bytes,
    /// How packets are spread in time.
    pub pacing: Pacing,
    /// The most payload that may leave back to back when pacing is on; at least one packet is always allowed.
    pub quantum: Bytes,
}

/// How packets are spread in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Not at all: what the window allows leaves at once.
    Off,
    /// At the window over the smoothed RTT times a gain that the driver chooses (Linux: 2 in slow start, 1.2 after),
    /// if the driver was configured to pace; otherwise as [`Pacing::Off`].
    FromWindow,
    /// At this rate of payload, always.
    At(Rate),
}

codes! {
    /// What a controller is doing.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Phase {
        /// Exponential growth.
        SlowStart = "slow start",
        /// Slow start looking for its end (conservative slow start of RFC 9406).
        ConservativeSlowStart = "conservative slow start",
        /// Steady probing.
        CongestionAvoidance = "congestion avoidance",
        /// The window does not follow phases.
        Steady = "steady",
        /// BBR: emptying the queue that startup made.
        Drain = "drain",
        /// BBR: sending less than the estimated bandwidth to empty the queue.
        ProbeDown = "probe down",
        /// BBR: sending at the estimated bandwidth.
        ProbeCruise = "probe cruise",
        /// BBR: filling the path before it is probed.
        ProbeRefill = "probe refill",
        /// BBR: sending more than the estimated bandwidth to find more.
        ProbeUp = "probe up",
        /// BBR: little in flight to measure the round-trip time without a queue.
        ProbeRtt = "probe rtt",
        /// LEDBAT++: little in flight to measure the base delay.
        Slowdown = "slowdown",
    }
}

/// What a controller needs from its driver. A driver that cannot supply it refuses to start the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Requirements {
    /// Enforced pacing.
    pub pacing: bool,
    /// Delivery-rate samples.
    pub rate_samples: bool,
    /// The ECN field on data packets and its echo.
    pub ecn: bool,
    /// How much arrived marked, in [`crate::AckEvent::marked`], and ECT(1) on data packets.
    pub accurate_ecn: bool,
    /// Router feedback in [`AckEvent::path`].
    pub path_feedback: bool,
    /// The receiver's clock in [`AckEvent::receiver_time`]: TCP timestamps.
    pub receiver_time: bool,
    /// The window holds while losses are repaired, too: no proportional rate reduction stands in for it.
    pub window_in_recovery: bool,
    /// The longest time between reports; `None` when any is fine.
    pub longest_report_interval: Option<Duration>,
}
