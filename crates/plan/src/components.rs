//! All components of a simulation: those of the algorithm crates, and those that consist of parts of several crates.

mod composed;

use std::fmt::Debug;

use airpath_channel::declare::{Arqs, Losses, Rates};
use airpath_control::declare::{Controllers, FlowContext, SlowStarts, WindowedConfig};
use airpath_estimate::declare::{AckRates, CapacitySources, Filters, Samplers, SourceContext};
use airpath_model::declare::{ComponentError, ComponentPlan, Kind, Registry, Value, Values};
use airpath_model::{Bytes, Packet};
use airpath_queue::declare::{QueueContext, Queues, Routers};
use serde::Deserialize;

use crate::fault::{Fault, Part, PlanError};
use crate::plan::{ControllerPlan, Plan, QueuePlan, TrafficPlan};
use crate::workload::Traffic;
use composed::{CeilingCubicConfig, EstimatedWestwoodConfig, HoeConfig};

/// The registries of all kinds of components, for queues of packets of type `P`.
#[derive(Debug)]
pub struct Components<P: Packet + Debug + Send + 'static> {
    /// Controllers, slow starts and ACK-rate estimators.
    pub control: airpath_control::declare::Components,
    /// Queue disciplines.
    pub queues: Registry<Queues<P>>,
    /// Router protocols.
    pub protocols: Registry<Routers<P>>,
    /// Capacity sources.
    pub sources: Registry<CapacitySources>,
    /// Samplers of ACK-rate estimators.
    pub samplers: Registry<Samplers>,
    /// Filters of ACK-rate estimators.
    pub filters: Registry<Filters>,
    /// Rates over time.
    pub rates: Registry<Rates>,
    /// Losses in bursts.
    pub losses: Registry<Losses>,
    /// Link-layer retransmission.
    pub arqs: Registry<Arqs>,
    /// Traffic.
    pub traffic: Registry<Traffic>,
}

/// The properties of a link or flow on which defaults may depend.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Context {
    #[serde(default)]
    packet: Bytes,
    mean_bps: Option<f64>,
    #[serde(default)]
    mss: Bytes,
    protocol: Option<String>,
}

