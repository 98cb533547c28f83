//! Controllers.

use std::sync::Arc;

use airpath_control::{
    Agent, ConfigError, CongestionEvidence, Cubic, CubicConfig, CubicEbe, Fixed, HistoryRule,
    LossDifferentiation, LossDifferentiationConfig, MinimumRtt, Westwood, WestwoodConfig, WestwoodReduction,
};
use airpath_model::declare::{ComponentError, Factory, Nested};
use airpath_model::{Bytes, Controller, RandomStream, Rate};

use airpath_control::declare::{Components, ControllerFacts, Controllers, SlowStarts};

use super::ceiling;
use crate::plan::{ControllerPlan, EvidencePlan, HistoryRulePlan, MinimumRttPlan, WestwoodReductionPlan};

/// A controller of a plan. It is read once and builds the controllers of all connections of a flow.
#[derive(Clone, Debug)]
pub struct PlannedController(Arc<Planned>);

#[derive(Debug)]
enum Planned {
    /// A component that declares itself.
    Declared(Arc<dyn Factory<Controllers>>),
    /// A controller with a variant of its own in the plan.
    Listed {
        plan: ControllerPlan,
        /// The slow start; only window rules use it.
        slow_start: Nested<SlowStarts>,
        /// The controller inside, if it has one.
        inner: Option<PlannedController>,
    },
}

impl PlannedController {
    /// Reads a controller.
    ///
    /// # Errors
    /// The component or a nested one is unknown, or its parameters are wrong.
    pub fn new(plan: &ControllerPlan, components: &Components) -> Result<Self, ComponentError> {
        if let ControllerPlan::Declared(plan) = plan {
            let factory = components.controllers.read(plan, components)?;
            return Ok(Self(Arc::new(Planned::Declared(factory))));
        }
        let mut slow_start =
            plan.slow_start().map_or_else(|| Nested::named("standard"), |plan| Nested::from(plan.clone()));
        slow_start.bind(&components.slow_starts, &()).map_err(|error| error.inside("slow_start"))?;
        Ok(Self(Arc::new(Planned::Listed {
            plan: plan.clone(),
            slow_start,
            inner: plan.inner().map(|plan| Self::new(plan, components)).transpose()?,
        })))
    }

    /// The algorithm of the operating system's kernel, which only the emulator can run.
    pub fn kernel(&self) -> Option<&str> {
        match &*self.0 {
            Planned::Listed { plan: ControllerPlan::Kernel { algorithm }, .. } => Some(algorithm),
            _ => None,
        }
    }

    /// Builds the controller of a connection with segments of `mss`.
    ///
    /// # Errors
    /// A parameter is outside its range, or the controller is one of the kernel's.
    pub fn build(
        &self,
        initial_window: Bytes,
        mss: Bytes,
        random: RandomStream,
    ) -> Result<Box<dyn Controller>, ConfigError> {
        let facts = ControllerFacts { initial_window, mss, handshake_rtt: None, random };
        match &*self.0 {
            Planned::Declared(factory) => factory.build(facts),
            Planned::Listed { plan, slow_start, inner } => listed(plan, slow_start, inner.as_ref(), facts),
        }
    }
}

#[expect(
    clippy::too_many_lines,
    reason = "one arm for each kind of controller, none with a thought of its own"
)]
fn listed(
    plan: &ControllerPlan,
    slow_start: &Nested<SlowStarts>,
    inner: Option<&PlannedController>,
    facts: ControllerFacts,
) -> Result<Box<dyn Controller>, ConfigError> {
    let ControllerFacts { initial_window, mss, .. } = facts;
    let nested = |random| inner.map(|inner| inner.build(initial_window, mss, random)).transpose();
    match *plan {
        ControllerPlan::Westwood {
            estimator,
            reduction,
            may_raise,
            minimum_rtt,
            threshold_unit,
            counting,
            ..
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
            facts.windowed(Westwood::new(estimator.build()?, config), slow_start)
        }
        ControllerPlan::CubicEbe {
            c,
            beta,
            fast_convergence,
            reno_friendly,
            form,
            ref estimator,
            probing_growth,
            ..
        } => {
            let cubic = Cubic::new(CubicConfig { form, c, beta, fast_convergence, reno_friendly })?;
            let estimator = ceiling::ebe_ceiling(estimator)?;
            let rule = CubicEbe::new(cubic, estimator, ceiling::probing_growth(probing_growth));
            facts.windowed(rule, slow_start)
        }
        ControllerPlan::LossDifferentiation { history, threshold, rule, evidence, .. } => {
            let config = LossDifferentiationConfig {
                history,
                threshold,
                rule: self::rule(rule),
                evidence: self::evidence(evidence),
            };
            let missing = ConfigError { parameter: "controller", range: "a controller", value: f64::NAN };
            Ok(Box::new(LossDifferentiation::new(config, nested(facts.random)?.ok_or(missing)?)?))
        }
        ControllerPlan::Fixed { window_bytes, pacing_bps } => {
            Ok(Box::new(Fixed::new(Bytes::new(window_bytes), pacing_bps.map(Rate::from_bps), mss)?))
        }
        ControllerPlan::Agent => Ok(Box::new(Agent::new(initial_window, mss)?)),
        // `PlannedController::new` has taken the first; the callers reject the second with its name.
        ControllerPlan::Declared(_) | ControllerPlan::Kernel { .. } => {
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
