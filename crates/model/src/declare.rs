//! Components that declare themselves: parameters with units, ranges, defaults and help, and their construction.
//!
//! A component implements [`Component`] for its parameters. A [`Registry`] holds the components of one [`Kind`]; it is
//! open at run time ([`Registry::register`]). A plan refers to a component by a [`Part`]: its id and its values.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::{self, Debug};
use core::marker::PhantomData;

pub use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde::ser::{SerializeMap, Serializer};
pub use serde::{Deserialize, Serialize};
pub use serde_json::{Map, Value};

use crate::config::ConfigError;
use crate::{Bytes, Duration, Rate};

/// The parameters of a component by name, as in a plan.
pub type Values = Map<String, Value>;

/// A kind of component: what its components are built from, and what they become.
pub trait Kind: Sized + 'static {
    /// Its name in schemas and messages.
    const NAME: &'static str;
    /// What is known where a component is planned; defaults may depend on it.
    type Place;
    /// What construction needs in addition to the parameters.
    type Facts<'a>;
    /// What construction returns.
    type Built;

    /// A place for tests, documentation and the order of parameters.
    fn example() -> Self::Place;
}

/// The parameters of one component and its construction.
pub trait Component<K: Kind>:
    Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// Its name in plans and scenarios.
    const ID: &'static str;

    /// Adds the parameters that were not given and whose defaults depend on the place or on other parameters.
    ///
    /// # Errors
    /// A default that cannot be computed at this place.
    fn fill(_given: &mut Values, _place: &K::Place) -> Result<(), Refused> {
        Ok(())
    }

    /// Checks parameters against each other. `{name}` in a problem stands for the value of that parameter as a person
    /// writes it.
    ///
    /// # Errors
    /// Parameters that do not fit each other.
    fn check(&self) -> Result<(), Refused> {
        Ok(())
    }

    /// Constructs the component.
    ///
    /// # Errors
    /// A parameter outside its range.
    fn build(&self, facts: K::Facts<'_>) -> Result<K::Built, ConfigError>;
}

/// Parameters that were read, ready for construction any number of times.
pub trait Factory<K: Kind>: Debug + Send + Sync {
    /// Constructs the component.
    ///
    /// # Errors
    /// A parameter outside its range.
    fn build(&self, facts: K::Facts<'_>) -> Result<K::Built, ConfigError>;

    /// Checks parameters against each other.
    ///
    /// # Errors
    /// Parameters that do not fit each other.
    fn check(&self) -> Result<(), Refused> {
        Ok(())
    }

    /// The parameters with their defaults, as JSON in the order of declaration.
    fn json(&self) -> String;
}

struct Read<C>(C);

impl<C: Debug> Debug for Read<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<K: Kind, C: Component<K>> Factory<K> for Read<C> {
    fn build(&self, facts: K::Facts<'_>) -> Result<K::Built, ConfigError> {
        self.0.build(facts)
    }

    fn check(&self) -> Result<(), Refused> {
        self.0.check()
    }

    fn json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }
}

/// A component in a plan: its id and its values. Written as the id alone if no value is given.
pub struct Part<K> {
    /// The id.
    pub kind: Cow<'static, str>,
    /// Parameters that were given.
    pub values: Values,
    of: PhantomData<fn() -> K>,
}

impl<K> Part<K> {
    /// The component of that id with its defaults.
    pub fn named(kind: &'static str) -> Self {
        Self::new(Cow::Borrowed(kind), Values::new())
    }

    /// The component of that id with these values.
    pub const fn new(kind: Cow<'static, str>, values: Values) -> Self {
        Self { kind, values, of: PhantomData }
    }

    /// The same with one value.
    #[must_use]
    pub fn with(mut self, parameter: &str, value: impl Into<Value>) -> Self {
        self.values.insert(parameter.to_string(), value.into());
        self
    }
}

impl<K> Clone for Part<K> {
    fn clone(&self) -> Self {
        Self::new(self.kind.clone(), self.values.clone())
    }
}

impl<K> Debug for Part<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.kind, self.values)
    }
}

impl<K> PartialEq for Part<K> {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.values == other.values
    }
}

impl<K> Serialize for Part<K> {
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

impl<'de, K> Deserialize<'de> for Part<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(kind) => Ok(Self::new(Cow::Owned(kind), Values::new())),
            Value::Object(mut values) => match values.remove("kind") {
                Some(Value::String(kind)) => Ok(Self::new(Cow::Owned(kind), values)),
                _ => Err(D::Error::custom("a component needs the key \"kind\"")),
            },
            _ => Err(D::Error::custom("a component is an id, or a table with the key \"kind\"")),
        }
    }
}

impl<K: Kind> JsonSchema for Part<K> {
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

/// Why a component was refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The parameter; empty for the component as a whole.
    pub parameter: Cow<'static, str>,
    /// The number that was found, if it is one that nobody wrote.
    pub found: Option<f64>,
    /// What is wrong, or what is accepted.
    pub problem: Cow<'static, str>,
}

impl Refused {
    /// A problem with a parameter.
    pub fn new(parameter: &'static str, problem: impl Into<Cow<'static, str>>) -> Self {
        Self { parameter: Cow::Borrowed(parameter), found: None, problem: problem.into() }
    }
}

/// How the values of a plan become a factory.
type Reader<K> = Box<dyn Fn(&Values) -> Result<Arc<dyn Factory<K>>, Refused> + Send + Sync>;
/// How defaults that depend on the place are added.
type Filler<K> = Box<dyn Fn(&mut Values, &<K as Kind>::Place) -> Result<(), Refused> + Send + Sync>;

