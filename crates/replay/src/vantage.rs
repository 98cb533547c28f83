//! The vantage point of a capture.

use airpath_model::{Duration, Timestamp};
use airpath_trace::capture::TcpPacket;

use crate::handshake::Handshake;
use crate::stamps::Stamps;

/// The place of a capture on the path of a flow's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// At or near the endpoint that sends the data.
    Sender,
    /// At or near the endpoint that receives the data.
    Receiver,
    /// Between the two endpoints.
    Middle,
    /// Both endpoints respond at once: they are on one host or adjacent.
    Local,
    /// Unknown: there is neither a handshake nor timestamps.
    Unknown,
}

/// An endpoint is near if its response time is below this fraction of the round trip.
const NEAR: f64 = 0.1;
/// If both endpoints respond faster than this, they are close to each other.
const LOCAL: Duration = Duration::from_micros(200);

impl Vantage {
    /// Returns the name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Middle => "middle",
            Self::Local => "local",
            Self::Unknown => "unknown",
        }
    }

    /// Determines the vantage point from the shortest response times of the two endpoints.
    pub(crate) fn judge(sender: Option<Duration>, receiver: Option<Duration>) -> Self {
        let (Some(sender), Some(receiver)) = (sender, receiver) else { return Self::Unknown };
        let whole = sender + receiver;
        if whole < LOCAL {
            return Self::Local;
        }
        match sender.ratio(whole) {
            share if share <= NEAR => Self::Sender,
            share if share >= 1.0 - NEAR => Self::Receiver,
            _ => Self::Middle,
        }
    }
}

/// The response times of each endpoint of a flow, as captured.
///
/// By timestamps: from the first packet with a value to the first packet of the other endpoint that echoes
/// it. By the handshake: from SYN to SYN-ACK, and from that to its acknowledgment. An endpoint may wait
/// before it responds, so only the shortest times indicate its distance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    stamps: [Stamps; 2],
    least: [Option<Duration>; 2],
    latest: [Option<Duration>; 2],
    last_packet: [Option<Timestamp>; 2],
}

impl Answers {
    /// Records a packet of `side`; `handshake` has processed it already.
    pub(crate) fn on_packet(
        &mut self,
        side: usize,
        now: Timestamp,
        packet: &TcpPacket,
        handshake: &Handshake,
    ) {
        if let Some(answer) = handshake.answer_ns(side) {
            self.note(side, Duration::from_nanos(answer));
        }
        let is_measured = !packet.flags.rst && !handshake.answers_at_once(packet);
        if let Some((value, echo)) = packet.timestamps.filter(|_| is_measured) {
            self.stamps[side].on_packet(now, value);
            if packet.flags.ack
                && let Some(answer) = self.stamps[1 - side].on_echo(now, echo)
            {
                self.note(side, answer);
                // After an idle time an endpoint responds late, because it had nothing to send.
                let silence = self.last_packet[side].map_or(Duration::MAX, |last| now.since(last));
                let round_trip = self.least.iter().flatten().fold(Duration::ZERO, |sum, part| sum + *part);
                if silence <= round_trip * 2 {
                    self.latest[side] = Some(answer);
                }
            }
        }
        self.last_packet[side] = Some(now);
    }

    fn note(&mut self, side: usize, answer: Duration) {
        let least = self.least[side].get_or_insert(answer);
        *least = answer.min(*least);
    }

    /// Returns the shortest response time of `side`.
    pub(crate) fn least(&self, side: usize) -> Option<Duration> {
        self.least[side]
    }

    /// Returns the latest response time of `side` that did not follow an idle time.
    pub(crate) fn latest(&self, side: usize) -> Option<Duration> {
        self.latest[side]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vantage_point_follows_from_the_share_of_the_round_trip() {
        let judge = |sender_us, receiver_us| {
            Vantage::judge(Some(Duration::from_micros(sender_us)), Some(Duration::from_micros(receiver_us)))
        };
        assert_eq!(judge(40, 24_000), Vantage::Sender);
        assert_eq!(judge(24_000, 40), Vantage::Receiver);
        assert_eq!(judge(10_000, 14_000), Vantage::Middle);
        assert_eq!(judge(40, 50), Vantage::Local);
        assert_eq!(Vantage::judge(None, Some(Duration::from_millis(9))), Vantage::Unknown);
    }
}
