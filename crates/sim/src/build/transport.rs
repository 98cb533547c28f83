//! The configurations of sender and receiver.

use airpath_model::{Bytes, Duration};
use airpath_plan::{LossDetectionPlan, RecoveryPlan, RtoFloorPlan, TransportPlan};
use airpath_transport::{EcnMode, LossDetection, ReceiverConfig, Recovery, RtoFloor, SenderConfig};

/// Returns the sender configuration of a transport.
pub(crate) fn sender_config(plan: &TransportPlan) -> SenderConfig {
    SenderConfig {
        mss: Bytes::new(plan.mss_bytes),
        receive_window: Bytes::new(plan.receive_window_bytes),
        recovery: recovery(plan.recovery),
        lost_retransmission_detection: plan.lost_retransmission_detection,
        loss_detection: match plan.loss_detection {
            LossDetectionPlan::Threshold => LossDetection::Threshold,
            LossDetectionPlan::Rack => LossDetection::Rack,
        },
        spurious_timeout_undo: plan.spurious_timeout_undo,
        timestamps: plan.timestamps,
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

/// Returns the receiver configuration of a transport.
pub(crate) fn receiver_config(plan: &TransportPlan) -> ReceiverConfig {
    ReceiverConfig {
        delayed_ack_segments: plan.delayed_ack_segments,
        delayed_ack_timeout: Duration::from_nanos(plan.delayed_ack_timeout_ns),
        sack: recovery(plan.recovery).uses_sack(),
        timestamps: plan.timestamps,
        receive_window: Bytes::new(plan.receive_window_bytes),
        ecn: ecn_mode(plan),
    }
}
