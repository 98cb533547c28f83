//! Signs of congestion in acknowledgments.

use airpath_model::{AbcMark, AckEvent, Duration, LoadCode, LoadWord, PathHeader};

use crate::ConfigError;
use airpath_model::config::check;

/// Sign of congestion in an acknowledgment. An echo of a CE mark always is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum CongestionEvidence {
    /// Feedback of routers: VCP's overload, XCP's negative feedback (VCP-W, section IV-C), a load of MPCP of
    /// 1 or more, a brake of ABC. QFCP's rates, and acknowledgments without feedback, are not signs of
    /// congestion.
    Feedback,
    /// A queueing delay above a share (greater than 0, less than 1) of the largest observed one: the newest
    /// round-trip time exceeds the smallest by more than that share of the largest spread so far. With 0.5
    /// this is the threshold at which the Spike scheme (Cen, Cosman and Voelker, IEEE/ACM Transactions on
    /// Networking 11(5), 2003) starts to assume congestion, based on round-trip times instead of one-way
    /// delays.
    QueueingDelay,
}

/// Reads the signs of congestion from acknowledgments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Witness {
    evidence: CongestionEvidence,
    /// The share of the largest queueing delay.
    share: f64,
    /// The largest observed queueing delay.
    largest: Duration,
}

impl Witness {
    pub(super) fn new(evidence: CongestionEvidence, share: f64) -> Result<Self, ConfigError> {
        check(share > 0.0 && share < 1.0, "delay_share", "greater than 0 and less than 1", share)?;
        Ok(Self { evidence, share, largest: Duration::ZERO })
    }

    pub(super) fn tells_of_congestion(&mut self, event: &AckEvent) -> bool {
        let told = match self.evidence {
            CongestionEvidence::Feedback => routers_tell(event.path),
            CongestionEvidence::QueueingDelay => self.queue_is_long(event),
        };
        told || event.congestion_experienced
    }

    fn queue_is_long(&mut self, event: &AckEvent) -> bool {
        // This sample may be the minimum itself; the delay is then zero.
        let delay = event.rtt.latest - event.rtt.minimum;
        self.largest = self.largest.max(delay);
        delay > self.largest.mul_f64(self.share)
    }
}

fn routers_tell(path: PathHeader) -> bool {
    match path {
        PathHeader::Load(code) => code == LoadCode::Overload,
        PathHeader::Xcp(header) => header.delta_throughput < 0.0,
        PathHeader::Word(word) => LoadWord::load_factor(word.level, word.digits) >= 1.0,
        PathHeader::Abc(mark) => mark == AbcMark::Brake,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::{LoadWord, Rate, RttEstimate, Timestamp, XcpHeader};

    use super::*;

    fn is_evidence(path: PathHeader) -> bool {
        let mut witness = Witness::new(CongestionEvidence::Feedback, 0.5).unwrap();
        let mut event = AckEvent::at(Timestamp::ZERO);
        event.path = path;
        witness.tells_of_congestion(&event)
    }

    #[test]
    fn routers_signal_by_overload_negative_feedback_full_load_and_brakes() {
        let codes = [LoadCode::Low, LoadCode::High, LoadCode::Overload];
        assert_eq!(codes.map(|code| is_evidence(PathHeader::Load(code))), [false, false, true]);
        let feedback = |delta_throughput| {
            let (rtt, inter_packet) = (Duration::from_millis(80), Duration::ZERO);
            is_evidence(PathHeader::Xcp(XcpHeader { rtt, inter_packet, delta_throughput }))
        };
        assert_eq!([-1.0, 0.0, 1.0].map(feedback), [true, false, false]);
        // 16 levels from 0 to 1.2: the 13th is the first that is not below 1 (1.04).
        let word = |level| is_evidence(PathHeader::Word(LoadWord { level, digits: 2, digit: 0 }));
        assert_eq!([0, 12, 13, 15].map(word), [false, false, true, true]);
        assert_eq!(
            [AbcMark::Accelerate, AbcMark::Brake].map(|mark| is_evidence(PathHeader::Abc(mark))),
            [false, true]
        );
        assert!(!is_evidence(PathHeader::None));
        assert!(!is_evidence(PathHeader::FairRate(Rate::ZERO)));
    }

    #[test]
    fn a_mark_is_evidence_for_any_configured_signal() {
        for evidence in [CongestionEvidence::Feedback, CongestionEvidence::QueueingDelay] {
            let mut witness = Witness::new(evidence, 0.5).unwrap();
            let mut event = AckEvent::at(Timestamp::ZERO);
            assert!(!witness.tells_of_congestion(&event));
            event.congestion_experienced = true;
            assert!(witness.tells_of_congestion(&event));
        }
    }

    #[test]
    fn a_delay_above_its_share_of_the_largest_is_evidence() {
        let mut witness = Witness::new(CongestionEvidence::QueueingDelay, 0.5).unwrap();
        let (minimum, mut outcome) = (Duration::from_millis(100), std::vec::Vec::new());
        // Queues of 0, 40, 100, 50, 51 and 49 ms: the largest is above half of itself, exactly half is not.
        for milliseconds in [100, 140, 200, 150, 151, 149] {
            let mut event = AckEvent::at(Timestamp::ZERO);
            event.rtt = RttEstimate { latest: Duration::from_millis(milliseconds), minimum, ..event.rtt };
            outcome.push(witness.tells_of_congestion(&event));
        }
        assert_eq!(outcome, [false, true, true, false, true, false]);
    }

    #[test]
    fn shares_out_of_range_are_rejected() {
        for share in [0.0, 1.0, f64::NAN] {
            assert!(Witness::new(CongestionEvidence::QueueingDelay, share).is_err());
        }
    }
}
