//! The components of a kind.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::{self, Debug};
use core::ops::Deref;

use once_cell::race::OnceBox;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::{
    Component, ComponentError, ComponentPlan, Factory, JsonSchema, Kind, SchemaGenerator, Values, Variants,
};
use crate::config::ConfigError;

/// Reads the values of a plan into a factory, with the registries from which nested components come.
pub type Reader<K> =
    Box<dyn Fn(&Values, &<K as Kind>::Parts) -> Result<Arc<dyn Factory<K>>, ComponentError> + Send + Sync>;
/// Adds the defaults that depend on the context.
pub type Filler<K> =
    Box<dyn Fn(&mut Values, &<K as Kind>::Context) -> Result<(), ComponentError> + Send + Sync>;

/// The JSON schema of a component. That of a [`Component`] is generated when it is first used, because a run uses few of
/// the components of a registry.
pub struct EntrySchema {
    generate: fn() -> Value,
    generated: OnceBox<Value>,
}

impl Deref for EntrySchema {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.generated.get_or_init(|| Box::new((self.generate)()))
    }
}

impl From<Value> for EntrySchema {
    fn from(schema: Value) -> Self {
        Self { generate: || Value::Null, generated: OnceBox::with_value(Box::new(schema)) }
    }
}

/// A component in a registry.
///
/// [`Registry::with`] makes one from a [`Component`]. A component from outside (a plug-in, a class of another language)
/// fills in the fields itself; it needs no Rust type for its parameters.
pub struct Entry<K: Kind> {
    /// The name of the component in plans.
    pub id: Cow<'static, str>,
    /// The JSON schema of its table.
    pub schema: EntrySchema,
    /// See [`Component::fill_defaults`].
    pub fill_defaults: Filler<K>,
    /// Reads its values. [`Registry::read`] rejects unknown keys before it calls this function.
    pub read: Reader<K>,
}

impl<K: Kind> Entry<K> {
    fn of<C: Component<K>>() -> Self {
        Self {
            id: Cow::Borrowed(C::ID),
            schema: EntrySchema { generate: component_schema::<K, C>, generated: OnceBox::new() },
            fill_defaults: Box::new(C::fill_defaults),
            read: Box::new(|values, parts| {
                let mut config = parse::<C>(values)?;
                config.bind(parts)?;
                Ok(Arc::new(Declared(config)))
            }),
        }
    }

    /// Creates the entry of the variant of `V` that `schema` describes.
    fn of_variant<V: Variants<K>>(mut schema: Value) -> Option<Self> {
        let example = examples(&schema);
        let table = schema.as_object_mut()?;
        let kind = table.get_mut("properties")?.as_object_mut()?.remove("kind")?;
        let id = kind.get("const")?.as_str()?.to_string();
        table.get_mut("required")?.as_array_mut()?.retain(|key| key != "kind");
        let example = Variant(parse_variant::<V>(&id, &example).ok()?);
        table.insert("x-order".to_string(), keys(&Factory::<K>::json(&example)));
        table.insert("title".to_string(), id.clone().into());
        table.insert("additionalProperties".to_string(), Value::Bool(false));
        let kind = id.clone();
        Some(Self {
            id: Cow::Owned(id),
            schema: schema.into(),
            fill_defaults: Box::new(|_, _| Ok(())),
            read: Box::new(move |values, _| Ok(Arc::new(Variant(parse_variant::<V>(&kind, values)?)))),
        })
    }

    /// Names the parameter whose value cannot be read: the other parameters can be read if it has its default
    /// or example.
    fn naming(&self, error: ComponentError, values: &Values, parts: &K::Parts) -> ComponentError {
        let examples = examples(&self.schema);
        let wrong = values.keys().find(|key| {
            let mut others = values.clone();
            others.remove(*key);
            others.extend(examples.get_key_value(*key).map(|(key, value)| (key.clone(), value.clone())));
            (self.read)(&others, parts).is_ok()
        });
        match wrong {
            Some(key) if error.parameter.is_empty() => error.inside(key),
            _ => error,
        }
    }

    fn knows(&self, parameter: &str) -> bool {
        self.schema.get("properties").is_some_and(|properties| properties.get(parameter).is_some())
    }
}

