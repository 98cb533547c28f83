"""The worlds in which a scenario can run: the simulator, a QUIC stack, the kernel's TCP, our Linux datapath.

Each takes the plan as it is, links, queues, routes and traffic. Over quinn the controllers are ours; in the
worlds of real time they are the kernel's: plain `cubic` and `newreno` stand for `kernel:cubic` and
`kernel:reno` there, which the results say by their names.
"""

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from airpath import _core
from airpath.datapath import datapath_missing
from airpath.errors import ScenarioError, UsageError
from airpath.kernel_routers import KernelRouter, NoKernelRouterError, kernel_routers
from airpath.quic import quic_departures
from airpath.scenario import Scenario
from airpath.scenario.refusals import Refusal
from airpath.schemes import AGENT, find_scheme
from airpath.units import format_duration
from airpath.world_names import IN_REAL_TIME, World

WITH_OURS: Final = ("datapath", "routers")
"""The worlds that have our controllers in the kernel."""

_IN_OURS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cubic": "kernel:cubic",
        "newreno": "kernel:reno",
        "bic": "kernel:bic",
        "vcp": "kernel:airpath_vcp",
        "vcp-ebe": "kernel:airpath_vcp",
        "vcp-ld": "kernel:airpath_vcp",
        "vcp-ebe-ld": "kernel:airpath_vcp",
        "xcp": "kernel:airpath_xcp",
        "xcp-ebe": "kernel:airpath_xcp",
        "cubic-ebe": "kernel:airpath_ebe",
        "westwood+": "kernel:airpath_westw",
        "sarbe": "kernel:airpath_sarbe",
    }
)

_STANDS_FOR: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "sim": {},
        "quic": {},
        "emulate": {"cubic": "kernel:cubic", "newreno": "kernel:reno", "bic": "kernel:bic"},
        "datapath": _IN_OURS,
        "routers": _IN_OURS,
    }
)
"""What a scheme without options of its own stands for in a world."""


DATAGRAMS: Final = "datagrams"
"""What a run is called in which no flow has a scheme."""
OVER_QUINN: Final = " over quinn"
"""What the names of runs in world quic end with."""
WITH_ROUTERS: Final = " with routers"
"""What the names of runs end with whose routers are the kernel's."""

KERNEL_INITIAL_WINDOW: Final = 10
"""Packets with which the kernel begins (`TCP_INIT_CWND`, RFC 6928)."""
KERNEL_DELAYED_ACK: Final = 2
"""Segments after which the kernel acknowledges at once."""
KERNEL_MINIMUM_RTO_NS: Final = 200_000_000
"""The kernel's smallest retransmission timeout (`TCP_RTO_MIN`)."""

_VCP: Final = "kernel:airpath_vcp"

_CONTROLLERS: Final = ("airpath_xcp", "airpath_vcp", "airpath_ebe", "airpath_westw", "airpath_sarbe")
"""The controllers that our daemon loads into the kernel."""


@dataclass(frozen=True)
class Placed:
    """A scenario in a world."""

    plan: dict[str, Any]
    """The plan that runs there."""
    schemes: tuple[str | None, ...]
    """Scheme of each flow of the plan there; `None` for datagrams."""
    label: str | None
    """What the run is called instead of by its schemes in the simulator; `None` there."""
    departures: tuple[str, ...] = ()
    """What the scenario says of the transport, and the kernel or quinn decides otherwise: whose own it is."""
    routers: tuple[KernelRouter, ...] = ()
    """Routers of the kernel in place of the simulator's."""


