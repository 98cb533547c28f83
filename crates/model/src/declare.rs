//! Components that declare themselves: parameters with units, ranges, defaults and help texts, and their construction.
//!
//! A component is any algorithm that a plan selects by name: a congestion controller, a slow start, a queue discipline,
//! a capacity source. It implements [`Component`] for the struct of its parameters, its *configuration*. From that one
//! declaration follow the JSON schema of its table, the messages about wrong values, and the way from a plan to the
//! built component:
//!
//! 1. A plan contains a [`ComponentPlan`]: the id of the component and the values of its parameters.
//! 2. [`Registry::complete`] adds the defaults when a plan is made, so that the plan contains every value.
//! 3. [`Registry::read`] turns the values into a [`Factory`], once for each entry of a plan.
//! 4. [`Factory::build`] constructs the component, once for each connection or link.
//!
//! A [`Registry`] contains the components of one [`Kind`] and is open at run time: [`Registry::register`] adds components
//! that this crate does not know.
//!
//! # The schema
//!
//! A parameter without default is required; its schema states an example. A parameter that may be left out without a
//! value of its own (`Option`) has the type `null` in addition to its own.
//!
//! Schemas are those of JSON Schema 2020-12 with these additions:
//!
//! | keyword | meaning |
//! |---|---|
//! | `x-unit` | base unit in which a plan counts a quantity: `ns`, `bit/s`, `B`; `threshold` is a queue in packets, `window` is a size that may be given in packets |
//! | `x-key` | name of the parameter in scenarios, if it differs from that in plans |
//! | `x-draw` | the quantity may be drawn at random |
//! | `x-order` | keys of the table in the order of declaration |
//! | `x-default-from` | the default depends on this property of the link or flow, or on this parameter |
//! | `x-component` | kind of a nested component: its id, or a table with the key `kind` |
//! | `x-or-none` | a nested component may also be `none` |
//! | `x-at-most` | name of another parameter that this one must not exceed |
//! | `examples` | values for tests; of a parameter without default |
//! | `x-follows` | of a controller: the rules for its window that `airpath-conformance` checks (`Follows`), if not `rfc5681` |
//! | `x-less-than` | name of another parameter that must be greater than this one |

mod error;
mod macros;
mod plan;
mod quantity;
pub mod ranges;
mod registry;

use alloc::string::String;
use core::fmt::Debug;

pub use crate::{component_defaults as defaults, component_kind as plain_kind};
pub use error::ComponentError;
pub use plan::{ComponentPlan, Nested, Values};
pub use registry::{Entry, EntrySchema, Filler, Reader, Registry};
pub use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
pub use serde::{Deserialize, Serialize};
pub use serde_json::{Map, Value};

use crate::config::ConfigError;

/// A kind of component: what its components depend on, and what they build.
pub trait Kind: Sized + 'static {
    /// The name of the kind in schemas and messages.
    const NAME: &'static str;
    /// Properties of the link or flow that are known when a plan is made; defaults may depend on them.
    type Context;
    /// Registries of the components that may be nested in a component of this kind; `()` if there are none.
    type Parts;
    /// What a component of this kind may require of the plan; `()` if they require nothing.
    type Needs: Default;
    /// What construction needs in addition to the parameters.
    type Facts<'a>;
    /// The result of construction.
    type Built;

    /// Returns a context for tests, for documentation and for the order of parameters.
    fn example() -> Self::Context;
}

/// The parameters of one component, and its construction.
pub trait Component<K: Kind>:
    Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// The name of the component in plans and scenarios.
    const ID: &'static str;

    /// Adds the parameters that were not given and whose defaults depend on the context or on other parameters.
    ///
    /// # Errors
    /// A default cannot be computed in this context.
    fn fill_defaults(_given: &mut Values, _context: &K::Context) -> Result<(), ComponentError> {
        Ok(())
    }

    /// Checks parameters against each other. In the text of a problem, `{name}` is a placeholder for the value of that
    /// parameter, which the front end formats with its unit.
    ///
    /// # Errors
    /// Two parameters contradict each other.
    fn check(&self) -> Result<(), ComponentError> {
        Ok(())
    }

    /// Returns what these parameters require of the plan. A driver checks it before construction.
    fn needs(&self) -> K::Needs {
        K::Needs::default()
    }

    /// Binds nested components to their factories ([`Nested::bind`]). [`Registry::read`] calls it once, before any
    /// construction.
    ///
    /// # Errors
    /// A nested component is unknown, or its parameters are wrong.
    fn bind(&mut self, _parts: &K::Parts) -> Result<(), ComponentError> {
        Ok(())
    }

    /// Constructs the component.
    ///
    /// # Errors
    /// A parameter is outside its range.
    fn build(&self, facts: K::Facts<'_>) -> Result<K::Built, ConfigError>;
}

/// An enum whose variants are components: plain values, such as the filters of an estimator.
///
/// Its JSON form is tagged by `kind` (`#[serde(tag = "kind")]`). [`Registry::with_variants`] registers them.
pub trait Variants<K: Kind>:
    Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// Checks parameters against each other, as [`Component::check`] does.
    ///
    /// # Errors
    /// Two parameters contradict each other.
    fn check(&self) -> Result<(), ComponentError> {
        Ok(())
    }

    /// Constructs the component.
    ///
    /// # Errors
    /// A parameter is outside its range.
    fn build(&self, facts: K::Facts<'_>) -> Result<K::Built, ConfigError>;
}

/// Parameters that have been read from a plan. They construct any number of equal components.
pub trait Factory<K: Kind>: Debug + Send + Sync {
    /// Constructs the component.
    ///
    /// # Errors
    /// A parameter is outside its range.
    fn build(&self, facts: K::Facts<'_>) -> Result<K::Built, ConfigError>;

    /// Checks parameters against each other, as [`Component::check`] does.
    ///
    /// # Errors
    /// Two parameters contradict each other.
    fn check(&self) -> Result<(), ComponentError> {
        Ok(())
    }

    /// Returns what the component requires of the plan, as [`Component::needs`] does.
    fn needs(&self) -> K::Needs {
        K::Needs::default()
    }

    /// Returns all parameters as a JSON object in the order of declaration.
    fn json(&self) -> String;
}
