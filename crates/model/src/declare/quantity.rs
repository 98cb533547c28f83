//! Quantities in plans and schemas: whole numbers of a base unit, which the schema states.

use alloc::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::{Bytes, Duration, Rate};

/// Implements the JSON form of a quantity: a whole number of its base unit.
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
