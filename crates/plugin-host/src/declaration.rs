//! The parameters that a library declares, as a JSON schema and as values.

use airpath_model::declare::{ComponentError, Map, Value, Values};
use airpath_plugin::abi::{self, code, kind};
use serde_json::json;

use crate::names::is_word;

/// A parameter of a library.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) help: String,
    /// The words of a choice.
    pub(crate) choices: Vec<String>,
    pub(crate) raw: abi::Parameter,
}

/// Returns the JSON schema of a table of parameters (`airpath_model::declare`).
pub(crate) fn schema(title: &str, description: &str, parameters: &[Parameter]) -> Result<Value, String> {
    let mut properties = Map::new();
    for parameter in parameters {
        let name = &parameter.name;
        let schema = parameter.schema().map_err(|problem| format!("parameter {name}: {problem}"))?;
        if properties.insert(name.clone(), schema).is_some() {
            return Err(format!("parameter {name}: it is declared twice"));
        }
    }
    Ok(json!({
        "title": title,
        "description": description,
        "type": "object",
        "properties": properties,
        "x-order": parameters.iter().map(|parameter| &parameter.name).collect::<Vec<_>>(),
        "additionalProperties": false,
    }))
}

impl Parameter {
    /// Returns the schema, after a check of the declaration.
    fn schema(&self) -> Result<Value, String> {
        if !is_word(&self.name) || self.name == "kind" {
            return Err("accepted as its name: letters, digits and _, not `kind`".to_owned());
        }
        let mut schema = match self.raw.kind {
            kind::BOOL => json!({ "type": "boolean" }),
            kind::INTEGER => json!({ "type": "integer" }),
            kind::NUMBER => json!({ "type": "number" }),
            kind::CHOICE => {
                let choices: Vec<_> = self.choices.iter().map(|word| json!({ "const": word })).collect();
                json!({ "oneOf": choices })
            }
            kind::TIME => json!({ "type": "integer", "x-unit": "ns" }),
            kind::RATE => json!({ "type": "integer", "x-unit": "bit/s" }),
            kind::SIZE => json!({ "type": "integer", "x-unit": "B" }),
            other => return Err(format!("its kind is {other}; accepted: 0 to 6")),
        };
        for (keyword, bound) in self.bounds()? {
            schema[keyword] = number(bound);
        }
        let default = self.default();
        self.value(&default).map_err(|problem| format!("default: {problem}"))?;
        schema["default"] = default;
        schema["description"] = self.help.clone().into();
        Ok(schema)
    }

    /// Returns the bounds with their keywords.
    fn bounds(&self) -> Result<Vec<(&'static str, f64)>, String> {
        let abi::Parameter { least, most, flags, .. } = self.raw;
        let (above, below) = (flags & code::ABOVE_LEAST != 0, flags & code::BELOW_MOST != 0);
        let mut bounds = Vec::new();
        if least < most || above || below {
            let lower = if above { "exclusiveMinimum" } else { "minimum" };
            let upper = if below { "exclusiveMaximum" } else { "maximum" };
            bounds.extend((least.is_finite()).then_some((lower, least)));
            // A lower bound alone leaves `most` at zero in C.
            bounds.extend((most.is_finite() && (least < most || below)).then_some((upper, most)));
        }
        if least.is_nan() || most.is_nan() || least > most {
            return Err(format!("its range is {least} to {most}"));
        }
        let is_quantity = matches!(self.raw.kind, kind::TIME | kind::RATE | kind::SIZE);
        if is_quantity && !matches!(bounds[..], [] | [("exclusiveMinimum", 0.0)]) {
            return Err("the range of a time, rate or size can only be more than 0".to_owned());
        }
        Ok(bounds)
    }

    /// Returns the default as in a plan.
    fn default(&self) -> Value {
        let abi::Value { number, integer } = self.raw.initial;
        match self.raw.kind {
            kind::BOOL => (integer != 0).into(),
            kind::NUMBER => number.into(),
            kind::CHOICE => usize::try_from(integer)
                .ok()
                .and_then(|place| self.choices.get(place))
                .map_or(Value::Null, |word| word.clone().into()),
            _ => integer.into(),
        }
    }

    /// Returns a value of a plan as the library receives it.
    fn value(&self, value: &Value) -> Result<abi::Value, String> {
        let whole = |integer| abi::Value { number: 0.0, integer };
        let read = match self.raw.kind {
            kind::BOOL => value.as_bool().map(|value| whole(value.into())),
            kind::INTEGER => value.as_i64().map(whole),
            kind::NUMBER => value.as_f64().map(|number| abi::Value { number, integer: 0 }),
            kind::CHOICE => {
                let place = self.choices.iter().position(|word| Some(word.as_str()) == value.as_str());
                place.map(|place| whole(place as i64))
            }
            _ => value.as_i64().filter(|value| *value >= 0).map(whole),
        };
        let read = read.ok_or_else(|| format!("found {value}, which is of another type or not accepted"))?;
        let compared = if self.raw.kind == kind::NUMBER { read.number } else { read.integer as f64 };
        let holds = |(keyword, bound): &(&str, f64)| match *keyword {
            "minimum" => compared >= *bound,
            "exclusiveMinimum" => compared > *bound,
            "maximum" => compared <= *bound,
            _ => compared < *bound,
        };
        if self.bounds()?.iter().all(holds) {
            Ok(read)
        } else {
            Err(format!("found {value}, outside its range"))
        }
    }
}

/// Returns the values of a plan, or defaults, in the order of declaration.
pub(crate) fn values(parameters: &[Parameter], given: &Values) -> Result<Vec<abi::Value>, ComponentError> {
    let one = |parameter: &Parameter| {
        let value = given.get(&parameter.name).cloned().unwrap_or_else(|| parameter.default());
        parameter.value(&value).map_err(|problem| ComponentError::new(parameter.name.clone(), problem))
    };
    parameters.iter().map(one).collect()
}

/// Returns the values of a plan with the defaults of those that it leaves out.
pub(crate) fn with_defaults(parameters: &[Parameter], given: &Values) -> Values {
    let mut values = given.clone();
    for parameter in parameters {
        values.entry(parameter.name.clone()).or_insert_with(|| parameter.default());
    }
    values
}

/// Returns a bound; whole ones without a fraction, as messages print them.
fn number(bound: f64) -> Value {
    let whole = bound as i64;
    // Whole numbers beyond 2^53 are not exact.
    if whole as f64 - bound == 0.0 && whole.unsigned_abs() < 1 << 53 { whole.into() } else { bound.into() }
}
