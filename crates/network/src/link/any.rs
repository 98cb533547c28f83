//! A link of either kind.

use crate::link::Link;
use crate::link::PlainLink;

/// One direction of a link.
#[derive(Debug)]
pub(crate) enum AnyLink {
    /// Nobody counts what happens there.
    Plain(PlainLink),
    /// Everything that links can do.
    Full(Box<Link>),
}

impl AnyLink {
    /// Packets inside the link: waiting, being sent, or on the way.
    pub(crate) fn packets_inside(&self) -> u64 {
        match self {
            Self::Plain(link) => link.packets_inside(),
            Self::Full(link) => link.packets_inside(),
        }
    }

    /// The link, if it must have caught up at the end of each interval.
    pub(crate) fn full(&mut self) -> Option<&mut Link> {
        match self {
            Self::Plain(_) => None,
            Self::Full(link) => Some(link),
        }
    }
}