/// Returns the schema of a component with the order of its parameters.
fn component_schema<K: Kind, C: Component<K>>() -> Value {
    let mut schema = schema_of::<C>();
    let mut example = examples(&schema);
    if let (Ok(()), Some(table)) = (C::fill_defaults(&mut example, &K::example()), schema.as_object_mut()) {
        if let Ok(config) = parse::<C>(&example) {
            table.insert("x-order".to_string(), keys(&json(&config)));
        }
        let title = C::json_schema(&mut SchemaGenerator::default()).get("title").cloned();
        table.insert("title".to_string(), title.unwrap_or_else(|| C::ID.into()));
        table.insert("additionalProperties".to_string(), Value::Bool(false));
        table.remove("$schema");
    }
    schema
}

fn schema_of<C: JsonSchema>() -> Value {
    schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator()
        .into_root_schema_for::<C>()
        .to_value()
}

/// Returns the first example of each parameter that has examples.
fn examples(schema: &Value) -> Values {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.filter_map(|(name, one)| Some((name.clone(), one.get("examples")?.get(0)?.clone()))).collect()
}

fn parse_variant<V: DeserializeOwned>(id: &str, values: &Values) -> Result<V, ComponentError> {
    let mut values = values.clone();
    values.insert("kind".to_string(), id.into());
    parse(&values)
}

fn parse<C: DeserializeOwned>(values: &Values) -> Result<C, ComponentError> {
    serde_json::from_value(Value::Object(values.clone()))
        .map_err(|error| ComponentError::new("", error.to_string()))
}

fn list<T: ToString>(words: impl Iterator<Item = T>) -> String {
    words.map(|word| word.to_string()).collect::<Vec<_>>().join(", ")
}

fn json(config: &impl serde::Serialize) -> String {
    serde_json::to_string(config).expect("the configuration of a component is a JSON object")
}

/// The factory of a component that implements [`Component`].
#[derive(Debug)]
struct Declared<C>(C);

impl<K: Kind, C: Component<K>> Factory<K> for Declared<C> {
    fn build(&self, facts: K::Facts<'_>) -> Result<K::Built, ConfigError> {
        self.0.build(facts)
    }

    fn check(&self) -> Result<(), ComponentError> {
        self.0.check()
    }

    fn needs(&self) -> K::Needs {
        self.0.needs()
    }

    fn json(&self) -> String {
        json(&self.0)
    }
}

/// The factory of a component that is a variant of an enum.
#[derive(Debug)]
struct Variant<V>(V);

impl<K: Kind, V: Variants<K>> Factory<K> for Variant<V> {
    fn build(&self, facts: K::Facts<'_>) -> Result<K::Built, ConfigError> {
        self.0.build(facts)
    }

    fn check(&self) -> Result<(), ComponentError> {
        self.0.check()
    }

    fn json(&self) -> String {
        // The kind comes first.
        let json = json(&self.0);
        format!("{{{}", json.split_once(',').map_or("}", |(_, parameters)| parameters))
    }
}

/// Returns the keys of a JSON object in the order of the text; `serde_json::Map` would sort them.
fn keys(json: &str) -> Value {
    struct Keys(Vec<Value>);

    impl<'de> Deserialize<'de> for Keys {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_map(KeysOfMap)
        }
    }

    struct KeysOfMap;

    impl<'de> Visitor<'de> for KeysOfMap {
        type Value = Keys;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
            let mut keys = Vec::new();
            while let Some((key, IgnoredAny)) = map.next_entry::<String, _>()? {
                keys.push(Value::String(key));
            }
            Ok(Keys(keys))
        }
    }

    serde_json::from_str::<Keys>(json).map_or(Value::Null, |keys| Value::Array(keys.0))
}

