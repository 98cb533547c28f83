//! The filter of CUBIC-EBE, in integers, against reference vectors.

use airpath_linux::native::{NativeFilter, cube_root};
use airpath_vectors::{Tally, list, number, read, text};

/// Allowed relative error of a state.
const STATE_SHARE: f64 = 2e-6;

/// Allowed error of a covariance relative to its scale. After a correction, P22 is the difference of numbers
/// a hundred thousand times larger, and the next correction carries its error into P11 and P12 (measured:
/// 6.6e-6, with the paper's profile).
const COVARIANCE_SHARE: f64 = 1e-5;

/// Sequences of the filter: state and covariance after each step.
#[test]
fn ekf_cubic() {
    let Some(file) = read("ekf_cubic.json") else { return };
    let columns: Vec<&str> = list(&file["columns"]).iter().map(|name| name.as_str().unwrap()).collect();
    let mut tally = Tally::default();
    for (number_of_run, run) in list(&file["runs"]).iter().enumerate() {
        let mut filter = NativeFilter::new(text(&run["profile"]) == "recommended");
        let mut largest: f64 = 0.0;
        for (i, values) in list(&run["rows"]).iter().enumerate() {
            for loss in list(&run["loss_events"]).iter().filter(|loss| loss[0].as_u64() == Some(i as u64)) {
                filter.register(number(&loss[1]), number(&loss[2]));
                largest = 0.0;
            }
            let get = |name: &str| {
                number(&list(values)[columns.iter().position(|column| *column == name).unwrap()])
            };
            let measured = get("zbar");
            let state = filter.step(Some(measured), get("W"), get("rtt"));
            let (p11, p22) = (get("P11"), get("P22"));
            // Covariances are differences, so the scale includes both variances and the largest variance from
            // which was subtracted.
            largest = largest.max(get("Pm22"));
            let scales = [get("x1").abs(), get("x2").abs(), p11, (p11 * p22).sqrt(), largest];
            for ((name, value), scale) in ["x1", "x2", "P11", "P12", "P22"].iter().zip(state).zip(scales) {
                let share = if name.starts_with('x') { STATE_SHARE } else { COVARIANCE_SHARE };
                tally.hold(
                    &format!("{name} of row {i} of run {number_of_run}"),
                    value,
                    get(name),
                    share * scale + 1e-12,
                );
            }
        }
    }
    tally.finish("ekf_cubic.json, in integers");
}

#[test]
fn cube_roots() {
    for exponent in -100..220 {
        let value = 1.1_f64.powi(exponent).min(4_194_304.0);
        let (root, expected) = (cube_root(value), value.cbrt());
        assert!((root - expected).abs() <= 1e-6 * expected, "{value}: {root} is not {expected}");
    }
    assert!(cube_root(0.0).abs() < f64::MIN_POSITIVE);
}
