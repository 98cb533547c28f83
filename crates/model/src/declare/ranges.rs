//! A test for any registry: schema and construction state the same ranges.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Number, Value};

use super::{ComponentError, ComponentPlan, Kind, Registry, Values};

/// Tries values of every numeric parameter of every component and returns the problems: a value that only the
/// schema or only the construction accepts, and a parameter without help text or default. An error about
/// another parameter is a contradiction between the two parameters, which no schema states.
///
/// The values are the default, each bound of the schema with its two neighbours, and, if the schema states no
/// bound, 0, −1 and ±10³⁰⁰ (integers: the smallest and largest of their type). If a parameter is ordered with
/// another one (`x-at-most`, `x-less-than`), the other one changes with it; a value is skipped if the other
/// one has no valid value for it.
///
/// `build` reads and constructs a component. The second item of the result counts the values that were tried.
pub fn disagreements<K: Kind>(
    registry: &Registry<K>,
    parts: &K::Parts,
    build: impl Fn(&ComponentPlan<K>) -> Result<(), ComponentError>,
) -> (Vec<String>, usize) {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for (id, schema) in registry.schemas() {
        let plan = |values| ComponentPlan::<K>::new(Cow::Owned(id.to_string()), values);
        let complete = match registry.complete(&registry.example(id), &K::example(), parts) {
            Ok(json) => serde_json::from_str::<Values>(&json).unwrap_or_default(),
            Err((error, _)) => {
                wrong.push(format!("{id}: {}: {error}", error.parameter));
                continue;
            }
        };
        let no_properties = Values::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&no_properties);
        for (name, property) in properties {
            if property.get("description").is_none() {
                wrong.push(format!("{id}.{name}: no help text"));
            }
            if ["default", "x-default-from", "examples"].iter().all(|key| property.get(key).is_none()) {
                wrong.push(format!("{id}.{name}: neither a default nor an example"));
            }
            if property.get("x-unit").is_some_and(|unit| unit == "window") {
                continue; // The smallest window depends on the segment size.
            }
            let range = Range(property);
            for value in range.values(&complete[name]) {
                let mut values = complete.clone();
                values.insert(name.clone(), value.clone());
                if !take_along(&mut values, properties, name, &value) {
                    continue;
                }
                let outcome = build(&plan(values));
                tried += 1;
                let other = |parameter: &str| parameter != name && properties.contains_key(parameter);
                if outcome.as_ref().is_err_and(|error| other(&error.parameter)) {
                    continue;
                }
                if range.accepts(&value) != outcome.is_ok() {
                    wrong.push(match outcome {
                        Ok(()) => {
                            format!("{id}.{name} = {value}: construction accepts it, the schema does not")
                        }
                        Err(error) => format!(
                            "{id}.{name} = {value}: the schema accepts it, but {}: {error}",
                            error.parameter
                        ),
                    });
                }
            }
        }
    }
    (wrong, tried)
}

/// Gives the parameters that are ordered with `name` the same value if they would contradict it, or its neighbour if they
/// must differ (`x-less-than`). Returns whether that is possible within their own ranges.
fn take_along(values: &mut Values, properties: &Values, name: &str, value: &Value) -> bool {
    let mut possible = true;
    let order = |lower: &str| {
        let lower = properties.get(lower)?;
        let (strict, upper) = match lower.get("x-at-most") {
            Some(upper) => (false, upper),
            None => (true, lower.get("x-less-than")?),
        };
        Some((strict, upper.as_str()?))
    };
    let (mut lower, mut limit) = (name, value.clone());
    while let Some((strict, upper)) = order(lower) {
        let Some((number, current)) = limit.as_f64().zip(values.get(upper).and_then(Value::as_f64)) else {
            break;
        };
        if number > current || strict && number >= current {
            limit = if strict { number.next_up().into() } else { limit };
            values.insert(upper.to_string(), limit.clone());
            possible &= Range(&properties[upper]).accepts(&limit);
        }
        lower = upper;
    }
    let (mut upper, mut limit) = (name, value.clone());
    while let Some((lower, (strict, _))) =
        properties.keys().find_map(|lower| Some((lower, order(lower).filter(|(_, above)| *above == upper)?)))
    {
        let Some((number, current)) = limit.as_f64().zip(values.get(lower).and_then(Value::as_f64)) else {
            break;
        };
        if number < current || strict && number <= current {
            limit = if strict { number.next_down().into() } else { limit };
            values.insert(lower.clone(), limit.clone());
            possible &= Range(&properties[lower.as_str()]).accepts(&limit);
        }
        upper = lower;
    }
    possible
}

/// The range that the schema of a parameter states.
struct Range<'a>(&'a Value);

impl Range<'_> {
    fn bound(&self, key: &str) -> Option<&Number> {
        self.0.get(key)?.as_number()
    }

    /// Returns the type of the parameter, or that of its value if the parameter may be absent.
    fn of_type(&self) -> Option<&str> {
        let of_type = &self.0["type"];
        of_type.as_str().or_else(|| of_type.get(0)?.as_str())
    }

    /// Returns the largest value of the integer type, which schemas state as `format`.
    fn largest(&self) -> i128 {
        match self.0.get("format").and_then(Value::as_str) {
            Some("uint8") => u8::MAX.into(),
            Some("uint16") => u16::MAX.into(),
            Some("uint32") => u32::MAX.into(),
            _ => u64::MAX.into(),
        }
    }

    fn accepts(&self, value: &Value) -> bool {
        let holds = |key, holds: fn(core::cmp::Ordering) -> bool| {
            self.bound(key).is_none_or(|bound| compare(value, bound).is_some_and(holds))
        };
        let in_type =
            integer(value).is_none_or(|value| self.of_type() != Some("integer") || value <= self.largest());
        in_type
            && holds("minimum", core::cmp::Ordering::is_ge)
            && holds("exclusiveMinimum", core::cmp::Ordering::is_gt)
            && holds("maximum", core::cmp::Ordering::is_le)
            && holds("exclusiveMaximum", core::cmp::Ordering::is_lt)
    }

    /// Returns the values to try; none if the parameter is not a number.
    fn values(&self, default: &Value) -> Vec<Value> {
        let bounds = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"]
            .into_iter()
            .filter_map(|key| self.bound(key));
        let mut values = Vec::from([default.clone()]);
        values.retain(|value| !value.is_null());
        match self.of_type() {
            Some("number") => {
                values.extend([0.0, -1.0, 1e300, -1e300].map(Value::from));
                for bound in bounds.filter_map(Number::as_f64) {
                    values.extend([bound.next_down(), bound, bound.next_up()].map(Value::from));
                }
            }
            Some("integer") => {
                let bounds = bounds.filter_map(Number::as_i128);
                for value in
                    bounds.flat_map(|bound| [bound - 1, bound, bound + 1]).chain([-1, 0, self.largest()])
                {
                    let number = u64::try_from(value).map(Number::from);
                    let number = number.or_else(|_| i64::try_from(value).map(Number::from));
                    values.extend(number.map(Value::Number));
                }
            }
            _ => values.clear(),
        }
        values
    }
}

fn integer(value: &Value) -> Option<i128> {
    value.as_number()?.as_i128()
}

fn compare(value: &Value, bound: &Number) -> Option<core::cmp::Ordering> {
    match (integer(value), bound.as_i128()) {
        (Some(value), Some(bound)) => Some(value.cmp(&bound)),
        _ => value.as_f64()?.partial_cmp(&bound.as_f64()?),
    }
}
