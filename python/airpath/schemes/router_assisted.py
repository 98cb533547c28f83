"""Router-assisted schemes: a sender and its router protocol, composed with any capacity source.

The id of a scheme is its family, a hyphen and its source (`xcp-ebe`, `mpcp-oracle`); the family's own source
is omitted (`xcp` has a configured capacity, `qfcp` the source of its authors, `abc` the true capacity). The
parameters of a scheme are those of its sender, its router protocol and its source together.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from types import MappingProxyType
from typing import Any, Final

from airpath._declared.tables import Parameters, Values, table
from airpath.schemes.protocols import PROTOCOL, SOURCE, no_capacity, protocol_plan, source_plan
from airpath.schemes.scheme import (
    LinkFacts,
    Router,
    Scheme,
    controller_plan,
)


@dataclass(frozen=True)
class Family:
    """Schemes with the same sender and router protocol."""

    id: str
    """The first part of their ids."""
    title: str
    """The first part of their titles."""
    description: str
    """The behaviour of senders and routers, in a few words."""
    protocol: str
    """The router protocol; also the sender's controller."""
    parameters: tuple[Parameters, ...]
    """Parameters of sender and router protocol."""
    own_source: str
    """The source of the scheme that is named by the family alone."""
    marker: str
    """Marker of the family in figures."""
    colours: Mapping[str, str]
    """Colour of each source in figures: one hue, in steps of lightness."""
    header_bytes: int = 0
    """Bytes of the protocol's own header on each packet."""
    transport: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the transport in addition to those of every family."""


@dataclass(frozen=True)
class Source:
    """A capacity source as a part of schemes."""

    id: str
    """The second part of ids."""
    title: str
    """The second part of titles."""
    description: str
    """The origin of the capacity, in a few words."""
    parameters: Parameters
    """Its parameters."""
    marker: str | None
    """Marker in figures; that of the family if `None`."""


def compose(family: Family, source: Source, **changes: Any) -> Scheme:
    """Return the scheme of a family with this source.

    Parameters
    ----------
    family
        Sender and router protocol.
    source
        The capacity source; one with other defaults makes a variant.
    **changes
        Fields of `Scheme` that differ: id, title, description, colour, marker of a variant.
    """
    name, long_name = _names(family, source)
    fields: dict[str, Any] = {
        "id": name,
        "title": family.title if name == family.id else f"{family.title}-{source.title}",
        "description": f"{family.description}; {source.description}",
        "colour": family.colours[source.id],
        "marker": family.marker if name == family.id else source.marker or family.marker,
        "controller": family.protocol,
        "parameters": Parameters.joined(*family.parameters, source.parameters),
        "build": controller_plan,
        "estimator": source.id,
        "aliases": () if long_name == name else (long_name,),
        "transport": {**_TRANSPORT, **family.transport},
        "header_bytes": family.header_bytes,
        "router": Router(family.protocol, source.id, _router_plan(family.protocol, source.id)),
    }
    return Scheme(**{**fields, **changes})


def _names(family: Family, source: Source) -> tuple[str, str]:
    """Return the id of a pair, and the id with the full name of the source."""
    long_name = f"{family.id}-{source.id}"
    if source.id == family.own_source:
        return family.id, long_name
    return f"{family.id}-{source.id.removeprefix('xcp-')}", long_name


def _router_plan(protocol: str, source: str) -> Callable[[Any, LinkFacts], dict[str, Any]]:
    def plan(parameters: Values, link: LinkFacts) -> dict[str, Any]:
        return {
            "protocol": protocol_plan(protocol, parameters),
            "source": source_plan(source, protocol, link, parameters),
        }

    return plan


_TRANSPORT: Final[Mapping[str, Any]] = {
    # Acknowledgments carry the feedback: one for each packet, as in the papers' simulations.
    "delayed_ack_segments": 1,
    # RFC 2581, section 3.1, and ns-2: the initial window of the papers' simulations.
    "initial_window": "2 packets",
}


def _parts(protocol: str, **variant: Any) -> tuple[Parameters, ...]:
    """Return the parameters of the sender and the router of a protocol."""
    return table("controller", protocol, **variant), table(PROTOCOL, protocol)


def _colours(configured: str, ebe: str, oracle: str, qfcp: str, busy: str, **more: str) -> Mapping[str, str]:
    colours = {"configured": configured, "ebe": ebe, "oracle": oracle, "qfcp": qfcp, "busy": busy}
    return MappingProxyType(colours | {name.replace("_", "-"): colour for name, colour in more.items()})


XCP: Final = Family(
    id="xcp",
    title="XCP",
    description="routers give each packet a change of rate (Katabi et al. 2002, rate form)",
    protocol="xcp",
    parameters=_parts("xcp"),
    own_source="configured",
    marker="^",
    colours=_colours("#00483a", "#009e73", "#6ccbb0", "#3f7d20", "#0b6b12", xcp_b="#9aa51e"),
    # draft-falk-xcp-spec-03, section 3: the congestion header.
    header_bytes=20,
)
VCP: Final = Family(
    id="vcp",
    title="VCP",
    description="routers mark one of three load regions in two bits (Xia et al. 2005)",
    protocol="vcp",
    parameters=_parts("vcp"),
    own_source="configured",
    marker="v",
    colours=_colours("#5b1f52", "#cc79a7", "#e9bcd6", "#94477c", "#b0309f"),
)
MPCP: Final = Family(
    id="mpcp",
    title="MPCP",
    description="VCP with a load factor of 2n bits over n packets (Li and Yousefi'zadeh 2009)",
    protocol="mpcp",
    parameters=_parts("mpcp"),
    own_source="configured",
    marker="<",
    colours=_colours("#10386b", "#56b4e9", "#a9dbf7", "#2f74ab", "#1f6fd1"),
)
DPCP: Final = Family(
    id="dpcp",
    title="DPCP",
    description="MPCP with words of two packets",
    protocol="mpcp",
    parameters=_parts(
        "mpcp",
        defaults={"digits": 2},
        help_texts={
            "digits": "n: how many packets carry one word of 2n bits; DPCP is MPCP with two (16 levels)."
        },
    ),
    own_source="configured",
    marker=">",
    colours=_colours("#35298a", "#8d84dd", "#c6c1f2", "#6156b5", "#7a3fe0"),
)
QFCP: Final = Family(
    id="qfcp",
    title="QFCP",
    description="routers give every flow the same fair rate (Pu and Hamdi 2008)",
    protocol="qfcp",
    parameters=_parts("qfcp"),
    own_source="qfcp",
    marker="h",
    colours=_colours("#5c3a12", "#b97f3c", "#dfc08f", "#8a5a20", "#b8860b"),
    # Requested rate and echoed rate, four bytes each: our choice, because the paper's header was not
    # available.
    header_bytes=8,
)
ABC: Final = Family(
    id="abc",
    title="ABC",
    description="routers mark each packet with accelerate or brake (Goyal et al. 2020)",
    protocol="abc",
    parameters=_parts("abc"),
    # The link layer of the paper's routers reports the current rate.
    own_source="oracle",
    marker="X",
    colours=_colours("#f3b49f", "#d9603b", "#7d1a0a", "#a8432a", "#9b2673"),
    # RFC 6928, as in Linux, in which ABC was published.
    transport=MappingProxyType({"initial_window": "10 packets"}),
)
FAMILIES: Final = (XCP, VCP, MPCP, DPCP, QFCP, ABC)
"""Every family, in the order of lists and legends."""

CONFIGURED: Final = Source(
    "configured",
    "configured",
    "configured capacity",
    table(SOURCE, "configured"),
    None,
)
ORACLE: Final = Source(
    "oracle",
    "oracle",
    "true capacity, a bound",
    table(SOURCE, "oracle"),
    "*",
)
XCP_B: Final = Source(
    "xcp-b",
    "b",
    "spare bandwidth from the variation of the queue",
    table(SOURCE, "xcp-b"),
    "P",
)
QFCP_OUTPUT: Final = Source(
    "qfcp",
    "qfcp",
    "capacity from the output rate",
    table(SOURCE, "qfcp"),
    None,
)
EBE: Final = Source(
    "ebe",
    "EBE",
    "capacity by EBE, from queue and arrivals",
    table(SOURCE, "ebe"),
    "D",
)
BUSY: Final = Source(
    "busy",
    "busy",
    "capacity from departures while packets wait",
    table(SOURCE, "busy"),
    "p",
)
CAPACITY_SOURCES: Final = (CONFIGURED, XCP_B, EBE, ORACLE, QFCP_OUTPUT, BUSY)
"""Every source, in the order of lists and legends."""


def compositions() -> Iterator[Scheme]:
    """Yield every pair of family and source that works."""
    for family, source in product(FAMILIES, CAPACITY_SOURCES):
        if source.id in family.colours:
            yield compose(family, source)


def why_no_pair(name: str) -> str:
    """Return why the family and the source in a name do not work together; empty if it names no such pair."""
    for family in FAMILIES:
        if XCP_B.id not in family.colours and name in _names(family, XCP_B):
            return no_capacity(family.id)
    return ""


_HOLDING: Final = replace(
    EBE,
    parameters=table(
        SOURCE,
        "ebe",
        defaults={"profile": "linear", "monitor": "hold", "upsilon": 1.2},
        help_texts={
            "profile": "How the filter is read; see `xcp-ebe`.",
            "monitor": "Link-capacity monitor; see `xcp-ebe`.",
            "upsilon": "Upsilon, the factor on the capacity while the maintainer is on.",
        },
    ),
)
"""EBE with the defaults that we recommend, found by the ablation (`airpath reproduce ebe`).