def place(scenario: Scenario, world: World) -> Placed:
    """Return a scenario as it runs in a world.

    Raises
    ------
    ScenarioError
        If the world does not have one of its schemes, or something else of it.
    UsageError
        If the world is not on this system.
    """
    resolved = scenario.resolved
    for flow, scheme in zip(resolved.plan["flows"], resolved.schemes, strict=True):
        if scheme == AGENT.id:
            problem = (
                "nobody sets anything in a run; accepted: any other, or an environment (airpath.learning)"
            )
            raise scenario.refusal(Refusal("flow", flow["name"], "scheme", problem))
    if world not in IN_REAL_TIME:
        for flow, kernel in zip(resolved.plan["flows"], resolved.schemes, strict=True):
            if kernel is not None and kernel.startswith("kernel:"):
                problem = (
                    "it is a congestion control of the kernel, which"
                    f" {'quinn' if world == 'quic' else 'the simulator'} does not have; use"
                    f" {_simulated(kernel)}, or run it with --world emulate"
                )
                raise scenario.refusal(Refusal("flow", flow["name"], "scheme", problem))
        return _over_quinn(scenario) if world == "quic" else Placed(resolved.plan, resolved.schemes, None)
    available = kernel_congestion_controls()
    routers: tuple[KernelRouter, ...] = ()
    if world in WITH_OURS:
        if (reason := datapath_missing()) is not None:
            raise UsageError(f"world: found {world}, which is not available: {reason}")
        available = (*available, *_CONTROLLERS)
    if world == "routers":
        try:
            routers = kernel_routers(resolved.plan)
        except NoKernelRouterError as error:
            raise scenario.refusal(error.refusal) from None
    flows: list[dict[str, Any]] = []
    schemes: list[str | None] = []
    for flow, scheme in zip(resolved.plan["flows"], resolved.schemes, strict=True):
        if scheme is None:
            flows.append(flow)
            schemes.append(None)
            continue
        if flow["estimators"]:
            problem = f"those of senders run in the simulator only; accepted in world {world}: none"
            raise scenario.refusal(Refusal("flow", flow["name"], "estimators", problem))
        if flow["transport"]["accurate_ecn"]:
            problem = f"the kernel's ECN is that of RFC 3168; accepted in world {world}: true, false"
            raise scenario.refusal(Refusal("flow", flow["name"], "transport.ecn", problem))
        named = _named(scenario, flow, scheme, world, available)
        if flow["transport"]["ecn"] and (named == _VCP or _has_vcp_router(resolved.plan)):
            problem = (
                f"VCP's code takes the ECN field of packets in world {world}, and the kernel would take"
                " overload for a mark; accepted: false"
            )
            raise scenario.refusal(Refusal("flow", flow["name"], "transport.ecn", problem, found=True))
        flows.append(flow | {"controller": find_scheme(named).build(None, flow["transport"]["mss_bytes"])})
        schemes.append(named)
    return Placed(
        resolved.plan | {"flows": flows},
        tuple(schemes),
        _label(schemes, world),
        _own("the kernel", (text for flow in flows for text in _departures(flow["transport"]))),
        routers,
    )


def _over_quinn(scenario: Scenario) -> Placed:
    """Return a scenario over QUIC: the same schemes; which of them quinn cannot drive the engine says."""
    resolved = scenario.resolved
    schemes = _joined(flow.scheme for flow in scenario.document.flows)
    if not schemes:
        problem = (
            "none has a scheme, so it would be the same as simulated; accepted in world quic: some that have"
        )
        raise scenario.refusal(Refusal("", "", "flows", problem))
    departures = (text for flow in resolved.plan["flows"] for text in quic_departures(flow["transport"]))
    return Placed(resolved.plan, resolved.schemes, f"{schemes}{OVER_QUINN}", _own("quinn", departures))


def _joined(schemes: Iterable[str | None]) -> str:
    """Return the schemes of a run's flows, each once; nothing for datagrams alone."""
    return "+".join(dict.fromkeys(scheme for scheme in schemes if scheme is not None))


def _own(whose: str, texts: Iterable[str]) -> tuple[str, ...]:
    """Return what somebody decides otherwise than the scenario, each once, as people are told."""
    return tuple(dict.fromkeys(f"{whose}'s own {text}" for text in texts))


def _has_vcp_router(plan: Mapping[str, Any]) -> bool:
    """Whether a link of a plan has a router of VCP."""
    queues = (link["queue"] for link in plan["links"])
    return any(queue["kind"] == "router" and queue["protocol"]["kind"] == "vcp" for queue in queues)


def _label(schemes: Sequence[str | None], world: World) -> str:
    """Return what a run is called: the same controllers run in several worlds."""
    return f"{_joined(schemes) or DATAGRAMS}{WITH_ROUTERS if world == 'routers' else ''}"


