//! The queue that a router keeps.

use airpath_model::{ControlInterval, Spare};

/// Returns the spare bandwidth after a control interval, given the capacity in byte/s. The queue to drain is
/// the part above a target of `delay_s` seconds, which is at most half the buffer.
pub(crate) fn spare(interval: &ControlInterval, capacity: f64, delay_s: f64) -> Spare {
    let target = (capacity * delay_s).min(interval.buffer / 2.0);
    Spare { bandwidth: interval.probing * capacity - interval.input_rate, queue: interval.queue - target }
}
