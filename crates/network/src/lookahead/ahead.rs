//! Determines which links may use lookahead, so that packets need fewer events.

use std::sync::Arc;

use airpath_model::Duration;
use airpath_plan::{ConstantConfig, LinkPlan, Plan, QueuePlan, RatePlan, TrafficPlan};

use crate::event::Target;
use crate::link::AnyLink;
use crate::routes::END_OF_ROUTE;
use crate::routes::FlowRoutes;

/// The two endpoints of a flow, as seen by the links: the sender, then the receiver.
#[derive(Clone, Copy, Debug)]
pub struct FlowEnds {
    /// The flow's routes.
    pub routes: FlowRoutes,
    /// The first link of the route over which each endpoint sends; `None` if it sends nothing.
    pub sends_over: [Option<u32>; 2],
    /// Whether the endpoints affect each other only through packets.
    pub are_independent: bool,
    /// Result: whether each endpoint may receive packets ahead of time, because the packets that it then
    /// sends may be sent ahead of time.
    pub ahead: [bool; 2],
}

/// The neighbours of one link, over all routes.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbours {
    /// The only link from which packets come.
    before: Neighbour,
    /// The only link to which packets go.
    after: Neighbour,
    /// Whether some packets end their route here.
    ends: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Neighbour {
    /// No packets.
    #[default]
    None,
    /// Always this link.
    Only(usize),
    /// Several links, or an endpoint of a flow.
    Several,
}

impl Neighbour {
    fn join(&mut self, other: Self) {
        *self = match (*self, other) {
            (Self::None, other) => other,
            (same, other) if same == other => same,
            _ => Self::Several,
        };
    }
}

/// Enables announcements and handovers of links, and lookahead of endpoints, wherever only the number of
/// events changes.
///
/// A link that only delays packets announces them to the next link if that is always the same and has
/// counters of its own. A link with counters hands over packets if two conditions hold: each link after it
/// either takes announcements, or only delays, is fed by no other link and never drops; and each endpoint
/// after it may receive packets ahead of time. Captured links process each packet at its instant, because
/// captures are written in time order.
pub(crate) fn look_ahead(
    plan: &Plan,
    routes: &Arc<[Target]>,
    links: &mut [AnyLink],
    flows: &mut [FlowEnds],
    sizes: Option<Sizes>,
) {
    let takes_announcements: Vec<bool> = links
        .iter()
        .enumerate()
        .map(|(index, link)| match link {
            AnyLink::Full(link) => link.takes_announcements() && !plan.record.capture.contains(&index),
            AnyLink::Plain(_) => false,
        })
        .collect();
    run_ahead(plan, routes, links, &takes_announcements, flows);
    let neighbours = neighbours(routes, links.len());
    let mut hands_over = takes_announcements.clone();
    for hops in routes.split(|&hop| hop == END_OF_ROUTE) {
        for pair in hops.windows(2) {
            let (from, to) = (pair[0] as usize, pair[1] as usize);
            hands_over[from] &= match &links[to] {
                AnyLink::Full(_) => takes_announcements[to],
                AnyLink::Plain(_) => {
                    neighbours[to].before == Neighbour::Only(from)
                        && never_drops(&plan.links[from], &plan.links[to], sizes)
                }
            };
        }
    }
    for last in ends_in_time(routes, flows, &neighbours) {
        hands_over[last] = false;
    }
    let to_ends = times_to_ends(routes, links, &neighbours);
    for (index, link) in links.iter_mut().enumerate() {
        match link {
            AnyLink::Plain(link) => match neighbours[index] {
                Neighbours { after: Neighbour::Only(after), ends: false, .. }
                    if takes_announcements[after] =>
                {
                    link.announce_to(after as Target);
                }
                _ => {}
            },
            AnyLink::Full(link) => {
                if hands_over[index] {
                    link.hand_over(routes, to_ends[index]);
                }
            }
        }
    }
}

/// Returns for each link the minimum time from its far end to endpoints of flows, if all its packets go on to
/// endpoints over at most one plain link.
fn times_to_ends(routes: &[u32], links: &[AnyLink], neighbours: &[Neighbours]) -> Vec<Option<Duration>> {
    let mut least: Vec<Option<Duration>> =
        neighbours.iter().map(|of| Some(if of.ends { Duration::ZERO } else { Duration::MAX })).collect();
    for hops in routes.split(|&hop| hop == END_OF_ROUTE) {
        for pair in hops.windows(2) {
            let (from, to) = (pair[0] as usize, pair[1] as usize);
            least[from] = match &links[to] {
                AnyLink::Plain(link) if neighbours[to].after == Neighbour::None => {
                    least[from].map(|least| least.min(link.delay()))
                }
                _ => None,
            };
        }
    }
    least
}

