"""Backends in simulated time: the simulator, and quinn, a QUIC stack, over the simulated network."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from airpath._backends.backend import Backend, EngineRun, Placed, joined, own, refuse_agent
from airpath.plugins.specs import engine_plugins, kinds_of_code

if TYPE_CHECKING:
    from airpath import _core
    from airpath.scenario import Scenario

OVER_QUINN: Final = " over quinn"
"""The end of the names of runs over QUIC."""
QUIC_HEADERS: Final = 28
"""Bytes of IPv4 and UDP on each packet."""
SMALLEST_QUIC_PACKET: Final = 1200 + QUIC_HEADERS
"""The largest packets that QUIC sends have at least this many bytes on the wire (RFC 9000, section 14)."""
QUINN_MAX_ACK_DELAY_NS: Final = 25_000_000
"""The longest that quinn's receivers wait with an acknowledgment (RFC 9000, section 18.2)."""


class _SimulatedTime(Backend):
    """A backend in simulated time, where the kernel's controllers do not run."""

    needs = ("engine",)
    engine: ClassVar[str]
    """What runs the controllers, in messages."""
    over_quic: ClassVar[bool]

    def place(self, scenario: "Scenario") -> Placed:
        from airpath._backends.kernel import simulated_scheme
        from airpath.scenario.refusals import Refusal

        refuse_agent(scenario)
        resolved = scenario.resolved
        for flow, scheme in zip(resolved.plan["flows"], resolved.schemes, strict=True):
            if scheme is not None and scheme.startswith("kernel:"):
                problem = (
                    f"it is a congestion control of the kernel, which {self.engine} does not have; use"
                    f" {simulated_scheme(scheme)}, or run it with --world emulate"
                )
                raise scenario.refusal(Refusal("flow", flow["name"], "scheme", problem))
            if scheme is not None and scheme.startswith("quinn:") and not self.over_quic:
                problem = (
                    "it is a controller of quinn, a QUIC stack; use"
                    f" {scheme.removeprefix('quinn:')}, or run it with --world quic"
                )
                raise scenario.refusal(Refusal("flow", flow["name"], "scheme", problem))
        return Placed(resolved.plan, resolved.schemes, None)

    def make_run(self, placed: Placed, traces: "list[_core.Trace]", seed: int) -> EngineRun:
        from airpath import _core

        plan, plugins = json.dumps(placed.plan), engine_plugins(kinds_of_code(placed.plan))
        return _core.Simulation(plan, traces, seed, over_quic=self.over_quic, plugins=plugins)


class Simulator(_SimulatedTime):
    """The simulator."""

    name = "sim"
    description = "simulated"
    title = "simulated"
    colour, marker = "#000000", "o"
    engine = "the simulator"
    over_quic = False

    def validity(self, _placed: Placed, _counts: Mapping[str, Any]) -> None:
        return None


class Quic(_SimulatedTime):
    """airpath's controllers in quinn, over the simulated network."""

    name = "quic"
    description = "simulated: controllers in quinn, a QUIC stack"
    title = "controllers in quinn"
    colour, marker = "#cc79a7", "v"
    unknown_columns = ("spurious_timeouts",)
    engine = "quinn"
    over_quic = True

    def place(self, scenario: "Scenario") -> Placed:
        from airpath.scenario.refusals import Refusal
        from airpath.schemes import label_of

        placed = super().place(scenario)
        written = (flow.scheme for flow in scenario.document.flows)
        schemes = joined(None if scheme is None else label_of(scheme) for scheme in written)
        if not schemes:
            problem = (
                "none has a scheme, so it would be the same as simulated; accepted on backend quic:"
                " some that have"
            )
            raise scenario.refusal(Refusal("", "", "flows", problem))
        departures = (text for flow in placed.plan["flows"] for text in quic_departures(flow["transport"]))
        return Placed(placed.plan, placed.schemes, f"{schemes}{OVER_QUINN}", own("quinn", departures))

    def validity(self, placed: Placed, _counts: Mapping[str, Any]) -> dict[str, Any]:
        return {"departures": list(placed.departures)}


def quic_departures(transport: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the transport settings of a plan that quinn decides itself."""
    if transport is None:
        return
    from airpath.units import format_duration

    packet = transport["mss_bytes"] + transport["header_bytes"]
    if packet < SMALLEST_QUIC_PACKET:
        yield (
            f"packets: {packet} bytes in the scenario, {SMALLEST_QUIC_PACKET} here,"
            " since QUIC's are no smaller"
        )
    if not transport["pacing"]:
        yield "pacing: at 5/4 of the window in a round trip; none in the scenario"
    if transport["delayed_ack_timeout_ns"] != QUINN_MAX_ACK_DELAY_NS:
        wait = format_duration(transport["delayed_ack_timeout_ns"])
        yield f"acknowledgments: after 25ms at the latest; after {wait} in the scenario"
    if transport["stack"] != "rfc":
        yield f"stack: quinn's own; {transport['stack']} in the scenario"
    yield "handshake, loss detection and timers (RFC 9000 and 9002)"
