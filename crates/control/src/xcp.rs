//! XCP's sender: routers control the window.

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, Pacing, PathHeader,
    Phase, Probe, Requirements, SendEvent, Timestamp, XcpForm, XcpHeader,
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

/// The change of throughput that every packet requests, byte/s: effectively unlimited (ns-2.35
/// `xcp/xcp-end-sys.cc`).
const DEMAND: f64 = 1e24;

/// The largest window, bytes. Up to this value a float represents every whole number of bytes.
const LARGEST_WINDOW: f64 = 9_007_199_254_740_992.0;

/// The divisor of the round-trip time for X, the time between two packets in the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum InterPacket {
    /// Whole packets of the window, because a window of 1.9 packets sends one per round trip (ns-2.35:
    /// `window()` is an integer).
    #[default]
    WholePackets,
    /// The window, including fractions of a packet (draft-falk-xcp-spec-03). Flows of few packets then report
    /// that they send more than they do.
    Window,
}

/// Parameters of XCP's sender.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default),
    schemars(extend("x-follows" = "routers"))
)]
pub struct XcpConfig {
    /// Quantity that feedback changes: the `rate` (draft-falk-xcp-spec-03, ns-2.35: it applies to the
    /// sender's newest RTT, and residues bound the total feedback of an interval) or the `window` (Katabi et
    /// al. 2002: it applies to the RTT in the header of the packet, without residues).
    pub form: XcpForm,
    /// A loss halves the window, as in ns-2; otherwise it is only repaired.
    pub halve_on_loss: bool,
    /// Divisor of the RTT for X: `whole-packets` of the window, which are sent in a round trip (ns-2), or the
    /// `window` with its fractions (draft-falk-xcp-spec-03).
    pub inter_packet: InterPacket,
}

impl Default for XcpConfig {
    fn default() -> Self {
        Self { form: XcpForm::Rate, halve_on_loss: true, inter_packet: InterPacket::default() }
    }
}

#[cfg(feature = "declare")]
impl Component<Controllers> for XcpConfig {
    const ID: &'static str = "xcp";

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Xcp::new(*self, facts.initial_window, facts.mss)?))
    }
}

/// XCP's sender in the rate form (draft-falk-xcp-spec-03, section 3.2; ns-2.35 `xcp/xcp-end-sys.cc`).
///
/// On each acknowledgment of new data the window becomes max(window + feedback · SRTT, one segment). Feedback
/// is the only source of growth: there is no slow start and no additive increase, not even after a timeout. A
/// loss or a CE echo halves the window as in TCP, or is only repaired (`halve_on_loss`); a timeout leaves one
/// segment. A spurious signal is undone, unless the window has already exceeded its old size.
///
/// Our decisions where the texts are silent: the return from TCP's mode to XCP's is immediate, as in ns-2.35.
/// Feedback on duplicates is lost (ns-2.35, Reno). Feedback on acknowledgments of new data also counts in
/// recovery, even if only SACK reports the new data: Reno's duplicates do not report it, and without this
/// feedback XCP uses a third of a link with 5 % of losses instead of half. While the window is not used,
/// feedback only lowers it; the draft also decays an unused window, which neither ns-2 nor this
/// implementation does. An acknowledgment without a header, or with an unchanged request because no router on
/// the path supports XCP, changes nothing.
#[derive(Clone, Debug)]
pub struct Xcp {
    config: XcpConfig,
    mss: Bytes,
    /// Bytes of payload, with fractions, because the feedback of each acknowledgment is small.
    window: f64,
    /// The window before the last signal, kept in case the signal is spurious.
    before_signal: Option<f64>,
}

impl Xcp {
    /// Creates a controller with `initial_window` (bytes of payload), which the first feedback changes after
    /// a round trip; `mss` is the largest payload of one packet. Fails if `mss` is zero or the window is
    /// smaller than one segment.
    pub fn new(config: XcpConfig, initial_window: Bytes, mss: Bytes) -> Result<Self, ConfigError> {
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        let window = initial_window.as_f64().min(LARGEST_WINDOW);
        Ok(Self { config, mss, window, before_signal: None })
    }
}

impl Controller for Xcp {
    fn requirements(&self) -> Requirements {
        Requirements { path_feedback: true, ..Requirements::default() }
    }

    fn on_sent(&mut self, event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        let rtt = event.rtt.smoothed;
        if rtt.is_zero() {
            return PathHeader::Xcp(XcpHeader { rtt, inter_packet: Duration::ZERO, delta_throughput: 0.0 });
        }
        let inter_packet = match self.config.inter_packet {
            InterPacket::WholePackets => rtt / (self.window as u64 / event.mss.get().max(1)).max(1),
            // The window is at least one segment.
            InterPacket::Window => rtt.mul_f64(event.mss.as_f64() / self.window),
        };
        PathHeader::Xcp(XcpHeader { rtt, inter_packet, delta_throughput: DEMAND })
    }

    fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn Probe) {
        self.mss = event.mss;
        let PathHeader::Xcp(header) = event.path else { return };
        let feedback = header.delta_throughput;
        if event.acked.is_zero() || !feedback.is_finite() || feedback >= DEMAND / 2.0 {
            return;
        }
        if feedback > 0.0 && !event.window_limited {
            return;
        }
        // The window form: the change of window computed by the paper's routers is relative to the RTT in the
        // packet.
        let rtt = match self.config.form {
            XcpForm::Rate => event.rtt.smoothed,
            XcpForm::Window => header.rtt,
        };
        let change = feedback * rtt.as_secs_f64();
        self.window = (self.window + change).max(event.mss.as_f64()).min(LARGEST_WINDOW);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        self.mss = event.mss;
        let repeated = event.signal == CongestionSignal::Timeout && event.consecutive > 1;
        if !repeated {
            self.before_signal = Some(self.window);
        }
        let segment = event.mss.as_f64();
        self.window = match event.signal {
            CongestionSignal::Timeout => segment,
            CongestionSignal::Loss | CongestionSignal::EcnCe if self.config.halve_on_loss => {
                (self.window / 2.0).max(segment)
            }
            CongestionSignal::Loss | CongestionSignal::EcnCe => self.window,
        };
    }

    fn on_spurious(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {
        if let Some(before) = self.before_signal.take() {
            self.window = self.window.max(before);
        }
    }

    fn control(&self) -> Control {
        Control {
            window: Bytes::new(self.window as u64), // only whole bytes may be sent
            pacing: Pacing::FromWindow,
            quantum: self.mss * QUANTUM_SEGMENTS,
        }
    }

    fn phase(&self) -> Phase {
        Phase::Steady
    }
}

#[cfg(test)]
mod tests;
