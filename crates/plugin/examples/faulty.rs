//! A controller that fails in the way that its parameter says, for tests.

use std::ffi::CStr;

use airpath_plugin::model::{
    AckEvent, Bytes, CongestionEvent, Control, Controller, Duration, Measurement, Pacing, Phase, Probe, Rate,
    Timestamp,
};
use airpath_plugin::{Facts, Parameter, Plugin, Values};

/// The controller fails when this number of acknowledgments has arrived.
const FAILS_AT: u32 = 100;

#[derive(Debug)]
struct FaultyController {
    fault: &'static str,
    window: Bytes,
    mss: Bytes,
    seen: u32,
    now: Timestamp,
}

impl FaultyController {
    /// Whether the controller shows this fault now.
    fn shows(&self, fault: &str) -> bool {
        self.fault == fault && self.seen >= FAILS_AT
    }
}

impl Controller for FaultyController {
    fn on_ack(&mut self, ack: &AckEvent, probe: &mut dyn Probe) {
        self.seen += 1;
        self.now = ack.now;
        assert!(!self.shows("panic"), "after {} acknowledgments", self.seen);
        if self.shows("quantity") {
            probe.record(ack.now, Measurement::Named("unknown", 1.0));
        }
    }

    fn on_congestion(&mut self, _: &CongestionEvent, _: &mut dyn Probe) {}

    fn next_timer(&self) -> Timestamp {
        match self.fault {
            "past" if self.seen >= FAILS_AT => self.now - Duration::from_millis(1),
            "timers" if self.seen >= FAILS_AT => self.now,
            _ => Timestamp::NEVER,
        }
    }

    fn control(&self) -> Control {
        let window = if self.shows("window") { Bytes::ZERO } else { self.window };
        let window = if self.shows("large") { Bytes::new(1 << 31) } else { window };
        let quantum = if self.shows("quantum") { Bytes::ZERO } else { self.mss * 2 };
        let pacing = if self.shows("rate") { Pacing::At(Rate::ZERO) } else { Pacing::Off };
        Control { window, pacing, quantum }
    }

    fn phase(&self) -> Phase {
        Phase::Steady
    }
}

struct Faulty;

impl Plugin for Faulty {
    type Controller = FaultyController;
    const TITLE: &'static CStr = c"Faulty";
    const DESCRIPTION: &'static CStr = c"A fixed window, and a fault.";
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::choice(
            c"fault",
            c"What goes wrong.",
            c"none panic quantity past timers window large quantum rate start start_panic",
        ),
        Parameter::integer(c"packets", c"Window, packets.", 20).at_least(1.0).at_most(1000.0),
        Parameter::time(c"after", c"Not used.", Duration::from_millis(25)),
        Parameter::rate(c"most", c"Not used.", Rate::from_bps(1_000_000)).more_than(0.0),
        Parameter::size(c"least", c"Not used.", Bytes::new(1000)),
        Parameter::boolean(c"quick", c"Not used.", true),
    ];

    fn build(facts: Facts, values: &Values<'_>) -> Result<FaultyController, String> {
        let fault = values.choice("fault");
        assert!(fault != "start_panic", "as asked");
        if fault == "start" {
            return Err("as asked".to_owned());
        }
        let window = facts.mss * values.integer("packets") as u64;
        Ok(FaultyController { fault, window, mss: facts.mss, seen: 0, now: Timestamp::ZERO })
    }
}

airpath_plugin::export!(Faulty);
