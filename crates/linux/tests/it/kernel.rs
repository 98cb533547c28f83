//! The controllers in this kernel compute the same windows, bit by bit, as the same code in this process.

use airpath_linux::native::{Kind, NativeController};
use airpath_linux::replay::KernelController;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::support::can_control;
use crate::support::replay::{Told, native_windows, script};

#[test]
fn the_kernel_and_user_space_compute_the_same() {
    if !can_control("kernel") {
        return;
    }
    for kind in [Kind::Xcp, Kind::Vcp, Kind::CubicEbe, Kind::Westwood, Kind::Sarbe] {
        let mut runner = TestRunner::deterministic();
        let mut compared = 0;
        for _ in 0..8 {
            let told = script(kind).new_tree(&mut runner).unwrap().current();
            let expected = native_windows(NativeController::new(kind, 14_480, 1448), &told);
            let mut kernel = KernelController::new(kind, 14_480, 1448).unwrap();
            for (event, expected) in told.iter().zip(expected) {
                match event {
                    Told::Ack(event) => kernel.on_ack(event),
                    Told::Congestion(event) => kernel.on_congestion(event),
                    Told::Spurious => kernel.on_spurious(),
                }
                .unwrap();
                assert_eq!(kernel.window(), expected, "{kind:?} after {compared} events: {event:?}");
                compared += 1;
            }
        }
        assert!(compared > 500, "{kind:?}: only {compared} events");
    }
}
