//! `NewReno`: one segment a round trip up, half down.

use airpath_model::{AckEvent, Bytes, CongestionEvent, Probe};

use crate::WindowRule;

/// Additive increase, multiplicative decrease (RFC 5681, section 3.1), counting bytes (RFC 3465, section 2.1).
///
/// The window grows by one segment for each window of acknowledged bytes. A loss, a CE echo (RFC 3168, section
/// 6.1.2) or a timeout sets the threshold to half of what is in flight (RFC 5681, equation 4). The retransmissions
/// that give `NewReno` (RFC 6582) its name are the transport's.
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    /// `bytes_acked` of RFC 3465: acknowledged since the last growth.
    bytes_acked: Bytes,
}

impl NewReno {
    /// It has no parameters.
    pub fn new() -> Self {
        Self::default()
    }
}

impl WindowRule for NewReno {
    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        self.bytes_acked += event.acked;
        if self.bytes_acked < window {
            return window;
        }
        self.bytes_acked -= window;
        window + event.mss
    }

    fn reduce(&mut self, _window: Bytes, event: &CongestionEvent, _probe: &mut dyn Probe) -> Bytes {
        self.bytes_acked = Bytes::ZERO;
        Bytes::new(event.flight_size.get() / 2)
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::{CongestionSignal, NullProbe, Timestamp};

    use super::*;

    const MSS: u64 = 1000;

    fn acked(bytes: u64) -> AckEvent {
        let mut event = AckEvent::at(Timestamp::ZERO);
        event.mss = Bytes::new(MSS);
        event.acked = Bytes::new(bytes);
        event
    }

    #[test]
    fn a_window_of_acknowledged_bytes_adds_one_segment() {
        let mut rule = NewReno::new();
        let mut window = Bytes::new(10 * MSS);
        for _ in 0..9 {
            window = rule.congestion_avoidance(window, &acked(MSS));
        }
        assert_eq!(window, Bytes::new(10 * MSS));
        window = rule.congestion_avoidance(window, &acked(MSS));
        assert_eq!(window, Bytes::new(11 * MSS));
        // What is left over after a growth counts for the next.
        window = rule.congestion_avoidance(window, &acked(16 * MSS));
        window = rule.congestion_avoidance(window, &acked(7 * MSS));
        assert_eq!(window, Bytes::new(13 * MSS));
    }

    #[test]
    fn a_signal_halves_what_is_in_flight_and_forgets_the_count() {
        let mut rule = NewReno::new();
        let window = Bytes::new(10 * MSS);
        rule.congestion_avoidance(window, &acked(9 * MSS));
        let mut event = CongestionEvent::at(Timestamp::ZERO, CongestionSignal::Loss);
        event.flight_size = Bytes::new(8 * MSS);
        assert_eq!(rule.reduce(window, &event, &mut NullProbe), Bytes::new(4 * MSS));
        let window = Bytes::new(4 * MSS);
        assert_eq!(rule.congestion_avoidance(window, &acked(MSS)), window);
    }
}
