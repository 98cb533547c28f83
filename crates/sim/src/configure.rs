//! From the plan of a flow's ends to the configurations of transport and controller.

mod estimator;

use airpath_control::{
    ConfigError, Counting, Cubic, CubicConfig, EstimatedSsthresh, Fixed, HystartPlusPlus,
    HystartPlusPlusConfig, MinimumRtt, Mpcp, MpcpConfig, NewReno, Qfcp, RttScaling, StandardSlowStart, Vcp,
    VcpBounds, VcpConfig, VcpFreeze, Westwood, WestwoodConfig, WestwoodReduction, WindowRule, Windowed, Xcp,
};
use airpath_model::{Bytes, Controller, Duration, Rate};
use airpath_transport::{ReceiverConfig, Recovery, RtoFloor, SenderConfig};

use crate::plan::{
    AckRatePlan, ControllerPlan, CountingPlan, CubicForm, FilterPlan, FreezePlan, MinimumRttPlan,
    RecoveryPlan, RtoFloorPlan, RttScalingPlan, SamplerPlan, SlowStartPlan, TransportPlan, VcpBoundsPlan,
    WestwoodReductionPlan,
};

/// What the sender of such a transport is told.
pub(crate) fn sender_config(plan: &TransportPlan) -> SenderConfig {
    SenderConfig {
        mss: Bytes::new(plan.mss_bytes),
        receive_window: Bytes::new(plan.receive_window_bytes),
        recovery: match plan.recovery {
            RecoveryPlan::Prr => Recovery::Prr,
            RecoveryPlan::Sack => Recovery::Sack,
            RecoveryPlan::Newreno => Recovery::Newreno,
        },
        lost_retransmission_detection: plan.lost_retransmission_detection,
        spurious_timeout_undo: plan.spurious_timeout_undo,
        timestamps: plan.timestamps,
        min_rto: Duration::from_nanos(plan.min_rto_ns),
        rto_floor: match plan.rto_floor {
            RtoFloorPlan::Timeout => RtoFloor::OnTimeout,
            RtoFloorPlan::Variance => RtoFloor::OnVariance,
        },
        max_rto: Duration::from_nanos(plan.max_rto_ns),
        initial_rto: Duration::from_nanos(plan.initial_rto_ns),
        ecn: plan.ecn,
        pacing: plan.pacing,
    }
}

/// What the receiver of such a transport is told.
pub(crate) fn receiver_config(plan: &TransportPlan) -> ReceiverConfig {
    ReceiverConfig {
        delayed_ack_segments: plan.delayed_ack_segments,
        delayed_ack_timeout: Duration::from_nanos(plan.delayed_ack_timeout_ns),
        sack: plan.recovery != RecoveryPlan::Newreno,
        timestamps: plan.timestamps,
        receive_window: Bytes::new(plan.receive_window_bytes),
        ecn: plan.ecn,
    }
}

