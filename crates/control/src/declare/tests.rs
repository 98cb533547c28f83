use alloc::borrow::Cow;
use alloc::format;
use alloc::sync::Arc;

use airpath_model::config::check;
use airpath_model::declare::ranges::disagreements;
use airpath_model::declare::{ComponentPlan, Entry, Factory, Value, Values};

use super::*;
use crate::{Fixed, NewReno};

fn facts() -> ControllerFacts {
    ControllerFacts {
        initial_window: Bytes::new(14600),
        mss: Bytes::new(1460),
        handshake_rtt: None,
        random: RandomStream::new(1, "test"),
    }
}

fn part(json: &str) -> ComponentPlan<Controllers> {
    serde_json::from_str(json).unwrap()
}

#[test]
fn every_component_is_built_with_its_defaults() {
    let components = Components::builtin();
    for id in components.controllers.ids() {
        assert!(
            components.controllers.build(&components.controllers.example(id), &components, facts()).is_ok(),
            "{id}"
        );
    }
}

#[test]
fn a_nested_component_may_be_none() {
    let components = Components::builtin();
    let built = |json| components.controllers.build(&part(json), &components, facts()).map(|_| ());
    assert_eq!(built(r#"{"kind": "abc", "second_window": "none"}"#), Ok(()));
    assert_eq!(built(r#"{"kind": "abc", "second_window": {"kind": "cubic", "beta": 0.8}}"#), Ok(()));
    let refused = |json| built(json).unwrap_err().parameter;
    assert_eq!(
        refused(r#"{"kind": "abc", "second_window": {"kind": "cubic", "rate": 1}}"#),
        "second_window.rate"
    );
    assert_eq!(refused(r#"{"kind": "cubic", "slow_start": "none"}"#), "slow_start.kind");
}

#[test]
fn nested_components_have_parameters() {
    let components = Components::builtin();
    let cubic =
        part(r#"{"kind": "cubic", "beta": 0.8, "slow_start": {"kind": "hystart++", "css_rounds": 3}}"#);
    assert!(components.controllers.build(&cubic, &components, facts()).is_ok());
    let complete = components.controllers.complete(&cubic, &Controllers::example(), &components).unwrap();
    let complete: Values = serde_json::from_str(&complete).unwrap();
    assert_eq!(complete["slow_start"]["css_rounds"], 3);
    assert_eq!(complete["slow_start"]["n_rtt_sample"], 8);
    let refused = |slow_start| {
        let json = format!(r#"{{"kind": "cubic", "slow_start": {slow_start}}}"#);
        let error = components.controllers.read(&part(&json), &components).unwrap_err();
        format!("{}: {error}", error.parameter)
    };
    assert_eq!(
        refused(r#"{"kind": "hystart++", "css_rounds": 0}"#),
        "slow_start.css_rounds: found 0; accepted: at least 1"
    );
    let unknown = refused(r#"{"kind": "hystart++", "rounds": 2}"#);
    assert!(
        unknown.starts_with("slow_start.rounds: unknown key; accepted: css_growth_divisor, "),
        "{unknown}"
    );
    assert_eq!(
        refused(r#"{"kind": "hystart++", "min_rtt_thresh": 17000000}"#),
        "slow_start.max_rtt_thresh: found 0.016; accepted: at least min_rtt_thresh (seconds)"
    );
    let unknown = refused(r#""hystart""#);
    assert!(
        unknown.starts_with("slow_start.kind: there is no slow-start \"hystart\"; accepted: "),
        "{unknown}"
    );
}

#[test]
fn unknown_keys_and_wrong_types_are_rejected_despite_flattened_rules() {
    let components = Components::builtin();
    let refused = |json| components.controllers.read(&part(json), &components).unwrap_err();
    assert_eq!(refused(r#"{"kind": "cubic", "betta": 0.8}"#).parameter, "betta");
    let text = refused(r#"{"kind": "cubic", "beta": "0.8"}"#);
    assert!(text.parameter == "beta" && text.problem.contains("invalid type"), "{text:?}");
    assert_eq!(refused(r#"{"kind": "cubik"}"#).parameter, "kind");
}

#[test]
fn schemas_and_construction_accept_the_same_values() {
    let components = Components::builtin();
    let controllers = disagreements(&components.controllers, &components, |plan| {
        components.controllers.build(plan, &components, facts()).map(|_| ())
    });
    let slow_starts = disagreements(&components.slow_starts, &(), |plan| {
        components.slow_starts.build(plan, &(), ()).map(|_| ())
    });
    for (wrong, tried) in [controllers, slow_starts] {
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(tried >= 30, "{tried}");
    }
}

/// The test of ranges detects a bound that only the schema or only the constructor states.
#[test]
fn different_ranges_are_detected() {
    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(default)]
    struct Loose {
        /// At least 1, which the schema does not state.
        packets: u32,
        /// Above 0; the schema states at least 0.
        #[schemars(range(min = 0.0))]
        share: f64,
    }
    impl Default for Loose {
        fn default() -> Self {
            Self { packets: 1, share: 0.5 }
        }
    }
    impl Component<SlowStarts> for Loose {
        const ID: &'static str = "loose";
        fn build(&self, (): ()) -> Result<AnySlowStart, ConfigError> {
            check(self.packets > 0, "packets", "at least 1", self.packets.into())?;
            check(self.share > 0.0, "share", "greater than 0", self.share)?;
            Ok(AnySlowStart::new(crate::StandardSlowStart::default()))
        }
    }
    let registry = Registry::default().with::<Loose>();
    let (mut wrong, _) = disagreements(&registry, &(), |plan| registry.build(plan, &(), ()).map(|_| ()));
    wrong.dedup();
    wrong.sort();
    wrong.dedup();
    assert_eq!(
        wrong,
        [
            "loose.packets = 0: the schema accepts it, but packets: found 0; accepted: at least 1",
            "loose.share = 0.0: the schema accepts it, but share: found 0; accepted: greater than 0",
        ]
    );
}

#[test]
fn schemas_carry_help_defaults_and_order() {
    let components = Components::builtin();
    let (_, schema) = components.controllers.schemas().find(|(id, _)| *id == "cubic").unwrap();
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

/// An external component: no type of this crate, a schema as data, and a closure that reads values.
#[test]
fn the_registry_accepts_entries_at_run_time() {
    #[derive(Debug)]
    struct Outside {
        packets: u64,
    }
    impl Factory<Controllers> for Outside {
        fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
            check(self.packets > 0, "packets", "at least 1", 0.0)?;
            Ok(Box::new(Fixed::new(facts.mss * self.packets, None, facts.mss)?))
        }

        fn json(&self) -> alloc::string::String {
            format!("{{\"packets\":{}}}", self.packets)
        }
    }
    let mut components = Components::builtin();
    let schema =
        serde_json::from_str(r#"{"properties": {"packets": {"type": "integer", "default": 10}}}"#).unwrap();
    let entry = || Entry::<Controllers> {
        id: Cow::Borrowed("./mine.so"),
        schema: Value::clone(&schema).into(),
        fill_defaults: Box::new(|_, _| Ok(())),
        read: Box::new(|values, _| {
            let packets = values.get("packets").map_or(Some(10), Value::as_u64);
            let packets = packets.ok_or(ComponentError::new("packets", "accepted: a whole number"))?;
            Ok(Arc::new(Outside { packets }) as Arc<dyn Factory<Controllers>>)
        }),
    };
    components.controllers.register(entry()).unwrap();
    assert!(components.controllers.register(entry()).is_err());
    let mine = part(r#"{"kind": "./mine.so", "packets": 7}"#);
    let built = components.controllers.build(&mine, &components, facts()).unwrap();
    assert_eq!(built.control().window, Bytes::new(7 * 1460));
}

/// A rule of another crate requires its parameters, one impl, and one call.
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
    assert!(components.controllers.build(&part(r#""mine""#), &components, facts()).is_ok());
}