/// A component in a registry, from this tree or from outside.
pub struct Entry<K: Kind> {
    /// Its name in plans.
    pub id: Cow<'static, str>,
    /// The JSON schema of its table.
    pub schema: Value,
    /// See [`Component::fill`].
    pub fill: Filler<K>,
    /// Reads its values; unknown keys were refused before.
    pub read: Reader<K>,
}

impl<K: Kind> Entry<K> {
    fn of<C: Component<K>>() -> Self {
        let fill: Filler<K> = Box::new(C::fill);
        let read: Reader<K> = Box::new(|values| {
            let config = serde_json::from_value::<C>(Value::Object(values.clone()))
                .map_err(|error| Refused::new("", error.to_string()))?;
            Ok(Arc::new(Read(config)))
        });
        let mut schema = schemars::generate::SchemaSettings::draft2020_12()
            .with(|settings| settings.inline_subschemas = true)
            .into_generator()
            .into_root_schema_for::<C>()
            .to_value();
        let mut example = Values::new();
        if let (Ok(()), Some(table)) = (fill(&mut example, &K::example()), schema.as_object_mut()) {
            if let Ok(factory) = read(&example) {
                table.insert("x-order".to_string(), keys(&factory.json()));
            }
            table.insert("additionalProperties".to_string(), Value::Bool(false));
            table.remove("$schema");
        }
        Self { id: Cow::Borrowed(C::ID), schema, fill, read }
    }

    fn knows(&self, parameter: &str) -> bool {
        self.schema.get("properties").is_some_and(|properties| properties.get(parameter).is_some())
    }
}

/// The keys of a JSON object in the order of the text; `serde_json::Map` would sort them.
fn keys(json: &str) -> Value {
    struct Keys(Vec<Value>);
    impl<'de> Deserialize<'de> for Keys {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Keys;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                    let mut keys = Vec::new();
                    while let Some((key, _)) = map.next_entry::<String, serde::de::IgnoredAny>()? {
                        keys.push(Value::String(key));
                    }
                    Ok(Keys(keys))
                }
            }
            deserializer.deserialize_map(Visitor)
        }
    }
    serde_json::from_str::<Keys>(json).map_or(Value::Null, |keys| Value::Array(keys.0))
}

/// The components of one kind, in the order of their registration.
pub struct Registry<K: Kind> {
    entries: Vec<Entry<K>>,
}

impl<K: Kind> Debug for Registry<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}

impl<K: Kind> Default for Registry<K> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<K: Kind> Registry<K> {
    /// The same with a component of this tree.
    #[must_use]
    pub fn with<C: Component<K>>(mut self) -> Self {
        self.entries.push(Entry::of::<C>());
        self
    }

    /// Adds a component.
    ///
    /// # Errors
    /// An id that is taken.
    pub fn register(&mut self, entry: Entry<K>) -> Result<(), Refused> {
        if self.find(&entry.id).is_some() {
            return Err(Refused::new("", "this id is taken"));
        }
        self.entries.push(entry);
        Ok(())
    }

    /// The ids in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &*entry.id)
    }

    /// Ids and schemas in order.
    pub fn schemas(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries.iter().map(|entry| (&*entry.id, &entry.schema))
    }

    /// Whether there is such a component.
    pub fn has(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// Reads the values of a component and checks that all of them are known.
    ///
    /// # Errors
    /// An unknown id or key, or a value of another type.
    pub fn read<M>(&self, part: &Part<M>) -> Result<Arc<dyn Factory<K>>, Refused> {
        let entry = self.entry(&part.kind)?;
        if let Some(key) = part.values.keys().find(|key| !entry.knows(key)) {
            return Err(Refused {
                parameter: Cow::Owned(key.clone()),
                found: None,
                problem: "unknown key".into(),
            });
        }
        (entry.read)(&part.values)
    }

    /// Constructs a component.
    ///
    /// # Errors
    /// As [`Registry::read`]; a parameter outside its range.
    pub fn build<M>(&self, part: &Part<M>, facts: K::Facts<'_>) -> Result<K::Built, ConfigError> {
        let read = self.read(part).map_err(|_| ConfigError {
            parameter: K::NAME,
            range: "a registered component with known parameters",
            value: f64::NAN,
        })?;
        read.build(facts)
    }

    /// The values of a component at a place with all its defaults, as JSON in the order of declaration.
    ///
    /// # Errors
    /// As [`Registry::read`]; a default that cannot be computed; parameters that do not fit each other. The values so far
    /// come along.
    pub fn complete<M>(&self, part: &Part<M>, place: &K::Place) -> Result<String, (Refused, Values)> {
        let mut part = part.clone();
        let filled = self.entry(&part.kind).and_then(|entry| (entry.fill)(&mut part.values, place));
        let read = filled.and_then(|()| self.read(&part)).and_then(|read| read.check().map(|()| read.json()));
        read.map_err(|refused| (refused, part.values))
    }

    fn find(&self, id: &str) -> Option<&Entry<K>> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    fn entry(&self, id: &str) -> Result<&Entry<K>, Refused> {
        self.find(id).ok_or_else(|| Refused {
            parameter: "kind".into(),
            found: None,
            problem: alloc::format!("there is no {} {id:?}", K::NAME).into(),
        })
    }
}

/// Serialises a quantity as a whole number of its base unit and declares that unit in the schema.
macro_rules! quantity {
    ($type:ty, $unit:literal, $name:literal, $from:path, $to:ident) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_u64(self.$to())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                u64::deserialize(deserializer).map($from)
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "integer", "minimum": 0, "x-unit": $unit })
            }
        }
    };
}

quantity!(Duration, "ns", "duration", Duration::from_nanos, as_nanos);
quantity!(Rate, "bit/s", "rate", Rate::from_bps, as_bps);
quantity!(Bytes, "B", "size", Bytes::new, get);
