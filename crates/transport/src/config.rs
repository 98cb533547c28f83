//! Configuration of the two endpoints of a connection.

use airpath_model::{Bytes, Duration, Requirements};
use thiserror::Error;

/// Configuration of a sender. The defaults are those deployed in Linux, with their sources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderConfig {
    /// The maximum segment size (payload), at least one byte. Default 1448: Ethernet with timestamps.
    pub mss: Bytes,
    /// The receive window assumed until the receiver advertises one. Default unlimited.
    pub receive_window: Bytes,
    /// The loss recovery algorithm. Default SACK with proportional rate reduction.
    pub recovery: Recovery,
    /// Whether to detect lost retransmissions by the order of transmission, as Linux does. Without it, only
    /// the timer repairs them (RFC 6675). Default on.
    pub lost_retransmission_detection: bool,
    /// The loss detection algorithm if SACK is used. Default: by the data delivered above a segment.
    pub loss_detection: LossDetection,
    /// Whether to undo a timeout that timestamps prove spurious (Eifel, RFC 3522 and 4015). Default on.
    pub spurious_timeout_undo: bool,
    /// Whether to use the timestamps option (RFC 7323). Default on.
    pub timestamps: bool,
    /// The unit of RTT samples by timestamps, at least 1 ns; in Linux 1 ms. Default 1 ns.
    pub timestamp_resolution: Duration,
    /// The floor of the retransmission timeout. Default 200 ms, as deployed; RFC 6298 specifies 1 s.
    pub min_rto: Duration,
    /// The quantity that the floor bounds. Default the variance term, as deployed.
    pub rto_floor: RtoFloor,
    /// The ceiling of the retransmission timeout, back-off included. Default 60 s (RFC 6298, rule 2.5).
    pub max_rto: Duration,
    /// The retransmission timeout before the first RTT sample. Default 1 s (RFC 6298, rule 2.1).
    pub initial_rto: Duration,
    /// The mode of explicit congestion notification. Default off.
    pub ecn: EcnMode,
    /// Whether to spread packets over the round trip if the controller sets no pacing rate. Default off.
    pub pacing: bool,
}

impl Default for SenderConfig {
    fn default() -> Self {
        Self {
            mss: Bytes::new(1448),
            receive_window: Bytes::MAX,
            recovery: Recovery::Prr,
            lost_retransmission_detection: true,
            loss_detection: LossDetection::Threshold,
            spurious_timeout_undo: true,
            timestamps: true,
            timestamp_resolution: Duration::from_nanos(1),
            min_rto: Duration::from_millis(200),
            rto_floor: RtoFloor::OnVariance,
            max_rto: Duration::from_secs(60),
            initial_rto: Duration::from_secs(1),
            ecn: EcnMode::Off,
            pacing: false,
        }
    }
}

impl SenderConfig {
    /// Checks that the values are valid and meet the controller's requirements.
    pub(crate) fn check(&self, needs: &Requirements) -> Result<(), ConfigError> {
        if self.mss.is_zero() || self.mss.get() > u64::from(u32::MAX) {
            return Err(ConfigError::Mss(self.mss.get()));
        }
        if self.min_rto.is_zero() || self.min_rto > self.max_rto {
            return Err(ConfigError::MinRto);
        }
        if self.initial_rto > self.max_rto {
            return Err(ConfigError::InitialRto);
        }
        if self.spurious_timeout_undo && !self.timestamps {
            return Err(ConfigError::UndoWithoutTimestamps);
        }
        if self.loss_detection == LossDetection::Rack && !self.recovery.uses_sack() {
            return Err(ConfigError::RackWithoutSack);
        }
        if needs.ecn && self.ecn == EcnMode::Off {
            return Err(ConfigError::EcnNeeded);
        }
        if needs.accurate_ecn && self.ecn != EcnMode::Accurate {
            return Err(ConfigError::AccurateEcnNeeded);
        }
        if needs.receiver_time && !self.timestamps {
            return Err(ConfigError::TimestampsNeeded);
        }
        Ok(())
    }
}

/// The mode of explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// Off.
    Off,
    /// ECT(0); the receiver echoes a mark until the sender signals that it has reduced its window (RFC 3168).
    Classic,
    /// ECT(1), for low-latency queues (L4S, RFC 9331). The receiver counts the marked segments and reports
    /// the count with each acknowledgment (accurate ECN, RFC 9768, whose field carries 3 bits of it).
    Accurate,
}