/// A controller as planned, for connections with segments of `mss`.
pub(crate) fn controller(
    plan: &ControllerPlan,
    initial_window: Bytes,
    mss: Bytes,
) -> Result<Box<dyn Controller>, ConfigError> {
    match *plan {
        ControllerPlan::Newreno { counting, slow_start } => {
            windowed(NewReno::new(self::counting(counting)), slow_start, initial_window, mss)
        }
        ControllerPlan::Westwood { estimator, reduction, may_raise, minimum_rtt, counting, slow_start } => {
            let config = WestwoodConfig {
                reduction: match reduction {
                    WestwoodReductionPlan::AtLoss => WestwoodReduction::AtLoss,
                    WestwoodReductionPlan::AfterRecovery => WestwoodReduction::AfterRecovery,
                },
                may_raise,
                minimum_rtt: match minimum_rtt {
                    MinimumRttPlan::OfFlow => MinimumRtt::OfFlow,
                    MinimumRttPlan::SinceTimeout => MinimumRtt::SinceTimeout,
                },
                counting: self::counting(counting),
            };
            windowed(Westwood::new(estimator.build()?, config), slow_start, initial_window, mss)
        }
        ControllerPlan::Cubic { c, beta, fast_convergence, reno_friendly, form, slow_start } => {
            let form = match form {
                CubicForm::Rfc9438 => airpath_control::CubicForm::Rfc9438,
                CubicForm::Linux2008 => airpath_control::CubicForm::Linux2008,
            };
            let rule = Cubic::new(CubicConfig { form, c, beta, fast_convergence, reno_friendly })?;
            windowed(rule, slow_start, initial_window, mss)
        }
        ControllerPlan::Xcp { halve_on_loss } => Ok(Box::new(Xcp::new(halve_on_loss, initial_window, mss)?)),
        ControllerPlan::Vcp {
            rtt_scaling,
            bounds,
            freeze,
            kappa,
            alpha,
            beta,
            interval_ns,
            pace_small_windows,
        } => {
            let config = VcpConfig {
                rtt_scaling: self::rtt_scaling(rtt_scaling),
                bounds: self::bounds(bounds),
                freeze: self::freeze(freeze),
                kappa,
                alpha,
                beta,
                interval: Duration::from_nanos(interval_ns),
                pace_small_windows,
            };
            Ok(Box::new(Vcp::new(config, initial_window, mss)?))
        }
        ControllerPlan::Mpcp {
            digits,
            rtt_scaling,
            bounds,
            freeze,
            alpha,
            interval_ns,
            pace_small_windows,
        } => {
            let config = MpcpConfig {
                digits,
                rtt_scaling: self::rtt_scaling(rtt_scaling),
                bounds: self::bounds(bounds),
                freeze: self::freeze(freeze),
                alpha,
                interval: Duration::from_nanos(interval_ns),
                pace_small_windows,
            };
            Ok(Box::new(Mpcp::new(config, initial_window, mss)?))
        }
        ControllerPlan::Qfcp => Ok(Box::new(Qfcp::new(initial_window, mss)?)),
        ControllerPlan::Fixed { window_bytes, pacing_bps } => {
            Ok(Box::new(Fixed::new(Bytes::new(window_bytes), pacing_bps.map(Rate::from_bps), mss)?))
        }
    }
}

const fn counting(plan: CountingPlan) -> Counting {
    match plan {
        CountingPlan::Bytes => Counting::Bytes,
        CountingPlan::Acknowledgments => Counting::Acknowledgments,
    }
}

const fn rtt_scaling(plan: RttScalingPlan) -> RttScaling {
    match plan {
        RttScalingPlan::Minimum => RttScaling::Minimum,
        RttScalingPlan::Smoothed => RttScaling::Smoothed,
        RttScalingPlan::Unscaled => RttScaling::Unscaled,
    }
}

const fn bounds(plan: VcpBoundsPlan) -> VcpBounds {
    match plan {
        VcpBoundsPlan::Spec => VcpBounds::Paper,
        VcpBoundsPlan::Author => VcpBounds::Authors,
    }
}

const fn freeze(plan: FreezePlan) -> VcpFreeze {
    match plan {
        FreezePlan::All => VcpFreeze::All,
        FreezePlan::DecreasesOnly => VcpFreeze::DecreasesOnly,
    }
}

fn windowed<W: WindowRule + 'static>(
    rule: W,
    slow_start: SlowStartPlan,
    initial_window: Bytes,
    mss: Bytes,
) -> Result<Box<dyn Controller>, ConfigError> {
    Ok(match slow_start {
        SlowStartPlan::Standard => {
            Box::new(Windowed::new(rule, StandardSlowStart::default(), initial_window, mss)?)
        }
        SlowStartPlan::PerAcknowledgment => {
            Box::new(Windowed::new(rule, StandardSlowStart::new(1)?, initial_window, mss)?)
        }
        SlowStartPlan::HystartPlusPlus => {
            let slow_start = HystartPlusPlus::new(HystartPlusPlusConfig::default())?;
            Box::new(Windowed::new(rule, slow_start, initial_window, mss)?)
        }
        SlowStartPlan::Hoe => {
            let slow_start = EstimatedSsthresh::new(StandardSlowStart::default(), HOE.build()?);
            Box::new(Windowed::new(rule, slow_start, initial_window, mss)?)
        }
    })
}

/// Hoe (1996): the slope through three acknowledgments. Closely spaced is ours: packets that left within 1 ms.
const HOE: AckRatePlan = AckRatePlan::Filtered {
    sampler: SamplerPlan::BackToBack { acks: 3, spacing_ns: 1_000_000 },
    filter: FilterPlan::First,
};
