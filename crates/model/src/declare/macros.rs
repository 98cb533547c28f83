//! Shorter forms of declarations.

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

/// Defines a kind of components whose construction needs only their parameters: `Name, "name in messages", Built`.
#[macro_export]
macro_rules! component_kind {
    ($(#[$doc:meta])* $kind:ident, $name:literal, $built:ty) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $kind;

        impl $crate::declare::Kind for $kind {
            const NAME: &'static str = $name;
            type Context = ();
            type Parts = ();
            type Needs = ();
            type Facts<'a> = ();
            type Built = $built;

            fn example() {}
        }
    };
}