/// The components of one kind, in the order of their registration.
///
/// A plan refers to them by id. Ids are unique: [`Registry::register`] rejects an id that is taken.
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
    /// Adds the component `C`, which must have an id of its own.
    ///
    /// # Panics
    /// The id is taken: two components of one program have the same name.
    #[must_use]
    pub fn with<C: Component<K>>(mut self) -> Self {
        self.register(Entry::of::<C>()).unwrap_or_else(|error| panic!("{} {}: {error}", K::NAME, C::ID));
        self
    }

    /// Adds every variant of the enum `V` as a component.
    ///
    /// # Panics
    /// `V` has no variants, the id of a variant is taken, or a parameter has neither a default nor an example.
    #[must_use]
    pub fn with_variants<V: Variants<K>>(mut self) -> Self {
        let variants = schema_of::<V>()["oneOf"].take();
        let Value::Array(variants) = variants else { panic!("no {}: {variants}", K::NAME) };
        for variant in variants {
            let entry = Entry::of_variant::<V>(variant);
            let entry =
                entry.unwrap_or_else(|| panic!("a {} has a parameter without default or example", K::NAME));
            self.register(entry).unwrap_or_else(|error| panic!("{}: {error}", K::NAME));
        }
        self
    }

    /// Adds a component.
    ///
    /// # Errors
    /// The id is taken.
    pub fn register(&mut self, entry: Entry<K>) -> Result<(), ComponentError> {
        if self.has(&entry.id) {
            let problem = format!("there is already a {} {:?}", K::NAME, entry.id);
            return Err(ComponentError::new("kind", problem));
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Returns the ids in the order of registration.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &*entry.id)
    }

    /// Returns the ids with their schemas in the order of registration.
    pub fn schemas(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries.iter().map(|entry| (&*entry.id, &*entry.schema))
    }

    /// Returns the component with that id, with examples of the parameters that have no default, for tests.
    pub fn example(&self, id: &str) -> ComponentPlan<K> {
        let values = self.find(id).map(|entry| examples(&entry.schema));
        ComponentPlan::new(Cow::Owned(id.to_string()), values.unwrap_or_default())
    }

    /// Returns whether the registry contains a component with that id.
    pub fn has(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// Reads the values of a component and binds its nested components. Call it once for each entry of a plan, and build
    /// from the factory as often as needed: reading parses JSON values, building does not.
    ///
    /// # Errors
    /// The id or a key is unknown, a value has another type, or a nested component is wrong.
    pub fn read<M>(
        &self,
        plan: &ComponentPlan<M>,
        parts: &K::Parts,
    ) -> Result<Arc<dyn Factory<K>>, ComponentError> {
        let entry = self.entry(&plan.kind)?;
        if let Some(key) = plan.values.keys().find(|key| !entry.knows(key)) {
            let known = entry.schema["properties"].as_object().into_iter().flat_map(Values::keys);
            return Err(ComponentError::new(key.clone(), format!("unknown key; accepted: {}", list(known))));
        }
        (entry.read)(&plan.values, parts).map_err(|error| entry.naming(error, &plan.values, parts))
    }

    /// Reads and constructs a component that is built only once.
    ///
    /// # Errors
    /// As [`Registry::read`]; a parameter is outside its range.
    pub fn build<M>(
        &self,
        plan: &ComponentPlan<M>,
        parts: &K::Parts,
        facts: K::Facts<'_>,
    ) -> Result<K::Built, ComponentError> {
        Ok(self.read(plan, parts)?.build(facts)?)
    }

    /// Returns the values of a component in its context with all defaults, as a JSON object in the order of declaration.
    ///
    /// # Errors
    /// As [`Registry::read`]; a default cannot be computed, or two parameters contradict each other. The second item
    /// contains the values with the defaults that were already added.
    pub fn complete<M>(
        &self,
        plan: &ComponentPlan<M>,
        context: &K::Context,
        parts: &K::Parts,
    ) -> Result<String, (ComponentError, Values)> {
        let mut plan = plan.clone();
        let filled =
            self.entry(&plan.kind).and_then(|entry| (entry.fill_defaults)(&mut plan.values, context));
        let read = filled.and_then(|()| self.read(&plan, parts));
        read.and_then(|factory| factory.check().map(|()| factory.json()))
            .map_err(|error| (error, plan.values))
    }

    /// Adds the parameters that the plan of a component leaves out, with their defaults.
    ///
    /// # Errors
    /// As [`Registry::read`].
    pub fn spell_out<M>(&self, plan: &mut ComponentPlan<M>, parts: &K::Parts) -> Result<(), ComponentError> {
        plan.values = serde_json::from_str(&self.read(plan, parts)?.json()).unwrap_or_default();
        Ok(())
    }

    fn find(&self, id: &str) -> Option<&Entry<K>> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    fn entry(&self, id: &str) -> Result<&Entry<K>, ComponentError> {
        self.find(id).ok_or_else(|| {
            let problem = format!("there is no {} {id:?}; accepted: {}", K::NAME, list(self.ids()));
            ComponentError::new("kind", problem)
        })
    }
}
