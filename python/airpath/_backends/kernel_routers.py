"""The routers of a scenario that the kernel can run (`airpathd router`), and the arguments of the daemon."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from airpath.declared import formatted
from airpath.messages import show
from airpath.scenario.refusals import Refusal
from airpath.schemes import LinkFacts
from airpath.schemes.protocols import PROTOCOLS, LoadFactorRouter, XcpRouter
from airpath.schemes.sources import SOURCES, ConfiguredSource, EbeSource, QfcpSource, XcpBSource
from airpath.units import format_duration

_KERNELS: Final = "a router of the kernel"
_UNITS: Final = {"_ns": format_duration}
"""The format of the quantities of a router protocol, by the end of their key in a plan."""
_SOURCES: Final = {"configured": ConfiguredSource, "ebe": EbeSource, "qfcp": QfcpSource, "xcp-b": XcpBSource}
"""The tables of the capacity sources that the daemon has."""


class NoKernelRouterError(Exception):
    """The routers of a plan cannot run in the kernel."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.problem)
        self.refusal = refusal


@dataclass(frozen=True)
class KernelRouter:
    """A router of the kernel in place of the simulator's."""

    link: int
    """The number of its link in the plan."""
    arguments: tuple[str, ...]
    """The arguments of `airpathd router` without its device."""


def kernel_routers(plan: Mapping[str, Any]) -> tuple[KernelRouter, ...]:
    """Return a router for each link of a plan that has one.

    Raises
    ------
    NoKernelRouterError
        If the plan has no router, or one of them cannot run in the kernel.
    """
    found = tuple(
        KernelRouter(number, _arguments(link["name"], link["queue"]))
        for number, link in enumerate(plan["links"])
        if link["queue"]["kind"] == "router"
    )
    if not found:
        problem = (
            "none of its links has a router; accepted: a scheme that has routers, or a queue of the kind"
            ' "router"; world datapath has our controllers without'
        )
        raise NoKernelRouterError(Refusal("", "", "topology", problem))
    return found


def _arguments(link: str, queue: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the arguments of the daemon for a router. Its parameters must be those of the daemon."""
    protocol, source, limit = queue["protocol"], queue["source"], queue["limit_bytes"]
    tables = {"vcp": LoadFactorRouter, "xcp": XcpRouter}
    if (kind := protocol["kind"]) not in tables:
        raise _refused(
            link, "queue.protocol.kind", f"the kernel has no router for {kind}; accepted: vcp, xcp", kind
        )
    for field, value, accepted in _differences(protocol, PROTOCOLS[kind](tables[kind]())):
        unit = next((unit for unit in _UNITS if field.endswith(unit)), "")
        found, wanted = (_UNITS[unit](one) if unit else one for one in (value, accepted))
        raise _refused_value(link, f"queue.protocol.{field.removesuffix(unit)}", found, wanted)
    if limit is None:
        raise _refused(link, "queue.limit", f"{_KERNELS} needs a limit; accepted: one in bytes, time or bdp")
    arguments: tuple[str, ...] = ("--protocol", kind, "--capacity", source["kind"], "--buffer", f"{limit}B")
    if source["kind"] not in ("configured", "ebe", "qfcp", "xcp-b"):
        problem = (
            f"the capacity source {source['kind']} runs in the simulator only; accepted for {_KERNELS}:"
            " configured, ebe, qfcp, xcp-b"
        )
        raise _refused(link, "queue.source.kind", problem, source["kind"])
    facts = LinkFacts(source.get("capacity"), source.get("packet", 1500))
    usual = SOURCES[source["kind"]](_SOURCES[source["kind"]](), kind, facts)
    for field, *values in _differences(source, usual):
        found, wanted = (formatted("capacity-source", source["kind"], field, value) for value in values)
        raise _refused_value(link, f"queue.source.{field}", found, wanted)
    if source["kind"] == "xcp-b":
        return arguments
    arguments += ("--rate", _bits(source["capacity"]))
    return arguments if source["kind"] == "configured" else (*arguments, "--packet", f"{facts.packet_bytes}B")


def _differences(asked: Mapping[str, Any], usual: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Return the parameters that the daemon does not accept: name, value, and accepted value."""
    return ((name, value, usual[name]) for name, value in asked.items() if value != usual[name])


def _refused_value(link: str, where: str, found: Any, accepted: Any) -> NoKernelRouterError:
    return _refused(link, where, f"accepted for {_KERNELS}: {show(accepted)}", found)


def _refused(link: str, where: str, problem: str, found: Any = None) -> NoKernelRouterError:
    return NoKernelRouterError(Refusal("link", link, where, problem, found))


def _bits(bps: int) -> str:
    return f"{bps}bit"