/// The loss recovery algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// SACK scoreboard of RFC 6675; transmissions follow proportional rate reduction (RFC 6937).
    Prr,
    /// SACK scoreboard and pipe algorithm of RFC 6675.
    Sack,
    /// RFC 6582, without SACK.
    Newreno,
    /// RFC 5681, without SACK: recovery ends with the first acknowledgment of new data. Further losses in the
    /// window wait for the timer, because duplicates from before the window's end start no second recovery
    /// (ns-2's `bugFix_`).
    Reno,
}

impl Recovery {
    /// Returns whether the algorithm uses selective acknowledgments.
    pub const fn uses_sack(self) -> bool {
        matches!(self, Self::Prr | Self::Sack)
    }
}

/// The loss detection algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// By the data delivered above a segment: three segments' worth, or three blocks (RFC 6675).
    Threshold,
    /// By time, with a tail loss probe (RACK-TLP, RFC 8985), as in Linux since 2018. A segment is lost if a
    /// later transmission was delivered and the segment is overdue by more than the observed reordering.
    Rack,
}

/// The quantity that the floor of the retransmission timeout bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoFloor {
    /// The timeout: max(SRTT + 4 RTTVAR, floor) (RFC 6298, rule 2.4).
    OnTimeout,
    /// The variance term: SRTT + max(4 RTTVAR, floor) (Linux). Avoids spurious timeouts when a full queue
    /// makes the RTT large and steady.
    OnVariance,
}

/// Configuration of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiverConfig {
    /// The number of full segments per acknowledgment; 1 acknowledges each segment. Default 2 (RFC 5681,
    /// section 4.2).
    pub delayed_ack_segments: u32,
    /// The longest delay of an acknowledgment. Default 40 ms, as in Linux; RFC 1122 allows 500 ms.
    pub delayed_ack_timeout: Duration,
    /// The number of acknowledgments at the start of the connection that are not delayed; Linux sends 16. Default 0.
    pub quick_acks: u64,
    /// Whether to report out-of-order ranges (RFC 2018). Default on.
    pub sack: bool,
    /// Whether to echo timestamps (RFC 7323). Default on.
    pub timestamps: bool,
    /// The receive window beyond the delivered data. Default unlimited.
    pub receive_window: Bytes,
    /// The receive window at the start of the connection. It grows by two bytes for each byte received, as in Linux, up
    /// to `receive_window`. Default unlimited.
    pub initial_receive_window: Bytes,
    /// The mode of explicit congestion notification, the same as the sender's. Default off.
    pub ecn: EcnMode,
}

impl Default for ReceiverConfig {
    fn default() -> Self {
        Self {
            delayed_ack_segments: 2,
            delayed_ack_timeout: Duration::from_millis(40),
            quick_acks: 0,
            sack: true,
            timestamps: true,
            receive_window: Bytes::MAX,
            initial_receive_window: Bytes::MAX,
            ecn: EcnMode::Off,
        }
    }
}

/// An invalid configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The segment size is zero or exceeds 32 bits.
    #[error("found {0} bytes; accepted: from 1 byte to 4 GiB")]
    Mss(u64),
    /// The floor is zero or above the ceiling.
    #[error("accepted: more than zero, and at most max_rto")]
    MinRto,
    /// The initial timeout is above the ceiling.
    #[error("accepted: at most max_rto")]
    InitialRto,
    /// Eifel detection needs timestamps.
    #[error("needs timestamps, which are off")]
    UndoWithoutTimestamps,
    /// RACK needs selective acknowledgments.
    #[error(
        "\"rack\" needs a recovery by selective acknowledgments; accepted: with recovery \"prr\" or \"sack\""
    )]
    RackWithoutSack,
    /// The controller needs ECN marks, but ECN is off.
    #[error("the controller needs ECN, which is off")]
    EcnNeeded,
    /// The controller needs the number of marks, but accurate ECN is off.
    #[error("the controller needs accurate ECN, which is off")]
    AccurateEcnNeeded,
    /// The controller or an estimator needs the receiver's clock, but timestamps are off.
    #[error("the controller or an estimator needs timestamps, which are off")]
    TimestampsNeeded,
}

impl ConfigError {
    /// Returns the name of the invalid parameter.
    pub const fn parameter(self) -> &'static str {
        match self {
            Self::Mss(_) => "mss",
            Self::MinRto => "min_rto",
            Self::InitialRto => "initial_rto",
            Self::UndoWithoutTimestamps => "spurious_timeout_undo",
            Self::RackWithoutSack => "loss_detection",
            Self::EcnNeeded | Self::AccurateEcnNeeded => "ecn",
            Self::TimestampsNeeded => "timestamps",
        }
    }
}
