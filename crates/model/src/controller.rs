//! The interface of congestion controllers.

use core::fmt::Debug;

use crate::{
    AckEvent, Bytes, CongestionEvent, Duration, PathHeader, Probe, Rate, SendEvent, Steered, Timestamp,
};

/// A congestion controller. It receives events and decides how much may be sent and when. It owns no clock
/// and sends nothing itself.
///
/// Contract of the driver: `now` never decreases. If an acknowledgment causes both calls,
/// [`Controller::on_congestion`] comes before [`Controller::on_ack`]. The driver reads
/// [`Controller::control`] and [`Controller::next_timer`] after every call. It sends a packet only while
/// `in_flight + payload <= window`, not before the pacer's release time, and never more than `quantum` at
/// once. While the transport repairs a loss, proportional rate reduction may replace the window: the data in
/// flight then shrinks to the window over one round trip instead of at once.
pub trait Controller: Debug + Send {
    /// Returns what the driver must supply. The driver checks it once, before the first packet.
    fn requirements(&self) -> Requirements {
        Requirements::default()
    }

    /// Reports that a data packet leaves. Returns the header that the packet carries to the routers.
    fn on_sent(&mut self, _event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        PathHeader::None
    }

    /// Processes an acknowledgment of new data or a duplicate.
    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe);

    /// Processes a congestion signal; see [`crate::CongestionSignal`] for how often each signal occurs.
    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe);

    /// Returns whether the controller attributed the last congestion signal to a channel error instead of
    /// congestion, and therefore reduced nothing. The driver then does not count a reduction, and the first
    /// expiry of its timer does not back off.
    fn dismissed_signal(&self) -> bool {
        false
    }

    /// Reports that the last congestion signal was spurious: every packet assumed lost was delivered. The
    /// controller should restore its state from before the signal.
    fn on_spurious(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {}

    /// Reports that the time returned by [`Controller::next_timer`] has come.
    fn on_timer(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {}

    /// Returns the time of the next call of [`Controller::on_timer`]; [`Timestamp::NEVER`] for none.
    fn next_timer(&self) -> Timestamp {
        Timestamp::NEVER
    }

    /// Returns the controller itself if its decisions come from outside. After steering it, the caller reads
    /// [`Controller::control`] again.
    fn steered(&mut self) -> Option<&mut dyn Steered> {
        None
    }

    /// Returns window, pacing and burst limit. The result stays the same until the next call of an `on_*`
    /// method.
    fn control(&self) -> Control;

    /// Returns the slow-start threshold, if the controller has one.
    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    /// Returns the current phase, for telemetry.
    fn phase(&self) -> Phase;
}

/// The limits that a controller sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// The most payload in flight.
    pub window: Bytes,
    /// How packets are spread in time.
    pub pacing: Pacing,
    /// The most payload that may leave back to back when pacing is on; one packet is always allowed.
    pub quantum: Bytes,
}

/// How packets are spread in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// No pacing: packets leave as soon as the window allows.
    Off,
    /// The window over the smoothed RTT, times a gain that the driver chooses (Linux: 2 in slow start, 1.2
    /// after), if the driver is configured to pace; otherwise as [`Pacing::Off`].
    FromWindow,
    /// At this rate of payload, always.
    At(Rate),
}

codes! {
    /// The phase of a controller.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Phase {
        /// Exponential growth.
        SlowStart = "slow start",
        /// Slow start with reduced growth that tests whether it should end (conservative slow start of RFC
        /// 9406).
        ConservativeSlowStart = "conservative slow start",
        /// Steady probing.
        CongestionAvoidance = "congestion avoidance",
        /// The window does not depend on phases.
        Steady = "steady",
        /// BBR: draining the queue that startup built.
        Drain = "drain",
        /// BBR: sending below the estimated bandwidth to drain the queue.
        ProbeDown = "probe down",
        /// BBR: sending at the estimated bandwidth.
        ProbeCruise = "probe cruise",
        /// BBR: refilling the path before probing for bandwidth.
        ProbeRefill = "probe refill",
        /// BBR: sending above the estimated bandwidth to find more.
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
    /// The ECN field on data packets, and its echo.
    pub ecn: bool,
    /// The amount of marked data in [`crate::AckEvent::marked`], and ECT(1) on data packets.
    pub accurate_ecn: bool,
    /// Router feedback in [`AckEvent::path`].
    pub path_feedback: bool,
    /// The receiver's clock in [`AckEvent::receiver_time`]: TCP timestamps.
    pub receiver_time: bool,
    /// The window also applies during loss recovery: proportional rate reduction does not replace it.
    pub window_in_recovery: bool,
    /// The longest time between reports; `None` for no limit.
    pub longest_report_interval: Option<Duration>,
}
