//! Configuration of the two endpoints of a connection.

use airpath_model::{Bytes, Duration, Requirements};
use thiserror::Error;

/// How a sender behaves. The defaults are today's deployed ones (Linux), with their sources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderConfig {
    /// The largest payload of a segment, at least one byte. Default 1448: Ethernet with timestamps.
    pub mss: Bytes,
    /// Receive window assumed before the receiver has advertised one. Default unlimited.
    pub receive_window: Bytes,
    /// How losses are repaired. Default SACK with proportional rate reduction.
    pub recovery: Recovery,
    /// Find retransmissions that were lost again by the order of transmission, as Linux does; without it only the
    /// timer repairs them (RFC 6675). Default on.
    pub lost_retransmission_detection: bool,
    /// What tells that a segment is lost, where selective acknowledgments are read. Default by what was delivered above it.
    pub loss_detection: LossDetection,
    /// Undo a timeout that timestamps prove spurious (Eifel, RFC 3522 and 4015). Default on.
    pub spurious_timeout_undo: bool,
    /// Timestamps option (RFC 7323). Default on.
    pub timestamps: bool,
    /// Floor of the retransmission timeout. Default 200 ms, as deployed; RFC 6298 says 1 s.
    pub min_rto: Duration,
    /// What the floor bounds. Default the variance term, as deployed.
    pub rto_floor: RtoFloor,
    /// Ceiling of the retransmission timeout, back-off included. Default 60 s (RFC 6298, rule 2.5).
    pub max_rto: Duration,
    /// The timeout before the first RTT sample. Default 1 s (RFC 6298, rule 2.1).
    pub initial_rto: Duration,
    /// How explicit congestion notification is used. Default off.
    pub ecn: EcnMode,
    /// Spread packets over the round trip when the controller names no rate of its own. Default off.
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
    /// Whether the numbers make sense and the controller's needs can be met.
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

/// How explicit congestion notification is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// Not at all.
    Off,
    /// ECT(0); the receiver echoes a mark until the sender signals that it has reduced its window (RFC 3168).
    Classic,
    /// ECT(1), for queues of low latency (L4S, RFC 9331); the receiver counts the segments that arrived marked, and says the
    /// count with each acknowledgment (accurate ECN, RFC 9768, whose field has 3 bits of it).
    Accurate,
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// SACK scoreboard of RFC 6675, sending by proportional rate reduction (RFC 6937).
    Prr,
    /// SACK scoreboard and pipe algorithm of RFC 6675.
    Sack,
    /// No SACK: RFC 6582.
    Newreno,
    /// No SACK: RFC 5681, which leaves recovery with the first acknowledgment of new data. Further losses of the
    /// window wait for the timer, as duplicates before the window's end begin no second recovery (ns-2's `bugFix_`).
    Reno,
}

impl Recovery {
    /// Whether it reads selective acknowledgments.
    pub const fn uses_sack(self) -> bool {
        matches!(self, Self::Prr | Self::Sack)
    }
}

/// The method of loss detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// Data above it that was delivered: three segments' worth, or three blocks (RFC 6675).
    Threshold,
    /// Time: something sent later was delivered, and it is late itself by more than packets are seen to overtake each other (RACK-TLP,
    /// RFC 8985); and a lost tail is probed for. As in Linux since 2018.
    Rack,
}

/// What the floor of the retransmission timeout bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoFloor {
    /// The timeout: max(SRTT + 4 RTTVAR, floor) (RFC 6298, rule 2.4).
    OnTimeout,
    /// The variance term: SRTT + max(4 RTTVAR, floor) (Linux). Avoids spurious timeouts when a full queue makes
    /// the RTT large and steady.
    OnVariance,
}

/// How a receiver behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiverConfig {
    /// Full segments for one acknowledgment; 1 answers each. Default 2 (RFC 5681, section 4.2).
    pub delayed_ack_segments: u32,
    /// The longest that an acknowledgment waits. Default 40 ms, as in Linux; RFC 1122 allows 500 ms.
    pub delayed_ack_timeout: Duration,
    /// Report what arrived out of order (RFC 2018). Default on.
    pub sack: bool,
    /// Echo timestamps (RFC 7323). Default on.
    pub timestamps: bool,
    /// How much it takes beyond what it has delivered. Default unlimited.
    pub receive_window: Bytes,
    /// How explicit congestion notification is used: as at the sender. Default off.
    pub ecn: EcnMode,
}

impl Default for ReceiverConfig {
    fn default() -> Self {
        Self {
            delayed_ack_segments: 2,
            delayed_ack_timeout: Duration::from_millis(40),
            sack: true,
            timestamps: true,
            receive_window: Bytes::MAX,
            ecn: EcnMode::Off,
        }
    }
}

/// A configuration that cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Segments of no size, or beyond 32 bits.
    #[error("found {0} bytes; accepted: from 1 byte to 4 GiB")]
    Mss(u64),
    /// A floor of nothing, or above the ceiling.
    #[error("accepted: more than zero, and at most max_rto")]
    MinRto,
    /// An initial timeout above the ceiling.
    #[error("accepted: at most max_rto")]
    InitialRto,
    /// Eifel detection reads timestamps.
    #[error("needs timestamps, which are off")]
    UndoWithoutTimestamps,
    /// RACK reads selective acknowledgments.
    #[error(
        "\"rack\" needs a recovery by selective acknowledgments; accepted: with recovery \"prr\" or \"sack\""
    )]
    RackWithoutSack,
    /// The controller listens to marks that would never come.
    #[error("the controller needs ECN, which is off")]
    EcnNeeded,
    /// The controller reads how much was marked, which nobody counts.
    #[error("the controller needs accurate ECN, which is off")]
    AccurateEcnNeeded,
    /// The controller, or an estimator alongside it, reads the receiver's clock, which would never come.
    #[error("the controller or an estimator needs timestamps, which are off")]
    TimestampsNeeded,
}

impl ConfigError {
    /// Which parameter is wrong.
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
