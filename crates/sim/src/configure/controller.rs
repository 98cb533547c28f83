//! Controllers.

use std::sync::Arc;

use airpath_control::{
    Abc, AbcConfig, AdditiveScaling, AfterFreeze, Agent, Bbr, BbrConfig, Bic, BicConfig, ConfigError,
    CongestionEvidence, Copa, CopaConfig, Cubic, CubicConfig, CubicEbe, Fixed, HighSpeed, HighSpeedConfig,
    HistoryRule, Htcp, HtcpConfig, InterPacket, LedbatPlusPlus, LedbatPlusPlusConfig, LossDifferentiation,
    LossDifferentiationConfig, MinimumRtt, Mpcp, MpcpConfig, Prague, PragueConfig, Qfcp, RttScaling, Vcp,
    VcpBounds, VcpConfig, VcpFreeze, Veno, VenoConfig, Westwood, WestwoodConfig, WestwoodReduction, Xcp,
};
use airpath_model::declare::{Factory, Refused};
use airpath_model::{Bytes, Controller, Duration, RandomStream, Rate};

use airpath_control::declare::{ControllerFacts, Controllers};

use super::ceiling;
use super::slow_start::windowed;
use crate::components::components;
use crate::plan::{
    AdditiveScalingPlan, AfterFreezePlan, ControllerPlan, EvidencePlan, FreezePlan, HistoryRulePlan,
    InterPacketPlan, MinimumRttPlan, RttScalingPlan, VcpBoundsPlan, WestwoodReductionPlan,
};

/// A planned controller, read once for all connections of a flow.
#[derive(Clone, Debug)]
pub(crate) enum PlannedController {
    /// One that is read from its plan at each construction.
    Plan(ControllerPlan),
    /// One that declares itself.
    Declared(Arc<dyn Factory<Controllers>>),
}

impl PlannedController {
    pub(crate) fn new(plan: &ControllerPlan) -> Result<Self, Refused> {
        Ok(match plan {
            ControllerPlan::Declared(part) => Self::Declared(components().control.controllers.read(part)?),
            plan => Self::Plan(plan.clone()),
        })
    }

    pub(crate) fn build(
        &self,
        initial_window: Bytes,
        mss: Bytes,
        random: RandomStream,
    ) -> Result<Box<dyn Controller>, ConfigError> {
        match self {
            Self::Plan(plan) => controller(plan, initial_window, mss, random),
            Self::Declared(factory) => {
                let (components, handshake_rtt) = (&components().control, None);
                factory.build(ControllerFacts { initial_window, mss, handshake_rtt, random, components })
            }
        }
    }
}

