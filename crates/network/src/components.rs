//! The components of this source tree, for the packets of a network.

use std::sync::LazyLock;

use crate::Packet;

/// The registries of all kinds of components.
pub type Components = airpath_plan::Components<Packet>;

/// Returns the components of this source tree.
pub fn components() -> &'static Components {
    static BUILTIN: LazyLock<Components> = LazyLock::new(Components::builtin);
    &BUILTIN
}

#[cfg(test)]
mod tests {
    use airpath_control::declare::ControllerFacts;
    use airpath_estimate::Configured;
    use airpath_estimate::declare::{LinkTruth, SourceFacts};
    use airpath_model::declare::ranges::disagreements;
    use airpath_model::{Bytes, Duration, RandomStream, Rate, Timestamp, TrueRate};
    use airpath_queue::Limit;
    use airpath_queue::declare::{ProtocolFacts, QueueFacts};

    use airpath_model::declare::{Value, Values};

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
        let Components { control, queues, protocols, sources, samplers, filters, losses, arqs, .. } =
            components();
        let buffer = Bytes::new(100_000);
        let random = RandomStream::new(1, "test");
        let (initial_window, mss) = (Bytes::new(14_600), Bytes::new(1460));
        let facts = || ControllerFacts { initial_window, mss, handshake_rtt: None, random: random.clone() };
        let queue_facts = || QueueFacts {
            limit: Limit::Bytes(buffer),
            buffer,
            flows: 0,
            flow_sources: &[],
            random: random.clone(),
        };
        let protocol_facts = || ProtocolFacts {
            limit: Limit::Bytes(buffer),
            buffer,
            source: Box::new(Configured::new(Rate::from_bps(10_000_000))),
        };
        let source_facts = SourceFacts { buffer, truth: &FixedLink, xcp_alpha: Some(0.4) };
        let found = [
            disagreements(&control.controllers, control, |plan| {
                control.controllers.build(plan, control, facts()).map(|_| ())
            }),
            disagreements(&control.slow_starts, &(), |plan| {
                control.slow_starts.build(plan, &(), ()).map(|_| ())
            }),
            disagreements(queues, &(), |plan| queues.build(plan, &(), queue_facts()).map(|_| ())),
            disagreements(protocols, &(), |plan| protocols.build(plan, &(), protocol_facts()).map(|_| ())),
            disagreements(sources, &(), |plan| sources.build(plan, &(), source_facts).map(|_| ())),
            disagreements(&control.ack_rates, &(), |plan| control.ack_rates.build(plan, &(), ()).map(|_| ())),
            disagreements(samplers, &(), |plan| samplers.build(plan, &(), ()).map(|_| ())),
            disagreements(filters, &(), |plan| filters.build(plan, &(), ()).map(|_| ())),
            disagreements(losses, &(), |plan| losses.build(plan, &(), ()).map(|_| ())),
            disagreements(arqs, &(), |plan| arqs.build(plan, &(), ()).map(|_| ())),
        ];
        // ACK-rate estimators have one specific parameter, link-layer retransmission has two.
        let least = [20, 20, 20, 20, 20, 8, 20, 20, 20, 5];
        for ((wrong, tried), least) in found.into_iter().zip(least) {
            assert!(wrong.is_empty(), "{wrong:#?}");
            assert!(tried >= least, "{tried} of {least}");
        }
    }

    #[test]
    fn completing_a_complete_component_changes_nothing() {
        let context = r#"{"packet": 1500, "mean_bps": 1e7, "mss": 1460, "protocol": "xcp"}"#;
        let schemas = components().schemas();
        for (kind, all) in schemas.as_object().unwrap() {
            for id in all["x-order"].as_array().unwrap() {
                let id = id.as_str().unwrap();
                let example: Values = all[id]["properties"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter_map(|(name, one)| Some((name.clone(), one.get("examples")?[0].clone())))
                    .chain([("kind".to_owned(), id.into())])
                    .collect();
                let example = Value::Object(example).to_string();
                let first = components().complete(kind, &example, context).unwrap();
                let mut plan: Values = serde_json::from_str(&first).unwrap();
                plan.insert("kind".to_owned(), id.into());
                let plan = Value::Object(plan).to_string();
                assert_eq!(components().complete(kind, &plan, "{}").unwrap(), first, "{kind} {id}");
            }
        }
    }
}
