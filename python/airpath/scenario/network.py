"""From a topology to directed links, and from a flow to the links of its forward and reverse paths."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from airpath._declared.messages import FieldError
from airpath._declared.quantities import Constant, Draw, Even, Uniform, mean
from airpath._nearest import suggestion
from airpath.scenario.channels import NO_LIMIT, ChannelResolver, LinkDraft
from airpath.scenario.flows import Flow
from airpath.scenario.topology import Access, Dumbbell, DuplexLink, Graph, GraphLink, ParkingLot, Topology


@dataclass(frozen=True)
class Route:
    """The path of one group of flows through the core of the network, without the links of the hosts."""

    group: str
    """Name of the flows, without their number."""
    data: tuple[str, ...]
    """Names of the links from sender to receiver."""
    acks: tuple[str, ...]
    """Names of the links of the reverse path."""


class Network:
    """The core links of a topology and the routes of its flows."""

    def __init__(self, topology: Topology, channels: ChannelResolver) -> None:
        self.topology = topology
        self.access = Access() if isinstance(topology, Graph) else topology.access
        self.links: dict[str, LinkDraft] = {}
        self._opposite: dict[str, str] = {}
        self._ends: dict[str, tuple[str, str]] = {}
        match topology:
            case Dumbbell():
                link = DuplexLink.model_construct(**dict(topology.bottleneck), reverse=topology.reverse)
                self._add(
                    channels,
                    link,
                    ("bottleneck", "bottleneck-reverse"),
                    "topology.bottleneck",
                    "topology.reverse",
                )
            case ParkingLot():
                for index, link in enumerate(topology.bottlenecks):
                    names = (f"R{index}-R{index + 1}", f"R{index + 1}-R{index}")
                    path = f"topology.bottlenecks[{index}]"
                    self._add(channels, link, names, path, f"{path}.reverse")
            case Graph():
                self._add_graph(topology, channels)

    def routes(self, flow: Flow, path: str) -> Iterator[Route]:
        """Return the routes of a flow entry: one, or one for each requested direction and hop."""
        match self.topology:
            case Dumbbell():
                _refuse(flow, path, ("hop", "from", "to", "via"), "dumbbell")
                yield from self._both_ways(flow, flow.name, ("bottleneck",))
            case ParkingLot(bottlenecks=bottlenecks):
                _refuse(flow, path, ("from", "to", "via"), "parking-lot")
                names = [f"R{index}-R{index + 1}" for index in range(len(bottlenecks))]
                if flow.hop is None:
                    yield from self._both_ways(flow, flow.name, tuple(names))
                elif flow.hop == "each":
                    for number, name in enumerate(names, start=1):
                        yield from self._both_ways(flow, f"{flow.name}-hop{number}", (name,))
                elif flow.hop <= len(names):
                    yield from self._both_ways(flow, flow.name, (names[flow.hop - 1],))
                else:
                    raise FieldError(
                        f"{path}.hop", f"found {flow.hop}; the parking lot has {len(names)} bottlenecks"
                    )
            case Graph():
                _refuse(flow, path, ("hop", "direction"), "graph")
                yield self._graph_route(flow, path)

    def attach(
        self, flow: str, route: Route, extra_rtt: Constant | Uniform
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Add the host links of one flow; return its complete forward and reverse paths.

        The sender's link carries the extra RTT. A link without rate and delay would have no effect and is
        left out.
        """
        if isinstance(extra_rtt, Constant):
            there: Draw = Constant(self.access.delay + extra_rtt.value - extra_rtt.value // 2)
            back: Draw = Constant(self.access.delay + extra_rtt.value // 2)
        else:
            there = Constant(self.access.delay)
            back = Uniform(self.access.delay + extra_rtt.low, self.access.delay + extra_rtt.high)
        plain = Constant(self.access.delay)
        data = (
            *self._host_link(f"{flow}-access", there),
            *route.data,
            *self._host_link(f"{flow}-egress", plain),
        )
        acks = (
            *self._host_link(f"{flow}-egress-reverse", plain),
            *route.acks,
            *self._host_link(f"{flow}-access-reverse", back),
        )
        return data, acks

    def base_rtt(self, route: Route) -> float:
        """Return the propagation delay of the round trip, in nanoseconds.

        The extra RTT of single flows is not included; random delays count with their mean.
        """
        core = sum(mean(self.links[name].delay) for name in (*route.data, *route.acks))
        return core + 4 * self.access.delay

    def _host_link(self, name: str, delay: Draw) -> tuple[str, ...]:
        if self.access.rate is None and delay == Constant(0):
            return ()
        rate = self.access.rate
        self.links[name] = LinkDraft(
            name=name,
            path="topology.access",
            rate={"kind": "unlimited"} if rate is None else {"kind": "constant", "bps": rate},
            mean_bps=rate,
            delay=delay,
            jitter=None,
            loss=0.0,
            arq=None,
            queue=self.access.queue or NO_LIMIT,
            record=self.access.record,
        )
        return (name,)

    def _both_ways(self, flow: Flow, group: str, forward: tuple[str, ...]) -> Iterator[Route]:
        backward = self._mirror(forward)
        if flow.direction != "reverse":
            yield Route(group if flow.direction == "forward" else f"{group}-forward", forward, backward)
        if flow.direction != "forward":
            yield Route(group if flow.direction == "reverse" else f"{group}-reverse", backward, forward)

    def _mirror(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the same links in the opposite direction."""
        return tuple(self._opposite[name] for name in reversed(names))

    def _add(
        self,
        channels: ChannelResolver,
        link: DuplexLink,
        names: tuple[str, str],
        path: str,
        reverse_path: str,
    ) -> None:
        there, back = names
        forward = channels.forward(there, link, path)
        self._insert(forward)
        self._insert(channels.backward(back, link, forward, link.reverse, reverse_path))
        self._opposite |= {there: back, back: there}

    def _insert(self, draft: LinkDraft) -> None:
        if draft.name in self.links:
            raise FieldError(
                draft.path, f'there is more than one link "{draft.name}"; give them different names'
            )
        self.links[draft.name] = draft

    def _add_graph(self, graph: Graph, channels: ChannelResolver) -> None:
        if len(set(graph.nodes)) != len(graph.nodes):
            raise FieldError("topology.nodes", "a node is listed twice")
        for index, link in enumerate(graph.links):
            path = f"topology.links[{index}]"
            self._check_node(link.source, f"{path}.from")
            self._check_node(link.destination, f"{path}.to")
            there, back = _graph_names(link)
            if link.duplex:
                self._add(channels, link, (there, back), path, f"{path}.reverse")
                self._ends[back] = (link.destination, link.source)
            else:
                self._insert(channels.forward(there, link, path))
            self._ends[there] = (link.source, link.destination)

    def _check_node(self, name: str, path: str) -> None:
        assert isinstance(self.topology, Graph)
        if name not in self.topology.nodes:
            raise FieldError(path, f'there is no node "{name}"; {suggestion(name, self.topology.nodes)}')

    def _graph_route(self, flow: Flow, path: str) -> Route:
        if flow.source is None or flow.destination is None:
            raise FieldError(path, 'a flow on a graph needs the keys "from" and "to"')
        stops = [flow.source, *flow.via, flow.destination]
        keys = ["from", *(f"via[{index}]" for index in range(len(flow.via))), "to"]
        for stop, key in zip(stops, keys, strict=True):
            self._check_node(stop, f"{path}.{key}")
        data = self._along(stops, path)
        if all(name in self._opposite for name in data):
            return Route(flow.name, data, self._mirror(data))
        return Route(flow.name, data, self._along([flow.destination, flow.source], path))

    def _along(self, stops: Sequence[str], path: str) -> tuple[str, ...]:
        names: list[str] = []
        for start, end in pairwise(stops):
            names += self._shortest(start, end, path)
        if len(set(names)) != len(names):
            raise FieldError(path, f"the path {' -> '.join(stops)} crosses a link twice")
        return tuple(names)

    def _shortest(self, start: str, end: str, path: str) -> tuple[str, ...]:
        """Return the path with fewest hops; ties by mean delay, then by names (Dijkstra's algorithm)."""
        if start == end:
            raise FieldError(path, f'the path begins and ends at "{start}"')
        queue: list[tuple[int, float, tuple[str, ...], str]] = [(0, 0.0, (), start)]
        seen: set[str] = set()
        while queue:
            hops, delay, names, node = heapq.heappop(queue)
            if node == end:
                return names
            if node in seen:
                continue
            seen.add(node)
            for name, (source, destination) in self._ends.items():
                if source == node and destination not in seen:
                    entry = (hops + 1, delay + mean(self.links[name].delay), (*names, name), destination)
                    heapq.heappush(queue, entry)
        raise FieldError(path, f'there is no path from "{start}" to "{end}"')


def extra_rtt_of(flow: Flow, index: int) -> Constant | Uniform:
    """Return the extra RTT of the flow with number `index` of a group."""
    spread = flow.extra_rtt
    return spread.at(index, flow.count) if isinstance(spread, Even) else spread


def _graph_names(link: GraphLink) -> tuple[str, str]:
    if link.name is not None:
        return link.name, f"{link.name}-reverse"
    return f"{link.source}-{link.destination}", f"{link.destination}-{link.source}"


def _refuse(flow: Flow, path: str, keys: tuple[str, ...], kind: str) -> None:
    """Refuse keys of a flow that do not apply to this kind of topology."""
    fields = {"from": "source", "to": "destination"}
    for key in keys:
        if fields.get(key, key) in flow.model_fields_set:
            raise FieldError(f"{path}.{key}", f'not applicable to a topology of kind "{kind}"')
