//! XCP's sender: the window goes where routers say.

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, Pacing, PathHeader,
    Phase, Probe, Requirements, SendEvent, Timestamp, XcpForm, XcpHeader,
};

use crate::ConfigError;
use crate::windowed::QUANTUM_SEGMENTS;
use airpath_model::config::check;

/// The change of throughput that every packet asks for, byte/s: all there is (ns-2.35 `xcp/xcp-end-sys.cc`).
const DEMAND: f64 = 1e24;

/// No window is larger, bytes: up to here a float counts single bytes.
const LARGEST_WINDOW: f64 = 9_007_199_254_740_992.0;

/// By what the round-trip time is divided to give X, the time between two packets that a header carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterPacket {
    /// Whole packets of the window, as a window of 1.9 packets sends one in a round trip (ns-2.35: `window()` is an
    /// integer).
    #[default]
    WholePackets,
    /// The window, fractions of a packet included (draft-falk-xcp-spec-03). Flows of few packets then say that they send
    /// more than they do.
    Window,
}

/// XCP's sender in the rate form (draft-falk-xcp-spec-03, section 3.2; ns-2.35 `xcp/xcp-end-sys.cc`).
///
/// On each acknowledgment of new data the window becomes max(window + feedback · SRTT, one segment). Feedback is the only
/// growth: there is no slow start and no additive increase, after a timeout neither. A loss or a CE echo halves the
/// window as in TCP, or is only repaired (`halve_on_loss`); a timeout leaves one segment. A signal that proves false is
/// undone, unless the window has already passed its old size.
///
/// Decided where texts are silent: the return from TCP's mode to XCP's is immediate, as in ns-2.35. Feedback on
/// duplicates is lost (ns-2.35, Reno); that on acknowledgments of new data counts in recovery too, also where SACK alone says
/// what is new: Reno's duplicates say nothing of it, and without that XCP keeps a third of a link with 5 % of losses, not half. While the window is not
/// used, feedback only lowers it; the draft ages an unused window as well, which neither ns-2 nor this does. An
/// acknowledgment without a header, or one whose request came back untouched because no router on the path speaks XCP,
/// changes nothing.
#[derive(Clone, Debug)]
pub struct Xcp {
    halve_on_loss: bool,
    form: XcpForm,
    inter_packet: InterPacket,
    mss: Bytes,
    /// Bytes of payload; a fraction of a byte counts, as feedback is small on each acknowledgment.
    window: f64,
    /// The window before the last signal, until it is known to be false.
    before_signal: Option<f64>,
}

impl Xcp {
    /// A controller that starts with `initial_window` (bytes of payload), which the first feedback moves after a round
    /// trip; `mss` is the largest payload of one packet. `halve_on_loss`: a loss halves the window (ns-2's sender),
    /// else it is only repaired. Fails when `mss` is zero or the window does not hold one segment.
    pub fn new(halve_on_loss: bool, initial_window: Bytes, mss: Bytes) -> Result<Self, ConfigError> {
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        let window = initial_window.as_f64().min(LARGEST_WINDOW);
        Ok(Self {
            halve_on_loss,
            form: XcpForm::Rate,
            inter_packet: InterPacket::default(),
            mss,
            window,
            before_signal: None,
        })
    }

    /// The same in that form. In the window form feedback counts over the round-trip time that its packet carried: the
    /// change of window that the paper's routers write is that product.
    #[must_use]
    pub const fn with_form(self, form: XcpForm) -> Self {
        Self { form, ..self }
    }

    /// The same with X computed so.
    #[must_use]
    pub const fn with_inter_packet(self, inter_packet: InterPacket) -> Self {
        Self { inter_packet, ..self }
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
        let inter_packet = match self.inter_packet {
            InterPacket::WholePackets => rtt / (self.window as u64 / event.mss.get().max(1)).max(1),
            // The window holds a segment at least.
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
        let rtt = match self.form {
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
            CongestionSignal::Loss | CongestionSignal::EcnCe if self.halve_on_loss => {
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
            window: Bytes::new(self.window as u64), // whole bytes that are allowed
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
