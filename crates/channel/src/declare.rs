//! The kinds of components of this crate.

use airpath_model::declare::plain_kind;

use crate::{ArqConfig, Bursts};

plain_kind! {
    /// Burst losses.
    Losses, "loss", Bursts
}

plain_kind! {
    /// Link-layer retransmission.
    Arqs, "arq", ArqConfig
}
