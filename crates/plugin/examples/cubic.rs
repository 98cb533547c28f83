//! airpath's own CUBIC as a library: its runs must equal those of the built-in CUBIC.

use std::ffi::CStr;

use airpath_control::{Cubic, CubicConfig, HystartPlusPlus, Windowed};
use airpath_plugin::{Facts, Parameter, Plugin, Values};

struct OwnCubic;

impl Plugin for OwnCubic {
    type Controller = Windowed<HystartPlusPlus, Cubic>;
    const TITLE: &'static CStr = c"CUBIC (library)";
    const DESCRIPTION: &'static CStr = c"airpath's CUBIC as a shared library.";
    const PARAMETERS: &'static [Parameter] =
        &[Parameter::number(c"beta", c"Share of the window that remains after a loss.", 0.7)
            .more_than(0.0)
            .less_than(1.0)];
    const QUANTITIES: &'static CStr = c"w_max";

    fn build(facts: Facts, values: &Values<'_>) -> Result<Self::Controller, String> {
        let config = CubicConfig { beta: values.number("beta"), ..CubicConfig::default() };
        let rule = Cubic::new(config).map_err(|error| error.to_string())?;
        let slow_start = HystartPlusPlus::default();
        Windowed::new(rule, slow_start, facts.initial_window, facts.mss).map_err(|error| error.to_string())
    }
}

airpath_plugin::export!(OwnCubic);
