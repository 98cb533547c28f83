//! Values that result tables contain as numbers.

/// Declares an enum whose values are numbers in the tables of the engine and names in written results.
#[macro_export]
macro_rules! codes {
    (
        $(#[$outer:meta])*
        $visible:vis enum $code:ident { $($(#[$inner:meta])* $value:ident = $name:literal),+ $(,)? }
    ) => {
        $(#[$outer])*
        $visible enum $code { $($(#[$inner])* $value),+ }

        impl $code {
            /// The names, indexed by number.
            $visible const NAMES: &[&str] = &[$($name),+];

            /// Returns the number in the tables of the engine.
            $visible const fn index(self) -> usize {
                self as usize
            }
        }
    };
}
