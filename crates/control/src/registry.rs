//! The components of this crate.

use airpath_model::declare::Registry;

use crate::declare::{Components, WindowedConfig};
use crate::{
    AbcSenderConfig, Bbr1Config, BbrConfig, BicConfig, CopaConfig, CubicConfig, DifferentiatedConfig,
    EveryOtherRoundConfig, FixedConfig, HighSpeedConfig, HtcpConfig, HyblaConfig, HystartPlusPlusConfig,
    IllinoisConfig, KiteConfig, LedbatPlusPlusConfig, MpcpConfig, NewRenoConfig, PerAcknowledgmentConfig,
    PragueConfig, QfcpConfig, SproutConfig, StandardConfig, VcpConfig, VegasConfig, VenoConfig, VerusConfig,
    VivaceConfig, XcpConfig,
};

impl Components {
    /// Returns the components of this crate, each in one line.
    pub fn builtin() -> Self {
        Self {
            controllers: Registry::default()
                .with::<WindowedConfig<NewRenoConfig>>()
                .with::<WindowedConfig<CubicConfig>>()
                .with::<WindowedConfig<VegasConfig>>()
                .with::<WindowedConfig<BicConfig>>()
                .with::<WindowedConfig<HighSpeedConfig>>()
                .with::<WindowedConfig<HtcpConfig>>()
                .with::<WindowedConfig<VenoConfig>>()
                .with::<WindowedConfig<PragueConfig>>()
                .with::<BbrConfig>()
                .with::<Bbr1Config>()
                .with::<CopaConfig>()
                .with::<LedbatPlusPlusConfig>()
                .with::<FixedConfig>()
                .with::<HyblaConfig>()
                .with::<WindowedConfig<IllinoisConfig>>()
                .with::<KiteConfig>()
                .with::<VivaceConfig>()
                .with::<VerusConfig>()
                .with::<SproutConfig>()
                .with::<XcpConfig>()
                .with::<VcpConfig>()
                .with::<MpcpConfig>()
                .with::<QfcpConfig>()
                .with::<AbcSenderConfig>()
                .with::<DifferentiatedConfig>(),
            slow_starts: Registry::default()
                .with::<StandardConfig>()
                .with::<PerAcknowledgmentConfig>()
                .with::<EveryOtherRoundConfig>()
                .with::<HystartPlusPlusConfig>(),
            ack_rates: airpath_estimate::registry::ack_rates(),
        }
    }
}