/// Enables lookahead of endpoints that can also send their responses ahead of time: over a plain link that is
/// theirs alone, or one that takes announcements. Endpoints with a row for each packet or sample are
/// excluded, because rows are written in time order.
fn run_ahead(
    plan: &Plan,
    routes: &[u32],
    links: &[AnyLink],
    takes_announcements: &[bool],
    flows: &mut [FlowEnds],
) {
    if plan.record.packets || plan.record.estimate_samples {
        return;
    }
    let first = |hop: u32| routes[hop as usize] as usize;
    let mut feeders = vec![0_u32; links.len()];
    for flow in flows.iter() {
        let firsts = flow.sends_over.into_iter().flatten().map(first);
        firsts.for_each(|link| feeders[link] += 1);
    }
    for hops in routes.split(|&hop| hop == END_OF_ROUTE) {
        hops.iter().skip(1).for_each(|&link| feeders[link as usize] += 1);
    }
    let bears = |link: usize| match &links[link] {
        AnyLink::Plain(_) => feeders[link] == 1,
        AnyLink::Full(_) => takes_announcements[link],
    };
    for flow in flows {
        let independent = flow.are_independent;
        flow.ahead = flow.sends_over.map(|route| independent && route.map(first).is_none_or(bears));
    }
}

/// Returns the links at the end of routes whose endpoints must receive each packet at its own time.
fn ends_in_time(routes: &[u32], flows: &[FlowEnds], neighbours: &[Neighbours]) -> Vec<usize> {
    let mut has_flows = vec![false; neighbours.len()];
    let mut in_time: Vec<usize> = Vec::new();
    for flow in flows {
        for (ahead, begins) in [(flow.ahead[1], flow.routes.forward), (flow.ahead[0], flow.routes.back)] {
            let route = routes[begins as usize..].iter().take_while(|&&hop| hop != END_OF_ROUTE);
            let Some(last) = route.last().map(|&last| last as usize) else { continue };
            has_flows[last] = true;
            if !ahead {
                in_time.push(last);
            }
        }
    }
    // External packets end there too, and the network does not know their effects.
    in_time.extend((0..neighbours.len()).filter(|&link| neighbours[link].ends && !has_flows[link]));
    in_time
}

fn neighbours(routes: &[u32], links: usize) -> Vec<Neighbours> {
    let mut neighbours = vec![Neighbours::default(); links];
    for hops in routes.split(|&hop| hop == END_OF_ROUTE) {
        for pair in hops.windows(2) {
            let (from, to) = (pair[0] as usize, pair[1] as usize);
            neighbours[from].after.join(Neighbour::Only(to));
            neighbours[to].before.join(Neighbour::Only(from));
        }
        if let (Some(&first), Some(&last)) = (hops.first(), hops.last()) {
            neighbours[first as usize].before.join(Neighbour::Several);
            neighbours[last as usize].ends = true;
        }
    }
    neighbours
}

/// The range of packet sizes on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    smallest: u64,
    largest: u64,
}

impl Sizes {
    /// Returns the range of sizes that the flows of a plan send.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut sizes = Self { smallest: u64::MAX, largest: 1 };
        let mut add = |size: u64| {
            sizes.smallest = sizes.smallest.min(size.max(1));
            sizes.largest = sizes.largest.max(size);
        };
        for flow in &plan.flows {
            if let Some(transport) = &flow.transport {
                add(transport.ack_bytes);
                add(transport.header_bytes + 1);
                add(transport.header_bytes + transport.mss_bytes);
            }
            match flow.traffic {
                TrafficPlan::ConstantBitRate { packet_bytes, .. } => add(packet_bytes),
                TrafficPlan::PoissonDatagrams { .. } => {
                    add(1);
                    add(u64::MAX / 4); // no upper bound
                }
                _ => {}
            }
        }
        sizes
    }
}

/// Returns whether the queue of a link that is fed by only one other link never fills, regardless of the
/// traffic: it is not slower, so all waiting packets arrived during the transmission of the previous packet.
fn never_drops(from: &LinkPlan, to: &LinkPlan, sizes: Option<Sizes>) -> bool {
    let limit = match to.queue {
        QueuePlan::DropTail { limit_bytes: None, limit_packets: None } => return true,
        QueuePlan::DropTail { limit_bytes: None, limit_packets: Some(packets) } => packets,
        _ => return false,
    };
    let (Some(Sizes { smallest, largest }), Some(highest), None) =
        (sizes, from.rate.highest(), from.jitter_ns)
    else {
        return false;
    };
    let not_slower = match to.rate {
        RatePlan::Unlimited => true,
        RatePlan::Constant(ConstantConfig { bps }) => bps >= highest.as_bps(),
        _ => false,
    };
    not_slower && limit >= 4 + 2 * (largest / smallest)
}
