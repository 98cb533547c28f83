//! The components of this crate.

use airpath_model::declare::Registry;

use crate::ArqConfig;
use crate::declare::{Arqs, Losses, Rates};
use crate::losses::{FadingConfig, GilbertConfig, GilbertElliottConfig, NetemConfig};
use crate::rates::RatePlan;

/// Returns the rates of this crate: the variants of [`RatePlan`].
pub fn rates() -> Registry<Rates> {
    Registry::default().with_variants::<RatePlan>()
}

/// Returns the burst loss models of this crate: one line each.
pub fn losses() -> Registry<Losses> {
    Registry::default()
        .with::<GilbertElliottConfig>()
        .with::<GilbertConfig>()
        .with::<NetemConfig>()
        .with::<FadingConfig>()
}

/// Returns the link-layer retransmission schemes of this crate.
pub fn arqs() -> Registry<Arqs> {
    Registry::default().with::<ArqConfig>()
}
