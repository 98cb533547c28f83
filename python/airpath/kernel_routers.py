"""Which routers of a scenario the kernel can be: `airpathd router`, and how it is called for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from airpath.errors import UsageError
from airpath.schemes import LinkFacts
from airpath.schemes.protocols import PROTOCOLS, LoadFactorRouter, XcpRouter
from airpath.schemes.sources import SOURCES, EbeSource, QfcpSource, XcpBSource


@dataclass(frozen=True)
class KernelRouter:
    """A router of the kernel in place of the simulator's."""

    link: int
    """The number of its link in the plan."""
    arguments: tuple[str, ...]
    """What `airpathd router` is told of it, but for its device."""


def kernel_routers(plan: Mapping[str, Any]) -> tuple[KernelRouter, ...]:
    """Return a router for each link of a plan that has one.

    Raises
    ------
    UsageError
        If there is none, or the kernel's routers cannot be like one of them.
    """
    found = tuple(
        KernelRouter(number, _arguments(link["name"], link["queue"]))
        for number, link in enumerate(plan["links"])
        if link["queue"]["kind"] == "router"
    )
    if not found:
        raise UsageError("none of its links has a router; world datapath has our controllers")
    return found


def _arguments(link: str, queue: Mapping[str, Any]) -> tuple[str, ...]:
    """Return how the daemon is told of a router, which must be as the daemon's are."""
    protocol, source, limit = queue["protocol"], queue["source"], queue["limit_bytes"]
    tables = {"vcp": LoadFactorRouter, "xcp": XcpRouter}
    if (kind := protocol["kind"]) not in tables:
        raise UsageError(f"the router of {link} is {kind}; those of the kernel are {_or(tables)}")
    _refuse_own(link, protocol, PROTOCOLS[kind](tables[kind]()))
    if limit is None:
        raise UsageError(f"the router of {link} has no limit in bytes, which a queue of the kernel needs")
    arguments = ("--protocol", kind, "--capacity", source["kind"], "--buffer", f"{limit}B")
    if source["kind"] == "configured":
        return (*arguments, "--rate", _bits(source["bps"]))
    if source["kind"] == "xcp-b":
        _refuse_own(link, source, SOURCES["xcp-b"](XcpBSource(), kind, LinkFacts(None, 1500)))
        return arguments
    if source["kind"] not in ("ebe", "qfcp"):
        raise UsageError(
            f"the router of {link} has the capacity source {source['kind']}, which runs in the simulator"
            " only; those of the kernel have configured, ebe, qfcp, xcp-b"
        )
    packet = source.get("packet_bytes", 1500)
    plain = EbeSource() if source["kind"] == "ebe" else QfcpSource()
    facts = LinkFacts(source["initial_bps"], packet)
    _refuse_own(link, source, SOURCES[source["kind"]](plain, kind, facts))
    return (*arguments, "--rate", _bits(source["initial_bps"]), "--packet", f"{packet}B")


def _refuse_own(link: str, asked: Mapping[str, Any], usual: Mapping[str, Any]) -> None:
    """Refuse parameters that the daemon does not take."""
    for name, value in asked.items():
        if value != usual[name]:
            raise UsageError(
                f"the router of {link} has {asked['kind']} with {name} = {value}; those of the kernel have"
                f" {usual[name]}"
            )


def _bits(bps: int) -> str:
    return f"{bps}bit"


def _or(names: Mapping[str, Any]) -> str:
    return " or ".join(names)
