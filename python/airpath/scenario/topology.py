"""Topologies, as written in a scenario: dumbbell, parking lot, graph."""

from typing import Annotated, Literal

from pydantic import Field

from airpath._declared.quantities import (
    Duration,
    DurationDraw,
    Flag,
    Name,
    Rate,
    Table,
    Text,
)
from airpath._declared.tables import Values, table, without_context
from airpath.scenario.losses import Loss
from airpath.scenario.queues import Queue
from airpath.scenario.rates import RateProcess

Arq = Annotated[Values, without_context(table("arq", "selective-repeat", title="Arq"))]


class Link(Table):
    """One direction of a link."""

    rate: RateProcess
    """Rate over time."""
    delay: DurationDraw | None = None
    """Propagation delay, one way; sampled once for each run if random. Default: that of the named link, else
    0.
    """
    jitter: DurationDraw | None = None
    """Extra delay, sampled for each packet; packets never overtake each other."""
    loss: Loss = 0.0
    """Probability that a packet is corrupted, independently of others, or a table for losses in bursts."""
    arq: Arq | None = None
    """Link-layer retransmission of corrupted packets. Default: none."""
    queue: Queue | None = None
    """The queue. Default: the queue that the schemes of its flows need (kind `scheme`), with the buffer of
    the named link, else of one bandwidth-delay product; drop-tail without limit on an unlimited link.
    """
    record: Flag | None = None
    """Record time series and summary. Default: true unless the rate is unlimited."""


class Reverse(Table):
    """Settings that differ in the opposite direction of a link; others are as in the forward direction."""

    rate: RateProcess | None = None
    """Rate over time. Default: the paired direction of a named link, else the forward process, with the same
    random samples.
    """
    delay: DurationDraw | None = None
    """Propagation delay, one way; sampled once for each run if random."""
    jitter: DurationDraw | None = None
    """Extra delay, sampled for each packet; packets never overtake each other."""
    loss: Loss | None = None
    """Probability that a packet is corrupted, independently of others, or a table for losses in bursts."""
    arq: Arq | None = None
    """Link-layer retransmission of corrupted packets; `retries = 0` is none."""
    queue: Queue | None = None
    """The queue."""
    record: Flag | None = None
    """Record time series and summary."""


class DuplexLink(Link):
    """A link with both its directions."""

    reverse: Reverse = Reverse.model_construct()
    """Settings that differ in the opposite direction."""


class Access(Table):
    """The links between each host and its router; every flow has its own, at both ends."""

    rate: Rate | None = None
    """Rate of each. Default: unlimited."""
    delay: Duration = 0
    """Propagation delay of each, one way."""
    queue: Queue | None = None
    """The queue of each. Default: drop-tail without limit."""
    record: Flag = False
    """Record time series and summary."""


class Dumbbell(Table):
    """Hosts on both sides of one bottleneck.

    The shared link is called `bottleneck`, its opposite direction `bottleneck-reverse`.
    """

    kind: Literal["dumbbell"]
    """The kind of topology."""
    bottleneck: Link
    """The shared link, in the direction of forward flows."""
    reverse: Reverse = Reverse.model_construct()
    """Settings that differ in the opposite direction of the bottleneck."""
    access: Access = Access.model_construct()
    """The links of the hosts."""


class ParkingLot(Table):
    """Routers R0, R1, … in a row, with a bottleneck between neighbours (`R0-R1`, opposite `R1-R0`)."""

    kind: Literal["parking-lot"]
    """The kind of topology."""
    bottlenecks: Annotated[tuple[DuplexLink, ...], Field(min_length=1)]
    """The shared links in order, in the direction of forward flows."""
    access: Access = Access.model_construct()
    """The links of the hosts."""


class GraphLink(DuplexLink):
    """A link between two nodes."""

    source: Annotated[Text, Field(alias="from")]
    """The node where it begins."""
    destination: Annotated[Text, Field(alias="to")]
    """The node where it ends."""
    name: Name | None = None
    """Its name. Default: FROM-TO, and TO-FROM for the opposite direction; a link with a name has the
    opposite NAME-reverse.
    """
    duplex: Flag = True
    """Whether it has an opposite direction."""


class Graph(Table):
    """Arbitrary nodes and links; flows name their nodes by `from` and `to`."""

    kind: Literal["graph"]
    """The kind of topology."""
    nodes: Annotated[tuple[Name, ...], Field(min_length=2)]
    """The names of the nodes."""
    links: Annotated[tuple[GraphLink, ...], Field(min_length=1)]
    """The links."""


Topology = Annotated[Dumbbell | ParkingLot | Graph, Field(discriminator="kind")]
"""The links and how they are connected."""
