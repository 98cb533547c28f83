//! Components as plans contain them.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt::{self, Debug};
use core::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error as _};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ComponentError, Factory, Kind, Registry};
use crate::config::ConfigError;

/// The parameters of a component by name, in base units.
pub type Values = Map<String, Value>;

/// A component in a plan: its id and the values of its parameters.
///
/// The JSON form is the id alone, or a table with the key `kind`.
pub struct ComponentPlan<K> {
    /// The id of the component.
    pub kind: Cow<'static, str>,
    /// The parameters that were given.
    pub values: Values,
    of: PhantomData<fn() -> K>,
}

impl<K> ComponentPlan<K> {
    /// Creates the component with that id and its defaults.
    pub fn named(kind: &'static str) -> Self {
        Self::new(Cow::Borrowed(kind), Values::new())
    }

    /// Creates the component with that id and these values.
    pub const fn new(kind: Cow<'static, str>, values: Values) -> Self {
        Self { kind, values, of: PhantomData }
    }

    /// Creates the component that a variant of an enum describes. The variant serializes as a table with the
    /// key `kind`.
    ///
    /// # Panics
    /// It serializes as something else.
    pub fn of(variant: &impl Serialize) -> Self {
        let table = serde_json::to_value(variant).and_then(Self::deserialize);
        table.expect("a variant serializes as a table with its kind")
    }

    /// Sets one parameter.
    #[must_use]
    pub fn with(mut self, parameter: &str, value: impl Into<Value>) -> Self {
        self.values.insert(parameter.to_string(), value.into());
        self
    }
}

impl<K> Clone for ComponentPlan<K> {
    fn clone(&self) -> Self {
        Self::new(self.kind.clone(), self.values.clone())
    }
}

impl<K> Debug for ComponentPlan<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.kind, self.values)
    }
}

impl<K> PartialEq for ComponentPlan<K> {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.values == other.values
    }
}

impl<K> Serialize for ComponentPlan<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.values.is_empty() {
            return serializer.serialize_str(&self.kind);
        }
        let mut map = serializer.serialize_map(Some(1 + self.values.len()))?;
        map.serialize_entry("kind", &self.kind)?;
        self.values.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

impl<'de, K> Deserialize<'de> for ComponentPlan<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(kind) => Ok(Self::new(Cow::Owned(kind), Values::new())),
            Value::Object(mut values) => match values.remove("kind") {
                Some(Value::String(kind)) => Ok(Self::new(Cow::Owned(kind), values)),
                _ => Err(D::Error::custom("the table of a component needs the key \"kind\", a text")),
            },
            _ => Err(D::Error::custom("accepted: the id of a component, or a table with the key \"kind\"")),
        }
    }
}

/// The id that stands for no component.
const NONE: &str = "none";

/// A component that is a parameter of another one, such as the slow start of a window rule.
///
/// It is read and written as a [`ComponentPlan`]. [`Nested::bind`] reads the values once; [`Nested::build`] then constructs
/// the component without looking up anything.
pub struct Nested<K: Kind> {
    plan: ComponentPlan<K>,
    factory: Option<Arc<dyn Factory<K>>>,
}

impl<K: Kind> Nested<K> {
    /// Creates the component with that id and its defaults, not bound yet.
    pub fn named(kind: &'static str) -> Self {
        ComponentPlan::named(kind).into()
    }

    /// Creates the value "no component", for a parameter with the keyword `x-or-none`.
    pub fn none() -> Self {
        Self::named(NONE)
    }

    /// Reads the component from the registry of its kind. If values were given, the plan then contains all of them.
    ///
    /// # Errors
    /// As [`Registry::read`]; two parameters contradict each other.
    pub fn bind(&mut self, registry: &Registry<K>, parts: &K::Parts) -> Result<(), ComponentError> {
        let factory = registry.read(&self.plan, parts)?;
        factory.check()?;
        if !self.plan.values.is_empty() {
            self.plan.values = serde_json::from_str(&factory.json()).unwrap_or_default();
        }
        self.factory = Some(factory);
        Ok(())
    }

    /// Constructs the component.
    ///
    /// # Errors
    /// A parameter is outside its range, or the component was not bound.
    pub fn build(&self, facts: K::Facts<'_>) -> Result<K::Built, ConfigError> {
        let unbound = ConfigError { parameter: K::NAME, range: "a component that is bound", value: f64::NAN };
        self.factory.as_ref().ok_or(unbound)?.build(facts)
    }

    /// Reads the component as [`Nested::bind`] does, unless it is [`Nested::none`].
    ///
    /// # Errors
    /// As [`Nested::bind`].
    pub fn bind_if_any(&mut self, registry: &Registry<K>, parts: &K::Parts) -> Result<(), ComponentError> {
        if self.plan.kind == NONE { Ok(()) } else { self.bind(registry, parts) }
    }

    /// Constructs the component, unless it is [`Nested::none`].
    ///
    /// # Errors
    /// As [`Nested::build`].
    pub fn build_if_any(&self, facts: K::Facts<'_>) -> Result<Option<K::Built>, ConfigError> {
        if self.plan.kind == NONE { Ok(None) } else { self.build(facts).map(Some) }
    }
}

impl<K: Kind> From<ComponentPlan<K>> for Nested<K> {
    fn from(plan: ComponentPlan<K>) -> Self {
        Self { plan, factory: None }
    }
}

impl<K: Kind> Clone for Nested<K> {
    fn clone(&self) -> Self {
        Self { plan: self.plan.clone(), factory: self.factory.clone() }
    }
}

impl<K: Kind> Debug for Nested<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.fmt(f)
    }
}

impl<K: Kind> Serialize for Nested<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.plan.serialize(serializer)
    }
}

impl<'de, K: Kind> Deserialize<'de> for Nested<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ComponentPlan::deserialize(deserializer).map(Self::from)
    }
}

impl<K: Kind> JsonSchema for Nested<K> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed(K::NAME)
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "object"], "x-component": K::NAME })
    }
}
