//! A link of either kind.

use crate::link::Link;
use crate::link::PlainLink;

/// One direction of a link.
#[derive(Debug)]
pub(crate) enum AnyLink {
    /// A link without measurements.
    Plain(PlainLink),
    /// A link with all features.
    Full(Box<Link>),
}

impl AnyLink {
    /// Returns the number of packets inside the link: waiting, being sent, or in flight.
    pub(crate) fn packets_inside(&self) -> u64 {
        match self {
            Self::Plain(link) => link.packets_inside(),
            Self::Full(link) => link.packets_inside(),
        }
    }

    /// Returns the link if it must be advanced at the end of each interval.
    pub(crate) fn full(&mut self) -> Option<&mut Link> {
        match self {
            Self::Plain(_) => None,
            Self::Full(link) => Some(link),
        }
    }
}
