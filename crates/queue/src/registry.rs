//! The components of this crate.

use core::fmt::Debug;

use airpath_model::Packet;
use airpath_model::declare::Registry;

use crate::declare::{Queues, Routers};
use crate::{
    AbcConfig, AvqConfig, CodelConfig, DrrConfig, DualPi2Config, FqCodelConfig, MpcpConfig, PieConfig,
    PolicerConfig, PriorityConfig, QfcpConfig, RedConfig, RemConfig, VcpConfig, WeightedDrrConfig, XcpConfig,
};

/// Returns the queue disciplines of this crate, each in one line.
pub fn queues<P: Packet + Debug + Send + 'static>() -> Registry<Queues<P>> {
    Registry::default()
        .with::<RedConfig>()
        .with::<RemConfig>()
        .with::<AvqConfig>()
        .with::<CodelConfig>()
        .with::<FqCodelConfig>()
        .with::<PieConfig>()
        .with::<DualPi2Config>()
        .with::<PriorityConfig>()
        .with::<DrrConfig>()
        .with::<WeightedDrrConfig>()
        .with::<PolicerConfig>()
}

/// Returns the router protocols of this crate, each in one line.
pub fn protocols<P: Packet + Debug + Send + 'static>() -> Registry<Routers<P>> {
    Registry::default()
        .with::<XcpConfig>()
        .with::<VcpConfig>()
        .with::<MpcpConfig>()
        .with::<QfcpConfig>()
        .with::<AbcConfig>()
}
