//! The configurations of sender and receiver.

use airpath_model::{Bytes, Duration};
use airpath_plan::{LossDetectionPlan, RecoveryPlan, RtoFloorPlan, StackPlan, TransportPlan};
use airpath_transport::{EcnMode, LossDetection, ReceiverConfig, Recovery, RtoFloor, SenderConfig};

/// Returns the sender configuration of a transport.
pub(crate) fn sender_config(plan: &TransportPlan) -> SenderConfig {
    SenderConfig {
        mss: Bytes::new(plan.mss_bytes),
        receive_window: initial_receive_window(plan),
        recovery: recovery(plan.recovery),
        lost_retransmission_detection: plan.lost_retransmission_detection,
        loss_detection: match plan.loss_detection {
            LossDetectionPlan::Threshold => LossDetection::Threshold,
            LossDetectionPlan::Rack => LossDetection::Rack,
        },
        spurious_timeout_undo: plan.spurious_timeout_undo,
        timestamps: plan.timestamps,
        timestamp_resolution: match plan.stack {
            StackPlan::Rfc => Duration::from_nanos(1),
            StackPlan::Linux => Duration::from_millis(1),
        },
        min_rto: Duration::from_nanos(plan.min_rto_ns),
        rto_floor: match plan.rto_floor {
            RtoFloorPlan::Timeout => RtoFloor::OnTimeout,
            RtoFloorPlan::Variance => RtoFloor::OnVariance,
        },
        max_rto: Duration::from_nanos(plan.max_rto_ns),
        initial_rto: Duration::from_nanos(plan.initial_rto_ns),
        ecn: ecn_mode(plan),
        pacing: plan.pacing,
    }
}

const fn ecn_mode(plan: &TransportPlan) -> EcnMode {
    match (plan.ecn, plan.accurate_ecn) {
        (false, _) => EcnMode::Off,
        (true, false) => EcnMode::Classic,
        (true, true) => EcnMode::Accurate,
    }
}

fn recovery(plan: RecoveryPlan) -> Recovery {
    match plan {
        RecoveryPlan::Prr => Recovery::Prr,
        RecoveryPlan::Sack => Recovery::Sack,
        RecoveryPlan::Newreno => Recovery::Newreno,
        RecoveryPlan::Reno => Recovery::Reno,
    }
}

/// Returns the configuration of the receiver.
pub(crate) fn receiver_config(plan: &TransportPlan) -> ReceiverConfig {
    ReceiverConfig {
        delayed_ack_segments: plan.delayed_ack_segments,
        delayed_ack_timeout: Duration::from_nanos(plan.delayed_ack_timeout_ns),
        quick_acks: match plan.stack {
            StackPlan::Rfc => 0,
            StackPlan::Linux => (linux_segments(plan) / 2).clamp(2, LINUX_QUICK_ACKS),
        },
        sack: recovery(plan.recovery).uses_sack(),
        timestamps: plan.timestamps,
        initial_receive_window: initial_receive_window(plan),
        receive_window: Bytes::new(plan.receive_window_bytes),
        ecn: ecn_mode(plan),
    }
}

/// The receive window of Linux at the start of a connection, which it rounds down to whole segments
/// (`tcp_select_initial_window`).
const LINUX_RECEIVE_WINDOW: u64 = 65_535;
/// The most acknowledgments that Linux sends without delay at the start of a connection (`TCP_MAX_QUICKACKS`). Of large
/// segments it sends one for every two that the receive window holds.
const LINUX_QUICK_ACKS: u64 = 16;

/// Returns how many segments the first receive window of Linux holds. A segment size of zero is rejected elsewhere.
fn linux_segments(plan: &TransportPlan) -> u64 {
    LINUX_RECEIVE_WINDOW / plan.mss_bytes.max(1)
}

fn initial_receive_window(plan: &TransportPlan) -> Bytes {
    let window = match plan.stack {
        StackPlan::Rfc => u64::MAX,
        StackPlan::Linux => linux_segments(plan).max(1) * plan.mss_bytes,
    };
    Bytes::new(window.min(plan.receive_window_bytes))
}
