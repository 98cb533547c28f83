"""Router protocols and capacity sources in the form of a plan."""

from typing import Any, Final

from airpath._declared.tables import Values, plan_values
from airpath.errors import UsageError
from airpath.schemes.scheme import LinkFacts

PROTOCOL: Final = "router-protocol"
"""The kind of router protocols."""
SOURCE: Final = "capacity-source"
"""The kind of capacity sources."""


def no_capacity(protocol: str) -> str:
    """Return the reason why XCP-b's source works with XCP's router protocol only."""
    return f'"xcp-b" gives spare bandwidth and never a capacity, which {protocol} needs; it works with xcp'


def protocol_plan(protocol: str, parameters: Values | None = None) -> dict[str, Any]:
    """Return a router protocol in the form of a plan; without parameters, with its defaults.

    Raises
    ------
    ParameterError
        If parameters contradict each other.
    """
    return plan_values(parameters, {}, (PROTOCOL, protocol))


def source_plan(
    source: str, protocol: str, link: LinkFacts, parameters: Values | None = None
) -> dict[str, Any]:
    """Return the capacity source of a router in the form of a plan; without parameters, with its defaults.

    Raises
    ------
    UsageError
        If it does not support the protocol, or parameters contradict each other or the link.
    """
    if source == "xcp-b" and protocol != "xcp":
        raise UsageError(no_capacity(protocol))
    context = {"packet": link.packet_bytes, "mean_bps": link.mean_bps, "protocol": protocol}
    return plan_values(parameters, context, (SOURCE, source))