impl<P: Packet + Debug + Send + 'static> Components<P> {
    /// Returns the components of this source tree in registries of their own, to which others can be added.
    pub fn builtin() -> Self {
        let mut control = airpath_control::declare::Components::builtin();
        control.slow_starts = control.slow_starts.with::<HoeConfig>();
        control.controllers = control
            .controllers
            .with::<WindowedConfig<EstimatedWestwoodConfig>>()
            .with::<WindowedConfig<CeilingCubicConfig>>();
        Self {
            control,
            queues: airpath_queue::registry::queues(),
            protocols: airpath_queue::registry::protocols(),
            sources: airpath_estimate::registry::capacity_sources(),
            samplers: airpath_estimate::registry::samplers(),
            filters: airpath_estimate::registry::filters(),
            rates: airpath_channel::registry::rates(),
            losses: airpath_channel::registry::losses(),
            arqs: airpath_channel::registry::arqs(),
            traffic: Registry::default().with_variants::<TrafficPlan>(),
        }
    }

    /// Returns the JSON schemas of all components: `{kind: {id: schema}}`. The key `x-order` of each kind contains the
    /// ids in the order of registration.
    pub fn schemas(&self) -> Value {
        fn of<K: Kind>(registry: &Registry<K>) -> (String, Value) {
            let order = registry.ids().map(Value::from).collect();
            let mut all: Values =
                registry.schemas().map(|(id, schema)| (id.to_owned(), schema.clone())).collect();
            all.insert("x-order".to_owned(), Value::Array(order));
            (K::NAME.to_owned(), Value::Object(all))
        }
        let Self { control, queues, protocols, sources, samplers, filters, rates, losses, arqs, traffic } =
            self;
        let end_to_end = [of(&control.controllers), of(&control.slow_starts)];
        let routers = [of(queues), of(protocols), of(sources)];
        let estimators = [of(&control.ack_rates), of(samplers), of(filters)];
        let links = [of(rates), of(losses), of(arqs), of(traffic)];
        Value::Object(end_to_end.into_iter().chain(routers).chain(estimators).chain(links).collect())
    }

    /// Returns the values of a component with all defaults, as JSON in the order of declaration.
    ///
    /// `component` is the JSON text of a [`ComponentPlan`]; `context` is a JSON object with the keys `packet`
    /// (largest packet of any flow, bytes), `mean_bps` (mean rate of the link), `mss` (largest payload,
    /// bytes) and `protocol` (router protocol of the link), all optional.
    ///
    /// # Errors
    /// As [`Registry::complete`]; the kind does not exist, or one of the texts has the wrong form.
    pub fn complete(
        &self,
        kind: &str,
        component: &str,
        context: &str,
    ) -> Result<String, (ComponentError, Values)> {
        let wrong = |error: serde_json::Error| (ComponentError::new("", error.to_string()), Values::new());
        let Context { packet, mean_bps, mss, protocol } = serde_json::from_str(context).map_err(wrong)?;
        let plan: ComponentPlan<()> = serde_json::from_str(component).map_err(wrong)?;
        let Self { control, queues, protocols, sources, samplers, filters, rates, losses, arqs, traffic } =
            self;
        match kind {
            Controllers::NAME => control.controllers.complete(&plan, &FlowContext { mss }, control),
            SlowStarts::NAME => control.slow_starts.complete(&plan, &(), &()),
            Queues::<P>::NAME => queues.complete(&plan, &QueueContext { packet, mean_bps }, &()),
            Routers::<P>::NAME => protocols.complete(&plan, &(), &()),
            CapacitySources::NAME => {
                sources.complete(&plan, &SourceContext { packet, mean_bps, protocol }, &())
            }
            AckRates::NAME => control.ack_rates.complete(&plan, &(), &()),
            Samplers::NAME => samplers.complete(&plan, &(), &()),
            Filters::NAME => filters.complete(&plan, &(), &()),
            Rates::NAME => rates.complete(&plan, &(), &()),
            Losses::NAME => losses.complete(&plan, &(), &()),
            Arqs::NAME => arqs.complete(&plan, &(), &()),
            Traffic::NAME => traffic.complete(&plan, &(), &()),
            _ => {
                let problem = format!("there are no components of kind {kind:?}");
                Err((ComponentError::new("", problem), Values::new()))
            }
        }
    }

    /// Reads a plan from its JSON text, and writes it with every field and every parameter of its components.
    ///
    /// # Errors
    /// As [`Plan::from_json`]; a component is unknown, or its parameters are wrong.
    pub fn rewrite(&self, plan: &str) -> Result<String, PlanError> {
        let mut plan = Plan::from_json(plan)?;
        for link in &mut plan.links {
            let part = Part::link(link);
            let fault = |table| {
                let part = part.clone();
                move |error: ComponentError| Fault::in_table(table, error).of(part)
            };
            self.spell_out(&mut link.queue).map_err(fault("queue"))?;
            if let Some(plan) = &mut link.bursts {
                self.losses.spell_out(plan, &()).map_err(fault("loss"))?;
            }
            if let Some(plan) = &mut link.arq {
                self.arqs.spell_out(plan, &()).map_err(fault("arq"))?;
            }
        }
        for one in &mut plan.estimators {
            let done = self.control.ack_rates.spell_out(&mut one.estimator, &());
            done.map_err(|error| Fault::in_table("estimators", error).of(Part::Run))?;
        }
        for flow in &mut plan.flows {
            let part = Part::flow(flow);
            if let Some(ControllerPlan::Declared(plan)) = &mut flow.controller {
                let done = self.control.controllers.spell_out(plan, &self.control);
                done.map_err(|error| Fault::in_table("controller", error).of(part))?;
            }
        }
        serde_json::to_string(&plan).map_err(|error| PlanError::Syntax(error.to_string()))
    }

    fn spell_out(&self, queue: &mut QueuePlan) -> Result<(), ComponentError> {
        match queue {
            QueuePlan::DropTail { .. } => Ok(()),
            QueuePlan::Managed { management, .. } => self.queues.spell_out(management, &()),
            QueuePlan::Router { protocol, source, .. } => {
                self.protocols.spell_out(protocol, &())?;
                self.sources.spell_out(source, &())
            }
        }
    }
}
