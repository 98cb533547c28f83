//! Directions of an access link.

/// One of the two directions of an access link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direction {
    /// Toward the user.
    #[default]
    Down,
    /// From the user.
    Up,
}
