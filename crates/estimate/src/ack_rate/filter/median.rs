//! The median of the last samples.

use airpath_model::config::check;

use crate::ConfigError;

/// The longest window.
const LONGEST: usize = 15;

#[derive(Clone, Debug)]
pub(super) struct Median {
    window: u8,
    samples: [f64; LONGEST],
    count: u8,
    next: u8,
}

impl Median {
    pub(super) fn new(window: u8) -> Result<Self, ConfigError> {
        let fits = (1..=LONGEST).contains(&usize::from(window));
        check(fits, "window", "from 1 to 15", f64::from(window))?;
        Ok(Self { window, samples: [0.0; LONGEST], count: 0, next: 0 })
    }

    pub(super) fn update(&mut self, sample: f64) -> f64 {
        self.samples[usize::from(self.next)] = sample;
        self.next = (self.next + 1) % self.window;
        self.count = (self.count + 1).min(self.window);
        let mut sorted = self.samples;
        let sorted = &mut sorted[..usize::from(self.count)];
        sorted.sort_unstable_by(f64::total_cmp);
        sorted[(sorted.len() - 1) / 2]
    }
}
