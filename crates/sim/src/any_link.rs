//! A link of either kind.

use airpath_model::Timestamp;

use crate::link::Link;
use crate::packet::Packet;
use crate::plain_link::PlainLink;
use crate::record::Recorder;

/// One direction of a link.
#[derive(Debug)]
pub(crate) enum AnyLink {
    /// Nobody counts what happens there.
    Plain(PlainLink),
    /// Everything that links can do.
    Full(Box<Link>),
}

impl AnyLink {
    /// A packet arrives at the near end at `now`.
    pub(crate) fn offer(&mut self, now: Timestamp, packet: Packet, recorder: &mut Recorder) {
        match self {
            Self::Plain(link) => link.offer(now, packet, recorder),
            Self::Full(link) => link.offer(now, packet, recorder),
        }
    }

    /// The packet that arrives at the far end at `now`, if one does and is undamaged.
    pub(crate) fn deliver(&mut self, now: Timestamp, recorder: &mut Recorder) -> Option<Packet> {
        match self {
            Self::Plain(link) => link.deliver(now),
            Self::Full(link) => link.deliver(now, recorder),
        }
    }

    /// When the link must be woken next.
    pub(crate) fn next_event(&self) -> Timestamp {
        match self {
            Self::Plain(link) => link.next_event(),
            Self::Full(link) => link.next_event(),
        }
    }

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
