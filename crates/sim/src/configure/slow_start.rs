//! A window rule with the slow start that is planned for it.

use airpath_control::declare::SlowStarts;
use airpath_control::{ConfigError, WindowRule, Windowed};
use airpath_model::declare::Part;
use airpath_model::{Bytes, Controller};

use crate::components::components;

/// A whole controller of a rule and a slow start.
pub(super) fn windowed<W: WindowRule + 'static>(
    rule: W,
    slow_start: &Part<SlowStarts>,
    initial_window: Bytes,
    mss: Bytes,
) -> Result<Box<dyn Controller>, ConfigError> {
    let slow_start = components().control.slow_starts.build(slow_start, ())?;
    Ok(Box::new(Windowed::new(rule, slow_start, initial_window, mss)?))
}