The filter that follows the last sample has the smallest lag. An empty queue does not lower the estimate, so
the maintainer does not have to raise it again and can probe gently.
"""

_LINK_LAYER: Final = replace(
    ORACLE,
    parameters=table(
        SOURCE,
        "oracle",
        defaults={"averaging": 20_000_000},
        help_texts={
            "averaging": "Over what the capacity is averaged on a link that has delivery opportunities"
            " instead of a rate; at\nleast 1 ms (ABC's authors' code: 20 ms)."
        },
    ),
)
"""The oracle of ABC as published, whose routers average their link over a shorter time than the default."""

ROUTER_ASSISTED: Final = (
    compose(XCP, CONFIGURED),
    compose(XCP, XCP_B),
    compose(XCP, EBE),
    compose(
        XCP,
        _HOLDING,
        id="xcp-ebe-hold",
        title="XCP-EBE-hold",
        description="XCP with EBE as we found it best (linear, hold, Upsilon 1.2); ours",
        colour="#7fcfb2",
        marker="d",
        aliases=(),
    ),
    compose(XCP, BUSY),
    compose(XCP, ORACLE),
    compose(VCP, CONFIGURED),
    compose(VCP, EBE),
    compose(VCP, ORACLE),
    compose(MPCP, CONFIGURED),
    compose(MPCP, EBE),
    compose(MPCP, ORACLE),
    compose(DPCP, CONFIGURED),
    compose(DPCP, EBE),
    compose(QFCP, QFCP_OUTPUT),
    compose(
        ABC,
        _LINK_LAYER,
        description=f"{ABC.description}; the link layer tells the true capacity",
    ),
    compose(ABC, EBE),
    compose(ABC, CONFIGURED),
)
"""The schemes that are listed; the other pairs are found by their names. A variant of ours is added here,
with a source that documents why its defaults differ.
"""
