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
    /// A packet arrives at the near end at `now`. Gives when the link must be woken next.
    #[inline]
    pub(crate) fn offer(&mut self, now: Timestamp, packet: Packet, recorder: &mut Recorder) -> Timestamp {
        match self {
            Self::Plain(link) => {
                link.offer(now, packet, recorder);
                link.next_event()
            }
            Self::Full(link) => {
                link.offer(now, packet, recorder);
                link.next_event(now)
            }
        }
    }

    /// The packet that arrives at the far end at `now`, if one does and is undamaged, and when the link must be woken
    /// next.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Timestamp, recorder: &mut Recorder) -> (Option<Packet>, Timestamp) {
        match self {
            Self::Plain(link) => (link.deliver(now), link.next_event()),
            Self::Full(link) => (link.deliver(now, recorder), link.next_event(now)),
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
