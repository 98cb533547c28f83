//! Links with external queues: packets leave the network to an external router and return from it.
//! Transmitters, channels and records are those of the network.

use airpath_model::{Backlog, Bytes, Ecn, PathHeader, Timestamp};

use super::ExternalNetwork;
use crate::context::Context;
use crate::event::Target;
use crate::link::AnyLink;
use crate::link::Link;

impl ExternalNetwork {
    /// Returns the handle of the next packet to pass to a link's external queue. After each change of the
    /// network, call this until it returns `None`.
    pub fn next_out(&mut self, link: usize) -> Option<u32> {
        self.queue_of(link)?.outside()?.next_out()
    }

    /// Takes back the packet with this handle at `now`: it leaves the external queue with this ECN field and
    /// header and is sent. Call [`ExternalNetwork::advance`] up to `now` before.
    pub fn come_back(&mut self, now: Timestamp, link: usize, handle: u32, ecn: Ecn, path: PathHeader) {
        self.on_outside(now, link, |at, context, link| link.come_back(at, handle, (ecn, path), context));
    }

    /// Records that the external queue dropped the packet with this handle at `now` because it was full. Call
    /// [`ExternalNetwork::advance`] up to `now` before.
    pub fn lose_outside(&mut self, now: Timestamp, link: usize, handle: u32) {
        self.on_outside(now, link, |at, context, link| link.lose_outside(at, handle, context));
    }

    /// Returns the backlog of a link's external queue.
    pub fn outside(&mut self, link: usize) -> Backlog {
        let queue = self.queue_of(link).and_then(Link::outside);
        queue.map_or_else(Backlog::default, |queue| queue.outside())
    }

    /// Returns the bytes that came back from a link's external queue before the transmitter was free, and
    /// wait for it.
    pub fn early(&mut self, link: usize) -> Bytes {
        self.queue_of(link).and_then(Link::outside).map_or(Bytes::ZERO, |queue| queue.back())
    }

    /// Records named observations of a link's external queue at the end of an interval of the series, which
    /// may be in the past. Observations of intervals after the end of the run are ignored.
    pub fn observe_outside(&mut self, link: usize, end: Timestamp, observed: &[(String, f64)]) {
        for (name, value) in
            observed.iter().filter(|_| end <= self.network.end && link < self.network.links.len())
        {
            self.network.context.recorder.on_observation(link as u32, end, name, *value);
        }
    }

    fn queue_of(&mut self, link: usize) -> Option<&mut Link> {
        self.network.links.get_mut(link)?.full()
    }

    fn on_outside(
        &mut self,
        now: Timestamp,
        index: usize,
        work: impl FnOnce(Timestamp, &mut Context, &mut Link),
    ) {
        let network = &mut self.network;
        network.now = network.now.max(now.min(network.end));
        network.events.all_over(network.now);
        let Some(link) = network.links.get_mut(index).and_then(AnyLink::full) else { return };
        work(network.now, &mut network.context, link);
        let (at, since) = link.next_event(network.now);
        network.events.schedule_since(index as Target, at, since);
    }
}
