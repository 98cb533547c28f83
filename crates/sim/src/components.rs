//! All components of a simulation: those of the algorithm crates, and those that consist of parts of several crates.

use std::sync::LazyLock;

use airpath_control::declare::{AnySlowStart, Controllers, FlowContext, SlowStarts};
use airpath_control::{EstimatedSsthresh, StandardSlowStart};
use airpath_estimate::declare::{CapacitySources, SourceContext};
use airpath_model::Bytes;
use airpath_model::config::ConfigError;
use airpath_model::declare::{
    Component, ComponentError, ComponentPlan, JsonSchema, Kind, Registry, Value, Values,
};
use airpath_queue::declare::{QueueContext, Queues};
use serde::{Deserialize, Serialize};

use crate::packet::Packet;
use crate::plan::{AckRatePlan, FilterPlan, SamplerPlan};

/// The registries of all kinds of components.
#[derive(Debug)]
pub struct Components {
    /// Controllers, and slow starts.
    pub control: airpath_control::declare::Components,
    /// Queue disciplines.
    pub queues: Registry<Queues<Packet>>,
    /// Capacity sources.
    pub sources: Registry<CapacitySources>,
}

/// Returns the components of this source tree.
pub fn components() -> &'static Components {
    static BUILTIN: LazyLock<Components> = LazyLock::new(Components::builtin);
    &BUILTIN
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

impl Components {
    /// Returns the components of this source tree in registries of their own, to which others can be added.
    pub fn builtin() -> Self {
        let mut control = airpath_control::declare::Components::builtin();
        control.slow_starts = control.slow_starts.with::<HoeConfig>();
        Self {
            control,
            queues: airpath_queue::declare::builtin(),
            sources: airpath_estimate::declare::builtin(),
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
        let Self { control, queues, sources } = self;
        Value::Object(
            [of(&control.controllers), of(&control.slow_starts), of(queues), of(sources)]
                .into_iter()
                .collect(),
        )
    }

    /// Returns the values of a component with all defaults, as JSON in the order of declaration.
    ///
    /// `component` is the JSON text of a [`ComponentPlan`]; `context` is a JSON object with the keys `packet` (largest
    /// packet of any flow, bytes), `mean_bps` (mean rate of the link), `mss` (largest payload, bytes) and `protocol` (router
    /// protocol of the link), all optional.
    ///
    /// # Errors
    /// As [`Registry::complete`]; there is no such kind, or one of the texts is not what it should be.
    pub fn complete(
        &self,
        kind: &str,
        component: &str,
        context: &str,
    ) -> Result<String, (ComponentError, Values)> {
        let wrong = |error: serde_json::Error| (ComponentError::new("", error.to_string()), Values::new());
        let Context { packet, mean_bps, mss, protocol } = serde_json::from_str(context).map_err(wrong)?;
        let plan: ComponentPlan<()> = serde_json::from_str(component).map_err(wrong)?;
        let Self { control, queues, sources } = self;
        match kind {
            Controllers::NAME => control.controllers.complete(&plan, &FlowContext { mss }, control),
            SlowStarts::NAME => control.slow_starts.complete(&plan, &(), &()),
            Queues::<Packet>::NAME => queues.complete(&plan, &QueueContext { packet, mean_bps }, &()),
            CapacitySources::NAME => {
                sources.complete(&plan, &SourceContext { packet, mean_bps, protocol }, &())
            }
            _ => {
                let problem = format!("there are no components of kind {kind:?}");
                Err((ComponentError::new("", problem), Values::new()))
            }
        }
    }
}

/// As `standard`, towards an initial threshold from the least-squares slope of three acknowledgments (Hoe 1996).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct HoeConfig {}

impl Component<SlowStarts> for HoeConfig {
    const ID: &'static str = "hoe";

    fn build(&self, (): ()) -> Result<AnySlowStart, ConfigError> {
        Ok(AnySlowStart::new(EstimatedSsthresh::new(StandardSlowStart::default(), HOE.build()?)))
    }
}

/// Hoe (1996): the slope through three acknowledgments. Closely spaced is our choice: packets that left within 1 ms.
const HOE: AckRatePlan = AckRatePlan::Filtered {
    sampler: SamplerPlan::BackToBack { acks: 3, spacing_ns: 1_000_000 },
    filter: FilterPlan::First,
};

#[cfg(test)]
mod tests {
    use airpath_control::declare::ControllerFacts;
    use airpath_estimate::declare::{LinkTruth, SourceFacts};
    use airpath_model::declare::ranges::disagreements;
    use airpath_model::{Duration, RandomStream, Rate, Timestamp, TrueRate};
    use airpath_queue::Limit;
    use airpath_queue::declare::QueueFacts;

    use super::*;

    /// A link of 10 Mbit/s.
    #[derive(Debug)]
    struct FixedLink;

    impl LinkTruth for FixedLink {
        fn averaged_over(&self, _averaging: Duration) -> Box<dyn TrueRate> {
            Box::new(FixedRate)
        }
    }

    #[derive(Debug)]
    struct FixedRate;

    impl TrueRate for FixedRate {
        fn rate(&mut self, _now: Timestamp) -> Rate {
            Rate::from_bps(10_000_000)
        }
    }

    #[test]
    fn schemas_and_construction_of_all_kinds_accept_the_same_values() {
        let Components { control, queues, sources } = components();
        let buffer = Bytes::new(100_000);
        let random = RandomStream::new(1, "test");
        let (initial_window, mss) = (Bytes::new(14_600), Bytes::new(1460));
        let facts = || ControllerFacts { initial_window, mss, handshake_rtt: None, random: random.clone() };
        let queue_facts =
            || QueueFacts { limit: Limit::Bytes(buffer), buffer, flow_sources: &[], random: random.clone() };
        let source_facts = SourceFacts { buffer, truth: &FixedLink, xcp_alpha: Some(0.4) };
        let found = [
            disagreements(&control.controllers, control, |plan| {
                control.controllers.build(plan, control, facts()).map(|_| ())
            }),
            disagreements(&control.slow_starts, &(), |plan| {
                control.slow_starts.build(plan, &(), ()).map(|_| ())
            }),
            disagreements(queues, &(), |plan| queues.build(plan, &(), queue_facts()).map(|_| ())),
            disagreements(sources, &(), |plan| sources.build(plan, &(), source_facts).map(|_| ())),
        ];
        for (wrong, tried) in found {
            assert!(wrong.is_empty(), "{wrong:#?}");
            assert!(tried >= 20, "{tried}");
        }
    }

    #[test]
    fn completing_a_complete_component_changes_nothing() {
        let context = r#"{"packet": 1500, "mean_bps": 1e7, "mss": 1460, "protocol": "xcp"}"#;
        let schemas = components().schemas();
        for (kind, all) in schemas.as_object().unwrap() {
            for id in all["x-order"].as_array().unwrap() {
                let id = id.as_str().unwrap();
                let first = components().complete(kind, &format!("{id:?}"), context).unwrap();
                let mut plan: Values = serde_json::from_str(&first).unwrap();
                plan.insert("kind".to_owned(), id.into());
                let plan = Value::Object(plan).to_string();
                assert_eq!(components().complete(kind, &plan, "{}").unwrap(), first, "{kind} {id}");
            }
        }
    }
}
