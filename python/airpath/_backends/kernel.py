"""The kernel's TCP over an emulated network, in real time."""

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from airpath._backends.backend import Backend, BackendName, EngineRun, Placed, joined, own, refuse_agent
from airpath.errors import ScenarioError, UsageError

if TYPE_CHECKING:
    from airpath import _core
    from airpath._backends.kernel_routers import KernelRouter
    from airpath.scenario import Scenario

DATAGRAMS: Final = "datagrams"
"""The name of a run in which no flow has a scheme."""

KERNEL_INITIAL_WINDOW: Final = 10
"""The kernel's initial window in packets (`TCP_INIT_CWND`, RFC 6928)."""
KERNEL_DELAYED_ACK: Final = 2
"""Segments after which the kernel acknowledges at once."""
KERNEL_MINIMUM_RTO_NS: Final = 200_000_000
"""The kernel's smallest retransmission timeout (`TCP_RTO_MIN`)."""

IN_LINUX: Final[Mapping[str, str]] = MappingProxyType(
    {"cubic": "kernel:cubic", "newreno": "kernel:reno", "bic": "kernel:bic"}
)
"""The controllers of Linux that a scheme without options stands for."""
IN_DATAPATH: Final[Mapping[str, str]] = MappingProxyType(
    {
        **IN_LINUX,
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
"""The same if the Linux datapath is loaded."""
_VCP: Final = "kernel:airpath_vcp"


class Kernel(Backend):
    """The kernel's TCP over an emulated network."""

    name: ClassVar[BackendName] = "emulate"
    description = "emulated: the kernel's TCP in real time"
    title = "the kernel's TCP"
    colour, marker = "#0072b2", "s"
    needs: ClassVar[tuple[str, ...]] = ("emulated hosts",)
    real_time = True
    unknown_columns = ("recoveries", "ecn_reductions", "spurious_timeouts")
    stands_for: ClassVar[Mapping[str, str]] = IN_LINUX
    """The kernel's scheme that a scheme without options of its own stands for."""
    label_end: ClassVar[str] = ""
    """The end of the names of runs."""

    def controllers(self) -> tuple[str, ...]:
        """Return the names of the controllers that flows can have here.

        Raises
        ------
        UsageError
            If this system is not Linux.
        """
        return kernel_congestion_controls()

    def routers(self, _scenario: "Scenario") -> "tuple[KernelRouter, ...]":
        """Return the routers of the kernel in place of the simulator's."""
        return ()

    def place(self, scenario: "Scenario") -> Placed:
        refuse_agent(scenario)
        available = self.controllers()
        routers = self.routers(scenario)
        resolved = scenario.resolved
        flows: list[dict[str, Any]] = []
        schemes: list[str | None] = []
        for flow, scheme in zip(resolved.plan["flows"], resolved.schemes, strict=True):
            named = None if scheme is None else self._named(scenario, flow, scheme, available)
            flows.append(flow if named is None else self._flow(scenario, flow, named))
            schemes.append(named)
        names = (label or named for label, named in zip(resolved.labels, schemes, strict=True))
        return Placed(
            resolved.plan | {"flows": flows},
            tuple(schemes),
            f"{joined(names) or DATAGRAMS}{self.label_end}",
            own("the kernel", (text for flow in flows for text in _departures(flow["transport"]))),
            routers,
        )

    def make_run(self, placed: Placed, traces: "list[_core.Trace]", seed: int) -> EngineRun:
        from airpath import _core

        return _core.EmulatedRun(json.dumps(placed.plan), traces, seed)

    def validity(self, placed: Placed, counts: Mapping[str, Any]) -> dict[str, Any]:
        from airpath._backends.validity import Validity

        links = [str(link["name"]) for link in placed.plan["links"]]
        validity = Validity.from_engine(counts["validity"], links)
        return {**validity.as_json(), "departures": list(placed.departures)}

    def _flow(self, scenario: "Scenario", flow: dict[str, Any], named: str) -> dict[str, Any]:
        """Return the flow of a plan with the kernel's controller."""
        from airpath.schemes import find_scheme

        if flow["transport"]["ecn"] and (named == _VCP or _has_vcp_router(scenario.plan())):
            problem = (
                f"VCP's code takes the ECN field of packets on backend {self.name}, and the kernel would take"
                " overload for a mark; accepted: false"
            )
            raise _refused(scenario, flow, "transport.ecn", problem, found=True)
        kernel = find_scheme(named)
        controller = kernel.build(kernel.parameters.read({}), flow["transport"]["mss_bytes"])
        return flow | {"controller": controller}

    def _named(
        self, scenario: "Scenario", flow: Mapping[str, Any], scheme: str, available: Sequence[str]
    ) -> str:
        """Return the scheme of the kernel that a flow runs."""
        from airpath.schemes import find_scheme

        if flow["estimators"]:
            problem = f"those of senders run in the simulator only; accepted on backend {self.name}: none"
            raise _refused(scenario, flow, "estimators", problem)
        if flow["transport"]["accurate_ecn"]:
            problem = f"the kernel's ECN is that of RFC 3168; accepted on backend {self.name}: true, false"
            raise _refused(scenario, flow, "transport.ecn", problem)
        if scheme.startswith("kernel:"):
            named = scheme
        elif scheme not in self.stands_for:
            there = [f"kernel:{name}" for name in available]
            ours = IN_DATAPATH.get(scheme)
            elsewhere = f"and in datapath and routers as {ours}" if ours else "only"
            standing = [f"{plain} (for {one})" for plain, one in self.stands_for.items() if one in there]
            place = "over QUIC" if scheme.startswith("quinn:") else "in the simulator"
            if scheme.startswith("linux:"):
                elsewhere += ", and `airpath gap` compares it with the kernel's own"
            problem = (
                f"it runs {place} {elsewhere}; accepted on backend {self.name}:"
                f" {', '.join([*there, *standing])}"
            )
            raise _refused(scenario, flow, "scheme", problem)
        else:
            plain = find_scheme(scheme)
            named = self.stands_for[scheme]
            if flow["controller"] != plain.build(plain.parameters.read({}), flow["transport"]["mss_bytes"]):
                problem = (
                    f'"{scheme}" with parameters of its own runs in the simulator only; accepted on backend'
                    f" {self.name}: none, when it stands for {named}"
                )
                raise _refused(scenario, flow, "controller", problem)
        if (name := named.removeprefix("kernel:")) not in available:
            hint = " (it is ours: world datapath has it)" if name.startswith("airpath_") else ""
            problem = (
                f"this kernel ({platform.release()}) has no congestion control {name}{hint}; accepted: those"
                f" that it has: {', '.join(available) or 'none that it tells of'}"
            )
            raise _refused(scenario, flow, "scheme", problem)
        return named


def kernel_congestion_controls() -> tuple[str, ...]:
    """Return the names of the congestion controls that this system's kernel has.

    Raises
    ------
    UsageError
        If this system is not Linux: there is no emulator.
    """
    from airpath import _core

    if not hasattr(_core, "EmulatedRun"):
        raise UsageError(
            f"world: the emulator works on Linux; this is {platform.system()}; accepted here: sim, quic"
        )
    return tuple(_core.kernel_congestion_controls())


def simulated_scheme(scheme: str) -> str:
    """Return the simulator's scheme for a congestion control of the kernel, as messages name it."""
    for simulated, named in IN_LINUX.items():
        if named == scheme:
            return f'"{simulated}"'
    return "one of `airpath list schemes`"


def _refused(
    scenario: "Scenario", flow: Mapping[str, Any], where: str, problem: str, found: Any = None
) -> ScenarioError:
    from airpath.scenario.refusals import Refusal

    return scenario.refusal(Refusal("flow", flow["name"], where, problem, found))


def _has_vcp_router(plan: Mapping[str, Any]) -> bool:
    """Whether a link of a plan has a router of VCP."""
    queues = (link["queue"] for link in plan["links"])
    return any(queue["kind"] == "router" and queue["protocol"]["kind"] == "vcp" for queue in queues)


def _departures(transport: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the transport settings of a plan that the kernel decides itself."""
    if transport is None:
        return
    from airpath.units import format_duration

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
