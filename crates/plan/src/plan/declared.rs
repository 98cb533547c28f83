//! Enums of the plan of which some kinds are components that declare themselves, until all of them do.

/// Reads and writes the variant `Declared` as a component of a registry, and those of the kinds `$listed` by the derived code.
macro_rules! declared_or_listed {
    ($plan:ty, $listed:expr) => {
        impl $plan {
            /// The kinds that have a variant of their own. All others are components of a registry.
            pub const LISTED: &[&str] = &$listed;
        }

        impl serde::Serialize for $plan {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::Declared(component) => component.serialize(serializer),
                    listed => Self::serialize(listed, serializer),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $plan {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                let kind = value.as_str().or_else(|| value.get("kind")?.as_str());
                let read = if kind.is_none_or(|kind| Self::LISTED.contains(&kind)) {
                    Self::deserialize(value)
                } else {
                    ComponentPlan::deserialize(value).map(Self::Declared)
                };
                read.map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(super) use declared_or_listed;
