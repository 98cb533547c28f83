//! airpath's own Westwood+ estimator and EBE in one library: their runs must equal those of the built-in ones.

use std::ffi::CStr;

use airpath_estimate::{AckRate, AckRateConfig, Ebe, EbeConfig};
use airpath_plugin::model::{Bytes, Rate};
use airpath_plugin::{EstimatorPlugin, Parameter, SourcePlugin, Values};

struct WestwoodPlus;

impl EstimatorPlugin for WestwoodPlus {
    type Estimator = AckRate;
    const TITLE: &'static CStr = c"Westwood+ (library)";
    const DESCRIPTION: &'static CStr = c"airpath's Westwood+ estimator as a shared library.";
    const PARAMETERS: &'static [Parameter] =
        &[Parameter::integer(c"ticks_per_second", c"HZ of the kernel.", 1000).at_least(20.0).at_most(1e6)];

    fn build(values: &Values<'_>) -> Result<AckRate, String> {
        let ticks_per_second = values.integer("ticks_per_second") as u32;
        AckRate::new(AckRateConfig::WestwoodPlus { ticks_per_second }).map_err(|error| error.to_string())
    }
}

airpath_plugin::export!(estimator: WestwoodPlus);

struct OwnEbe;

impl SourcePlugin for OwnEbe {
    type Source = Ebe;
    const TITLE: &'static CStr = c"EBE (library)";
    const DESCRIPTION: &'static CStr = c"airpath's EBE as a shared library.";
    const PARAMETERS: &'static [Parameter] =
        &[Parameter::rate(c"capacity", c"The initial estimate.", Rate::from_bps(10_000_000)).more_than(0.0)];
    const QUANTITIES: &'static CStr =
        c"maintainer_on x1 x2 p11 p12 p22 k1 k2 queue_mean_packets arrival_rate_pps";

    fn build(buffer: Bytes, values: &Values<'_>) -> Result<Ebe, String> {
        let config = EbeConfig { buffer, capacity: values.rate("capacity"), ..EbeConfig::default() };
        Ebe::new(config).map_err(|error| error.to_string())
    }
}

airpath_plugin::export!(source: OwnEbe);