def _departures(transport: Mapping[str, Any] | None) -> Iterator[str]:
    """Say what the kernel does not take from a transport of the plan."""
    if transport is None:
        return
    windows = transport["initial_window_bytes"] / transport["mss_bytes"]
    if round(windows) != KERNEL_INITIAL_WINDOW:
        yield f"initial window: {windows:g} packets in the scenario, {KERNEL_INITIAL_WINDOW} in the kernel"
    if transport["delayed_ack_segments"] != KERNEL_DELAYED_ACK:
        yield (
            f"segments for one acknowledgment: {transport['delayed_ack_segments']} in the scenario,"
            f" {KERNEL_DELAYED_ACK} in the kernel, which acknowledges each at the start of a connection"
        )
    if transport["min_rto_ns"] != KERNEL_MINIMUM_RTO_NS:
        shortest = format_duration(transport["min_rto_ns"])
        yield f"smallest retransmission timeout: {shortest} in the scenario, 200ms in the kernel"


def has_ours(scenario: Scenario) -> bool:
    """Whether one of a scenario's schemes is among those that our datapath has."""
    named = (_IN_OURS.get(scheme, scheme) for scheme in scenario.resolved.schemes if scheme is not None)
    return any(name.removeprefix("kernel:") in _CONTROLLERS for name in named)


def kernel_congestion_controls() -> tuple[str, ...]:
    """Return the names of the congestion controls that this system's kernel has.

    Raises
    ------
    UsageError
        If this system is not Linux: there is no emulator.
    """
    if not hasattr(_core, "EmulatedRun"):
        raise UsageError(
            f"world: the emulator works on Linux; this is {platform.system()}; accepted here: sim, quic"
        )
    return tuple(_core.kernel_congestion_controls())


def _named(
    scenario: Scenario, flow: Mapping[str, Any], scheme: str, world: World, available: Sequence[str]
) -> str:
    """Return the scheme of the kernel that a flow runs."""

    def refused(where: str, problem: str) -> ScenarioError:
        return scenario.refusal(Refusal("flow", flow["name"], where, problem))

    stands_for = _STANDS_FOR[world]
    if scheme.startswith("kernel:"):
        named = scheme
    elif scheme not in stands_for:
        there = [f"kernel:{name}" for name in available]
        ours = _IN_OURS.get(scheme)
        elsewhere = f"and in {' and '.join(WITH_OURS)} as {ours}" if ours else "only"
        standing = [f"{plain} (for {one})" for plain, one in stands_for.items() if one in there]
        problem = (
            f"it runs in the simulator {elsewhere}; accepted in world {world}:"
            f" {', '.join([*there, *standing])}"
        )
        raise refused("scheme", problem)
    else:
        plain = find_scheme(scheme)
        if flow["controller"] != plain.build(plain.parameters(), flow["transport"]["mss_bytes"]):
            problem = (
                f'"{scheme}" with parameters of its own runs in the simulator only; accepted in world'
                f" {world}: none, when it stands for {stands_for[scheme]}"
            )
            raise refused("controller", problem)
        named = stands_for[scheme]
    if (name := named.removeprefix("kernel:")) not in available:
        hint = " (it is ours: world datapath has it)" if name.startswith("airpath_") else ""
        problem = (
            f"this kernel ({platform.release()}) has no congestion control {name}{hint}; accepted: those that"
            f" it has: {', '.join(available) or 'none that it tells of'}"
        )
        raise refused("scheme", problem)
    return named


def _simulated(scheme: str) -> str:
    for simulated, named in _STANDS_FOR["emulate"].items():
        if named == scheme:
            return f'"{simulated}"'
    return "one of `airpath list schemes`"


def validity_text(world: str, validity: Mapping[str, Any] | None) -> str:
    """Return in one sentence whether a run can be trusted; nothing for one in simulated time."""
    if world not in IN_REAL_TIME or validity is None:
        return ""
    if validity["valid"]:
        return "valid"
    return "NOT VALID: " + "; ".join(validity["problems"])


def refuse_together(world: World, jobs: int | None) -> None:
    """Refuse to run several emulations at the same time: they would take each other's processors.

    Raises
    ------
    UsageError
        If more than one was asked for.
    """
    if world in IN_REAL_TIME and jobs is not None and jobs > 1:
        raise UsageError(f"jobs: found {jobs}; accepted in world {world}: 1, because runs are in real time")