/// A controller as planned, for connections with segments of `mss`; it draws from `random`.
///
/// # Errors
/// The parameter that makes no sense, and what is accepted; the kernel's controllers, which are not here.
#[expect(
    clippy::too_many_lines,
    reason = "one arm for each kind of controller, none with a thought of its own"
)]
pub fn controller(
    plan: &ControllerPlan,
    initial_window: Bytes,
    mss: Bytes,
    random: RandomStream,
) -> Result<Box<dyn Controller>, ConfigError> {
    match *plan {
        ControllerPlan::Westwood {
            estimator,
            reduction,
            may_raise,
            minimum_rtt,
            threshold_unit,
            counting,
            ref slow_start,
        } => {
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
                threshold_unit,
                counting,
            };
            windowed(Westwood::new(estimator.build()?, config), slow_start, initial_window, mss)
        }
        ControllerPlan::CubicEbe {
            c,
            beta,
            fast_convergence,
            reno_friendly,
            form,
            ref slow_start,
            ref estimator,
            probing_growth,
        } => {
            let cubic = Cubic::new(CubicConfig { form, c, beta, fast_convergence, reno_friendly })?;
            let estimator = ceiling::ebe_ceiling(estimator)?;
            let rule = CubicEbe::new(cubic, estimator, ceiling::probing_growth(probing_growth));
            windowed(rule, slow_start, initial_window, mss)
        }
        ControllerPlan::Bic {
            beta,
            max_increment,
            low_window,
            smooth_part,
            fast_convergence,
            ref slow_start,
        } => {
            let config = BicConfig { beta, max_increment, low_window, smooth_part, fast_convergence };
            windowed(Bic::new(config)?, slow_start, initial_window, mss)
        }
        ControllerPlan::Highspeed {
            low_window,
            high_window,
            low_p,
            high_p,
            high_decrease,
            counting,
            ref slow_start,
        } => {
            let config = HighSpeedConfig { low_window, high_window, low_p, high_p, high_decrease, counting };
            windowed(HighSpeed::new(config)?, slow_start, initial_window, mss)
        }
        ControllerPlan::Htcp { delta_l_ns, delta_b, beta_min, beta_max, rtt_scaling, ref slow_start } => {
            let delta_l = Duration::from_nanos(delta_l_ns);
            let rule = Htcp::new(HtcpConfig { delta_l, delta_b, beta_min, beta_max, rtt_scaling })?;
            windowed(rule, slow_start, initial_window, mss)
        }
        ControllerPlan::Veno { beta, keep, counting, ref slow_start } => {
            let rule = Veno::new(VenoConfig { beta, keep, counting })?;
            windowed(rule, slow_start, initial_window, mss)
        }
        ControllerPlan::Prague { gain, virtual_rtt_ns, ref slow_start } => {
            let rule = Prague::new(PragueConfig { gain, virtual_rtt: Duration::from_nanos(virtual_rtt_ns) })?;
            windowed(rule, slow_start, initial_window, mss)
        }
        ControllerPlan::Xcp { halve_on_loss, form, inter_packet } => {
            let xcp = Xcp::new(halve_on_loss, initial_window, mss)?;
            Ok(Box::new(xcp.with_form(form.into()).with_inter_packet(self::inter_packet(inter_packet))))
        }
        ControllerPlan::Vcp {
            rtt_scaling,
            additive_scaling,
            bounds,
            rtt_cap,
            freeze,
            after_freeze,
            kappa,
            alpha,
            beta,
            interval_ns,
            loss_factor,
            pace_small_windows,
        } => {
            let config = VcpConfig {
                rtt_scaling: self::rtt_scaling(rtt_scaling),
                additive_scaling: self::additive_scaling(additive_scaling),
                bounds: self::bounds(bounds),
                rtt_cap,
                freeze: self::freeze(freeze),
                after_freeze: self::after_freeze(after_freeze),
                kappa,
                alpha,
                beta,
                interval: Duration::from_nanos(interval_ns),
                loss_factor,
                pace_small_windows,
            };
            Ok(Box::new(Vcp::new(config, initial_window, mss)?))
        }
        ControllerPlan::Mpcp {
            digits,
            rtt_scaling,
            additive_scaling,
            bounds,
            rtt_cap,
            freeze,
            after_freeze,
            alpha,
            interval_ns,
            loss_factor,
            pace_small_windows,
        } => {
            let config = MpcpConfig {
                digits,
                rtt_scaling: self::rtt_scaling(rtt_scaling),
                additive_scaling: self::additive_scaling(additive_scaling),
                bounds: self::bounds(bounds),
                rtt_cap,
                freeze: self::freeze(freeze),
                after_freeze: self::after_freeze(after_freeze),
                alpha,
                interval: Duration::from_nanos(interval_ns),
                loss_factor,
                pace_small_windows,
            };
            Ok(Box::new(Mpcp::new(config, initial_window, mss)?))
        }
        ControllerPlan::Qfcp => Ok(Box::new(Qfcp::new(initial_window, mss)?)),
        ControllerPlan::Abc { additive_increase, minimum_window, pacing_gain, ref second } => {
            let config = AbcConfig { additive_increase, minimum_window, pacing_gain };
            let second =
                second.as_ref().map(|second| controller(second, initial_window, mss, random)).transpose()?;
            Ok(Box::new(Abc::new(config, second, initial_window, mss)?))
        }
        ControllerPlan::Bbr {
            loss_threshold,
            probe_loss_events,
            beta,
            headroom,
            probe_rtt_interval_ns,
            probe_rtt_duration_ns,
            min_rtt_window_ns,
        } => {
            let config = BbrConfig {
                loss_threshold,
                probe_loss_events,
                beta,
                headroom,
                probe_rtt_interval: Duration::from_nanos(probe_rtt_interval_ns),
                probe_rtt_duration: Duration::from_nanos(probe_rtt_duration_ns),
                min_rtt_window: Duration::from_nanos(min_rtt_window_ns),
            };
            Ok(Box::new(Bbr::new(config, random, initial_window, mss)?))
        }
        ControllerPlan::Copa { delta, competitive } => {
            Ok(Box::new(Copa::new(CopaConfig { delta, competitive }, initial_window, mss)?))
        }
        ControllerPlan::LedbatPlusPlus { target_ns, gain_divisor_limit, decrease, slowdown_spacing } => {
            let target = Duration::from_nanos(target_ns);
            let config = LedbatPlusPlusConfig { target, gain_divisor_limit, decrease, slowdown_spacing };
            Ok(Box::new(LedbatPlusPlus::new(config, initial_window, mss)?))
        }
        ControllerPlan::LossDifferentiation { controller: ref inner, history, threshold, rule, evidence } => {
            let config = LossDifferentiationConfig {
                history,
                threshold,
                rule: self::rule(rule),
                evidence: self::evidence(evidence),
            };
            let inner = controller(inner, initial_window, mss, random)?;
            Ok(Box::new(LossDifferentiation::new(config, inner)?))
        }
        ControllerPlan::Fixed { window_bytes, pacing_bps } => {
            Ok(Box::new(Fixed::new(Bytes::new(window_bytes), pacing_bps.map(Rate::from_bps), mss)?))
        }
        ControllerPlan::Declared(ref part) => {
            let components = &components().control;
            let handshake_rtt = None;
            let facts = ControllerFacts { initial_window, mss, handshake_rtt, random, components };
            components.controllers.build(part, facts)
        }
        ControllerPlan::Agent => Ok(Box::new(Agent::new(initial_window, mss)?)),
        // Whoever plans connections has refused it with its name.
        ControllerPlan::Kernel { .. } => {
            Err(ConfigError { parameter: "controller", range: "one that can be simulated", value: f64::NAN })
        }
    }
}

