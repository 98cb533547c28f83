//! The memory of EBE's maintainers.

/// A latch that turns on if a quantity does not grow and was below a threshold twice, and off if it grows and
/// was above the threshold twice; otherwise it keeps its state (EBE-J, section III-C).
///
/// It starts off, and the first value only fills the memory. Values are compared instead of divided as in the
/// paper, so 0/0 counts as a ratio of 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latch {
    on: bool,
    previous: Option<f64>,
}

impl Latch {
    /// Creates a latch that is off, without memory.
    pub const fn new() -> Self {
        Self { on: false, previous: None }
    }

    /// Adds the value of one interval and returns whether the latch is on.
    pub fn update(&mut self, value: f64, threshold: f64) -> bool {
        if let Some(previous) = self.previous.replace(value) {
            if value <= previous && value < threshold && previous < threshold {
                self.on = true;
            } else if value > previous && value > threshold && previous > threshold {
                self.on = false;
            }
        }
        self.on
    }

    /// Turns the latch off until its condition is true again. The last value stays in memory.
    pub const fn release(&mut self) {
        self.on = false;
    }

    /// Returns whether the latch is on.
    pub const fn is_on(&self) -> bool {
        self.on
    }
}
