"""Capacity sources: what a router believes its link can carry. Parameters, and how they stand in a plan."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from airpath.declarations import ids
from airpath.declared import plan_values, table
from airpath.errors import UsageError
from airpath.schemes.protocols import MILLISECOND
from airpath.schemes.scheme import LinkFacts

_KIND: Final = "capacity-source"

ConfiguredSource: Final = table(_KIND, "configured", "ConfiguredSource")
"""Parameters of a capacity that somebody configured."""

OracleSource: Final = table(_KIND, "oracle", "OracleSource")
"""The true capacity at every moment: the bound that no estimator can beat."""

LinkLayerSource: Final = table(
    _KIND,
    "oracle",
    "LinkLayerSource",
    defaults={"averaging": 20 * MILLISECOND},
    help_texts={
        "averaging": "Over what the capacity is averaged on a link that has delivery opportunities instead of"
        " a rate; at\nleast 1 ms (ABC's authors' code: 20 ms)."
    },
)
"""The true capacity as ABC's routers are told it by their link layer."""

XcpBSource: Final = table(_KIND, "xcp-b", "XcpBSource")
"""Parameters of XCP-b: spare bandwidth from the variation of the queue (Abrantes and Ricardo 2006)."""

QfcpSource: Final = table(_KIND, "qfcp", "QfcpSource")
"""Parameters of QFCP's: the output rate while busy, growing while idle (Pu and Hamdi 2008)."""

EbeSource: Final = table(_KIND, "ebe", "EbeSource")
"""Parameters of EBE, the estimator by an extended Kalman filter on the M/M/1 transient mean."""

HoldingEbeSource: Final = table(
    _KIND,
    "ebe",
    "HoldingEbeSource",
    defaults={"profile": "linear", "monitor": "hold", "upsilon": 1.2},
    help_texts={
        "profile": "How the filter is read; see `xcp-ebe`.",
        "monitor": "Link-capacity monitor; see `xcp-ebe`.",
        "upsilon": "Upsilon, the factor on the capacity while the maintainer is on.",
    },
)
"""EBE as we would use it: other defaults, found by the ablation (`airpath reproduce ebe`).

The filter that follows the last sample has the least lag; an empty queue does not lower the estimate, so
that the maintainer need not win back what was lost and can probe gently.
"""


def no_capacity(protocol: str) -> str:
    """Say why XCP-b's source feeds no router protocol but XCP's."""
    return f'"xcp-b" gives spare bandwidth and never a capacity, which {protocol} needs; it works with xcp'


def _source(name: str) -> Callable[[Any, str, LinkFacts], dict[str, Any]]:
    """Return the function that returns the source of that id as in a plan."""

    def plan(source: Any, protocol: str, link: LinkFacts) -> dict[str, Any]:
        if name == "xcp-b" and protocol != "xcp":
            raise UsageError(no_capacity(protocol))
        context = {"packet": link.packet_bytes, "mean_bps": link.mean_bps, "protocol": protocol}
        return plan_values(source, context, (_KIND, name))

    return plan


SOURCES: Final[Mapping[str, Callable[[Any, str, LinkFacts], dict[str, Any]]]] = MappingProxyType(
    {name: _source(name) for name in ids(_KIND)}
)
"""How each capacity source stands in a plan, from its parameters, the protocol and the link; by name."""
