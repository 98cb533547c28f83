"""The routers of a scenario that the kernel can run (`airpathd router`), and the arguments of the daemon."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from airpath._declared.messages import show
from airpath._declared.tables import formatted
from airpath.scenario.refusals import Refusal
from airpath.schemes import LinkFacts
from airpath.schemes.protocols import PROTOCOL, SOURCE, protocol_plan, source_plan

_KERNELS: Final = "a router of the kernel"
_SOURCES: Final = ("configured", "ebe", "qfcp", "busy", "xcp-b")
"""The capacity sources that the daemon has."""
_POLL: Final = "poll_interval"
_POLLS_MS: Final = (1, 10)
"""The shortest and the longest interval at which the daemon reads a queue for `busy`."""


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
    if (kind := protocol["kind"]) not in ("vcp", "xcp"):
        raise _refused(
            link, "queue.protocol.kind", f"the kernel has no router for {kind}; accepted: vcp, xcp", kind
        )
    _reject_differences(link, "protocol", PROTOCOL, protocol, protocol_plan(kind))
    if limit is None:
        raise _refused(link, "queue.limit", f"{_KERNELS} needs a limit; accepted: one in bytes, time or bdp")
    arguments: tuple[str, ...] = ("--protocol", kind, "--capacity", source["kind"], "--buffer", f"{limit}B")
    if source["kind"] not in _SOURCES:
        problem = (
            f"the capacity source {source['kind']} runs in the simulator only; accepted for {_KERNELS}:"
            " configured, ebe, qfcp, busy, xcp-b"
        )
        raise _refused(link, "queue.source.kind", problem, source["kind"])
    facts = LinkFacts(source.get("capacity"), source.get("packet", 1500))
    poll_ns = source.get(_POLL)
    usual = source_plan(source["kind"], kind, facts) | ({_POLL: poll_ns} if _POLL in source else {})
    _reject_differences(link, "source", SOURCE, source, usual)
    if source["kind"] == "xcp-b":
        return arguments
    arguments += ("--rate", _bits(source["capacity"]))
    if source["kind"] == "busy":
        return (*arguments, *_poll(link, poll_ns))
    return arguments if source["kind"] == "configured" else (*arguments, "--packet", f"{facts.packet_bytes}B")


def _poll(link: str, poll_ns: int | None) -> tuple[str, ...]:
    """Return the daemon's interval between readings for `busy`; none if the scenario has none."""
    if poll_ns is None:
        return ()
    shortest, longest = _POLLS_MS
    if not shortest * 1e6 <= poll_ns <= longest * 1e6:
        problem = f"accepted for {_KERNELS}: {shortest} ms to {longest} ms"
        raise _refused(link, f"queue.source.{_POLL}", problem, formatted(SOURCE, "busy", _POLL, poll_ns))
    return ("--poll", f"{poll_ns / 1000:g}us")


def _reject_differences(
    link: str, table: str, kind: str, asked: Mapping[str, Any], usual: Mapping[str, Any]
) -> None:
    """Reject a component with a parameter that differs from the daemon's."""
    for name, value in asked.items():
        if value != usual[name]:
            found, accepted = (formatted(kind, asked["kind"], name, one) for one in (value, usual[name]))
            problem = f"accepted for {_KERNELS}: {show(accepted)}"
            raise _refused(link, f"queue.{table}.{name}", problem, found)


def _refused(link: str, where: str, problem: str, found: Any = None) -> NoKernelRouterError:
    return NoKernelRouterError(Refusal("link", link, where, problem, found))


def _bits(bps: int) -> str:
    return f"{bps}bit"
