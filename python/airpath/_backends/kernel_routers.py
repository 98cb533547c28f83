"""Which routers of a scenario the kernel can be: `airpathd router`, and how it is called for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from airpath.messages import show
from airpath.scenario.refusals import Refusal
from airpath.schemes import LinkFacts
from airpath.schemes.protocols import PROTOCOLS, LoadFactorRouter, XcpRouter
from airpath.schemes.sources import SOURCES, EbeSource, QfcpSource, XcpBSource
from airpath.units import format_duration, format_rate, format_size

_KERNELS: Final = "a router of the kernel"
_UNITS: Final = {"_ns": format_duration, "_bps": format_rate, "_bytes": format_size}
"""By how fields of a plan end: how people write them."""
_ENGINES: Final = {"min": "minimum", "max": "maximum"}
"""What components call fields, where the plan has something else."""


class NoKernelRouterError(Exception):
    """A plan whose routers the kernel's cannot be like."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.problem)
        self.refusal = refusal


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
    NoKernelRouterError
        If there is none, or the kernel's routers cannot be like one of them.
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
    """Return how the daemon is told of a router, which must be as the daemon's are."""
    protocol, source, limit = queue["protocol"], queue["source"], queue["limit_bytes"]
    tables = {"vcp": LoadFactorRouter, "xcp": XcpRouter}
    if (kind := protocol["kind"]) not in tables:
        raise _refused(
            link, "queue.protocol.kind", f"the kernel has no router for {kind}; accepted: vcp, xcp", kind
        )
    _refuse_own(link, "queue.protocol", protocol, PROTOCOLS[kind](tables[kind]()))
    if limit is None:
        raise _refused(link, "queue.limit", f"{_KERNELS} needs a limit; accepted: one in bytes, time or bdp")
    arguments = ("--protocol", kind, "--capacity", source["kind"], "--buffer", f"{limit}B")
    if source["kind"] == "configured":
        return (*arguments, "--rate", _bits(source["bps"]))
    if source["kind"] == "xcp-b":
        _refuse_own(link, "queue.source", source, SOURCES["xcp-b"](XcpBSource(), kind, LinkFacts(None, 1500)))
        return arguments
    if source["kind"] not in ("ebe", "qfcp"):
        problem = (
            f"the capacity source {source['kind']} runs in the simulator only; accepted for {_KERNELS}:"
            " configured, ebe, qfcp, xcp-b"
        )
        raise _refused(link, "queue.source.kind", problem, source["kind"])
    packet = source.get("packet_bytes", 1500)
    plain = EbeSource() if source["kind"] == "ebe" else QfcpSource()
    initial = source["initial_bps"] if source["kind"] == "ebe" else source["capacity"]
    facts = LinkFacts(initial, packet)
    _refuse_own(link, "queue.source", source, SOURCES[source["kind"]](plain, kind, facts))
    return (*arguments, "--rate", _bits(initial), "--packet", f"{packet}B")


def _refuse_own(link: str, table: str, asked: Mapping[str, Any], usual: Mapping[str, Any]) -> None:
    """Refuse parameters that the daemon does not take."""
    for name, value in asked.items():
        if value == usual[name]:
            continue
        unit = next((unit for unit in _UNITS if name.endswith(unit)), "")
        field = name.removesuffix(unit)
        found, accepted = (_UNITS[unit](one) if unit else one for one in (value, usual[name]))
        problem = f"accepted for {_KERNELS}: {show(accepted)}"
        raise _refused(link, f"{table}.{_ENGINES.get(field, field)}", problem, found)


def _refused(link: str, where: str, problem: str, found: Any = None) -> NoKernelRouterError:
    return NoKernelRouterError(Refusal("link", link, where, problem, found))


def _bits(bps: int) -> str:
    return f"{bps}bit"
