//! Defaults of parameters.

/// Defines the module `default` with one function for each parameter, for `#[serde(default = "default::name")]`.
///
/// A configuration that has parameters without default needs them: `#[serde(default)]` on the struct would give these
/// a default, too.
#[macro_export]
macro_rules! component_defaults {
    ($($parameter:ident: $type:ty = $value:expr;)*) => {
        mod default {
            #[allow(clippy::allow_attributes, unused_imports, reason = "a default may need no type of the parent")]
            use super::*;

            $(pub(super) fn $parameter() -> $type {
                $value
            })*
        }
    };
}
