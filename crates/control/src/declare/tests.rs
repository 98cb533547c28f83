use alloc::string::ToString;
use alloc::sync::Arc;
use std::println;

use airpath_model::config::check;
use airpath_model::declare::{Entry, Factory, Refused, Value, Values};

use super::*;
use crate::{Fixed, NewReno};
use alloc::borrow::Cow;

fn facts(components: &Components) -> ControllerFacts<'_> {
    ControllerFacts {
        initial_window: Bytes::new(14600),
        mss: Bytes::new(1460),
        handshake_rtt: None,
        random: RandomStream::new(1, "test"),
        components,
    }
}

fn part(json: &str) -> Part<Controllers> {
    serde_json::from_str(json).unwrap()
}

#[test]
fn every_component_is_built_with_its_defaults() {
    let components = Components::builtin();
    for id in components.controllers.ids() {
        let part = Part::<Controllers>::new(Cow::Owned(id.to_string()), Values::new());
        assert!(components.controllers.build(&part, facts(&components)).is_ok(), "{id}");
    }
}

#[test]
fn nested_components_have_parameters() {
    let components = Components::builtin();
    let cubic =
        part(r#"{"kind": "cubic", "beta": 0.8, "slow_start": {"kind": "hystart++", "css_rounds": 3}}"#);
    assert!(components.controllers.build(&cubic, facts(&components)).is_ok());
    let wrong = part(r#"{"kind": "cubic", "slow_start": {"kind": "hystart++", "css_rounds": 0}}"#);
    assert_eq!(components.controllers.build(&wrong, facts(&components)).unwrap_err().parameter, "css_rounds");
}

#[test]
fn unknown_keys_and_other_types_are_refused_although_rules_are_flattened() {
    let components = Components::builtin();
    let refused = |json| components.controllers.read(&part(json)).unwrap_err();
    assert_eq!(refused(r#"{"kind": "cubic", "betta": 0.8}"#).parameter, "betta");
    assert!(refused(r#"{"kind": "cubic", "beta": "0.8"}"#).problem.contains("invalid type"));
    assert_eq!(refused(r#"{"kind": "cubik"}"#).parameter, "kind");
}

/// The range in the schema is the range that construction accepts: tried at each bound and one step beyond.
#[test]
fn schemas_say_what_construction_accepts() {
    let components = Components::builtin();
    let mut tried = 0;
    for (id, schema) in components.controllers.schemas() {
        for (name, property) in schema["properties"].as_object().unwrap() {
            let accepts = |value: f64| {
                let values: Values = [(name.clone(), Value::from(value))].into_iter().collect();
                let part = Part::<Controllers>::new(Cow::Owned(id.to_string()), values);
                components.controllers.build(&part, facts(&components)).is_ok()
            };
            let bound = |key: &str| property.get(key).and_then(Value::as_f64);
            if property["type"] != "number" {
                continue;
            }
            tried += 1;
            let inside = property["default"].as_f64().unwrap();
            assert!(accepts(inside), "{id} {name}");
            if let Some(least) = bound("minimum") {
                assert!(!accepts(least.next_down()), "{id} {name}");
            }
            if let Some(most) = bound("maximum") {
                assert!(!accepts(most.next_up()), "{id} {name}");
            }
            for excluded in ["exclusiveMinimum", "exclusiveMaximum"].into_iter().filter_map(bound) {
                assert!(!accepts(excluded), "{id} {name} {excluded}");
            }
        }
    }
    assert!(tried >= 6, "{tried}");
}

#[test]
fn schemas_carry_help_defaults_and_order() {
    let components = Components::builtin();
    let (_, schema) = components.controllers.schemas().find(|(id, _)| *id == "cubic").unwrap();
    println!("{}", serde_json::to_string_pretty(schema).unwrap());
    assert_eq!(schema["properties"]["beta"]["default"], 0.7);
    assert_eq!(schema["properties"]["slow_start"]["x-component"], "slow-start");
    assert_eq!(schema["properties"]["slow_start"]["default"], "hystart++");
    assert_eq!(
        schema["x-order"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| key.as_str().unwrap())
            .collect::<alloc::vec::Vec<_>>(),
        ["form", "c", "beta", "fast_convergence", "reno_friendly", "slow_start"]
    );
}

/// A component from outside: no type of ours, a schema as data, and a closure that reads values.
#[test]
fn the_registry_is_open_at_run_time() {
    #[derive(Debug)]
    struct Outside {
        packets: u64,
    }
    impl Factory<Controllers> for Outside {
        fn build(&self, facts: ControllerFacts<'_>) -> Result<Box<dyn Controller>, ConfigError> {
            check(self.packets > 0, "packets", "at least 1", 0.0)?;
            Ok(Box::new(Fixed::new(facts.mss * self.packets, None, facts.mss)?))
        }

        fn json(&self) -> alloc::string::String {
            alloc::format!("{{\"packets\":{}}}", self.packets)
        }
    }
    let mut components = Components::builtin();
    let schema =
        serde_json::from_str(r#"{"properties": {"packets": {"type": "integer", "default": 10}}}"#).unwrap();
    let entry = || Entry::<Controllers> {
        id: Cow::Borrowed("./mine.so"),
        schema: Value::clone(&schema),
        fill: Box::new(|_, _| Ok(())),
        read: Box::new(|values| {
            let packets = values.get("packets").map_or(Some(10), Value::as_u64);
            let packets = packets.ok_or(Refused::new("packets", "accepted: a whole number"))?;
            Ok(Arc::new(Outside { packets }) as Arc<dyn Factory<Controllers>>)
        }),
    };
    components.controllers.register(entry()).unwrap();
    assert!(components.controllers.register(entry()).is_err());
    let mine = part(r#"{"kind": "./mine.so", "packets": 7}"#);
    let built = components.controllers.build(&mine, facts(&components)).unwrap();
    assert_eq!(built.control().window, Bytes::new(7 * 1460));
}

/// A rule of another crate needs its parameters, one impl, and one call.
#[test]
fn a_rule_from_another_crate_registers_with_one_call() {
    #[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(default)]
    struct Mine {}
    impl RuleConfig for Mine {
        const ID: &'static str = "mine";
        type Rule = NewReno;
        fn rule(&self) -> Result<NewReno, ConfigError> {
            Ok(NewReno::default())
        }
    }
    let mut components = Components::builtin();
    components.controllers = components.controllers.with::<WindowedConfig<Mine>>();
    assert!(components.controllers.build(&part(r#""mine""#), facts(&components)).is_ok());
}
