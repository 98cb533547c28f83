//! What all capacity sources report alike.

/// `capacity_estimate` in byte/s and `capacity_estimate_bps` in bit/s, of a capacity in byte/s.
pub(crate) fn capacity(report: &mut dyn FnMut(&'static str, f64), capacity: f64) {
    report("capacity_estimate", capacity);
    report("capacity_estimate_bps", 8.0 * capacity);
}
