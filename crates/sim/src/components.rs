//! Every component of a simulation: those of the algorithm crates, and what is made of several crates' parts.

use std::sync::LazyLock;

use airpath_control::declare::{AnySlowStart, Controllers, FlowPlace, SlowStarts};
use airpath_control::{EstimatedSsthresh, StandardSlowStart};
use airpath_estimate::declare::{CapacitySources, SourcePlace};
use airpath_model::Bytes;
use airpath_model::config::ConfigError;
use airpath_model::declare::{Component, JsonSchema, Kind, Part, Refused, Registry, Value, Values};
use airpath_queue::declare::{QueuePlace, Queues};
use serde::{Deserialize, Serialize};

use crate::packet::Packet;
use crate::plan::{AckRatePlan, FilterPlan, SamplerPlan};

/// The registries of all kinds.
#[derive(Debug)]
pub struct Components {
    /// Controllers and their parts.
    pub(crate) control: airpath_control::declare::Components,
    /// Queue disciplines.
    pub(crate) queues: Registry<Queues<Packet>>,
    /// Capacity sources.
    pub(crate) sources: Registry<CapacitySources>,
}

/// The components of this tree.
pub fn components() -> &'static Components {
    static BUILTIN: LazyLock<Components> = LazyLock::new(Components::builtin);
    &BUILTIN
}

/// What is known where a component is planned, as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    #[serde(default)]
    packet: Bytes,
    mean_bps: Option<f64>,
    #[serde(default)]
    mss: Bytes,
}

impl Components {
    /// Those of this tree.
    pub fn builtin() -> Self {
        let mut control = airpath_control::declare::Components::builtin();
        control.slow_starts = control.slow_starts.with::<HoeConfig>();
        Self {
            control,
            queues: airpath_queue::declare::builtin(),
            sources: airpath_estimate::declare::builtin(),
        }
    }

    /// The schemas of all components, by kind and id.
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

    /// The values of a component with all its defaults; `part` and `place` are JSON.
    ///
    /// # Errors
    /// What is wrong with it, and the values so far.
    pub fn complete(&self, kind: &str, part: &str, place: &str) -> Result<String, (Refused, Values)> {
        let wrong = |error: serde_json::Error| (Refused::new("", error.to_string()), Values::new());
        let place: Place = serde_json::from_str(place).map_err(wrong)?;
        let Place { packet, mean_bps, mss } = place;
        let part: Part<()> = serde_json::from_str(part).map_err(wrong)?;
        match kind {
            Controllers::NAME => self.control.controllers.complete(&part, &FlowPlace { mss }),
            SlowStarts::NAME => self.control.slow_starts.complete(&part, &()),
            "queue" => self.queues.complete(&part, &QueuePlace { packet, mean_bps }),
            CapacitySources::NAME => self.sources.complete(&part, &SourcePlace { packet, mean_bps }),
            _ => Err((Refused::new("", format!("there are no components of kind {kind:?}")), Values::new())),
        }
    }
}

/// As `standard`, towards a first threshold by the least-squares slope of three acknowledgments (Hoe 1996).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct HoeConfig {}

impl Component<SlowStarts> for HoeConfig {
    const ID: &'static str = "hoe";

    fn build(&self, (): ()) -> Result<AnySlowStart, ConfigError> {
        Ok(AnySlowStart::new(EstimatedSsthresh::new(StandardSlowStart::default(), HOE.build()?)))
    }
}

/// Hoe (1996): the slope through three acknowledgments. Closely spaced is ours: packets that left within 1 ms.
const HOE: AckRatePlan = AckRatePlan::Filtered {
    sampler: SamplerPlan::BackToBack { acks: 3, spacing_ns: 1_000_000 },
    filter: FilterPlan::First,
};
