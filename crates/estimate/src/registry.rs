//! The components of this crate.

use airpath_model::declare::Registry;

use crate::declare::{AckRates, CapacitySources, Filters, Samplers};
use crate::{
    AckRateConfig, BusyConfig, ConfiguredConfig, EbeConfig, FilterConfig, OracleConfig, QfcpConfig,
    SamplerConfig, XcpBConfig,
};

/// Returns the capacity sources of this crate: one line each.
pub fn capacity_sources() -> Registry<CapacitySources> {
    Registry::default()
        .with::<ConfiguredConfig>()
        .with::<OracleConfig>()
        .with::<XcpBConfig>()
        .with::<QfcpConfig>()
        .with::<EbeConfig>()
        .with::<BusyConfig>()
}

/// Returns the ACK-rate estimators of this crate.
pub fn ack_rates() -> Registry<AckRates> {
    Registry::default().with_variants::<AckRateConfig>()
}

/// Returns the samplers of ACK-rate estimators.
pub fn samplers() -> Registry<Samplers> {
    Registry::default().with_variants::<SamplerConfig>()
}

/// Returns the filters of ACK-rate estimators.
pub fn filters() -> Registry<Filters> {
    Registry::default().with_variants::<FilterConfig>()
}