const fn rule(plan: HistoryRulePlan) -> HistoryRule {
    match plan {
        HistoryRulePlan::Consecutive => HistoryRule::Consecutive,
        HistoryRulePlan::Total => HistoryRule::Total,
    }
}

const fn evidence(plan: EvidencePlan) -> CongestionEvidence {
    match plan {
        EvidencePlan::Feedback => CongestionEvidence::Feedback,
        EvidencePlan::QueueingDelay { share } => CongestionEvidence::QueueingDelay { share },
    }
}

const fn inter_packet(plan: InterPacketPlan) -> InterPacket {
    match plan {
        InterPacketPlan::WholePackets => InterPacket::WholePackets,
        InterPacketPlan::Window => InterPacket::Window,
    }
}

const fn rtt_scaling(plan: RttScalingPlan) -> RttScaling {
    match plan {
        RttScalingPlan::Minimum => RttScaling::Minimum,
        RttScalingPlan::Smoothed => RttScaling::Smoothed,
        RttScalingPlan::Unscaled => RttScaling::Unscaled,
    }
}

const fn additive_scaling(plan: AdditiveScalingPlan) -> AdditiveScaling {
    match plan {
        AdditiveScalingPlan::Square => AdditiveScaling::Square,
        AdditiveScalingPlan::Linear => AdditiveScaling::Linear,
        AdditiveScalingPlan::None => AdditiveScaling::None,
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

const fn after_freeze(plan: AfterFreezePlan) -> AfterFreeze {
    match plan {
        AfterFreezePlan::Author => AfterFreeze::Author,
        AfterFreezePlan::Guarded => AfterFreeze::Guarded,
        AfterFreezePlan::Obey => AfterFreeze::Obey,
    }
}
