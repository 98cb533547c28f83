//! Enums of the plan of which some kinds are components that declare themselves, until all of them do.

/// Reads and writes the variant `Declared` as a component of the registry, and all others by the derived code.
macro_rules! declared_or_listed {
    ($plan:ty, $registry:expr) => {
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
                let read = if kind.is_some_and(|kind| $registry.has(kind)) {
                    ComponentPlan::deserialize(value).map(Self::Declared)
                } else {
                    Self::deserialize(value)
                };
                read.map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(super) use declared_or_listed;
