//! Reports that all capacity sources have in common.

/// Reports a capacity in byte/s as `capacity_estimate` in byte/s and `capacity_estimate_bps` in bit/s.
pub(crate) fn capacity(report: &mut dyn FnMut(&'static str, f64), capacity: f64) {
    report("capacity_estimate", capacity);
    report("capacity_estimate_bps", 8.0 * capacity);
}
