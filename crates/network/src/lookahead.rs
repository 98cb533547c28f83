//! Lookahead: links that know packets before their arrival, so that packets need fewer events.

mod ahead;
mod arrivals;
mod hand_over;
mod lanes;

pub use ahead::FlowEnds;
pub(crate) use ahead::{Sizes, look_ahead};
pub(crate) use arrivals::Arrivals;
