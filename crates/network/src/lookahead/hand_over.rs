//! Packets whose arrival time is known in advance: handed over to the next link, or to an endpoint of a flow.

use airpath_model::Timestamp;

use crate::event::{Entry, Target};
use crate::link::AnyLink;
use crate::network::{Ends, Network};
use crate::packet::Packet;
use crate::prefetch;
use crate::routes::END_OF_ROUTE;

impl Network {
    /// Hands over to the next links the packets that have left a link, and schedules the link's next event.
    pub(crate) fn hand_over(&mut self, index: usize, ends: &mut impl Ends) {
        loop {
            let AnyLink::Full(link) = &mut self.links[index] else { return };
            link.pass_over_lost(&mut self.context);
            let Some((packet, next, arrival, since)) = link.departed() else {
                let (at, since) = link.next_event(self.now);
                return self.events.schedule_since(index as Target, at, since);
            };
            if self.horizon <= self.end && link.ends_after(self.horizon, arrival) {
                return self.events.schedule_since(index as Target, self.horizon, self.now);
            }
            let event = || Entry::new(arrival, since, index as Target);
            if next == END_OF_ROUTE
                && arrival >= self.horizon.min(ends.idle_until(packet))
                && event() != self.events.current()
            {
                return self.events.schedule_since(index as Target, arrival, since);
            }
            let Some(packet) = link.take_departed() else { return };
            if self.context.recorder.has_many_flows() {
                self.prefetch(index, ends);
            }
            if next == END_OF_ROUTE {
                self.arrive(event(), packet, ends);
                continue;
            }
            if matches!(self.links[next as usize], AnyLink::Plain(_)) {
                self.pass(next, arrival, packet, ends);
            } else {
                self.announce(next, event(), packet);
            }
        }
    }

    /// Prefetches the flow state of the next packets, which is in no cache if there are many flows. Works
    /// some packets ahead and step by step, because each step reveals the address of the next.
    #[inline]
    fn prefetch(&self, link: usize, ends: &impl Ends) {
        let AnyLink::Full(link) = &self.links[link] else { return };
        if let Some((packet, _)) = link.behind(12) {
            packet.prefetch();
        }
        if let Some((packet, next)) = link.behind(8) {
            ends.prefetch_flow(packet);
            self.context.recorder.prefetch(packet.flow);
            if let Some(link) = self.links.get(next as usize) {
                prefetch::value(link);
                prefetch::end(link);
            }
        }
        if let Some((packet, _)) = link.behind(4) {
            ends.prefetch_end(packet);
            self.context.recorder.prefetch_delays(packet.flow);
        }
    }

    /// Announces a packet to a plain link that is fed by handovers of one other link.
    #[inline]
    fn pass(&mut self, index: Target, at: Timestamp, packet: Packet, ends: &mut impl Ends) {
        let AnyLink::Plain(link) = &mut self.links[index as usize] else { return };
        // Arrivals after the end of the run are not counted.
        self.counts.packet_hops += u64::from(at <= self.end);
        let (event, mut packet) = link.pass(index, at, packet);
        if let Some(next) = link.announces_to() {
            packet.hop += 1;
            return self.announce(next, event, packet);
        }
        let at_end = self.routes[packet.hop as usize + 1] == END_OF_ROUTE;
        if at_end && link.is_empty() && event.at() < self.horizon.min(ends.idle_until(&packet)) {
            self.arrive(event, packet, ends);
        } else if link.keep(event, packet) {
            self.events.schedule_since(index, event.at(), event.since());
        }
    }

    /// Delivers the packets behind the head of a plain link, which has arrived, to their endpoints as long as
    /// these accept packets ahead of time. Schedules the event of the next packet.
    #[inline]
    pub(crate) fn drain(&mut self, index: usize, ends: &mut impl Ends) {
        let mut before = self.now;
        while let AnyLink::Plain(link) = &mut self.links[index]
            && let Some(head) = link.head()
        {
            let (at, since) = (head.arrival, head.offered.max(before));
            let can_be_had = |packet: &Packet| {
                self.routes[packet.hop as usize + 1] == END_OF_ROUTE && at < ends.idle_until(packet)
            };
            let ahead = at < self.horizon && head.begins <= self.now;
            if !ahead || !head.packet.as_ref().is_some_and(can_be_had) {
                return self.events.schedule_since(index as Target, at, since);
            }
            let Some(packet) = link.deliver(at) else { return };
            self.arrive(Entry::new(at, since, index as Target), packet, ends);
            before = at;
        }
    }

    /// Delivers a packet at the end of its route by this event.
    #[inline]
    pub(crate) fn arrive(&mut self, event: Entry, packet: Packet, ends: &mut impl Ends) {
        self.counts.packets_received += 1;
        ends.receive(self, event, packet);
    }
}
