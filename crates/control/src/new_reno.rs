//! `NewReno`: additive increase by one segment per round trip, decrease by half.

use airpath_model::{AckEvent, Bytes, CongestionEvent, Probe};

#[cfg(feature = "declare")]
use crate::{ConfigError, declare::RuleConfig};
use crate::{ThresholdUnit, WindowRule};

/// The parameters of NewReno.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct NewRenoConfig {
    /// The unit by which the window grows in congestion avoidance: `bytes` (RFC 3465), or `acknowledgments`
    /// (RFC 5681, equation 3; as in ns-2), which is half as fast with delayed acknowledgments.
    pub counting: Counting,
    /// The unit in which half the flight is counted: `bytes` (RFC 5681), or whole `segments`, rounded down
    /// (as in ns-2 and Linux).
    pub threshold_unit: ThresholdUnit,
}

#[cfg(feature = "declare")]
impl RuleConfig for NewRenoConfig {
    const ID: &'static str = "newreno";
    type Rule = NewReno;

    fn rule(&self) -> Result<NewReno, ConfigError> {
        Ok(NewReno::new(self.counting).with_threshold_unit(self.threshold_unit))
    }
}

/// Additive increase, multiplicative decrease (RFC 5681, section 3.1).
///
/// The window grows by one segment for each window of acknowledged bytes, or acknowledgments ([`Counting`]).
/// A loss, a CE echo (RFC 3168, section 6.1.2) or a timeout sets the threshold to half of the data in flight
/// (RFC 5681, equation 4), in bytes unless [configured otherwise](Self::with_threshold_unit). The transport
/// implements the retransmissions that give `NewReno` (RFC 6582) its name.
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    counting: Counting,
    threshold_unit: ThresholdUnit,
    /// `bytes_acked` of RFC 3465: data acknowledged since the last growth.
    bytes_acked: Bytes,
}

/// The unit by which the window grows in congestion avoidance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum Counting {
    /// Acknowledged bytes (RFC 3465, section 2.1): one segment per round trip.
    #[default]
    Bytes,
    /// Acknowledgments, each as one segment (RFC 5681, equation 3; ns-2 and ns-3): half a segment per round
    /// trip with delayed acknowledgments.
    Acknowledgments,
}

impl Counting {
    /// Returns the amount that this acknowledgment adds.
    pub(crate) fn counted(self, event: &AckEvent) -> Bytes {
        match self {
            Self::Bytes => event.acked,
            Self::Acknowledgments => event.acked.min(event.mss),
        }
    }
}

impl NewReno {
    /// Creates a rule whose growth counts bytes or acknowledgments. Half of the flight is not rounded.
    pub fn new(counting: Counting) -> Self {
        Self { counting, ..Self::default() }
    }

    /// Sets the unit in which half of the flight is counted.
    #[must_use]
    pub fn with_threshold_unit(self, threshold_unit: ThresholdUnit) -> Self {
        Self { threshold_unit, ..self }
    }
}

impl WindowRule for NewReno {
    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        self.bytes_acked += self.counting.counted(event);
        if self.bytes_acked < window {
            return window;
        }
        self.bytes_acked -= window;
        window + event.mss
    }

    fn reduce(&mut self, _window: Bytes, event: &CongestionEvent, _probe: &mut dyn Probe) -> Bytes {
        self.bytes_acked = Bytes::ZERO;
        self.threshold_unit.round(Bytes::new(event.flight_size.get() / 2), event.mss)
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
    fn each_acknowledgment_counts_as_one_segment() {
        let mut rule = NewReno::new(Counting::Acknowledgments);
        let window = Bytes::new(10 * MSS);
        for _ in 0..9 {
            assert_eq!(rule.congestion_avoidance(window, &acked(2 * MSS)), window);
        }
        assert_eq!(rule.congestion_avoidance(window, &acked(2 * MSS)), Bytes::new(11 * MSS));
    }

    #[test]
    fn a_window_of_acknowledged_bytes_adds_one_segment() {
        let mut rule = NewReno::default();
        let mut window = Bytes::new(10 * MSS);
        for _ in 0..9 {
            window = rule.congestion_avoidance(window, &acked(MSS));
        }
        assert_eq!(window, Bytes::new(10 * MSS));
        window = rule.congestion_avoidance(window, &acked(MSS));
        assert_eq!(window, Bytes::new(11 * MSS));
        // The remainder after a growth counts for the next one.
        window = rule.congestion_avoidance(window, &acked(16 * MSS));
        window = rule.congestion_avoidance(window, &acked(7 * MSS));
        assert_eq!(window, Bytes::new(13 * MSS));
    }

    #[test]
    fn a_signal_halves_what_is_in_flight_and_forgets_the_count() {
        let mut rule = NewReno::default();
        let window = Bytes::new(10 * MSS);
        rule.congestion_avoidance(window, &acked(9 * MSS));
        let mut event = CongestionEvent::at(Timestamp::ZERO, CongestionSignal::Loss);
        event.flight_size = Bytes::new(8 * MSS);
        assert_eq!(rule.reduce(window, &event, &mut NullProbe), Bytes::new(4 * MSS));
        let window = Bytes::new(4 * MSS);
        assert_eq!(rule.congestion_avoidance(window, &acked(MSS)), window);
    }

    #[test]
    fn half_of_an_odd_flight_is_rounded_down_where_segments_are_counted() {
        let mut event = CongestionEvent::at(Timestamp::ZERO, CongestionSignal::Loss);
        event.mss = Bytes::new(MSS);
        event.flight_size = Bytes::new(9 * MSS);
        let fallen = |unit| {
            NewReno::default().with_threshold_unit(unit).reduce(event.flight_size, &event, &mut NullProbe)
        };
        assert_eq!(fallen(ThresholdUnit::Bytes), Bytes::new(9 * MSS / 2));
        assert_eq!(fallen(ThresholdUnit::Segments), Bytes::new(4 * MSS));
    }
}
