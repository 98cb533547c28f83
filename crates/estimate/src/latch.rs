//! The memory of EBE's maintainers.

/// On when a quantity does not grow and was below a threshold twice, off when it grows and was above it twice, else
/// as before (EBE-J, section III-C).
///
/// Starts off, and the first value only fills the memory. Values are compared, not divided as in the print, so 0/0
/// counts as a ratio of 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latch {
    on: bool,
    previous: Option<f64>,
}

impl Latch {
    /// Off, without memory.
    pub const fn new() -> Self {
        Self { on: false, previous: None }
    }

    /// Takes the value of one interval; says whether the latch is on now.
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

    /// Off until its condition holds again; the last value stays in memory.
    pub const fn release(&mut self) {
        self.on = false;
    }

    /// Whether it is on.
    pub const fn is_on(&self) -> bool {
        self.on
    }
}
