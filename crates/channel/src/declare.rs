//! The kinds of components of this crate.

use airpath_model::declare::{ComponentError, plain_kind};

use crate::rates::RatePlan;
use crate::{ArqConfig, Bursts};

plain_kind! {
    /// Rates over time.
    Rates, "rate", RatePlan
}

plain_kind! {
    /// Burst losses.
    Losses, "loss", Bursts
}

plain_kind! {
    /// Link-layer retransmission.
    Arqs, "arq", ArqConfig
}

/// Returns an error about a component as a whole if `condition` is false.
pub(crate) fn ensure(condition: bool, problem: &'static str) -> Result<(), ComponentError> {
    if condition { Ok(()) } else { Err(ComponentError::new("", problem)) }
}
