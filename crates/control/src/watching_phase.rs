//! Reports of the phase of a controller.

use airpath_model::{Controller, Measurement, Probe, Timestamp};

/// Executes `change`, and reports the phase to the probe if it is then another one.
pub(crate) fn watching_phase<C: Controller>(
    controller: &mut C,
    now: Timestamp,
    probe: &mut dyn Probe,
    change: impl FnOnce(&mut C, &mut dyn Probe),
) {
    let before = controller.phase();
    change(controller, probe);
    let after = controller.phase();
    if after != before {
        probe.record(now, Measurement::Phase(after));
    }
}
